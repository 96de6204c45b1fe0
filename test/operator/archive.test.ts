// Old rows leave the ledger for a file: the right ones, all of them or none, and nothing that the books or an operator's memory need.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { runHere, worldEnv } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { startWorld, type World } from '../support/world.ts'

const BASIC = 10n ** 16n
const OLD = '2020-05-17T12:00:00Z'
const directory = temporaryDirectory()

let world: World
let env: NodeJS.ProcessEnv
let minted: string
let released: string
before(async () => {
  world = await startWorld()
  env = worldEnv(world)
  minted = await world.pay(5, BASIC)
  released = await world.pay(6, BASIC + 1n)
  await world.pay(7, BASIC + 2n)
  await world.settle()
  const release = ['payments', 'release', released, '--tier-id', 'basic', '--reason', 'one wei too much', '--yes']
  assert.equal((await runHere(release, env)).code, 0)
  await world.rest()
  await world.pool`INSERT INTO audit (actor, action, detail) VALUES ('pass', 'senderRests', '{}'), ('pass', 'nodeToConfirm', '{}')`
  await world.pool`UPDATE payment_verdicts SET decided_at = ${OLD}`
  await world.pool`UPDATE audit SET at = ${OLD}`
})
after(() => world.close())

const counts = async () => {
  const [row] =
    await world.pool`SELECT (SELECT count(*) FROM payment_verdicts) AS verdicts, (SELECT count(*) FROM audit) AS audit`
  return row
}
const archive = (path: string, ...more: string[]) =>
  runHere(['archive', '--before', '2020-06-01', '--out', path, '--yes', ...more], env)

test('where the file cannot be written, or the person declines, all rows stay', async () => {
  const all = await counts()
  const nowhere = await archive(join(directory, 'no/such/folder/x.gz'))
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.err, /cannot be written \(ENOENT\)/)
  mkdirSync(join(directory, 'there'))
  assert.match((await archive(join(directory, 'there'))).err, /exists already/)
  const declined = await runHere(['archive', '--before', '2020-06-01', '--out', join(directory, 'y.gz')], env, 'n\n')
  assert.equal(declined.code, 1)
  assert.deepEqual(await counts(), all)
  assert.ok(!existsSync(join(directory, 'y.gz')))
  for (const day of ['2020-02-31', 'May', new Date().toISOString().slice(0, 10)]) {
    const { code, err } = await runHere(['archive', '--before', day, '--out', join(directory, 'z.gz'), '--yes'], env)
    assert.notEqual(code, 0)
    assert.match(err, /before/)
  }
})

test('what passes judged of minted payments and noted is in the file alone; operators’ decisions, and what is undecided, stay', async () => {
  const path = join(directory, '2020.jsonl.gz')
  const { code, err } = await archive(path)
  assert.equal(code, 0, err)
  const rows = gunzipSync(readFileSync(path))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const verdicts = rows.filter(({ table }) => table === 'payment_verdicts')
  assert.deepEqual(
    verdicts.map(({ payment, verdict }) => [payment.replace('\\x', '0x'), verdict]).sort(),
    [
      [minted, 'accepted'],
      [released, 'held'],
    ].sort(),
  )
  assert.ok(rows.some(({ table, action }) => table === 'audit' && action === 'senderRests'))
  assert.ok(rows.every(({ table, actor: by }) => table !== 'audit' || by === 'pass'))
  const left = await world.pool<
    { by: string; verdict: string }[]
  >`SELECT decided_by AS by, verdict FROM payment_verdicts ORDER BY id`
  assert.deepEqual(left.map(({ by, verdict }) => [by.startsWith('cli:') ? 'an operator' : by, verdict]).sort(), [
    ['an operator', 'accepted'],
    ['pass', 'held'],
  ])
  const [kept] = await world.pool`SELECT count(*) AS n FROM audit WHERE actor <> 'pass' OR action = 'nodeToConfirm'`
  const [audit] = await world.pool`SELECT count(*) AS n FROM audit`
  assert.equal(audit?.n, kept?.n)
})

test('the ledger goes on: the payment is shown, passes run, the books agree with the contract, and there is nothing more to take out', async () => {
  for (const hash of [minted, released]) assert.equal((await runHere(['payments', 'show', hash], env)).code, 0)
  await world.pay(8, BASIC)
  await world.rest()
  assert.equal((await runHere(['verify'], env)).code, 0)
  const again = await archive(join(directory, 'again.gz'))
  assert.equal(again.code, 0, again.err)
  assert.match(again.out + again.err, /nothing to take out/)
})
