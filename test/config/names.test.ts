// A mistyped name of a setting: the loader suggests the right one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { likelyMeant } from '../../src/config/names.ts'

test('names are guessed at within a few letters, and short ones not at all', () => {
  const rows: [string, string | null][] = [
    ['TICK_SEK', 'TICK_SEC'],
    ['TICK_SE', null],
    ['RPC_URLS', null],
    ['CHAIN_PORXY', 'CHAIN_PORT'],
    ['CHAIN_POXYZ', null],
    ['SCHEDULERABC', 'SCHEDULER'],
    ['SCHEDULERAB', 'SCHEDULER'],
    ['SCHEDULERABCD', null],
    ['SESSION_SECRETS_FILE', 'SESSION_SECRET'],
  ]
  for (const [name, meant] of rows) assert.equal(likelyMeant(name), meant, name)
})
