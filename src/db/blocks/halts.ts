// The halt of the passes, and its reason: the chain they see is not the one the ledger followed. A first sighting may be a provider's lie, so the
// next clean run withdraws it. A halt that lasts is sealed, and then only an operator can clear it.

import type { Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'
import { writeAudit } from '../core/state.ts'
import { clearFinding, endTrouble, noteCalm, noteTrouble, readFinding } from '../core/troubles.ts'

/** Why the passes halt, in words. */
export const HALTED = {
  otherChain: 'the provider’s chain is not this ledger’s',
  tooDeep: 'the chain forked from the ledger before the oldest stored header',
  pastFinalized: 'the chain replaced blocks that it had reported as final',
  mintedTwice: 'the chain minted a node that the ledger has from another block',
  unproven: 'this chain’s blocks no longer recompute to their hashes and roots, from any provider',
} as const
export type HaltReason = keyof typeof HALTED

/** A halt in words: what happened, when, and the evidence. */
export const haltInWords = ({ reason, since, detail }: HaltState): string =>
  `halted since ${since}: ${HALTED[reason]} (${reason}, ${JSON.stringify(detail)})`

export interface HaltState {
  reason: HaltReason
  /** ISO 8601, by the database's clock. */
  since: string
  detail: object
  /** How many runs saw the reason, including this one. */
  looks: number
  /** True if only an operator can clear it. */
  sealed: boolean
}

/** We seal a halt after this many runs over this long, if more than one provider confirms it. By then it is not a passing lie. */
const SEAL_LOOKS = 5
const SEAL_SEC = 60

/** The halt in force; null if there is none. */
export async function readHalt(sql: Sql): Promise<HaltState | null> {
  return await readFinding(sql, 'halted')
}

/**
 * Notes that a run saw a reason to halt. A sighting may seal the halt only if it is `confirmed`: more than one of several providers shows it.
 * @returns the halt in force.
 */
export async function noteHalt(
  sql: Sql,
  { reason, detail, confirmed }: { reason: HaltReason; detail: object; confirmed: boolean },
): Promise<HaltState> {
  const [row] = await sql<{ value: HaltState }[]>`
    INSERT INTO troubles AS h (name, value)
    SELECT 'halted', jsonb_build_object('reason', ${reason}::text, 'since', iso(clock_timestamp()),
      'detail', ${jsonRows([detail])}::text::jsonb -> 0, 'looks', 1, 'sealed', false)
    ON CONFLICT (name) DO UPDATE SET updated_at = now(), value = h.value || jsonb_build_object(
      'reason', excluded.value -> 'reason', 'detail', excluded.value -> 'detail', 'looks', (h.value ->> 'looks')::int + 1,
      'sealed', (h.value ->> 'sealed')::boolean OR (${confirmed} AND (h.value ->> 'looks')::int + 1 >= ${SEAL_LOOKS}
        AND clock_timestamp() - (h.value ->> 'since')::timestamptz >= make_interval(secs => ${SEAL_SEC})))
    RETURNING value`
  if (!row) throw new Error('the halt was not returned')
  const begins = await noteTrouble(sql, 'halt')
  if (row.value.looks > 1) return row.value
  // A halt within minutes of the last one is recorded, but not reported again.
  const action = begins ? 'halted' : 'haltedAgain'
  await writeAudit(sql, { actor: 'pass', action, detail: { reason, ...detail } })
  return row.value
}

/** Withdraws a halt that is not sealed, because all is well again. @returns true if there was one. */
export async function withdrawHalt(sql: Sql): Promise<boolean> {
  const deletion = await sql`DELETE FROM troubles WHERE name = 'halted' AND NOT (value ->> 'sealed')::boolean`
  if (deletion.count > 0) await writeAudit(sql, { actor: 'pass', action: 'haltLifted', detail: {} })
  return deletion.count > 0
}

/** Notes a run without a reason to halt. If there was none for long enough, we report that the halt is over. Run in a transaction. */
export async function noteNoHalt(sql: Sql): Promise<void> {
  if ((await noteCalm(sql, 'halt')) !== 'over') return
  await writeAudit(sql, { actor: 'pass', action: 'haltWithdrawn', detail: {} })
}

/**
 * Clears a halt for the operator. After a reorganisation below a final block this accepts the new chain and forgets the noted final block, so the
 * passes can follow the new chain. @returns the cleared halt, or null.
 */
export async function clearHalt(
  sql: Sql,
  actor: string,
  { requestId = null, note = null }: { requestId?: string | null; note?: string | null } = {},
): Promise<HaltState | null> {
  const halt = await readHalt(sql)
  if (!halt) return null
  await clearFinding(sql, 'halted')
  await endTrouble(sql, 'halt')
  if (halt.reason === 'pastFinalized') await writeFinalized(sql, { number: null, hash: null, named: null })
  await writeAudit(sql, { actor, action: 'resumed', detail: { ...halt, note }, requestId })
  return halt
}

/** The highest block that was final when we followed it. `named` is the highest that two providers called final. */
interface Finalized {
  number: number
  hash: Hash
  named: number | null
}

/** Null before the first final block. */
export async function readFinalized(sql: Sql): Promise<Finalized | null> {
  const [row] = await sql<Finalized[]>`
    SELECT finalized_block AS number, finalized_hash AS hash, finalized_named AS named FROM ledger_state WHERE finalized_block IS NOT NULL`
  return row ?? null
}

/** Records what `readFinalized` returns. */
export async function writeFinalized(
  sql: Sql,
  { number, hash, named: namedHeight }: Finalized | { number: null; hash: null; named: null },
): Promise<void> {
  await sql`UPDATE ledger_state SET finalized_block = ${number}, finalized_hash = ${hash}, finalized_named = ${namedHeight}`
}
