// The page of faults is true: each fault has its planted bugs, and no bug names another fault. `npm run planted` shows
// that the tests notice these bugs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readBugs } from '../../scripts/planted/bugs.ts'

const page = readFileSync(new URL('README.md', import.meta.url), 'utf8')

/** Faults that combine others, whose bugs cover them. */
const MADE_OF_OTHERS = ['F38', 'F42']

/** The numbers of each row of the tables. */
const rows = page
  .split('\n')
  .filter((line) => /^\| [FHI]\d/.test(line))
  .map((line) => line.split(' | ')[0]?.match(/[FHI]\d+/g) ?? [])
const bugs = readBugs()
const withBugs = new Set(
  bugs.flatMap(({ notes }) => notes.flatMap((note) => /^Fault: (.+)$/.exec(note)?.[1]?.split(', ') ?? [])),
)

test('a bug is planted against every fault', () => {
  assert.ok(rows.length > 60)
  const bare = rows.flat().filter((number) => !withBugs.has(number))
  assert.deepEqual(
    bare.filter((number) => !MADE_OF_OTHERS.includes(number)),
    [],
  )
})

test('the page has every fault of a planted bug', () => {
  const known = rows.flat()
  assert.deepEqual(
    [...withBugs].filter((number) => !known.includes(number)),
    [],
  )
})

test('no number is given to two faults, no name to two bugs', () => {
  const twice = (all: readonly string[]) => all.filter((one, i) => all.indexOf(one) !== i)
  assert.deepEqual(twice(rows.flat()), [])
  assert.deepEqual(twice(bugs.map(({ name }) => name)), [])
})
