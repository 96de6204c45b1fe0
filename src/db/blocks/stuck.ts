// The block that stops runs of the passes, and why. It is a row of `settings`, so every instance shows it. We delete the row once a block is
// followed.
import { jsonRows, type Sql } from '../core/sql.ts'
import { clearState, readState, writeAudit } from '../core/state.ts'
import { noteCalm, noteTrouble } from '../core/troubles.ts'

export interface Stuck {
  /** The first block that was not followed. */
  block: number
  /** The rule that the last answer broke, in words. */
  rule: string
  /** The provider that gave that answer; null if unknown. */
  host: string | null
  /** How many runs in a row the block stopped. */
  runs: number
  /** ISO 8601, by the database's clock. */
  since: string
  /** True once the fault has lasted long enough that we do not expect it to pass. */
  lasts: boolean
}

/** A fault lasts if it stops this many runs over this long. By then a provider that merely lacked the block has it. */
const RUNS_MIN = 3
const LASTS_SEC = 60
/** How long a stored rule may be, in characters. It is cut, because it may repeat a provider's text. */
const RULE_MAX = 300

/** Notes that a block stopped a run. @returns what to report; null if it was reported before, or if the fault may still pass. */
export async function noteStuck(
  sql: Sql,
  { block, rule, host }: Pick<Stuck, 'block' | 'rule' | 'host'>,
): Promise<Stuck | null> {
  const seen = { block, rule: rule.slice(0, RULE_MAX), host }
  const [row] = await sql<{ value: Stuck }[]>`
    INSERT INTO settings AS s (name, value, updated_by)
    SELECT 'stuck', ${jsonRows([seen])}::text::jsonb -> 0
      || jsonb_build_object('runs', 1, 'since', iso(clock_timestamp()), 'lasts', false), 'pass'
    ON CONFLICT (name) DO UPDATE SET updated_at = now(), value = excluded.value
      || CASE WHEN s.value -> 'block' <> excluded.value -> 'block' THEN '{}' ELSE jsonb_build_object(
        'runs', (s.value ->> 'runs')::int + 1, 'since', s.value -> 'since', 'lasts', (s.value ->> 'runs')::int + 1 >= ${RUNS_MIN}
          AND clock_timestamp() - (s.value ->> 'since')::timestamptz >= make_interval(secs => ${LASTS_SEC})) END
    RETURNING value`
  if (!row?.value.lasts) return null
  return (await noteTrouble(sql, 'stuck')) ? row.value : null
}

/** Notes a run that nothing stopped. If nothing has stopped runs for long enough, we report that. Run in a transaction. */
export async function noteMoving(sql: Sql): Promise<void> {
  await clearState(sql, 'stuck')
  if ((await noteCalm(sql, 'stuck')) !== 'over') return
  await writeAudit(sql, { actor: 'pass', action: 'unstuck', detail: {} })
}

/** SQL: `block` and `since` of the block that stops the passes, if the fault lasts; else null. */
export const STUCK = `(SELECT jsonb_build_object('block', value -> 'block', 'since', value -> 'since') FROM settings
  WHERE name = 'stuck' AND (value -> 'lasts')::boolean)`

/** The block that stops the passes, if the fault lasts; else null. */
export async function readStuck(sql: Sql): Promise<Stuck | null> {
  const stuck = (await readState(sql, 'stuck')) as Stuck | null
  return stuck?.lasts ? stuck : null
}
