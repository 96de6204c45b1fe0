// Upgrades without a pause: while a newer version's migration is in the database, the old code runs and restarts, and
// two instances share one ledger. Migrations only add; unused parts go a release later.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { ETHER, paymentOf, startWorld } from '../support/world.ts'
import { type LedgerService, startLedger } from './ledger.ts'
import { admin } from './servers.ts'

let database: TestDatabase
let service: LedgerService
const dataDir = temporaryDirectory()
before(async () => {
  database = await createDatabase()
  service = await startLedger(dataDir, { DATABASE_URL: database.url })
})
after(async () => {
  await service?.stop()
  await database?.drop()
})

test('code runs on a schema that a newer version has extended, and starts with it', async () => {
  await service.buy(5)
  await admin(database.url, async (sql) => {
    await sql`ALTER TABLE payments ADD COLUMN note text NOT NULL DEFAULT ''`
    await sql`ALTER TABLE nodes ADD COLUMN note text`
    await sql`CREATE TABLE notes (id bigint PRIMARY KEY)`
    await sql`INSERT INTO migrations (name, checksum) VALUES ('9999_notes.sql', 'of a newer version')`
  })
  await service.buy(6)
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
  await service.stop()
  service = await startLedger(dataDir, { DATABASE_URL: database.url })
  await service.buy(7)
})

test('if one of two instances stops during requests, none of them fails, and the other continues', async () => {
  const world = await startWorld()
  const [minter, distributor] = [1, 2].map((account) => world.chain.accounts[account]?.privateKey ?? '')
  const settings = {
    DATABASE_URL: world.directUrl,
    RPC_URL: world.chain.rpcUrl,
    FACTORY_ADDRESS: world.factory,
    START_BLOCK: '1',
    PAYMENT_ADDRESS: world.at(3),
    MINTER_PRIVATE_KEY: minter ?? '',
    DISTRIBUTOR_PRIVATE_KEY: distributor ?? '',
    // The ledger has its terms.
    CREDIT_INTERVAL_SEC: '',
    CREDIT_SLOT_SEC: '',
  }
  // One as in production, where a stop waits for balancers, and the service refuses a test chain's keys: so it only serves.
  const { MINTER_PRIVATE_KEY, DISTRIBUTOR_PRIVATE_KEY, ...served } = settings
  const production = {
    NODE_ENV: 'production',
    CHAIN_ID: `${world.chain.chainId}`,
    SESSION_SECRET: 'f3b1c2d4e5a69788f0e1d2c3b4a59687',
    CRON_KEY: 'a4b1c2d4e5a69788f0e1d2c3b4a59687',
    ADMIN_KEY: 'b5b1c2d4e5a69788f0e1d2c3b4a59687',
  }
  const instances = [
    await startLedger(temporaryDirectory(), settings),
    await startLedger(temporaryDirectory(), { ...served, ...production }),
  ]
  try {
    const [first, second] = instances as [LedgerService, LedgerService]
    const paid = await world.pay(5, ETHER / 100n)
    await until('the node', async () => {
      await world.chain.mine()
      await first.pass('payments')
      return (await paymentOf(world, paid))?.state === 'minted'
    })
    // Sent before the stop: these requests must get their answers.
    const asked = Array.from({ length: 40 }, (_, i) => fetch(`${second.url}/api/distributions?limit=${i + 1}`))
    await asked[0]
    const exit = second.stop()
    const answers = await Promise.all(asked)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    await until('the word that it is not ready', async () => (await fetch(`${second.url}/readyz`)).status === 503)
    assert.equal((await fetch(`${second.url}/api/stats`)).status, 200)
    assert.equal((await exit).code, 0)
    assert.equal((await first.get<{ totalNodes: number }>('/api/stats')).totalNodes, 1)
  } finally {
    for (const instance of instances) await instance.stop()
    await world.close()
  }
})
