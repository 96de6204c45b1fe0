// A ledger rebuilt from nothing equals the old one except for the operator's decisions, and reports differences.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorDeps } from '../../../src/boot/app.ts'
import type { Pool } from '../../../src/db/core/sql.ts'
import { readState, writeState } from '../../../src/db/core/state.ts'
import { allowWallet, denyWallet } from '../../../src/db/payments/deny-list.ts'
import { readTrends } from '../../../src/db/reads/trends.ts'
import { type Rebuilt, rebuild } from '../../../src/mending/rebuild/rebuild.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { cancelWallet, changeWallet } from '../../../src/operator/acts/payment-wallets.ts'
import { payInside, putForwarder } from '../../support/forwarder.ts'
import { openDatabase } from '../../support/postgres.ts'
import { ETHER, enterTier, INTERVAL_SEC, startWorld, type World } from '../../support/world.ts'

const BASIC = ETHER / 100n

/** Rebuilds a world's ledger, from what `chain` answers, into a new database; `body` sees both. */
async function rebuilt(
  world: World,
  body: (outcome: Rebuilt, pool: Pool, again: () => Promise<Rebuilt>) => Promise<void>,
  chain = world.ctx.chain,
) {
  await using database = await openDatabase(5)
  const { pool } = database
  const { ctx } = world.instance({ pool, directUrl: database.url, chain })
  const go = () => rebuild(ctx, world.pool, () => {})
  await body(await go(), pool, go)
}

/** Each hour of a day in the ledger: no row of the other one's outbox was copied. */
async function trendsOf(world: World, pool: Pool): Promise<string[]> {
  const signers = { minter: world.at(1), distributor: world.at(2) }
  const bins = await readTrends(pool, { hours: 24, by: 'hour', signers })
  assert.ok(bins.some(({ ledger }) => /"roundGas" ?: ?{"transactions" ?: ?[1-9]/.test(JSON.stringify(ledger))))
  return bins.map(({ startAt, ledger }) => `${startAt} ${JSON.stringify(ledger)}`)
}

const tables = ({ comparison }: Rebuilt) => comparison?.differences.map(({ table }) => table)

/** A ledger with a past: nodes, rounds, withdrawals, a gift, waiting payments, and the operator's decisions about some. */
async function pastOf(world: World): Promise<void> {
  await putForwarder(world)
  await world.settle()
  await denyWallet(world.pool, { address: world.at(7), label: 'exchange', reason: 'many people', addedBy: 'operator' })
  const refunded = await world.pay(6, BASIC + 1n)
  for (const [account, value] of [
    [5, BASIC],
    [5, BASIC + 2n],
    [7, BASIC],
    [3, BASIC / 2n],
    [9, 1n],
    [1, BASIC],
    [8, 0n],
  ] as const)
    await world.pay(account, value)
  await payInside(world, 77n)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(9), 1000n])
  await world.act(5, 'transferFrom', [world.at(5), world.at(8), 1n])
  await world.rest()
  await world.pool`UPDATE payments SET state = 'refunded', reason = NULL WHERE tx_hash = ${refunded}`
  // Released and, because the contract had no room for it, refunded: the last decision stands.
  for (const verdict of ['accepted', 'refunded'])
    await world.pool`
      INSERT INTO payment_verdicts (payment_id, verdict, evidence, decided_by)
      SELECT id, ${verdict}, '{}', 'operator' FROM payments WHERE tx_hash = ${refunded}`
  await world.pool`INSERT INTO grants (ref, reason, granted_by) VALUES (${`0x${'99'.repeat(32)}`}, 'a gift to come', 'operator')`
}

test('a rebuilt ledger equals the old one with the operator’s decisions, and lists differences', async () => {
  const world = await startWorld()
  try {
    await pastOf(world)
    const sent = (await world.pool`SELECT FROM outbox_attempts`).length
    await rebuilt(world, async (outcome, pool, again) => {
      assert.deepEqual(outcome.comparison?.differences, [])
      assert.ok((outcome.comparison?.rows ?? 0) > 50, 'there was something to compare')
      assert.equal((await pool`SELECT FROM nodes`).length, 1)
      const states = await pool`SELECT concat_ws(' ', state, reason) AS told FROM payments ORDER BY 1`
      assert.deepEqual(
        states.map((row) => row.told),
        [
          'held senderDenied',
          'held unattributed',
          'held wrongAmount',
          'ignored operator',
          'ignored self',
          'minted',
          'refunded',
        ],
      )
      assert.equal((await pool`SELECT FROM grants`).length, 1)
      assert.deepEqual(await trendsOf(world, pool), await trendsOf(world, world.pool))
      assert.equal((await pool`SELECT FROM outbox_attempts`).length, 0, 'a rebuild sends nothing')
      await assert.rejects(again(), /already holds a ledger/)
    })
    await world.pool`UPDATE cohorts SET size = size + 1 WHERE size > 0`
    await world.pool`DELETE FROM withdrawals`
    await world.pool`UPDATE payments SET state = 'dismissed' WHERE reason = 'wrongAmount'`
    await rebuilt(world, async (outcome) => {
      assert.deepEqual(tables(outcome), ['cohorts', 'withdrawals', 'payments'])
      const withdrawals = outcome.comparison?.differences[1]
      assert.deepEqual([withdrawals?.missing, withdrawals?.extra, withdrawals?.differing], [0, 1, 0])
      assert.match(withdrawals?.examples[0] ?? '', /only in the new one/)
    })
    assert.equal((await world.pool`SELECT FROM outbox_attempts`).length, sent)
  } finally {
    await world.close()
  }
})

test('a rebuild takes over the final state of changes that the operator makes meanwhile', async () => {
  const world = await startWorld()
  const { pool } = world
  try {
    await pastOf(world)
    const before = { address: world.at(8), label: 'mixer', reason: 'allowed again', addedBy: 'operator' }
    await denyWallet(pool, before)
    const change = async () => {
      await writeState(pool, 'paused', true)
      await denyWallet(pool, { ...before, address: world.at(10) })
      await allowWallet(pool, before.address)
      await pool`DELETE FROM grants WHERE ref = ${`0x${'99'.repeat(32)}`}`
      await enterTier(world, { tierId: 'basic', tierNo: 1, priceWei: (BASIC * 3n) as never })
    }
    let pending = true
    const chain: typeof world.ctx.chain = {
      ...world.ctx.chain,
      async observe(...range) {
        if (pending) await change()
        pending = false
        return world.ctx.chain.observe(...range)
      },
    }
    const check = async ({ comparison }: Rebuilt, into: Pool) => {
      assert.deepEqual(comparison?.differences, [])
      assert.equal(await readState(into, 'paused'), true)
    }
    await rebuilt(world, check, chain)
  } finally {
    await world.close()
  }
})

const ADA = { name: 'ada', requestId: null }
const change = async (world: Pick<World, 'ctx' | 'pool'>, input: object) => {
  const done = await changeWallet.unguarded(operatorDeps(world.ctx, world.pool), ADA, input as never)
  if (isOperatorRefusal(done)) return assert.fail(done.message)
  return done
}

test('a rebuild follows a wallet that is entered meanwhile from its first block, unless undone', async () => {
  const world = await startWorld()
  try {
    await pastOf(world)
    let asked = 0
    const chain: typeof world.ctx.chain = {
      ...world.ctx.chain,
      async observe(...range) {
        if (asked++ === 0) {
          await change(world, { address: world.at(13) })
          await world.chain.mine()
          await world.payments()
          await cancelWallet(operatorDeps(world.ctx, world.pool), ADA, { address: world.at(13) })
          await change(world, { address: world.at(12), stolen: true })
          await world.pay(6, BASIC, world.at(12))
          await world.settle()
        }
        return world.ctx.chain.observe(...range)
      },
    }
    const check = async ({ comparison }: Rebuilt, pool: Pool) => {
      assert.deepEqual(comparison?.differences, [])
      assert.equal((await pool`SELECT FROM payments WHERE wallet = ${world.at(12)} AND state = 'minted'`).count, 1)
      assert.equal((await pool`SELECT FROM wallet_books`).count, 2)
    }
    await rebuilt(world, check, chain)
  } finally {
    await world.close()
  }
})
