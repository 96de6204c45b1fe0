// A ledger to export, and the facts in a file's last line.
import type { Pool } from '../../../src/db/core/sql.ts'

export const ROUNDS = 1_000
export const AMOUNT = 1_000_000_000_000_007n
export const OWNER = `0x${'a1'.repeat(20)}`

/** Nodes of one cohort, each paid for and credited in each of the rounds. */
export async function fillLedger(sql: Pool, nodes: number): Promise<void> {
  const word = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 64, '0')`
  await sql`INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time,
    entered_by) VALUES ('basic', 1, 1, 'Basic', 100, 10, 10000, true, 0, 1, 'test')`
  await sql`INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, block_number, block_hash)
    VALUES (1, 1, 100, 1000000, ${nodes}, ${(AMOUNT * BigInt(ROUNDS)).toString()}, ${ROUNDS}, 1, ${word('1')})`
  await sql`INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, state, tier_id, tier_version, block_number,
      block_hash, tx_index, block_time)
    SELECT ${word('n')}, ${word('n')}, '0x' || repeat('f3', 20), ${OWNER}, 100, true, 'accepted', 'basic', 1, 2, ${word('2')}, n, to_timestamp(100)
    FROM generate_series(1, ${nodes}::int) n`
  await sql`INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at,
      block_number, block_hash)
    SELECT row_number() OVER (ORDER BY id), ${OWNER}, 1, ref, id, 0, 0, ref, to_timestamp(200), 3, ${word('3')} FROM payments`
  await sql`INSERT INTO node_transfers (block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
    SELECT 3, node_id, node_id, '0x' || repeat('0', 40), owner, ref, ${word('3')} FROM nodes`
  await sql`UPDATE payments p SET state = 'minted', node_id = n.node_id FROM nodes n WHERE n.payment_id = p.id`
  await sql`INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash)
    SELECT n, 'treasury', ${(AMOUNT * BigInt(nodes)).toString()}::numeric, ${nodes}, ${word('n')}, to_timestamp(1000 + n), 10 + n,
      ${word('n')} FROM generate_series(1, ${ROUNDS}::int) n`
  await sql`INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, tier_id)
    SELECT n, 1, n, 1000 + n, 1, ${AMOUNT.toString()}::numeric, ${nodes}, 'basic' FROM generate_series(1, ${ROUNDS}::int) n`
  await sql`INSERT INTO withdrawals (amount_wei, block_hash, block_number, created_at, confirmed_at, log_index, node_id, status,
      to_address, tx_hash, withdrawn_total_wei)
    SELECT 5, ${word('9')}, 2000, to_timestamp(5000), to_timestamp(5000), n, n, 'sent', ${OWNER}, ${word('n')}, 5
    FROM generate_series(1, 10) n`
  await sql`UPDATE nodes SET withdrawn_wei = 5 WHERE node_id <= 10`
  await sql`INSERT INTO withdrawals (amount_wei, block_hash, block_number, created_at, node_id, status, to_address, tx_hash)
    VALUES (77, ${word('9')}, 2000, to_timestamp(5000), 1, 'failed', ${OWNER}, ${word('99')})`
  await sql`INSERT INTO cursors (name, block_number, block_hash, block_time) VALUES ('follow', 3000, ${word('3000')}, 9000)`
  await sql`INSERT INTO blocks (number, hash, parent_hash, time, prevrandao)
    SELECT n, ${word('n')}, ${word('n - 1')}, 1000 + n, ${word('n')} FROM generate_series(0, 2000) n`
  await sql`ANALYZE`
}

/** The names and values of a file's last line. */
export const factsOf = (line: string | undefined) =>
  Object.fromEntries(
    (line ?? '')
      .split(',')
      .slice(1)
      .filter(Boolean)
      .map((cell) => cell.split('=')),
  )
