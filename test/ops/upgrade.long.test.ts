// Upgrades by the migrations there are: the code of the commit before a migration goes on beside this code, which has migrated, and
// starts again on the newer schema. One database, one chain, the real contract; both hold the same keys.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { readMigrations } from '../../src/db/core/migrate.ts'
import { connect } from '../../src/db/core/sql.ts'
import type { Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { BASIC, isOneNode, nextPayer } from '../faults/stage.ts'
import { startTestChain } from '../support/anvil.ts'
import { runProcess, worldEnv } from '../support/cli.ts'
import { checkInvariants, firstBalance } from '../support/invariants.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { contextOf, deployContracts, INTERVAL_SEC, standingOf, type World, worldOn } from '../support/world.ts'
import { checkOut, findCommitBefore } from './earlier-code.ts'
import { type LedgerService, startLedger } from './ledger.ts'

/** The schema began with it: there is no code before that knows this ledger. Raise it once a release no longer lets the older one go on. */
const FIRST = '0001_schema.sql'
/** It starts a service four times and runs a hundred passes: half a minute, on a busy machine several. */
const TEST_MS = 600_000
/** Far more passes, each with a block, than a mint or a round takes. */
const TICKS_MAX = 8
/** No tier's price. */
const NO_PRICE = BASIC * 3n
/** Less than a thousandth of the lowest price. */
const DUST = 1n
/** As many nodes as a wallet may have, by the contract. */
const WALLET_MAX = 200n
const READS = [
  ...['/healthz', '/readyz', '/.well-known/node-ledger.json', '/api/cron/health'],
  ...['/api/stats', '/api/tiers', '/api/cover', '/api/price', '/api/deploy-quote', '/api/distributions'],
  ...['/api/distributions/1/turns', '/api/node/1'],
]
const ADMIN_READS = [
  ...['payments', 'payments?status=held', 'payments?status=minted', 'payment-wallets', 'terms', 'tiers', 'audit'],
  ...['nodes/unpaid', 'transactions', 'transactions/stuck', 'rounds', 'credit/preview', 'reconciliation', 'statement'],
]

/** The cache of compiled code, kept from the first start of a tree for its next ones; this tree's own cache stays free of trees that go. */
const compiled = temporaryDirectory()
const names = (await readMigrations()).map(({ name }) => name)
for (const migration of names.filter((name) => name > FIRST)) {
  const { commit, skip } = findCommitBefore(migration)
  test(`the code before ${migration} goes on beside this one, and on the newer schema after it`, {
    skip,
    timeout: TEST_MS,
  }, async (t) => {
    const main = checkOut(commit ?? assert.fail(), (line) => t.diagnostic(line))
    const world = await startEmptyWorld()
    const running = new Set<LedgerService>()
    const start = async (code?: string) => {
      const service = await startLedger(temporaryDirectory(), envOf(world), code)
      running.add(service)
      return service
    }
    try {
      await upgradeAndGoBack(world, { main, start })
      for (const service of running) sawNothing(service)
    } catch (error) {
      for (const service of running) {
        await service.stop()
        t.diagnostic(service.output())
      }
      throw error
    } finally {
      for (const service of running) await service.stop()
      await world.close()
    }
  })
}

/** The phases: each sells and credits, by whichever instances there are in it. */
async function upgradeAndGoBack(
  world: World,
  { main, start }: { main: string; start: (code?: string) => Promise<LedgerService> },
): Promise<void> {
  let old = await start(main)
  assert.deepEqual(await migrationsOf(world), readdirSync(join(main, '../../migrations')).sort(), 'the old schema')
  await old.admin('tiers', { tierId: 'basic', label: 'Basic', priceWei: `${BASIC}`, maxPerWallet: 10 })
  await trade(world, [old])

  const first = await start()
  assert.deepEqual(await migrationsOf(world), names, 'the newer schema, while the old instance goes on')
  for (const instances of [[old], [first], [old, first]]) await trade(world, instances)
  await reorganise(world, { follows: first, takesBack: old })
  await reorganise(world, { follows: old, takesBack: first })
  await decide(world, old, first)
  await administer(world, old, 'Named by the old instance')
  await administer(world, first, 'Named by this code')
  await trade(world, [first, old])
  for (const instance of [old, first]) await readsAnswer(world, instance)

  await first.stop()
  await trade(world, [old])
  await old.stop()
  old = await start(main)
  await trade(world, [old])
  await readsAnswer(world, old)

  const second = await start()
  await trade(world, [old, second])
  await old.stop()
  await trade(world, [second])
  await readsAnswer(world, second)
  await second.stop()
  await world.rest()
  const { code, out, err } = await runProcess(['verify'], worldEnv(world))
  assert.equal(code, 0, `verify: ${out}${err}`)
  await checkInvariants(world)
}

/** Sells a node and credits a turn, by these instances' passes at once. Dust and an amount of no tier come with it. */
async function trade(world: World, by: readonly LedgerService[]): Promise<void> {
  const payer = nextPayer()
  await world.pay(payer, DUST)
  const paid = await world.pay(payer, BASIC)
  const odd = await world.pay(payer, NO_PRICE)
  await world.chain.mine()
  await tick(world, by, 'payments', async () => (await standingOf(world, paid)) === 'minted')
  await isOneNode(world, paid)
  assert.equal(await standingOf(world, odd), 'held wrongAmount')

  const before = await roundsOf(world)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await tick(world, by, 'credit', async () => (await roundsOf(world)) > before && (await isAllCredited(world)))
}

/** Runs a pass of each instance at once, then mines, until it is done. */
async function tick(
  world: World,
  by: readonly LedgerService[],
  name: 'payments' | 'credit',
  done: () => Promise<boolean>,
): Promise<void> {
  for (let i = 0; i < TICKS_MAX; i++) {
    await Promise.all(by.map((service) => service.pass(name)))
    if (await done()) return
    await world.chain.mine()
  }
  assert.fail(`${TICKS_MAX} passes were not enough: ${by.map((service) => service.output()).join('\n')}`)
}

/** A block of a payment, an odd amount and dust, which one instance follows and the other one finds reorganised out. */
async function reorganise(
  world: World,
  { follows, takesBack }: { follows: LedgerService; takesBack: LedgerService },
): Promise<void> {
  const payer = nextPayer()
  await world.chain.mine()
  const [dust, ...paid] = [
    await world.pay(payer, DUST),
    await world.pay(payer, BASIC),
    await world.pay(payer, NO_PRICE),
  ]
  await world.chain.mine()
  await follows.pass('payments')
  assert.equal(await isStored(world, dust), true, 'dust is stored')
  await world.chain.reorg(1)
  await world.chain.mine()
  await takesBack.pass('payments')
  for (const txHash of paid) assert.match(await standingOf(world, txHash), /^orphaned/)
  assert.equal(await isStored(world, dust), false, 'dust is taken back')
}

/** Acts of both about what is held. What only this code may know, a refund that is prepared, is in the way of neither. */
async function decide(world: World, old: LedgerService, current: LedgerService): Promise<void> {
  const payer = nextPayer()
  const paid: Hash[] = []
  for (let i = 0; i < 4; i++) paid.push(await world.pay(payer, NO_PRICE))
  await world.chain.mine()
  const standings = () => Promise.all(paid.map((txHash) => standingOf(world, txHash)))
  await tick(world, [old, current], 'payments', async () =>
    (await standings()).every((is) => is === 'held wrongAmount'),
  )
  const [dismissed, refunding, ...refunded] = paid
  await old.admin(`payments/${dismissed}/dismiss`, { reason: 'by the old instance' })
  await current.admin(`payments/${refunding}/refund/prepare`, {})
  for (const [i, by] of [old, current].entries()) {
    const refundTxHash = await world.pay(4, NO_PRICE, world.at(payer))
    await world.chain.mine()
    await by.admin(`payments/${refunded[i]}/refund`, { refundTxHash })
    for (const instance of [old, current]) await instance.pass('payments')
  }
  const reason = 'wrongAmount'
  assert.deepEqual(await standings(), [
    `dismissed ${reason}`,
    'held refunding',
    ...refunded.map(() => `refunded ${reason}`),
  ])
  await readsAnswer(world, old)
  await old.admin(`payments/${refunding}`)
  await current.admin(`payments/${refunding}/refund/cancel`, {})
  await current.admin(`payments/${refunding}/dismiss`, { reason: 'by the current instance' })
  assert.equal(await standingOf(world, refunding ?? assert.fail()), `dismissed ${reason}`)
}

/** Acts about the sale and the passes: all that an operator of either may enter. */
async function administer(world: World, by: LedgerService, label: string): Promise<void> {
  await by.admin('tiers/basic', { label })
  await world.chain.mine()
  await by.admin('senders', { address: world.at(19), label, reason: 'a test' })
  await by.admin(`senders/${world.at(19)}/remove`, {})
  await by.admin('pause', {})
  await by.admin('resume', {})
  const { tiers } = await by.get<{ tiers: { label: string }[] }>('/api/tiers')
  assert.deepEqual(
    tiers.map((tier) => tier.label),
    [label],
  )
}

/** Every read answers 200, and nothing is halted. */
async function readsAnswer(world: World, service: LedgerService): Promise<void> {
  for (const path of [...READS, `/api/nodes/${world.at(5)}`]) {
    const answer = await fetch(service.url + path)
    assert.equal(answer.status, 200, `${path}: ${await answer.text()}`)
  }
  for (const path of ADMIN_READS) await service.admin(path)
  const { halted } = await service.get<{ halted: unknown }>('/api/cron/health')
  assert.equal(halted, null)
}

/** Nothing went wrong for it that it logs as an error: no statement, no pass, no request. */
function sawNothing(service: LedgerService): void {
  assert.doesNotMatch(service.output(), /"level":"(error|fatal)"|PostgresError/)
}

/** A chain with the contract, and a database with nothing in it: the first to start makes the schema and enters the terms. */
async function startEmptyWorld(): Promise<World> {
  const [database, chain] = await Promise.all([createEmptyDatabase(), startTestChain()])
  const rpc = createRpc({ urls: [chain.rpcUrl], log: silentLog })
  // Columns may be added while it is connected: a statement is prepared for the columns there were.
  const pool = connect(database.url, { max: 5, prepare: false, applicationName: 'test' })
  const parts = { chain, rpc, pool, directUrl: database.url, ...(await deployContracts(chain, WALLET_MAX)) }
  const world = worldOn({
    ...{ ...parts, ctx: contextOf(parts) },
    async close() {
      await pool.end({ timeout: 1 })
      await rpc.close()
      await chain.stop()
      await database.drop()
    },
  })
  await firstBalance(world)
  return world
}

/** Settings of both, with the test's own pace. */
const envOf = (world: World): Record<string, string> => ({ ...worldEnv(world), NODE_COMPILE_CACHE: compiled })

async function migrationsOf({ pool }: World): Promise<string[]> {
  const rows = await pool<{ name: string }[]>`SELECT name FROM migrations ORDER BY name`
  return rows.map(({ name }) => name)
}

async function roundsOf({ pool }: World): Promise<number> {
  const rows = await pool`SELECT FROM rounds WHERE node_count > 0`
  return rows.count
}

/** True if no turn of a cohort with nodes is due at the chain's head. */
async function isAllCredited({ chain, pool }: World): Promise<boolean> {
  const { timestamp } = await chain.block()
  const due = await pool`SELECT FROM cohorts WHERE size > 0 AND next_due <= ${Number(timestamp)}`
  return due.count === 0
}

/** True if a transfer is in the books, be it as dust or, by code that knows none, as a payment. */
async function isStored({ pool }: World, txHash: Hash): Promise<boolean> {
  const rows = await pool`
    SELECT FROM dust WHERE '0x' || encode(tx_hash, 'hex') = ${txHash}
    UNION ALL SELECT FROM payments WHERE tx_hash = ${txHash} AND state <> 'orphaned'`
  return rows.count > 0
}
