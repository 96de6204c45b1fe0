// Compares two ledgers at the same block, row by row. A large ledger takes no more memory than a small one. Everything that comes from the chain must
// be equal. The passes may have decided differently on payments without a node, so such differences are only reported. In surveyed blocks it skips
// transactions that moved nothing, because a survey cannot find them.
import { readSurveyedTo } from '../../db/blocks/surveyed.ts'
import type { Sql } from '../../db/core/sql.ts'

/** How many rows we fetch at a time from each ledger. */
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
  /** The columns that we leave out. */
  but?: string
  /** SQL: a jsonb object that we compare besides the other columns. */
  also?: string
  where?: string
  /** What changes if a ledger was surveyed up to block `to`. It leaves out transactions up to that block that moved nothing. */
  surveyed?: (to: number) => Pick<Projection, 'but' | 'where'>
}

/** A person's verdict on a payment `t` that is in a block and meets a condition `p`. */
const verdictsWhere = (p: string) =>
  `decided_by <> 'pass' AND withdrawn_at IS NULL AND EXISTS (SELECT FROM payments p WHERE p.id = t.payment_id AND p.state <> 'orphaned' AND ${p})`

/** The tables whose rows come from the chain or were copied. Row ids, times of writing and proofs are left out. */
export const PROJECTIONS: readonly Projection[] = [
  { table: 'cursors', key: 'name' },
  { table: 'blocks', key: 'number' },
  { table: 'tiers', key: 'tier_id, version' },
  { table: 'allowlists', key: 'id' },
  { table: 'referral_codes', key: 'code, version' },
  { table: 'allowlist_entries', key: 'list, address' },
  { table: 'allowlist_nodes', key: 'list, page', but: 'nodes', also: `jsonb_build_object('nodes', md5(nodes))` },
  { table: 'credit_terms', key: 'from_time', but: 'id, entered_at, entered_by' },
  { table: 'grants', key: 'ref' },
  { table: 'senders', key: 'address' },
  { table: 'passkeys', key: 'id', but: 'counter, transports, used_at, revoked_by' },
  { table: 'admin_keys', key: 'id', but: 'used_at, revoked_by' },
  { table: 'passkey_invitations', key: 'id', but: 'by_key, by_passkey, made_at, passkey_expires_at, revoked_by' },
  { table: 'attributions', key: 'ref' },
  { table: 'contract_wallet_modes', key: 'from_block' },
  { table: 'allowed_wallets', key: 'address' },
  { table: 'cohorts', key: 'cohort', but: 'opened_interval_sec, first_due, opened_at, owner_set_block' },
  { table: 'cohort_states', key: 'cohort, block_number' },
  {
    table: 'nodes',
    key: 'node_id',
    but: 'id, payment_id, proof',
    also: `jsonb_build_object('paid', payment_id IS NOT NULL)`,
  },
  { table: 'expulsions', key: 'node_id' },
  { table: 'node_transfers', key: 'block_number, log_index' },
  { table: 'owners', key: 'owner' },
  { table: 'rounds', key: 'round' },
  { table: 'turns', key: 'round, cohort', but: 'proof' },
  { table: 'single_turns', key: 'round, cohort, due', but: 'proof' },
  { table: 'skips', key: 'round, cohort' },
  { table: 'owner_acts', key: 'block_number, log_index' },
  {
    table: 'withdrawals',
    key: `tx_hash, coalesce(log_index, -1), node_id`,
    but: 'id',
    surveyed: (to) => ({ where: `status <> 'failed' OR block_number > ${to}` }),
  },
  {
    table: 'payments',
    key: 'ref',
    but: 'id, proof, unsigned_type, state, reason, tier_id, tier_version, outbox_id, updated_at',
    also: `jsonb_build_object('stands', CASE WHEN state IN ('seen', 'accepted', 'minting', 'held') THEN 'waiting' ELSE state END,
      'ignored_for', CASE WHEN state = 'ignored' THEN reason END, 'sold_as', CASE WHEN state = 'minted' THEN tier_id END)`,
    where: `state <> 'orphaned'`,
    surveyed: (to) => ({ where: `state <> 'orphaned' AND (succeeded OR block_number > ${to})` }),
  },
  {
    table: 'payment_verdicts',
    key: `(SELECT ref FROM payments p WHERE p.id = t.payment_id), decided_at`,
    but: 'id, payment_id, withdrawn_at, withdrawn_by',
    where: verdictsWhere('true'),
    surveyed: (to) => ({ where: verdictsWhere(`(p.succeeded OR p.block_number > ${to})`) }),
  },
  { table: 'dust', key: `encode(tx_hash, 'hex'), wallet_id, inner_index` },
  { table: 'zero_transfers', key: 'block_number, wallet_id', surveyed: (to) => ({ where: `block_number > ${to}` }) },
  { table: 'refunds', key: 'tx_hash, to_address, inner_index' },
  { table: 'wallet_outflows', key: 'ref', but: 'from_block' },
  { table: 'payment_wallets', key: 'wallet', but: 'id, grace_sec, entered_at, entered_by, closed_at, closed_by' },
  {
    table: 'wallet_books',
    key: 'wallet',
    but: 'base_wei, base_block, audited_block, audited_proof',
    surveyed: () => ({ but: 'base_wei, base_block, audited_block, audited_proof, zero_transfers' }),
  },
  { table: 'totals', key: 'single' },
]

/** Why payments wait. */
const WAITING: Projection = {
  table: "(SELECT ref, state, reason FROM payments WHERE state IN ('seen', 'accepted', 'minting', 'held'))",
  key: 'ref',
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
  for (const usual of PROJECTIONS) {
    const projection = isSurveyed ? { ...usual, ...usual.surveyed?.(surveyedTo) } : usual
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
  const [oldRows, newRows] = [rowsOf(before, projection), rowsOf(after, projection)]
  let [ours, theirs] = [await next(oldRows), await next(newRows)]
  while (ours || theirs) {
    if (theirs === null || (ours !== null && ours.key < theirs.key)) {
      result.missing++
      show(`only in the old one: ${ours?.row}`)
      ours = await next(oldRows)
    } else if (ours === null || theirs.key < ours.key) {
      result.extra++
      show(`only in the new one: ${theirs.row}`)
      theirs = await next(newRows)
    } else {
      result.rows++
      if (ours.row !== theirs.row) {
        result.differing++
        show(`${ours.row} is now ${theirs.row}`)
      }
      ours = await next(oldRows)
      theirs = await next(newRows)
    }
  }
  return result
}

/** Rows in byte order of their keys. JavaScript compares plain text in the same order. */
async function* rowsOf(
  sql: Sql,
  { table, key, but = '', also = `'{}'`, where = 'true' }: Projection,
): AsyncGenerator<Row> {
  const query = `SELECT keyed.key, keyed.row FROM (
      SELECT array_to_string(ARRAY[${key
        .split(/,(?![^(]*\))/)
        .map((part) => `(${part})::text`)
        .join(', ')}], '/') AS key,
        ((to_jsonb(t) - string_to_array('${but}', ', ')) || ${also})::text AS row
      FROM ${table} t WHERE ${where}) keyed ORDER BY keyed.key COLLATE "C"`
  for await (const batch of sql.unsafe<Row[]>(query).cursor(FETCH)) yield* batch
}

async function next(rows: AsyncGenerator<Row>): Promise<Row | null> {
  const step = await rows.next()
  return step.done ? null : step.value
}
