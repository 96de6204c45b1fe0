// The list of quick tests keeps its budget, and names what exists.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findTestFiles, isLong, isOf } from '../scripts/tests/files.ts'
import { QUICK, QUICK_BUDGET_SEC } from '../scripts/tests/quick.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

test('the quick tests take no more processor time than their budget', () => {
  const seconds = QUICK.reduce((sum, entry) => sum + entry.seconds, 0)
  assert.ok(seconds <= QUICK_BUDGET_SEC, `${seconds} s: take something out of scripts/tests/quick.ts`)
})

test('each entry of the list is a test, and none is listed twice', () => {
  const files = findTestFiles('quick')
  for (const { path } of QUICK)
    assert.ok(
      files.some((file) => isOf(path, file)),
      path,
    )
  for (const file of files) assert.equal(QUICK.filter(({ path }) => isOf(path, file)).length, 1, file)
})

test('each test file belongs to exactly one run', () => {
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const runs = (['quick', 'other', 'long'] as const).flatMap(findTestFiles)
  assert.deepEqual(runs.sort(), all)
  assert.ok(findTestFiles('long').every(isLong))
})
