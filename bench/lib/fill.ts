// Fills ledgers of any size by writing straight into the tables what the follower would have left: the rows that public reads and a round's planning
// read. Triggers and foreign keys are off meanwhile, so it sets the stored totals to what the triggers would have written.
import { inTransaction, type Pool, type Sql } from '../../src/db/core/sql.ts'

export interface LedgerSize {
  nodes: number
  rounds: number
  /** One node in this many, counted from the first, has withdrawn ... */
  withdrawingEvery: number
  /** ... this often. */
  withdrawals: number
}

/** One tier with the default schedule: a phase for each hour of a day. */
export const COHORTS = 24
const NODES_PER_WALLET = 2
/** As many as the service keeps. */
const HEADERS = 8_192
const BLOCK_SEC = 12
const HEAD_TIME = 1_790_000_000
const INTERVAL_SEC = 3_600
/** Every cohort's turn is due before the head's time: the first this many seconds before it, the others a second apart. */
const DUE_BEFORE_SEC = 600
const PRICE_WEI = '10000000000000000'
const TURN_WEI = '1000000000000'
const WITHDRAWN_WEI = '1000'
/** A year of hours. With that many, the database uses the index; it would scan a few dozen. */
const PRICED_HOURS = 8_760

/** The wallet of a node of `fillLedger`. */
export async function walletOfNode(sql: Sql, nodeId: number): Promise<string> {
  const [row] = await sql<{ owner: string }[]>`SELECT owner FROM nodes WHERE node_id = ${nodeId}`
  if (!row) throw new Error(`there is no node ${nodeId}`)
  return row.owner
}

/**
 * Fills an empty, migrated database. All nodes were minted before the first round, and every round paid every cohort. So each node has as many
 * credits as there are rounds, and an answer has as many rows in a large ledger as in a small one.
 */
export async function fillLedger(pool: Pool, size: LedgerSize): Promise<void> {
  await inTransaction(pool, async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    // Random like real ones, so that indexes on them are as large and as scattered.
    await sql`CREATE FUNCTION pg_temp.hash_of(what text, no bigint) RETURNS text LANGUAGE sql IMMUTABLE
      RETURN '0x' || md5(what || no) || md5(no || what)`
    await fillTerms(sql)
    await fillPrices(sql, size)
    await fillRounds(sql, size)
    await fillNodes(sql, size)
    await fillTotals(sql, size)
  })
  await pool`VACUUM (ANALYZE)`
  // Otherwise the database would write it to disk while we measure.
  await pool`CHECKPOINT`
}

async function fillTerms(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO blocks (number, hash, parent_hash, time, prevrandao)
    SELECT n, pg_temp.hash_of('block', n), pg_temp.hash_of('block', n - 1), ${HEAD_TIME}::bigint - (${HEADERS}::bigint - n) * ${BLOCK_SEC}::bigint,
      pg_temp.hash_of('randao', n)
    FROM generate_series(1::bigint, ${HEADERS}::bigint) n`
  await sql`
    INSERT INTO cursors (name, block_number, block_hash, block_time)
    SELECT 'follow', number, hash, time FROM blocks WHERE number = ${HEADERS}`
  // Then a round asks no provider about the seeds of its turns.
  await sql`INSERT INTO evidence_modes (from_block, mode, set_by) VALUES (1, 'proven', 'bench')`
  await sql`
    INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time, entered_by)
    VALUES ('basic', 1, 1, 'Basic', ${PRICE_WEI}, 10, 10000, true, 0, 0, 'bench')`
  await sql`
    INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by)
    VALUES (0, true, ${TURN_WEI}, ${TURN_WEI}, ${INTERVAL_SEC}, ${INTERVAL_SEC / COHORTS}, 'bench')`
}

/** Each hour in which something happened gets its price. */
async function fillPrices(sql: Sql, { rounds }: LedgerSize): Promise<void> {
  await sql`
    INSERT INTO price_history (hour, usd, quoted_at)
    SELECT hour, 2000 + extract(epoch FROM hour)::bigint % 1000000 / 1000.0, hour FROM (
      SELECT date_trunc('hour', to_timestamp(${HEAD_TIME}::bigint - n * ${INTERVAL_SEC}::bigint), 'UTC') AS hour
      FROM generate_series(0::bigint, ${Math.max(rounds, PRICED_HOURS)}::bigint) n
      UNION SELECT to_timestamp(0)) hours`
}

async function fillRounds(sql: Sql, size: LedgerSize): Promise<void> {
  const { nodes, rounds } = size
  await sql`
    INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, last_turn_at, block_number, block_hash)
    SELECT c, 1, ${INTERVAL_SEC}, ${HEAD_TIME - DUE_BEFORE_SEC}::bigint + c - 1, ${Math.floor(nodes / COHORTS)}::int
        + CASE WHEN c <= ${nodes % COHORTS}::int THEN 1 ELSE 0 END,
      ${rounds}::numeric * ${TURN_WEI}::numeric, ${rounds}, to_timestamp(${HEAD_TIME - INTERVAL_SEC}), 1, pg_temp.hash_of('block', 1)
    FROM generate_series(1, ${COHORTS}::int) c`
  await sql`
    INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash)
    SELECT r, 'treasury', ${nodes}::numeric * ${TURN_WEI}::numeric, ${nodes}, pg_temp.hash_of('round', r),
      to_timestamp(${HEAD_TIME}::bigint - (${rounds}::bigint - r + 1) * ${INTERVAL_SEC}::bigint), 1, pg_temp.hash_of('block', 1)
    FROM generate_series(1::bigint, ${rounds}::bigint) r`
  await sql`
    INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, tier_id, seed_block, seed, min_wei, max_wei,
      payout_bps)
      SELECT r, c.cohort, r, c.next_due - (${rounds}::bigint - r + 1) * ${INTERVAL_SEC}::bigint, 1, ${TURN_WEI}::wei,
        c.size, 'basic', 1, pg_temp.hash_of('seed', r * ${COHORTS}::int + c.cohort), ${TURN_WEI}::numeric, ${TURN_WEI}::numeric, 10000
      FROM generate_series(1::bigint, ${rounds}::bigint) r CROSS JOIN cohorts c ORDER BY r, c.cohort`
}

async function fillNodes(sql: Sql, size: LedgerSize): Promise<void> {
  const { nodes, withdrawingEvery, withdrawals } = size
  const everyNode = sql`generate_series(1::bigint, ${nodes}::bigint) n`
  const owner = sql`substr(pg_temp.hash_of('wallet', (n - 1) / ${NODES_PER_WALLET}::bigint), 1, 42)`
  const withdraws = sql`(n - 1) % ${withdrawingEvery}::bigint = 0`
  await sql`
    INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, tier_id, tier_version, node_id, block_number,
      block_hash, tx_index, block_time)
    OVERRIDING SYSTEM VALUE
    SELECT n, pg_temp.hash_of('payment', n), pg_temp.hash_of('ref', n), ${owner}, ${owner}, ${PRICE_WEI}::numeric, true, 'minted', 'basic', 1, n, 1,
      pg_temp.hash_of('block', 1), 0, to_timestamp(0) FROM ${everyNode}`
  await sql`
    INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, withdrawn_wei, mint_tx_hash,
      minted_at, block_number, block_hash)
    SELECT n, ${owner}, (n - 1) % ${COHORTS}::int + 1, pg_temp.hash_of('ref', n), n, 0, 0,
      CASE WHEN ${withdraws} THEN ${withdrawals}::numeric * ${WITHDRAWN_WEI}::numeric ELSE 0 END, pg_temp.hash_of('mint', n / 50),
      to_timestamp(0), 1, pg_temp.hash_of('block', 1) FROM ${everyNode}`
  await sql`
    INSERT INTO owners (owner, nodes) SELECT owner, count(*) FROM nodes GROUP BY owner`
  await sql`
    INSERT INTO withdrawals (id, node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, confirmed_at,
      block_number, block_hash)
    OVERRIDING SYSTEM VALUE
    SELECT (n - 1) * ${withdrawals}::bigint + i AS id, n, ${WITHDRAWN_WEI}::wei AS amount_wei, i * ${WITHDRAWN_WEI}::numeric,
        ${owner} AS to_address, pg_temp.hash_of('withdrawal', n * 1000 + i) AS tx_hash, 0, 'sent' AS status, to_timestamp(i) AS created_at,
        to_timestamp(i) AS confirmed_at, 1, pg_temp.hash_of('block', 1)
      FROM ${everyNode} CROSS JOIN generate_series(1::bigint, ${withdrawals}::bigint) i WHERE ${withdraws}`
}

async function fillTotals(sql: Sql, { nodes, rounds }: LedgerSize): Promise<void> {
  await sql`
    UPDATE totals SET nodes = ${nodes}, owners = (SELECT count(*) FROM owners), rounds = ${rounds},
      distributed_wei = (SELECT sum(total_wei) FROM rounds), withdrawn_wei = (SELECT coalesce(sum(amount_wei), 0) FROM withdrawals),
      sales_wei = ${nodes}::numeric * ${PRICE_WEI}::numeric`
  await sql`
    UPDATE wallet_books SET in_wei = in_wei + ${nodes}::numeric * ${PRICE_WEI}::numeric`
}
