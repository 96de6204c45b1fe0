// Tests the test rig itself: databases are separate, leaks are found, chains reorganise.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { startTestChain, type TestChain } from './anvil.ts'
import { createDatabase, createEmptyDatabase, SERVER_VARIABLE } from './postgres.ts'
import { payFrom } from './wallets/payer.ts'

let chain: TestChain
before(async () => {
  chain = await startTestChain()
})
after(() => chain.stop())

test('each caller gets its own migrated database', async () => {
  const [one, other] = await Promise.all([createDatabase(), createDatabase()])
  assert.notEqual(one.url, other.url)
  const sql = postgres(one.url, { max: 1 })
  const otherSql = postgres(other.url, { max: 1 })
  await sql`create table mine (id int)`
  const [found] = await otherSql<{ migrations: string | null; mine: string | null }[]>`
    select to_regclass('migrations')::text as migrations, to_regclass('mine')::text as mine`
  assert.deepEqual({ ...found }, { migrations: 'migrations', mine: null })
  await Promise.all([sql.end(), otherSql.end()])
  await Promise.all([one.drop(), other.drop()])
})

test('a connection that a test leaves open fails its drop, with what it last ran', async () => {
  const database = await createEmptyDatabase()
  const sql = postgres(database.url, { max: 1 })
  await sql`select 'the leak'`
  await assert.rejects(database.drop(), /the leak/)
  await sql.end()
})

test('a test file that is run by itself starts its own server, and ends by itself', async () => {
  const code = `
    import { createDatabase } from './test/support/postgres.ts'
    const database = await createDatabase()
    await database.drop()
    console.log('dropped')`
  const { [SERVER_VARIABLE]: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env,
    timeout: 60_000,
  })
  assert.equal(stdout.trim(), 'dropped')
})

test('a reorganisation drops transactions, or puts others into the new blocks', async () => {
  const [{ address: from } = assert.fail(), { address: to } = assert.fail()] = chain.accounts
  await chain.mine(2)
  const dropped = await chain.send({ from, to, value: '0x1' })
  const before = await chain.mine(2)
  await chain.reorg(2)
  const after = await chain.block()
  assert.equal(after.number, before.number)
  assert.notEqual(after.hash, before.hash)
  assert.equal(await chain.rpc('eth_getTransactionByHash', [dropped]), null)

  await chain.reorg(2, [[{ from, to, value: '0x7' }, 1]])
  const head = await chain.block()
  assert.equal(head.number, before.number)
  assert.equal(head.transactions.length, 1)
  assert.equal((await chain.block(Number(head.number) - 1)).transactions.length, 0)
})

test('time, balances and snapshots are under the hand of the test', async () => {
  const [{ address: to } = assert.fail()] = chain.accounts
  const held = await chain.rpc('eth_getBalance', [to, 'latest'])
  const from = await chain.block()
  await chain.increaseTime(1000)
  const later = await chain.mine(2, 60)
  assert.ok(Number(later.timestamp) - Number(from.timestamp) >= 1060)
  await chain.setNextTime(Number(later.timestamp) + 7)
  assert.equal(Number((await chain.mine()).timestamp), Number(later.timestamp) + 7)

  const snapshot = await chain.snapshot()
  await payFrom(chain, 1, { to, value: 1n })
  assert.equal((await chain.mine()).transactions.length, 1)
  await chain.revert(snapshot)
  assert.equal(await chain.rpc('eth_getBalance', [to, 'latest']), held)
  await assert.rejects(chain.revert('0xffff'), /no snapshot/)
})
