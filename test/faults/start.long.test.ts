// Starts the service while its provider or its database is down. If one merely does not answer, the service waits, and
// serves the ledger meanwhile. A definite refusal ends the start with what to do.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Postgres, startPostgres } from '../../packages/embed/postgres.ts'
import { migrateWhenUp, StartError } from '../../src/boot/preflight.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { Fault } from '../support/faults/names.ts'
import { SERVER_VARIABLE } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { INTERVAL_SEC } from '../support/world.ts'
import { type Outside, startOutside } from './outside.ts'
import { endWell, isOneNode, openStage, paid, type Stage, stateOf } from './stage.ts'

// This file's own server, which can be down when a service starts.
const dataDir = temporaryDirectory()
let server: Postgres = await startPostgres({ dataDir, log: silentLog })
process.env[SERVER_VARIABLE] = server.url

let stage: Stage
before(async () => {
  stage = await openStage()
  await stage.world.settle()
})
after(async () => {
  await endWell(stage).finally(() => stage.world.close())
  await server.stop()
})

const everything = (fault: Fault) => stage.proxy.storm({ seed: 1, rate: 1, faults: [fault] })
const statusOf = async ({ service }: Outside, path: string) => (await fetch(service.url + path)).status

/** Serves what the ledger holds, makes up nothing, and says that its passes cannot run. */
async function servesWithoutChain(instance: Outside, nodes: number): Promise<void> {
  assert.deepEqual(
    [await statusOf(instance, '/healthz'), await statusOf(instance, '/readyz'), await statusOf(instance, '/api/tiers')],
    [200, 200, 200],
  )
  assert.equal((await instance.service.get<{ totalNodes: number }>('/api/stats')).totalNodes, nodes)
  const cover = await instance.service.get<Record<string, unknown>>('/api/cover')
  assert.deepEqual([cover.contractBalanceWei, cover.outstandingWei, cover.isSolvent], [null, null, null])
  // Its own timer may be running one just then, which answers 200 and `ran: false`.
  for (const name of ['payments', 'credit'] as const)
    await until(`${name} to answer 503`, async () => (await instance.pass(name))?.status === 503)
  const [credit] = await stage.world.pool<{ error: string }[]>`SELECT error FROM passes WHERE name = 'credit'`
  assert.match(credit?.error ?? '', /chain|provider/, 'the reason is on record')
}

for (const fault of ['reset', 'unavailable', 'html', 'tooMany', 'internalError', 'rateLimit', 'truncated'] as const) {
  test(`started while its provider answers everything with ${fault}, it serves the ledger and begins later`, async () => {
    const { world, proxy } = stage
    const payment = await paid(world)
    const [nodes] = await world.pool<{ count: number }[]>`SELECT count(*) AS count FROM nodes`
    everything(fault)
    const instance = await startOutside(stage, { SCHEDULER: 'on', TICK_SEC: '1' })
    try {
      assert.match(instance.service.output(), /the passes start once the chain answers/)
      await servesWithoutChain(instance, nodes?.count ?? -1)
      proxy.calm()
      await until('the mint', async () => {
        await world.chain.mine()
        return (await stateOf(world, payment)) === 'minted'
      })
      await isOneNode(world, payment)
    } finally {
      proxy.calm()
      await instance.service.stop()
    }
  })
}

test('started while its provider’s port is closed: it serves the ledger', async () => {
  const instance = await startOutside(stage, { RPC_URL: 'http://127.0.0.1:9' })
  const [nodes] = await stage.world.pool<{ count: number }[]>`SELECT count(*) AS count FROM nodes`
  await servesWithoutChain(instance, nodes?.count ?? -1)
  await instance.service.stop()
})

test('settings with another factory than the ledger’s are refused, with or without the chain', async () => {
  everything('unavailable')
  await assert.rejects(startOutside(stage, { FACTORY_ADDRESS: stage.world.token }), /factory: the database has/)
  stage.proxy.calm()
})

test('a definite answer ends the start: no contract, another contract, a key without its role', async () => {
  const other = await openStage()
  try {
    await assert.rejects(startOutside(other, { FACTORY_ADDRESS: other.world.at(9) }), /there is no contract at/)
    await assert.rejects(startOutside(other, { FACTORY_ADDRESS: other.world.token }), /is not this version's factory/)
    const MINTER_PRIVATE_KEY = `0x${'11'.repeat(32)}`
    await assert.rejects(startOutside(other, { MINTER_PRIVATE_KEY }), /is not the factory's minter/)
    // The same answer proves nothing if the provider has not synced that far yet.
    const instance = await startOutside(other, { FACTORY_ADDRESS: other.world.at(9), START_BLOCK: '1000' })
    assert.match(instance.service.output(), /the provider lags/)
    await instance.service.stop()
  } finally {
    await other.world.close()
  }
})

test('a provider that hides the first block is tried again, and nothing wrong is remembered', async () => {
  const other = await openStage()
  try {
    const where = ({ params }: { params: unknown[] }) => params[0] === '0x0'
    other.proxy.inject('missingBlock', { where, times: Number.POSITIVE_INFINITY })
    const instance = await startOutside(other)
    assert.equal((await instance.pass('payments'))?.status, 503)
    other.proxy.calm()
    assert.equal((await instance.pass('payments'))?.status, 200)
    const [row] = await other.world.pool<{ hash: string }[]>`SELECT genesis_hash AS hash FROM ledger_state`
    assert.equal(row?.hash, (await other.world.chain.block(0)).hash)
    await instance.service.stop()
  } finally {
    await other.world.close()
  }
})

test('started with other credit terms or without keys, the ledger’s terms pay what falls due', async () => {
  const other = await openStage()
  try {
    await other.world.settle()
    const terms = () => other.world.pool`SELECT * FROM credit_terms ORDER BY from_time`
    const before = [...(await terms())]
    const none = {
      DIST_ENABLED: '',
      CREDIT_MIN_WEI: '',
      CREDIT_MAX_WEI: '',
      CREDIT_INTERVAL_SEC: '',
      CREDIT_SLOT_SEC: '',
    }
    const keyless = { MINTER_PRIVATE_KEY: '', DISTRIBUTOR_PRIVATE_KEY: '' }
    for (const settings of [{ CREDIT_MIN_WEI: '1', CREDIT_MAX_WEI: '1' }, { ...none, ...keyless }, {}]) {
      await other.world.chain.mine(1, INTERVAL_SEC)
      const instance = await startOutside(other, settings)
      const answer = await instance.pass('credit')
      await instance.service.stop()
      assert.equal(answer?.status, 200)
      assert.deepEqual([...(await terms())], before)
    }
  } finally {
    await other.world.close()
  }
})

test('started before its database, it reports that, and serves once the database is there', async () => {
  await server.stop()
  const said = Promise.withResolvers<void>()
  const starting = startOutside(stage, {}, (output) => {
    if (/The database at \S+ does not answer yet/.test(output)) said.resolve()
  })
  // If a service ends instead, or starts without its database, it prints no such line.
  assert.equal(await Promise.race([said.promise, starting]), undefined)
  server = await startPostgres({ dataDir, log: silentLog })
  const instance = await starting
  assert.equal((await instance.pass('payments'))?.status, 200)
  await instance.service.stop()
})

test('a database that stays away, or refuses, ends the start with what to do', async () => {
  const silence = migrateWhenUp('postgres://nobody:secret-word@127.0.0.1:9/ledger', () => {}, { waitMs: 100 })
  await assert.rejects(silence, (error: Error) => {
    assert.ok(error instanceof StartError)
    assert.ok(error.retryable, 'it could not be looked at: exit code 3')
    assert.match(
      error.message,
      /at 127\.0\.0\.1:9 did not answer .* Check that it is up, and that DATABASE_URL is right/,
    )
    assert.doesNotMatch(error.message, /secret-word/)
    return true
  })
  const url = new URL(stage.world.directUrl)
  url.pathname = '/no_such_database'
  await assert.rejects(
    startOutside(stage, { DATABASE_URL: url.href }),
    /refuses the connection: .*no_such_database.*Check that its URL/,
  )
  url.password = 'not-the-password'
  await assert.rejects(
    startOutside(stage, { DATABASE_URL: url.href }),
    /refuses the connection: password authentication failed/,
  )
})
