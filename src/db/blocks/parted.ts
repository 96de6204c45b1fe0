// Where the providers' histories differ. It is a row of `troubles`, so every instance shows it, and a restart forgets nothing. We delete the row once
// two providers name the ledger's blocks again.
import type { Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../core/state.ts'
import { clearFinding, noteCalm, noteTrouble, readFinding } from '../core/troubles.ts'

export interface Parting {
  /** The lowest height at which we compared and a provider has another block, with both hashes. */
  number: number
  ours: Hash
  theirs: Hash
  /** The provider with the other block, and those with the ledger's. */
  host: string
  beside: readonly string[]
  /** The last block that all of them have. */
  agreed: { number: number; hash: Hash }
  /** True if nothing above `agreed` counts. False if enough providers name the ledger's block. */
  stops: boolean
}

export interface Parted extends Parting {
  /** ISO 8601, by the database's clock. */
  since: string
  /** True once the histories have differed for so long, or so deep, that we do not expect a usual reorganisation. */
  lasts: boolean
}

/** A usual reorganisation is over before it is so deep or so old. */
const PARTED_BLOCKS = 12
const PARTED_SEC = 120

/** Notes that histories differ. @returns what to report; null if it was reported before, or if it may still pass. Run in a transaction. */
export async function noteParted(sql: Sql, parting: Parting, followedTo: number): Promise<Parted | null> {
  const isDeep = followedTo - parting.agreed.number >= PARTED_BLOCKS
  const [row] = await sql<{ value: Parted }[]>`
    INSERT INTO troubles AS s (name, value)
    SELECT 'parted', ${jsonRows([parting])}::text::jsonb -> 0
      || jsonb_build_object('since', iso(clock_timestamp()), 'lasts', ${isDeep}::boolean)
    ON CONFLICT (name) DO UPDATE SET updated_at = now(), value = excluded.value || jsonb_build_object('since', s.value -> 'since',
      'lasts', ${isDeep}::boolean OR clock_timestamp() - (s.value ->> 'since')::timestamptz >= make_interval(secs => ${PARTED_SEC}))
    RETURNING value`
  if (!row?.value.lasts) return null
  await notifyLedgerChanged(sql)
  return (await noteTrouble(sql, 'parted')) ? row.value : null
}

/** Notes that the histories agree. If they have agreed for long enough, we report that. Run in a transaction. */
export async function noteUnited(sql: Sql): Promise<void> {
  await clearFinding(sql, 'parted')
  if ((await noteCalm(sql, 'parted')) === 'over')
    await writeAudit(sql, { actor: 'pass', action: 'historiesAgree', detail: {} })
}

/** Where histories differ, as the last run found it; null if they do not. */
export const readParted = (sql: Sql): Promise<Parted | null> => readFinding(sql, 'parted')

/** True if a payment made now would lie above the last common block of histories that differ for long. */
export async function isSaleParted(sql: Sql): Promise<boolean> {
  const parting = await readParted(sql)
  return (parting?.lasts && parting.stops) ?? false
}
