// Compares two ledgers at the same block, row by row. A large ledger takes no more memory than a small one. Everything that comes from the chain must
// be equal. The passes may have decided differently on payments without a node, so such differences are only reported. In surveyed blocks it skips
// transactions that moved nothing, because a survey cannot find them.
import { readSurveyedTo } from '../db/blocks/surveyed.ts'
import type { Sql } from '../db/core/sql.ts'

/** How many rows we fetch at once from each ledger. */
const FETCH = 1_000
/** How many differing rows of each table we list. */
const EXAMPLES_MAX = 5

export interface Difference {
  table: string
  /** Rows that only the old ledger has; rows that only the new one has; rows that differ. */
  missing: number
  extra: number
  differing: number
  examples: string[]
}

export interface Comparison {
  /** Differences in rows that must be equal. */
  differences: Difference[]
  /** Payments that wait in both ledgers, but for different reasons. */
  decidedAnew: number
  rows: number
  /**
   * One of the ledgers was surveyed up to this block, so up to there we did not compare transactions that moved nothing. Null if neither was
   * surveyed.
   */
  surveyedTo: number | null
}

interface Projection {
  table: string
  key: string
  columns: string
  where?: string
  /**
   * Replaces the columns or the rows to compare if a ledger was surveyed up to block `to`. It leaves out transactions up to that block that moved
   * nothing.
   */
  surveyed?: (to: number) => { columns?: string; where?: string }
}

/** The columns of each table that come from the chain or were copied. Row ids, times of writing and stored answers are left out. */
const PROJECTIONS: readonly Projection[] = [
  { table: 'cursors', key: 'name', columns: '*' },
  { table: 'blocks', key: 'number', columns: '*' },
  { table: 'tiers', key: 'tier_id, version', columns: '*' },
  { table: 'allowlists', key: 'id', columns: '*' },
  { table: 'referral_codes', key: 'code, version', columns: '*' },
  { table: 'allowlist_entries', key: 'list, address', columns: '*' },
  { table: 'allowlist_nodes', key: 'list, page', columns: 'list, page, md5(nodes) AS nodes' },
  { table: 'credit_terms', key: 'from_time', columns: 'from_time, payouts, min_wei, max_wei, interval_sec, slot_sec' },
  { table: 'grants', key: 'ref', columns: '*' },
  { table: 'senders', key: 'address', columns: '*' },
  {
    table: 'passkeys',
    key: 'id',
    columns: 'id, label, scopes, credential_id, public_key, invited_by, made_at, expires_at, revoked_at',
  },
  {
    table: 'admin_keys',
    key: 'id',
    columns: 'id, label, digest, scopes, passkey_id, made_by, made_at, expires_at, revoked_at',
  },
  {
    table: 'passkey_invitations',
    key: 'id',
    columns: 'id, label, digest, scopes, made_by, passkey_id, expires_at, revoked_at',
  },
  { table: 'attributions', key: 'ref', columns: '*' },
  { table: 'contract_wallet_modes', key: 'from_block', columns: '*' },
  { table: 'allowed_wallets', key: 'address', columns: '*' },
  {
    table: 'cohorts',
    key: 'cohort',
    columns:
      'cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, last_turn_at, block_number, block_hash',
  },
  { table: 'cohort_states', key: 'cohort, block_number', columns: '*' },
  {
    table: 'nodes',
    key: 'node_id',
    columns: `node_id, owner, cohort, ref, payment_id IS NOT NULL AS paid, per_node_at_mint_wei, turns_at_mint, withdrawn_wei,
      mint_tx_hash, minted_at, block_number, block_hash`,
  },
  { table: 'expulsions', key: 'node_id', columns: '*' },
  { table: 'node_transfers', key: 'block_number, log_index', columns: '*' },
  { table: 'owners', key: 'owner', columns: '*' },
  {
    table: 'rounds',
    key: 'round',
    columns: 'round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash',
  },
  {
    table: 'turns',
    key: 'round, cohort',
    columns: `round, cohort, turn_no, due, turns, amount_wei, node_count, tier_id, seed_block, seed, min_wei, max_wei, payout_bps`,
  },
  {
    table: 'single_turns',
    key: 'round, cohort, due',
    columns: 'round, cohort, due, amount_wei, seed_block, seed, min_wei, max_wei, payout_bps',
  },
  { table: 'skips', key: 'round, cohort', columns: '*' },
  { table: 'owner_acts', key: 'block_number, log_index', columns: '*' },
  {
    table: 'withdrawals',
    key: `tx_hash, coalesce(log_index, -1), node_id`,
    columns: `node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, confirmed_at,
      block_number, block_hash`,
    surveyed: (to) => ({ where: `status <> 'failed' OR block_number > ${to}` }),
  },
  {
    table: 'payments',
    key: 'ref',
    columns: `tx_hash, inner_index, ref, wallet, from_address, value_wei, succeeded, codes, node_id, block_number, block_hash, tx_index, block_time,
      CASE WHEN state IN ('seen', 'accepted', 'minting', 'held') THEN 'waiting' ELSE state END AS stands,
      CASE WHEN state = 'ignored' THEN reason END AS ignored_for, CASE WHEN state = 'minted' THEN tier_id END AS sold_as`,
    where: `state <> 'orphaned'`,
    surveyed: (to) => ({ where: `state <> 'orphaned' AND (succeeded OR block_number > ${to})` }),
  },
  {
    table: 'payment_verdicts',
    key: `(SELECT ref FROM payments p WHERE p.id = t.payment_id), decided_at`,
    columns: 'verdict, reason, evidence, decided_by, decided_at',
    where: `decided_by <> 'pass' AND withdrawn_at IS NULL AND EXISTS (SELECT FROM payments p WHERE p.id = t.payment_id AND p.state <> 'orphaned')`,
    surveyed: (to) => ({
      where: `decided_by <> 'pass' AND withdrawn_at IS NULL AND EXISTS (SELECT FROM payments p WHERE p.id = t.payment_id
        AND p.state <> 'orphaned' AND (p.succeeded OR p.block_number > ${to}))`,
    }),
  },
  { table: 'dust', key: `encode(tx_hash, 'hex'), wallet_id, inner_index`, columns: '*' },
  {
    table: 'zero_transfers',
    key: 'block_number, wallet_id',
    columns: '*',
    surveyed: (to) => ({ where: `block_number > ${to}` }),
  },
  { table: 'refunds', key: 'tx_hash, to_address, inner_index', columns: '*' },
  {
    table: 'wallet_outflows',
    key: 'ref',
    columns: 'ref, tx_hash, inner_index, wallet, to_address, value_wei, fee_wei, block_number, block_hash, block_time',
  },
  {
    table: 'payment_wallets',
    key: 'wallet',
    columns: 'wallet, from_block, from_time, stolen, watched_from, closed_block',
  },
  {
    table: 'wallet_books',
    key: 'wallet',
    columns: 'wallet, in_wei, out_wei, dust_transfers, zero_transfers',
    surveyed: () => ({ columns: 'wallet, in_wei, out_wei, dust_transfers' }),
  },
  { table: 'totals', key: 'single', columns: '*' },
]

const WAITING: Projection = {
  table: 'payments',
  key: 'ref',
  columns: 'ref, state, reason',
  where: `state IN ('seen', 'accepted', 'minting', 'held')`,
}

/** Compares two ledgers. Read both from a snapshot, with the cursors at the same block. `onTable` is called before each table. */
export async function compareLedgers(before: Sql, after: Sql, onTable: (table: string) => void): Promise<Comparison> {
  const surveyedTo = Math.max(await readSurveyedTo(before), await readSurveyedTo(after))
  const isSurveyed = surveyedTo >= 0
  const comparison: Comparison = {
    differences: [],
    decidedAnew: 0,
    rows: 0,
    surveyedTo: isSurveyed ? surveyedTo : null,
  }
  for (const given of PROJECTIONS) {
    const projection = isSurveyed ? { ...given, ...given.surveyed?.(surveyedTo) } : given
    onTable(projection.table)
    const { rows, ...difference } = await compareTable(before, after, projection)
    comparison.rows += rows
    if (difference.missing + difference.extra + difference.differing > 0) comparison.differences.push(difference)
  }
  comparison.decidedAnew = (await compareTable(before, after, WAITING)).differing
  return comparison
}

interface Row {
  key: string
  row: string
}

/** Walks through both ledgers' rows side by side, in the order of the keys. */
async function compareTable(before: Sql, after: Sql, projection: Projection): Promise<Difference & { rows: number }> {
  const result = { table: projection.table, missing: 0, extra: 0, differing: 0, examples: [] as string[], rows: 0 }
  const show = (text: string) => {
    if (result.examples.length < EXAMPLES_MAX) result.examples.push(text)
  }
  const [left, right] = [rowsOf(before, projection), rowsOf(after, projection)]
  let [ours, theirs] = [await next(left), await next(right)]
  while (ours || theirs) {
    if (theirs === null || (ours !== null && ours.key < theirs.key)) {
      result.missing++
      show(`only in the old one: ${ours?.row}`)
      ours = await next(left)
    } else if (ours === null || theirs.key < ours.key) {
      result.extra++
      show(`only in the new one: ${theirs.row}`)
      theirs = await next(right)
    } else {
      result.rows++
      if (ours.row !== theirs.row) {
        result.differing++
        show(`${ours.row} is now ${theirs.row}`)
      }
      ours = await next(left)
      theirs = await next(right)
    }
  }
  return result
}

/** Rows in byte order of their keys. JavaScript compares plain text in the same order. */
async function* rowsOf(sql: Sql, { table, key, columns, where }: Projection): AsyncGenerator<Row> {
  const query = `SELECT keyed.key, keyed.row FROM (
      SELECT array_to_string(ARRAY[${key
        .split(/,(?![^(]*\))/)
        .map((part) => `(${part})::text`)
        .join(', ')}], '/') AS key,
        ${columns === '*' ? 'to_jsonb(t)::text' : `(SELECT to_jsonb(picked)::text FROM (SELECT ${columns}) picked)`} AS row
      FROM ${table} t WHERE ${where ?? 'true'}) keyed ORDER BY keyed.key COLLATE "C"`
  for await (const batch of sql.unsafe<Row[]>(query).cursor(FETCH)) yield* batch
}

async function next(rows: AsyncGenerator<Row>): Promise<Row | null> {
  const { value, done } = await rows.next()
  return done ? null : value
}
