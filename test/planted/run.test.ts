// Planting: each bug in a copy, removed again, caught only by a test that passes without it.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type PlantedBug, parsePatch } from '../../scripts/planted/patch.ts'
import { type Bench, runBugs } from '../../scripts/planted/run.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const options = { signal: new AbortController().signal, print: () => {} }
const bugOf = (name: string, tests: string[], from: string): PlantedBug =>
  parsePatch(
    `${name}\n${tests.map((each) => `Noticed by: ${each}\n`).join('')}--- a/f\n+++ b/f\n@@ @@\n-${from}\n+bug\n`,
  )

/** A copy of one file, with tests identified by their names. */
function makeBench(): { bench: Bench; text: () => string; runs: string[] } {
  const copy = temporaryDirectory()
  const text = () => readFileSync(join(copy, 'f'), 'utf8')
  const runs: string[] = []
  writeFileSync(join(copy, 'f'), 'right\nother\n')
  const run: Bench['run'] = async (_, name) => {
    runs.push(name)
    if (name === 'broken') return 'as always'
    return name === 'sharp' && text().includes('bug') ? 'it is wrong' : null
  }
  return { bench: { copies: [copy], run }, text, runs }
}

test('a bug is caught by a test that passes without it, and is removed again', async () => {
  const { bench, text, runs } = makeBench()
  const bugs = [
    bugOf('caught', ['blunt', 'sharp'], 'right'),
    bugOf('survives', ['blunt'], 'right'),
    bugOf('has nothing but a test that fails anyway', ['broken'], 'right'),
    bugOf('is stale', ['sharp'], 'wrong'),
  ]
  assert.equal(await runBugs(bugs, bench, { ...options, trusted: false }), 1)
  assert.equal(text(), 'right\nother\n')
  // Each once without a bug, a broken one twice; then with each bug.
  assert.deepEqual(runs, ['blunt', 'broken', 'broken', 'sharp', 'blunt', 'sharp', 'blunt'])
})

test('tests that are trusted run with the bug only', async () => {
  const { bench, runs } = makeBench()
  const bugs = [bugOf('caught', ['sharp'], 'right')]
  assert.equal(await runBugs(bugs, bench, { ...options, trusted: true }), 1)
  assert.deepEqual(runs, ['sharp'])
})
