// Cohorts as the ledger followed them. For reorganisations we keep each cohort's state after every recent block.
import type { FactoryEvent } from '../../domain/observed.ts'
import type { LedgerCohort } from '../../domain/replay.ts'
import { VALID_FOR_SEC_MAX } from '../../domain/send.ts'
import { jsonRows, type Sql } from '../core/sql.ts'

function columns(sql: Sql) {
  return sql`cohort, tier_no AS "tierNo", interval_sec AS "intervalSec", next_due AS "nextDue", size,
    per_node_wei AS "perNodeWei", turn_count AS "turnCount", extract(epoch FROM last_turn_at)::bigint AS "lastTurnAt",
    block_number AS "openedBlock", block_hash AS "openedHash"`
}

/** All opened cohorts, by number. Each tier has interval / slot of them, whatever the number of nodes. */
export async function readCohorts(sql: Sql): Promise<LedgerCohort[]> {
  return await sql<LedgerCohort[]>`SELECT ${columns(sql)} FROM cohorts WHERE cohort > 0 ORDER BY cohort`
}

/** Writes cohorts at the end of a range of blocks, and their states after each block in which they changed. */
export async function writeCohorts(
  sql: Sql,
  cohorts: readonly LedgerCohort[],
  states: readonly { blockNumber: number; state: LedgerCohort }[],
): Promise<void> {
  if (cohorts.length === 0) return
  await sql`
    INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, last_turn_at,
      block_number, block_hash)
    SELECT cohort, "tierNo", "intervalSec", "nextDue", size, "perNodeWei", "turnCount", to_timestamp("lastTurnAt"),
      "openedBlock", "openedHash"
    FROM jsonb_to_recordset(${jsonRows(cohorts)}::text::jsonb) AS r(cohort int, "tierNo" int, "intervalSec" bigint,
      "nextDue" bigint, size int, "perNodeWei" numeric, "turnCount" int, "lastTurnAt" bigint, "openedBlock" bigint,
      "openedHash" text)
    ON CONFLICT (cohort) DO UPDATE SET interval_sec = excluded.interval_sec, next_due = excluded.next_due,
      size = excluded.size, per_node_wei = excluded.per_node_wei, turn_count = excluded.turn_count,
      last_turn_at = excluded.last_turn_at`
  const rows = states.map(({ blockNumber, state }) => ({ blockNumber, ...state }))
  await sql`
    INSERT INTO cohort_states (cohort, block_number, interval_sec, next_due, size, per_node_wei, turn_count, last_turn_at)
    SELECT cohort, "blockNumber", "intervalSec", "nextDue", size, "perNodeWei", "turnCount", to_timestamp("lastTurnAt")
    FROM jsonb_to_recordset(${jsonRows(rows)}::text::jsonb) AS r(cohort int, "blockNumber" bigint, "intervalSec" bigint,
      "nextDue" bigint, size int, "perNodeWei" numeric, "turnCount" int, "lastTurnAt" bigint)`
}

/** Stores the opening values of cohorts, and the first block in which the contract's owner set an interval. The cohorts must be stored already. */
export async function writeOpenings(sql: Sql, events: readonly FactoryEvent[]): Promise<void> {
  const openings = events.filter((event) => event.kind === 'cohortOpened')
  const set = events.filter((event) => event.kind === 'intervalSet')
  if (openings.length > 0)
    await sql`
      UPDATE cohorts c SET opened_interval_sec = r."intervalSec", first_due = r."firstDue", opened_at = r."blockTime"
      FROM jsonb_to_recordset(${jsonRows(openings)}::text::jsonb) AS r(cohort int, "intervalSec" bigint, "firstDue" bigint, "blockTime" bigint)
      WHERE c.cohort = r.cohort`
  if (set.length > 0)
    await sql`
      UPDATE cohorts c SET owner_set_block = r.block FROM (SELECT cohort, min("blockNumber") AS block
        FROM jsonb_to_recordset(${jsonRows(set)}::text::jsonb) AS e(cohort int, "blockNumber" bigint) GROUP BY cohort) r
      WHERE c.cohort = r.cohort AND c.owner_set_block IS NULL`
}

/**
 * True if a cohort `c` is odd: it was opened with an interval that was neither in the ledger's terms at that time nor set by the contract's owner
 * since, or with a phase that is not a multiple of the slot. Terms count for an hour after they end, because a transaction signed under them may open
 * a cohort then. A cohort from before the first terms is not odd, because a rebuilt ledger does not know the terms at its opening. Nor is a cohort
 * without a stored opening, which the reconciler entered. Never null.
 */
export function isOdd(sql: Sql) {
  return sql`(coalesce(c.opened_at >= (SELECT floor(extract(epoch FROM min(entered_at))) FROM credit_terms), false) AND NOT EXISTS (SELECT FROM credit_terms t
    WHERE t.from_time <= c.opened_at AND c.first_due % t.slot_sec = 0
      AND (c.owner_set_block IS NOT NULL OR t.interval_sec = c.opened_interval_sec)
      AND NOT EXISTS (SELECT FROM credit_terms next
        WHERE next.from_time > t.from_time AND next.from_time <= c.opened_at - ${VALID_FOR_SEC_MAX}::int)))`
}

/** A cohort opened by another party, such as a thief of the minter's key. */
export interface OddCohort {
  cohort: number
  intervalSec: number
  /** Unix seconds. */
  firstDue: number
}

/** The odd cohorts among these, or among all. They take no mints, and no round credits them. */
export async function readOddCohorts(sql: Sql, numbers: readonly number[] | null = null): Promise<OddCohort[]> {
  return await sql<OddCohort[]>`
    SELECT cohort, interval_sec AS "intervalSec", first_due AS "firstDue" FROM cohorts c
    WHERE ${isOdd(sql)} ${numbers ? sql`AND cohort = ANY(${[...numbers]})` : sql``} ORDER BY cohort`
}

/** Cohorts that nodes join and rounds credit: all except the odd ones. */
export async function readSoundCohorts(sql: Sql): Promise<LedgerCohort[]> {
  return await sql<
    LedgerCohort[]
  >`SELECT ${columns(sql)} FROM cohorts c WHERE cohort > 0 AND NOT ${isOdd(sql)} ORDER BY cohort`
}

/** Rewinds every cohort to its state after block `height`, and removes later cohorts. Their nodes must be gone already. */
export async function rewindCohorts(sql: Sql, height: number): Promise<void> {
  const removals = await sql<{ cohort: number }[]>`
    DELETE FROM cohort_states WHERE block_number > ${height} RETURNING cohort`
  const cohorts = [...new Set(removals.map((row) => row.cohort))]
  await sql`DELETE FROM cohorts WHERE block_number > ${height}`
  await sql`UPDATE cohorts SET owner_set_block = NULL WHERE owner_set_block > ${height}`
  await sql`
    UPDATE cohorts c SET interval_sec = s.interval_sec, next_due = s.next_due, size = s.size,
      per_node_wei = s.per_node_wei, turn_count = s.turn_count, last_turn_at = s.last_turn_at
    FROM (
      SELECT DISTINCT ON (cohort) * FROM cohort_states WHERE cohort = ANY(${cohorts}) ORDER BY cohort, block_number DESC
    ) s WHERE s.cohort = c.cohort`
}

/** Deletes states from before a height, except for each cohort's last one. */
export async function pruneCohortStates(sql: Sql, below: number): Promise<void> {
  await sql`
    DELETE FROM cohort_states s WHERE block_number < ${below}
      AND EXISTS (SELECT FROM cohort_states n WHERE n.cohort = s.cohort AND n.block_number > s.block_number
        AND n.block_number <= ${below})`
}

/** SQL about nodes `n`: neither a payment nor a grant. */
export const UNBACKED = 'n.payment_id IS NULL AND NOT EXISTS (SELECT FROM grants g WHERE g.ref = n.ref)'

/** SQL: the number of nodes in a cohort with neither payment nor grant, counted up to a limit. */
export const countUnpaid = (most: number) =>
  `(SELECT count(*) FROM (SELECT FROM nodes n WHERE ${UNBACKED} AND n.cohort IS NOT NULL LIMIT ${most}) u)`

/** SQL: one row with two numbers: the nodes that are due at the followed block's time, and the nodes that have a next credit time. */
export const DUE_AND_SCHEDULED = `
  SELECT coalesce(sum(size) FILTER (WHERE next_due <= (SELECT block_time FROM cursors WHERE name = 'follow')), 0)::bigint AS due,
    coalesce(sum(size), 0)::bigint AS scheduled FROM cohorts`

/** Nodes with neither payment nor grant, by cohort. A cohort that has any such node is not credited. */
export async function countUnbackedNodes(sql: Sql, cohorts: readonly number[]): Promise<Map<number, number>> {
  const rows = await sql<{ cohort: number; nodes: number }[]>`
    SELECT n.cohort, count(*) AS nodes FROM nodes n
    WHERE n.cohort = ANY(${[...cohorts]}) AND ${sql.unsafe(UNBACKED)}
    GROUP BY n.cohort`
  return new Map(rows.map((row) => [row.cohort, row.nodes]))
}

/** The blocks from a block on in which a cohort was credited, or turns of it were skipped, once per credit and skip. */
export async function readCreditBlocks(sql: Sql, cohort: number, from: number): Promise<number[]> {
  const rows = await sql<{ block: number }[]>`
    SELECT block_number AS block FROM rounds JOIN (
      SELECT round FROM turns WHERE cohort = ${cohort} UNION ALL SELECT round FROM skips WHERE cohort = ${cohort}) events USING (round)
    WHERE block_number >= ${from}`
  return rows.map(({ block }) => block)
}
