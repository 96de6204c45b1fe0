// A small ledger written by hand, for tests of the HTTP surface: what the follower would have written, row by row,
// under the schema's own constraints and triggers.
import { jsonRows, type Pool } from '../../src/db/core/sql.ts'
import type { Address, Hash } from '../../src/domain/units.ts'

/** A made-up but well-formed hash, always the same for the same words. */
export function hashOf(words: string): Hash {
  return `0x${Buffer.from(words).toString('hex').padStart(64, '0').slice(-64)}` as Hash
}

/** A made-up address. */
export function walletOf(number: number): Address {
  return `0x${number.toString(16).padStart(40, 'a')}` as Address
}

const GENESIS_TIME = 1_750_000_000
export const blockTime = (block: number) => GENESIS_TIME + block

/** Tiers basic (0.01 ether), plus (0.025) and founder (0.05, token holders only), and legacy, which is off sale. */
export async function insertTiers(sql: Pool): Promise<void> {
  const token = walletOf(0x7e)
  const rows = [
    { id: 'basic', no: 1, price: '10000000000000000', max: 10, bps: 10_000, holding: '0', onSale: true },
    { id: 'plus', no: 2, price: '25000000000000000', max: 5, bps: 15_000, holding: '0', onSale: true },
    {
      id: 'founder',
      no: 3,
      price: '50000000000000000',
      max: 2,
      bps: 20_000,
      holding: '1000000000000000000000',
      onSale: true,
    },
    { id: 'legacy', no: 4, price: '70000000000000000', max: 2, bps: 20_000, holding: '0', onSale: false },
  ]
  for (const row of rows) {
    const held = row.holding !== '0'
    await sql`
      INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, holding_wei, holding_token, holding_symbol,
        holding_decimals, payout_bps, on_sale, from_block, from_time, entered_by)
      VALUES (${row.id}, 1, ${row.no}, ${row.id.toUpperCase()}, ${row.price}, ${row.max}, ${row.holding}, ${held ? token : null},
        ${held ? 'DEMO' : null}, ${held ? 18 : null}, ${row.bps}, ${row.onSale}, 0, ${GENESIS_TIME}, 'test')`
  }
  await insertAnyTerms(sql)
}

/** Enters some credit terms, because nothing is sold without them. */
export async function insertAnyTerms(sql: Pool): Promise<void> {
  await sql`
    INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by)
    VALUES (0, true, 1, 2, 86400, 3600, 'test')`
}

/** The block up to which the ledger has followed. */
async function followTo(sql: Pool, block: number): Promise<void> {
  await sql`
    INSERT INTO cursors (name, block_number, block_hash, block_time)
    VALUES ('follow', ${block}, ${hashOf(`block ${block}`)}, ${blockTime(block)})
    ON CONFLICT (name) DO UPDATE SET block_number = excluded.block_number, block_hash = excluded.block_hash,
      block_time = excluded.block_time`
}

export async function insertCohort(
  sql: Pool,
  cohort: { cohort: number; tierNo: number; nextDue: number },
): Promise<void> {
  await sql`
    INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, block_number, block_hash)
    VALUES (${cohort.cohort}, ${cohort.tierNo}, 60, ${cohort.nextDue}, 1, ${hashOf('block 1')})`
}

/** Receives all payments of such a ledger. The same wallet as in `http.ts`. */
const PAYMENTS_WALLET = walletOf(0xfee)

/** A payment as the follower sees it, in any state that needs no node. */
export async function insertPayment(
  sql: Pool,
  payment: {
    txHash: Hash
    from: Address
    valueWei: string
    state?: string
    reason?: string
    tierId?: string
    block?: number
  },
): Promise<number> {
  const { txHash, from, valueWei, state = 'seen', reason = null, tierId = null, block = 5 } = payment
  const orphaned = state === 'orphaned'
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, state, reason, tier_id, tier_version, block_number,
      block_hash, tx_index, block_time)
    VALUES (${txHash}, ${txHash}, ${PAYMENTS_WALLET}, ${from}, ${valueWei}, true, ${state}, ${reason}, ${tierId}, ${tierId === null ? null : 1},
      ${orphaned ? null : block}, ${orphaned ? null : hashOf(`block ${block}`)}, 0, to_timestamp(${blockTime(block)}))
    RETURNING id`
  return row?.id ?? 0
}

/** A node minted in a block. `payment` names its payment's transaction; a node without a payment has none. */
export async function insertNode(
  sql: Pool,
  node: {
    nodeId: number
    owner: Address
    cohort: number
    block?: number
    payment?: { txHash: Hash; valueWei: string; tierId: string }
  },
): Promise<void> {
  const { nodeId, owner, cohort, block = 10, payment } = node
  const paymentId = payment
    ? await insertPayment(sql, { ...payment, from: owner, state: 'accepted', block: block - 1 })
    : null
  await sql`
    INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at,
      block_number, block_hash)
    SELECT ${nodeId}, ${owner}, cohort, ${payment?.txHash ?? hashOf(`ref ${nodeId}`)}, ${paymentId}, per_node_wei, turn_count,
      ${hashOf(`mint ${nodeId}`)}, to_timestamp(${blockTime(block)}), ${block}, ${hashOf(`block ${block}`)}
    FROM cohorts WHERE cohort = ${cohort}`
  await sql`UPDATE cohorts SET size = size + 1 WHERE cohort = ${cohort}`
  if (paymentId !== null) await sql`UPDATE payments SET state = 'minted', node_id = ${nodeId} WHERE id = ${paymentId}`
}

/** A round that pays each named cohort its next turn. */
export async function insertRound(
  sql: Pool,
  round: {
    round: number
    block: number
    turns: { cohort: number; amountWei: bigint }[]
    mode?: 'treasury' | 'swaps'
  },
): Promise<void> {
  const { round: number, block, turns, mode = 'treasury' } = round
  const time = blockTime(block)
  await sql.begin(async (tx) => {
    const paid = tx`(
      SELECT c.*, r."amountWei" AS amount, t.tier_id, t.payout_bps, div(r."amountWei" * 10000, t.payout_bps) AS drawn
      FROM jsonb_to_recordset(${jsonRows(turns)}::text::jsonb) AS r(cohort int, "amountWei" numeric)
      JOIN cohorts c USING (cohort) JOIN tiers t ON t.tier_no = c.tier_no AND t.live) paid`
    await tx`
      INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash)
      SELECT ${number}, ${mode}, sum(amount * size), sum(size), ${hashOf(`round ${number}`)}, to_timestamp(${time}), ${block},
        ${hashOf(`block ${block}`)}
      FROM ${paid}`
    await tx`
      INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, tier_id, seed_block, seed, proof, min_wei, max_wei,
        payout_bps)
      SELECT ${number}, cohort, turn_count + 1, next_due, 1, amount, size, tier_id, ${block}, ${hashOf('seed')}, 'proven', drawn, drawn, payout_bps
      FROM ${paid}`
    await tx`
      UPDATE cohorts c SET turn_count = c.turn_count + 1, per_node_wei = c.per_node_wei + paid.amount,
        next_due = c.next_due + c.interval_sec, last_turn_at = to_timestamp(${time})
      FROM ${paid} WHERE paid.cohort = c.cohort`
  })
}

/** A successful withdrawal, or one that reverted and moved nothing. */
async function insertWithdrawal(
  sql: Pool,
  withdrawal: { nodeId: number; amountWei: bigint; to: Address; block: number; failed?: boolean },
): Promise<void> {
  const { nodeId, amountWei, to, block, failed = false } = withdrawal
  await sql.begin(async (tx) => {
    const [node] = await tx<{ withdrawn: bigint }[]>`
      SELECT withdrawn_wei AS withdrawn FROM nodes WHERE node_id = ${nodeId} FOR UPDATE`
    const total = (node?.withdrawn ?? 0n) + amountWei
    await tx`
      INSERT INTO withdrawals (node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at,
        confirmed_at, block_number, block_hash)
      VALUES (${nodeId}, ${amountWei.toString()}, ${failed ? null : total.toString()}, ${to}, ${hashOf(`withdraw ${nodeId} ${block}`)},
        ${failed ? null : 0}, ${failed ? 'failed' : 'sent'}, to_timestamp(${blockTime(block)}), to_timestamp(${blockTime(block)}),
        ${block}, ${hashOf(`block ${block}`)})`
    if (!failed) await tx`UPDATE nodes SET withdrawn_wei = ${total.toString()} WHERE node_id = ${nodeId}`
  })
}

/** The ledger of most tests: wallet 1 has two nodes (one paid for, one not), wallet 2 one; two rounds, two withdrawals. */
export async function insertSmallLedger(sql: Pool): Promise<void> {
  await insertTiers(sql)
  await followTo(sql, 100)
  await insertCohort(sql, { cohort: 1, tierNo: 1, nextDue: blockTime(20) })
  await insertCohort(sql, { cohort: 2, tierNo: 2, nextDue: blockTime(500) })
  await insertNode(sql, {
    nodeId: 1,
    owner: walletOf(1),
    cohort: 1,
    payment: { txHash: hashOf('pay 1'), valueWei: '10000000000000000', tierId: 'basic' },
  })
  await insertRound(sql, { round: 1, block: 20, turns: [{ cohort: 1, amountWei: 700n }] })
  await insertNode(sql, { nodeId: 2, owner: walletOf(1), cohort: 1, block: 30 })
  await insertNode(sql, {
    nodeId: 3,
    owner: walletOf(2),
    cohort: 2,
    block: 31,
    payment: { txHash: hashOf('pay 3'), valueWei: '25000000000000000', tierId: 'plus' },
  })
  await insertRound(sql, {
    round: 2,
    block: 80,
    turns: [
      { cohort: 1, amountWei: 500n },
      { cohort: 2, amountWei: 900n },
    ],
  })
  await insertWithdrawal(sql, { nodeId: 1, amountWei: 450n, to: walletOf(9), block: 85 })
  await insertWithdrawal(sql, { nodeId: 1, amountWei: 10_000n, to: walletOf(9), block: 86, failed: true })
}
