// Troubles that we report to people. A trouble that comes and goes counts as one: we report its start, and report its end once we have not seen it
// for a while. Each has a row in `troubles`, so that only one of several instances reports it. Times are by the database's clock.
import { jsonRows, type Sql } from './sql.ts'

export type Trouble =
  | 'halt'
  | 'proof'
  | 'stuck'
  | 'parted'
  | `unsent ${string}`
  | `signer ${string}`
  | `role ${string}`
  | `fee ${string}`
  | `funds ${string}`

/**
 * A trouble is over once we have not seen it for this long. Fees, a provider or a signer usually flap for less, and a person who waits to hear does
 * not wait long.
 */
const CALM_SEC = 600

const rowOf = (trouble: Trouble) => `trouble ${trouble}`

/** Notes that a trouble was seen. @returns true if it begins now, so it must be reported. */
export async function noteTrouble(sql: Sql, trouble: Trouble): Promise<boolean> {
  const [row] = await sql<{ begins: boolean }[]>`
    INSERT INTO troubles (name, value) VALUES (${rowOf(trouble)}, '{}')
    ON CONFLICT (name) DO UPDATE SET value = '{}', updated_at = now()
    RETURNING xmax = 0 AS begins`
  return row?.begins ?? false
}

/**
 * Notes that a check did not see a trouble. @returns `over` if the trouble has now ended, which must be reported; `lasting` while it may come back;
 * null if there is no trouble.
 */
export async function noteCalm(sql: Sql, trouble: Trouble): Promise<'over' | 'lasting' | null> {
  const [row] = await sql<{ isOver: boolean }[]>`
    UPDATE troubles SET value = value || jsonb_build_object('calmSince', coalesce(value -> 'calmSince', to_jsonb(clock_timestamp())))
    WHERE name = ${rowOf(trouble)}
    RETURNING (value ->> 'calmSince')::timestamptz <= clock_timestamp() - make_interval(secs => ${CALM_SEC}) AS "isOver"`
  if (!row) return null
  if (!row.isOver) return 'lasting'
  await endTrouble(sql, trouble)
  return 'over'
}

/** Ends a trouble because a person acted. If we see it again later, that is a new one. */
export async function endTrouble(sql: Sql, trouble: Trouble): Promise<void> {
  await clearFinding(sql, rowOf(trouble))
}

/** Reads what is on record under a name; null if nothing is. The module that owns the name knows its type. */
export async function readFinding<Finding>(sql: Sql, name: string): Promise<Finding | null> {
  const [row] = await sql<{ value: Finding }[]>`SELECT value FROM troubles WHERE name = ${name}`
  return row?.value ?? null
}

/** Puts a finding on record. @returns false if it was on record already. */
export async function writeFinding(sql: Sql, name: string, finding: unknown): Promise<boolean> {
  const upsert = await sql`
    INSERT INTO troubles AS t (name, value) VALUES (${name}, ${jsonRows([{ finding }])}::text::jsonb -> 0 -> 'finding')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now() WHERE t.value <> excluded.value
    RETURNING 1`
  return upsert.count > 0
}

/** Takes a finding off the record. */
export async function clearFinding(sql: Sql, name: string): Promise<void> {
  await sql`DELETE FROM troubles WHERE name = ${name}`
}
