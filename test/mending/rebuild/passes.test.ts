// The ledger is a projection: followed again from nothing, in other ranges and with all of it past, the result is the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTransaction, jsonRows } from '../../../src/db/core/sql.ts'
import { insertFirstWallet } from '../../../src/db/sale/payment-wallets.ts'
import { noteGuard } from '../../../src/db/sends/guard.ts'
import { wei } from '../../../src/domain/units.ts'
import { checkInvariants } from '../../support/invariants.ts'
import { openDatabase } from '../../support/postgres.ts'
import { ETHER, enterTier, INTERVAL_SEC, SLOT_SEC, startWorld } from '../../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n

/** Columns of each table that come from the chain, so neither row ids nor insertion times. */
const PROJECTED: Record<string, string> = {
  blocks: '*',
  cursors: '*',
  cohorts: '*',
  nodes: `node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, withdrawn_wei, mint_tx_hash, minted_at,
    block_number, block_hash`,
  node_transfers: '*',
  owners: '*',
  rounds: '*',
  turns: '*',
  single_turns: '*',
  skips: '*',
  withdrawals: `node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, confirmed_at,
    block_number, block_hash`,
  wallet_outflows: '*',
  totals: '*',
  payments: `tx_hash, ref, from_address, value_wei, succeeded, state, reason, tier_id, tier_version, node_id, block_number,
    block_hash, tx_index, block_time`,
}

test('a ledger rebuilt from the chain equals the one that was followed as it happened', async () => {
  const world = await startWorld()
  await using database = await openDatabase(5)
  const { pool } = database
  try {
    await world.settle()
    for (const [account, price] of [
      [5, BASIC],
      [6, PLUS],
      [5, BASIC + 1n],
      [3, BASIC],
    ] as const)
      await world.pay(account, price)
    await world.settle()
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
    await world.act(5, 'withdraw', [1n, world.at(9), 1000n])
    await world.chain.increaseTime(SLOT_SEC)
    await world.pay(7, BASIC)
    await world.settle()
    await world.act(7, 'withdrawAll', [[3n], world.at(7)])
    await world.act(5, 'transferFrom', [world.at(5), world.at(8), 1n])
    await world.act(5, 'withdraw', [1n, world.at(5), 1n])
    for (const priceWei of [3n * BASIC, 4n * BASIC].map(wei)) {
      await enterTier(world, { tierId: 'basic', tierNo: 1, priceWei })
      await world.pay(10, priceWei)
      await world.settle()
    }
    await world.chain.increaseTime(3 * INTERVAL_SEC)
    await world.rest()
    await world.act(8, 'withdrawAll', [[1n], world.at(8)])
    await world.act(8, 'withdraw', [1n, world.at(8), 10n ** 20n])
    await world.rest()
    await checkInvariants(world)

    const tiers = await world.pool`SELECT * FROM tiers`
    await pool`INSERT INTO tiers SELECT * FROM jsonb_populate_recordset(NULL::tiers, ${jsonRows(tiers)}::text::jsonb)`
    const terms =
      await world.pool`SELECT from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by FROM credit_terms`
    await pool`
      INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by)
      SELECT from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by
      FROM jsonb_populate_recordset(NULL::credit_terms, ${jsonRows(terms)}::text::jsonb)`
    await inTransaction(pool, (sql) => insertFirstWallet(sql, world.at(3), 0, 'test'))
    // As each start does.
    await noteGuard(pool)
    const rebuilt = world.instance({ pool, directUrl: database.url })
    const outcome = await rebuilt.payments()
    assert.equal(outcome.minted, 5)
    assert.equal((await pool`SELECT FROM outbox_attempts`).length, 0, 'nothing is sent for what was done')
    for (const [table, columns] of Object.entries(PROJECTED)) {
      const rows = (sql: typeof pool) =>
        sql.unsafe(`SELECT row_to_json(t)::text AS row FROM (SELECT ${columns} FROM ${table}) t ORDER BY 1`)
      assert.deepEqual([...(await rows(pool))], [...(await rows(world.pool))], `${table} is as it was`)
    }
  } finally {
    await world.close()
  }
})
