// Every planted bug can be planted in the sources as they are. That the tests notice it, `npm run planted` shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findProblems, readBugs } from '../../scripts/planted/bugs.ts'

test('every planted bug applies in exactly one place, and names tests that are there', () => {
  const bugs = readBugs()
  assert.ok(bugs.length > 200, `${bugs.length} bugs`)
  const problems = findProblems(bugs)
  assert.deepEqual(problems, [], 'See test/planted/README.md, "Stale"; npm run planted -- --refresh')
})
