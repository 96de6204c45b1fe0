// What referral codes earn. A payment's code is the first in its calldata that was registered and open at its block, unless the code's payee is the
// payer. The code earns once the payment has its node; a refund reverses that. What is due is what was earned, minus what was reversed and what
// was paid. A code may let its commissions wait after the mint. Nothing here writes.
import type { Address, Hash } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'

/** SQL: each version of each code, with the block from which on a later version replaces it. */
const VERSIONS = `SELECT *, min(from_block) OVER (PARTITION BY code ORDER BY version ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS until_block
  FROM referral_codes`

/** SQL conditions on payments `p` and on paid commissions `f`. */
interface Extent {
  payments: string
  paid: string
}
const ALL: Extent = { payments: '', paid: '' }
/** Only the codes of one payee, by `own`, which the statement defines. The cost grows with the sales of these codes. */
const OF_PAYEE: Extent = {
  payments: "AND string_to_array(p.codes, ',') && (SELECT codes FROM own)",
  paid: 'AND f.commission_of = ANY ((SELECT codes FROM own)::text[])',
}

/**
 * SQL: payments of a source that became nodes, each with its code, the code's payee, and the commission in wei, rounded down. The codes of all
 * payments are looked up in one join, because a look-up for each payment reads all codes again. `block` comes first in DISTINCT ON, so that the
 * database can apply a range of it to the source.
 */
const earning = (source: string, { block, txHash }: { block: string; txHash: string }, only: Extent) => `SELECT * FROM (
    SELECT DISTINCT ON (${block}, p.id) v.code, v.payee, div(p.value_wei::numeric * v.commission_bps, 10000) AS wei, p.value_wei, v.commission_bps,
      p.tx_hash AS payment_tx_hash, ${txHash} AS tx_hash, ${block} AS block_number, n.block_number AS minted_block, n.minted_at + v.wait_sec * interval '1 second' AS ripe_at, p.from_address,
      CASE WHEN p.proof = 'believed' THEN p.proof ELSE n.proof END AS proof
    FROM ${source} JOIN nodes n ON n.node_id = p.node_id CROSS JOIN unnest(string_to_array(p.codes, ',')) WITH ORDINALITY AS c(code, place)
      JOIN (${VERSIONS}) v ON v.code = c.code AND v.from_block <= p.block_number AND (v.until_block > p.block_number) IS NOT FALSE
    WHERE p.codes IS NOT NULL AND p.state = 'minted' ${only.payments}
      AND (to_timestamp(v.opens_at) <= p.block_time) IS NOT FALSE AND (to_timestamp(v.closes_at) > p.block_time) IS NOT FALSE
    ORDER BY ${block}, p.id, c.place) e
  WHERE payee <> from_address`

const COLUMNS =
  'code, payee, wei, value_wei, commission_bps, payment_tx_hash, tx_hash, block_number, minted_block, ripe_at, proof'

/** One row for each commission earned, reversed or paid, in the block of that. `proof` is the evidence of the mint and the amount. */
const booksOf = (only: Extent) => `
  SELECT 'earned' AS kind, ${COLUMNS}
    FROM (${earning('payments p', { block: 'p.block_number', txHash: 'p.tx_hash' }, only)}) e
  UNION ALL
  SELECT 'reversed', ${COLUMNS}
    FROM (${earning('refunds f JOIN payments p ON p.ref = f.payment_ref', { block: 'f.block_number', txHash: 'f.tx_hash' }, only)}) e
  UNION ALL
  SELECT 'paid', f.commission_of, f.to_address, f.value_wei::numeric, NULL, NULL, NULL, f.tx_hash, f.block_number, NULL, NULL, NULL
    FROM refunds f WHERE f.commission_of IS NOT NULL ${only.paid}`

/** SQL: the books of commissions. */
export const COMMISSIONS = booksOf(ALL)
const OWN_COMMISSIONS = booksOf(OF_PAYEE)

/** The figures of a code and a payee in a period: how many payments became nodes, what they earned, and what was reversed and paid. */
export interface CommissionLine {
  code: string
  payee: Address
  count: number
  valueWei: bigint
  earnedWei: bigint
  reversedWei: bigint
  paidWei: bigint
}

const LINE = `code, payee, count(*) FILTER (WHERE kind = 'earned') AS count,
  coalesce(sum(value_wei) FILTER (WHERE kind = 'earned'), 0)::numeric AS "valueWei", coalesce(sum(wei) FILTER (WHERE kind = 'earned'), 0) AS "earnedWei",
  coalesce(sum(wei) FILTER (WHERE kind = 'reversed'), 0) AS "reversedWei", coalesce(sum(wei) FILTER (WHERE kind = 'paid'), 0) AS "paidWei"`

export async function readCommissions(
  sql: Sql,
  { after, upTo }: { after: number; upTo: number },
): Promise<CommissionLine[]> {
  return await sql<CommissionLine[]>`
    SELECT ${sql.unsafe(LINE)} FROM (${sql.unsafe(COMMISSIONS)}) c
    WHERE block_number > ${after} AND block_number <= ${upTo} GROUP BY code, payee ORDER BY code, payee`
}

/** The figures of a code and a payee in the whole ledger, with what is due. */
export interface DueCommission extends CommissionLine {
  /** How much of what was earned and not reversed rests on mints that are not final. */
  notFinalWei: bigint
  /** How much of what is left still waits for its code's time. */
  waitingWei: bigint
  /** How much of what is left only one provider reports. It is due only if we believe it. */
  believedWei: bigint
  /** Negative if we have paid more than has been earned so far. Later commissions offset it. */
  dueWei: bigint
  /** How much of it files pay whose payment is not recorded yet. A file made `again` replaces all earlier ones. */
  filedWei: bigint
  /** When the latest of these files was made, ISO 8601; null if there is none. */
  fileMadeAt: string | null
}

/** Blocks up to a height with mints that earned a commission and that only one provider reports, newest first. */
export async function readBelievedMints(
  sql: Sql,
  final: number,
  limit: number,
): Promise<{ number: number; hash: Hash }[]> {
  return await sql<{ number: number; hash: Hash }[]>`
    SELECT DISTINCT n.block_number AS number, n.block_hash AS hash FROM nodes n JOIN payments p ON p.node_id = n.node_id
    WHERE p.codes IS NOT NULL AND n.proof = 'believed' AND n.block_number <= ${final} ORDER BY 1 DESC LIMIT ${limit}`
}

/** The files of a line `l` whose payment is not recorded. A payment belongs to a file with exactly its amount. */
const filesOf = (sql: Sql) => sql`(
  SELECT coalesce(sum((files - paid) * wei), 0) AS "filedWei", iso(max(at)) AS "fileMadeAt"
  FROM (SELECT wei, count(*) AS files, max(at) AS at, (SELECT count(*) FROM refunds r
      WHERE r.commission_of = l.code AND r.to_address = l.payee AND r.value_wei = wei AND r.recorded_at >= min(a.at)) AS paid
    FROM (SELECT at, (after ->> 'valueWei')::numeric AS wei, max(id) FILTER (WHERE after ->> 'again' = 'true') OVER () AS latest, id
      FROM (SELECT at, id, detail -> 'after' AS after FROM audit WHERE subject = l.code AND action = 'commissionFileMade') made
      WHERE after ->> 'payee' = l.payee) a
    WHERE id >= coalesce(latest, 0) GROUP BY wei) g
  WHERE files > paid)`

/**
 * Only earnings of nodes minted up to a final block are due. What was reversed or paid counts from any block. What only one provider reports is not
 * due, unless we believe it, nor is what waits; but what was already paid for these is no debt of the payee's.
 * With a `payee`, only the lines of that payee for its own codes.
 */
export async function readDueCommissions(
  sql: Sql,
  { final, trustsOne, payee = null }: { final: number; trustsOne: boolean; payee?: Address | null },
): Promise<DueCommission[]> {
  const ownCodes = sql`WITH own AS MATERIALIZED (SELECT array_agg(DISTINCT code) AS codes FROM referral_codes WHERE payee = ${payee})`
  const lines: Fragment = sql.unsafe(payee === null ? COMMISSIONS : OWN_COMMISSIONS)
  const left = (which: Fragment) =>
    sql`coalesce(sum(CASE kind WHEN 'earned' THEN wei ELSE -wei END) FILTER (WHERE ${which}), 0)`
  return await sql<DueCommission[]>`
    ${payee === null ? sql`` : ownCodes}
    SELECT l.*, "filedWei", "fileMadeAt", greatest("earnedWei" - "reversedWei" - "paidWei" - "notFinalWei" - "waitingWei" - CASE WHEN ${trustsOne} THEN 0 ELSE "believedWei" END,
        least("earnedWei" - "reversedWei" - "paidWei", 0)) AS "dueWei"
    FROM (SELECT ${sql.unsafe(LINE)}, ${left(sql`minted_block > ${final}`)} AS "notFinalWei",
        ${left(sql`minted_block <= ${final} AND ripe_at > now`)} AS "waitingWei",
        ${left(sql`minted_block <= ${final} AND ripe_at <= now AND proof = 'believed'`)} AS "believedWei"
      FROM (${lines}) c, (SELECT to_timestamp(coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0)) AS now) n
      ${payee === null ? sql`` : sql`WHERE c.payee = ${payee}`}
      GROUP BY code, payee) l LEFT JOIN LATERAL ${filesOf(sql)} f ON true
    ORDER BY code, payee`
}
