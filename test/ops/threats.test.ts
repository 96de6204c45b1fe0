// The threat model, compared with the tests that play it: each row has one, each key has a row, each sign is a real alert and check.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const threats = read('docs/THREATS.md')
/** The cells of each row that has a number, by their section. */
const rowsOf = (section: string): string[][] =>
  (threats.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => /^\| T\d+ \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
const keys = rowsOf('Each key')
const lies = rowsOf('Providers that lie')
const payers = rowsOf('Payers that are contracts')
const numbersOf = (rows: readonly string[][]) => rows.map(([number = '']) => number)

test('every key of the contract and of the service has a row', () => {
  for (const key of ['minter', 'distributor', 'owner', 'pending owner', 'payments wallet', 'admin key'])
    assert.ok(
      keys.some(([, name = '']) => name.startsWith(`**${key}**`)),
      key,
    )
})

test('every lie of a provider has a row with what one and all can do', () => {
  assert.ok(lies.length >= 10)
  for (const cells of lies) assert.equal(cells.length, 4, cells.join())
})

test('every row has its own number and a test of that number, and every numbered test its row', () => {
  const numbers = numbersOf([...keys, ...lies, ...payers])
  assert.ok(numbers.length >= 35)
  assert.equal(new Set(numbers).size, numbers.length)
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT }).map(read).join('\n')
  const played = [...tests.matchAll(/'(T\d+(?:, T\d+)*): /g)].flatMap(([, list = '']) => list.split(', '))
  assert.deepEqual([...new Set(played)].sort(), numbers.sort())
})

test('every alert and every check of the doctor in it exists', () => {
  const alerts = read('ops/prometheus/alerts.yaml')
  for (const [name = ''] of threats.matchAll(/NodeLedger\w+/g)) assert.ok(alerts.includes(`alert: ${name}\n`), name)
  const doctor = globSync('src/checks/*.ts', { cwd: ROOT }).map(read).join('\n')
  for (const [, check = ''] of threats.matchAll(/`((?:keys|nodes|payments|owner|cohorts|funds)\.\w+)`/g)) {
    assert.ok(doctor.includes(`'${check}':`), check)
  }
})
