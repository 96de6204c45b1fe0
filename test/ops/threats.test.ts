// The threat model, compared with the tests that play it: each row names an existing one, each key has a row, each sign is a real alert and check.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const threats = read('docs/THREATS.md')
const rows = threats
  .split('## Each key')[1]
  ?.split('\n')
  .filter((line) => line.startsWith('| **'))
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )

test('every key of the contract and of the service has a row, and every row a test that plays it', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT }).map(read).join('\n')
  assert.ok(rows && rows.length >= 11)
  for (const key of ['minter', 'distributor', 'owner', 'pending owner', 'payments wallet', 'admin key'])
    assert.ok(
      rows.some(([name = '']) => name.startsWith(`**${key}**`)),
      key,
    )
  for (const cells of rows) {
    assert.equal(cells.length, 6, cells.join())
    for (const name of (cells.at(-1) ?? '').split('<br>'))
      assert.ok(name !== '' && tests.includes(`'${name}'`), `no test is called "${name}"`)
  }
})

test('every lie of a provider has a row that says what one and all can do, and a test that plays it', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT }).map(read).join('\n')
  const [, section = ''] = threats.split('## Providers that lie')
  const lies = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
  assert.ok(lies.length >= 10)
  for (const line of lies.slice(1)) {
    const cells = line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1)
    assert.equal(cells.length, 4, line)
    assert.ok(tests.includes(`'${cells.at(-1)}'`), `no test is called "${cells.at(-1)}"`)
  }
})

test('every alert and every check of the doctor that it names is there', () => {
  const alerts = read('ops/prometheus/alerts.yaml')
  for (const [name = ''] of threats.matchAll(/NodeLedger\w+/g)) assert.ok(alerts.includes(`alert: ${name}\n`), name)
  const doctor = globSync('src/cli/doctor/*.ts', { cwd: ROOT }).map(read).join('\n')
  for (const [, check = ''] of threats.matchAll(/`((?:keys|nodes|payments|owner|cohorts|funds)\.\w+)`/g)) {
    assert.ok(doctor.includes(`'${check}':`), check)
  }
})
