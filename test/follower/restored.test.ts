// A ledger restored from a backup, or rebuilt from nothing, has forgotten things: the service never mints, without the
// operator, what may have been refunded meanwhile.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { inTransaction, jsonRows, type Pool } from '../../src/db/core/sql.ts'
import { denyWallet } from '../../src/db/payments/deny-list.ts'
import { insertFirstWallet } from '../../src/db/sale/payment-wallets.ts'
import type { Hash } from '../../src/domain/units.ts'
import { openDatabase } from '../support/postgres.ts'
import { ETHER, type Instance, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

/** A second database with the first one's terms: a backup's copy, or a start from nothing. */
async function inWorld(body: (world: World, other: Instance, otherPool: Pool) => Promise<void>): Promise<void> {
  const world = await startWorld()
  await using database = await openDatabase(5)
  const { pool } = database
  try {
    const tiers = await world.pool`SELECT * FROM tiers`
    await pool`INSERT INTO tiers SELECT * FROM jsonb_populate_recordset(NULL::tiers, ${jsonRows(tiers)}::text::jsonb)`
    const terms =
      await world.pool`SELECT from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by FROM credit_terms`
    await pool`
      INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by)
      SELECT from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by
      FROM jsonb_populate_recordset(NULL::credit_terms, ${jsonRows(terms)}::text::jsonb)`
    await inTransaction(pool, (sql) => insertFirstWallet(sql, world.at(3), 0, 'test'))
    await body(world, world.instance({ pool, directUrl: database.url }), pool)
  } finally {
    await world.close()
  }
}

const told = async (pool: Pool, txHash: Hash) => {
  const [row] = await pool`SELECT concat_ws(' ', state, reason) AS told FROM payments WHERE tx_hash = ${txHash}`
  return row?.told
}

/** Blocks and payments passes of an instance until a mint has had time to complete. */
async function ticks(world: World, instance: Instance): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await world.chain.mine()
    await instance.payments()
  }
}

test('a ledger restored from a backup mints nothing from before, and mints what is paid later', () =>
  inWorld(async (world, restored, pool) => {
    // The backup: the payment is accepted, and not minted yet.
    const refunded = await world.pay(6, BASIC)
    await world.chain.mine()
    await world.instance({ ...restored.ctx, minter: null }).payments()
    assert.equal(await told(pool, refunded), 'accepted')
    // After the backup: the operator refunded that payment and another one, and a third one was minted.
    for (const account of [6, 7])
      await denyWallet(world.pool, { address: world.at(account), label: 'x', reason: 'y', addedBy: 'operator' })
    const alsoRefunded = await world.pay(7, BASIC)
    const minted = await world.pay(5, BASIC)
    const wrong = await world.pay(8, BASIC + 1n)
    await world.settle()
    assert.equal((await paymentOf(world, minted))?.state, 'minted')
    assert.deepEqual(await paymentOf(world, refunded), {
      state: 'held',
      reason: 'senderDenied',
      nodeId: null,
      tierId: 'basic',
    })

    await ticks(world, restored)
    assert.deepEqual(await Promise.all([refunded, alsoRefunded, minted, wrong].map((hash) => told(pool, hash))), [
      'held recheck',
      'held recheck',
      'minted',
      'held wrongAmount',
    ])
    const [audit] = await pool`SELECT count(*) AS lines FROM audit WHERE action = 'restored'`
    assert.equal(audit?.lines, 1)
    const fresh = await world.pay(7, BASIC)
    await ticks(world, restored)
    assert.equal(await told(pool, fresh), 'minted')
    assert.equal(await world.read('lastId'), 2n)

    // The operator reviewed them, and releases one.
    await pool`UPDATE payments SET state = 'accepted', reason = NULL WHERE tx_hash = ${refunded}`
    await pool`
      INSERT INTO payment_verdicts (payment_id, verdict, evidence, decided_by)
      SELECT id, 'accepted', '{}', 'operator' FROM payments WHERE tx_hash = ${refunded}`
    await ticks(world, restored)
    assert.equal(await told(pool, refunded), 'minted')
    assert.equal(await world.read('lastId'), 3n)
    // They had released another one, but the contract had no room for it: judged again, their decision still stands.
    await pool`UPDATE payments SET state = 'held', reason = 'walletLimit' WHERE tx_hash = ${alsoRefunded}`
    await pool`
      INSERT INTO payment_verdicts (payment_id, verdict, evidence, decided_by)
      SELECT id, 'accepted', '{}', 'operator' FROM payments WHERE tx_hash = ${alsoRefunded}`
    await ticks(world, restored)
    assert.equal(await told(pool, alsoRefunded), 'minted')
  }))

test('a ledger started from nothing on a chain with sold nodes holds what is not minted', () =>
  inWorld(async (world, fresh, pool) => {
    await denyWallet(world.pool, { address: world.at(6), label: 'x', reason: 'y', addedBy: 'operator' })
    const [held, minted] = [await world.pay(6, BASIC), await world.pay(5, BASIC)]
    await world.settle()
    await ticks(world, fresh)
    assert.deepEqual([await told(pool, held), await told(pool, minted)], ['held recheck', 'minted'])
    assert.equal(await world.read('lastId'), 1n)
    assert.equal((await pool`SELECT FROM audit WHERE action = 'foreignTransaction'`).length, 0)
  }))

test('so does one on a chain with open cohorts only, up to the head', () =>
  inWorld(async (world, fresh, pool) => {
    await world.settle()
    assert.equal(await world.read('lastId'), 0n)
    const paid = await world.pay(5, BASIC)
    await world.chain.mine(2)
    await ticks(world, fresh)
    assert.equal(await told(pool, paid), 'held recheck')
    assert.equal(await world.read('lastId'), 0n)
  }))

test('so does one started from nothing with other keys than those that minted', () =>
  inWorld(async (world, { ctx }, pool) => {
    await denyWallet(world.pool, { address: world.at(6), label: 'x', reason: 'y', addedBy: 'operator' })
    const [held, minted] = [await world.pay(6, BASIC), await world.pay(5, BASIC)]
    await world.settle()
    const chain = createChainReader(world.rpc, {
      factory: world.factory,
      wallets: [],
      signers: [world.at(8), world.at(9)],
    })
    await ticks(world, world.instance({ ...ctx, chain, minter: null, distributor: null }))
    assert.deepEqual([await told(pool, held), await told(pool, minted)], ['held recheck', 'minted'])
  }))

describe('in a whole ledger', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())
})
