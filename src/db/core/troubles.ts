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

/**
 * Notes that a trouble was seen. What the first sighting found stays on record, until a check does not see the trouble, or it concerns another account.
 * @returns true if it begins now, so it must be reported.
 */
export async function noteTrouble(
  sql: Sql,
  trouble: Trouble,
  finding: { address?: string; detail?: string } = {},
): Promise<boolean> {
  const [row] = await sql<{ begins: boolean }[]>`
    INSERT INTO troubles AS t (name, value) VALUES (${rowOf(trouble)}, ${jsonRows([finding])}::text::jsonb -> 0)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now()
      WHERE t.value ? 'calmSince' OR t.value -> 'address' IS DISTINCT FROM excluded.value -> 'address'
    RETURNING xmax = 0 AS begins`
  return row?.begins ?? false
}

/** SQL: true for a row of `troubles` that the last check saw. */
export const IS_SEEN = `NOT value ? 'calmSince'`

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
