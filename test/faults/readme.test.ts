// The page of faults keeps its word: every fault names a bug that is planted against it, or says whose doing the outcome is, and
// every bug that it names is planted. That the bugs are noticed, `npm run planted` shows.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readBugs } from '../../scripts/planted/bugs.ts'

const page = readFileSync(new URL('README.md', import.meta.url), 'utf8')

/** The cells of each row, header rows left out. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))
  .filter((cells) => cells.at(-1) !== 'planted bugs')
const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string)
const ELSEWHERE = /’s own doing|'s own doing|^those of|^all of/

test('every fault names a bug that is planted against it, or whose doing its outcome is', () => {
  assert.ok(rows.length > 60)
  for (const cells of rows) {
    const bugs = cells.at(-1) ?? ''
    assert.ok(namesIn(bugs).length > 0 || ELSEWHERE.test(bugs), `no planted bug: ${cells[0]} ${cells[1]}`)
  }
})

test('no number is given to two faults', () => {
  const numbers = rows.flatMap((cells) => (cells[0] ?? '').match(/F\d+/g) ?? [])
  assert.deepEqual(
    numbers.filter((number, i) => numbers.indexOf(number) !== i),
    [],
  )
})

test('every bug that the page names is planted, each name is one bug', () => {
  const names = readBugs().map(({ name }) => name)
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  )
  const named = new Set(rows.flatMap((cells) => namesIn(cells.at(-1) ?? '')))
  assert.deepEqual(
    [...named].filter((name) => !names.includes(name)),
    [],
  )
})
