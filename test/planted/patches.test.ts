// Every planted bug applies to the present sources. `npm run planted` shows that the tests notice it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EXCEPTIONS } from '../../scripts/mutation/exceptions.ts'
import { findProblems, readBugs } from '../../scripts/planted/bugs.ts'
import { isForContracts, KINDS, kindOf } from '../../scripts/planted/patch.ts'

/** At least so many of each kind, so a gap in its net lets one through. */
const OF_A_KIND_MIN = 5
/** See README.md, "Add one". */
const OF_SERVICE_MAX = 300

test('every planted bug applies in exactly one place, and lists existing tests', () => {
  const bugs = readBugs()
  assert.ok(bugs.length > 500, `${bugs.length} bugs`)
  const problems = findProblems(bugs)
  assert.deepEqual(problems, [], 'See test/planted/README.md, "Stale"; npm run planted -- --refresh')
})

test('a mutation tool makes changes of one line, so few bugs in TypeScript are kept as patches', () => {
  assert.ok(readBugs().filter((bug) => !isForContracts(bug)).length <= OF_SERVICE_MAX)
})

test('each change that no test can notice is of a line that exists, and has its reason', () => {
  for (const { file, line, reason } of EXCEPTIONS) {
    const lines = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n')
    assert.ok(
      lines.some((each) => each.trim() === line),
      `${file} has no line ${line}`,
    )
    assert.match(reason, /^[A-Z].*\.$/)
  }
})

test('there are bugs of each kind', () => {
  const bugs = readBugs()
  const counts = Object.keys(KINDS).map((kind) => [kind, bugs.filter((bug) => kindOf(bug) === kind).length] as const)
  for (const [kind, count] of counts) assert.ok(count >= OF_A_KIND_MIN, `${count} of kind ${kind}`)
})
