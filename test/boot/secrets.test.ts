import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadOrCreateSecrets } from '../../src/boot/secrets.ts'
import { KnownError } from '../../src/lib/errors.ts'
import { temporaryDirectory } from '../support/temporary.ts'

test('secrets are made once and stay the same', () => {
  const directory = join(temporaryDirectory(), 'data')
  const first = loadOrCreateSecrets(directory, ['SESSION_SECRET', 'ADMIN_KEY'])
  assert.match(first.SESSION_SECRET, /^[0-9a-f]{64}$/)
  assert.notEqual(first.SESSION_SECRET, first.ADMIN_KEY)
  assert.deepEqual(loadOrCreateSecrets(directory, ['SESSION_SECRET', 'ADMIN_KEY']), first)
})

test('a secret that is needed later is added, and the others stay the same', () => {
  const directory = temporaryDirectory()
  const { SESSION_SECRET } = loadOrCreateSecrets(directory, ['SESSION_SECRET'])
  const both = loadOrCreateSecrets(directory, ['SESSION_SECRET', 'CRON_KEY'])
  assert.equal(both.SESSION_SECRET, SESSION_SECRET)
  assert.match(both.CRON_KEY, /^[0-9a-f]{64}$/)
  assert.deepEqual(JSON.parse(readFileSync(join(directory, 'secrets.json'), 'utf8')), both)
})

test('only its owner can read the file of secrets, under any umask and in any directory', () => {
  const directory = join(temporaryDirectory(), 'open')
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  const before = process.umask(0)
  try {
    loadOrCreateSecrets(directory, ['SESSION_SECRET'])
  } finally {
    process.umask(before)
  }
  assert.equal(statSync(join(directory, 'secrets.json')).mode & 0o777, 0o600)
})

test('a damaged file of secrets is refused, not replaced', () => {
  for (const damaged of ['', '{"SESSION_SECRET":', '[]', '"text"', '{"SESSION_SECRET": 5}']) {
    const directory = temporaryDirectory()
    const path = join(directory, 'secrets.json')
    writeFileSync(path, damaged)
    assert.throws(() => loadOrCreateSecrets(directory, ['SESSION_SECRET']), KnownError, damaged)
    assert.equal(readFileSync(path, 'utf8'), damaged)
  }
})
