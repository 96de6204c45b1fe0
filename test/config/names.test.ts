// A name that is no setting: for a mistyped one the loader suggests the right one, for one of an earlier release what replaces it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GONE_SETTINGS } from '../../src/config/gone.ts'
import { inspectConfig } from '../../src/config/load.ts'
import { likelyMeant, SETTINGS } from '../../src/config/names.ts'

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

test('an earlier release’s setting is reported once, with its successor and without its value', () => {
  const saidOf = (setting: string, value: string, more = {}) => {
    const { config, problems } = inspectConfig(
      { NODE_ENV: 'test', [setting]: value, ...more },
      { readFile: () => value },
    )
    return [config.hints, problems]
  }
  for (const [gone, { message, isMistake }] of Object.entries(GONE_SETTINGS)) {
    assert.ok(!SETTINGS.some((name) => name === gone), gone)
    for (const setting of [gone, `${gone}_FILE`]) {
      const said = [{ setting, message }]
      assert.deepEqual(saidOf(setting, 'value'), isMistake ? [[], said] : [said, []])
    }
  }
  // Metrics at the address of the pages are where they were.
  assert.deepEqual(saidOf('METRICS_HOST', '127.0.0.1')[1], [])
  assert.deepEqual(saidOf('METRICS_HOST', '0.0.0.0', { HOST: '0.0.0.0' })[1], [])
})
