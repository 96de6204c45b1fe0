// What `doctor` reads from the ledger: the last runs, waiting work, recent failures. Reads only, a few rows each.
import type { PassTimes } from '../../domain/health.ts'
import type { Address } from '../../domain/units.ts'
import { actsOf } from '../../domain/webhooks/kinds.ts'
import { actionIn } from '../core/audit.ts'
import { withoutSuccess } from '../core/passes.ts'
import type { Sql } from '../core/sql.ts'
import { isOdd } from '../nodes/cohorts.ts'

export interface PassRun extends PassTimes {
  name: string
  secondsAgo: number
  /** The error of the last finished run; null if there was none. */
  error: string | null
}

/** The last run of each pass, by the database's clock. */
export async function readRuns(sql: Sql): Promise<PassRun[]> {
  return await sql<PassRun[]>`
    SELECT name, extract(epoch FROM clock_timestamp() - started_at)::float8 AS "secondsAgo",
      ${withoutSuccess(sql, sql`passes`)} AS "secondsWithoutSuccess", error FROM passes ORDER BY name`
}

/** The number of held payments by reason, most first. */
export async function readHeldReasons(sql: Sql): Promise<{ reason: string; payments: number }[]> {
  return await sql<{ reason: string; payments: number }[]>`
    SELECT reason, count(*) AS payments FROM payments WHERE state = 'held' GROUP BY reason ORDER BY count(*) DESC, reason`
}

export interface RecentTrouble {
  /** Our transactions of the last day that reverted. */
  reverted: number
  pending: number
  /** Null if none is pending. */
  oldestPendingSec: number | null
  /** Cooldowns of signers in the last quarter of an hour. */
  cooldowns: number
  /** Senders whose transactions providers reject for lack of funds. */
  unfunded: Address[]
}

/** Recent failures of our transactions. Leaves out pending transactions of a key that is not in `signers`; null includes all keys. */
export async function readRecentTrouble(sql: Sql, signers: readonly Address[] | null): Promise<RecentTrouble> {
  const ours = signers ? sql`AND sender = ANY(${[...signers]})` : sql``
  const [row] = await sql<RecentTrouble[]>`
    SELECT
      (SELECT count(*) FROM outbox WHERE state = 'reverted' AND created_at > now() - interval '1 day') AS reverted,
      (SELECT count(*) FROM outbox WHERE state = 'pending' ${ours}) AS pending,
      (SELECT extract(epoch FROM clock_timestamp() - min(created_at))::float8 FROM outbox WHERE state = 'pending' ${ours}) AS "oldestPendingSec",
      to_json(array(SELECT DISTINCT sender FROM outbox o WHERE state = 'pending' ${ours} AND (SELECT last_outcome FROM outbox_attempts
        WHERE outbox_id = o.id ORDER BY attempt DESC LIMIT 1) = 'insufficientFunds')) AS unfunded,
      (SELECT count(*) FROM audit WHERE action = 'senderRests' AND at > now() - interval '15 minutes') AS cooldowns`
  if (!row) throw new Error('a query that always returns one row returned none')
  return row
}

/** The most items of one kind that we name. */
const NAMED_MAX = 20

/** Uses of our keys by others within the last week, newest first. */
export async function readForeign(sql: Sql): Promise<string[]> {
  const rows = await sql<{ subject: string }[]>`
    SELECT coalesce(subject, 'reported as restored') AS subject FROM audit
    WHERE ${actionIn(sql, actsOf('key.used', 'ledger.restored'))} AND at > now() - interval '7 days'
    ORDER BY at DESC LIMIT ${NAMED_MAX}`
  return rows.map(({ subject }) => subject)
}

/** Refs of payments that another wallet's node uses, while the payment is undecided, newest first. */
export async function readTakenRefs(sql: Sql): Promise<string[]> {
  const rows = await sql<{ ref: string }[]>`
    SELECT ref FROM payments WHERE state = 'held' AND reason = 'mintedElsewhere' ORDER BY block_number DESC LIMIT ${NAMED_MAX}`
  return rows.map(({ ref }) => ref)
}

/** Payments that have waited for ten minutes because only one provider reports them, newest first. */
export async function readUnproven(sql: Sql): Promise<string[]> {
  const rows = await sql<{ txHash: string }[]>`
    SELECT tx_hash AS "txHash" FROM payments
    WHERE state IN ('seen', 'accepted') AND proof = 'believed' AND updated_at < now() - interval '10 minutes'
      AND (state = 'accepted' OR succeeded AND value_wei IN (SELECT price_wei FROM tiers))
    ORDER BY block_number DESC LIMIT ${NAMED_MAX}`
  return rows.map(({ txHash }) => txHash)
}

/** Ids of residues with exactly the value of a failed transaction in their block, and the first such block; null if there is none. */
export async function readFailedResidues(sql: Sql): Promise<{ ids: number[]; fromBlock: number } | null> {
  const rows = await sql<{ id: number; block: number }[]>`
    SELECT id, block_number AS block FROM payments r WHERE state = 'held' AND reason = 'unattributed' AND EXISTS (
      SELECT FROM payments f WHERE f.block_number = r.block_number AND f.block_hash = r.block_hash AND f.wallet = r.wallet
        AND f.value_wei = r.value_wei AND f.state = 'ignored' AND f.reason = 'failed')
    ORDER BY block_number LIMIT ${NAMED_MAX}`
  const [first] = rows
  return first ? { ids: rows.map(({ id }) => id), fromBlock: first.block } : null
}

/** A cohort that the ledger's terms do not explain. */
export interface UnusualCohort {
  cohort: number
  intervalSec: number
  /** True if the contract's owner did not set its interval either. Then it takes no mints and is not credited. */
  odd: boolean
}

/** Cohorts that the ledger's terms do not explain: another party opened them, or the owner set their interval. */
export async function readUnusualCohorts(sql: Sql): Promise<UnusualCohort[]> {
  return await sql<UnusualCohort[]>`
    SELECT cohort, interval_sec AS "intervalSec", ${isOdd(sql)} AS odd FROM cohorts c
    WHERE cohort > 0 AND EXISTS (SELECT FROM credit_terms)
      AND (${isOdd(sql)} OR NOT EXISTS (SELECT FROM credit_terms t WHERE t.interval_sec = c.interval_sec))
    ORDER BY cohort LIMIT ${NAMED_MAX}`
}
