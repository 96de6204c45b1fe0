// What keeps the passes from going on, run after run: a block that stops them, or a reason for which a pass sends nothing. Each is a row of `troubles`,
// so every instance shows it. We delete the row once the pass goes on.
import { jsonRows, type Sql } from '../core/sql.ts'
import { writeAudit } from '../core/state.ts'
import { clearFinding, noteCalm, noteTrouble, readFinding } from '../core/troubles.ts'

interface Lasting {
  /** How many runs in a row it stopped. */
  runs: number
  /** ISO 8601, by the database's clock. */
  since: string
  /** True once it has lasted long enough that we do not expect it to pass. */
  lasts: boolean
}

export interface Stuck extends Lasting {
  /** The first block that was not followed. */
  block: number
  /** The rule that the last answer broke, in words. */
  rule: string
  /** The provider that gave that answer; null if unknown. */
  host: string | null
}

/** Work that a pass did not send. */
export interface Unsent extends Lasting {
  pass: SendingPass
  /** Why the last run did not send it, in words. */
  why: string
}
export type SendingPass = 'payments' | 'credit'

/** It lasts if it stops this many runs over this long. By then a provider that merely lacked a block has it. */
const RUNS_MIN = 3
const LASTS_SEC = 120
/** How long a stored rule or reason may be, in characters. It is cut, because it may repeat a provider's text. */
const WORDS_MAX = 300

const unsentOf = (pass: SendingPass) => `unsent ${pass}` as const

/** Notes that a block stopped a run. @returns what to report; null if it was reported before, or if the fault may still pass. */
export const noteStuck = (
  sql: Sql,
  { block, rule, host }: Pick<Stuck, 'block' | 'rule' | 'host'>,
): Promise<Stuck | null> => noteLasting<Stuck>(sql, 'stuck', { block, rule: rule.slice(0, WORDS_MAX), host })

/** Notes that a run did not send what waits. @returns what to report; null if it was reported before, or if it may still pass. */
export const noteUnsent = (sql: Sql, pass: SendingPass, why: string): Promise<Unsent | null> =>
  noteLasting<Unsent>(sql, unsentOf(pass), { pass, why: why.slice(0, WORDS_MAX) })

/** The count starts again if `block` is another one. */
async function noteLasting<T extends Lasting>(
  sql: Sql,
  name: 'stuck' | ReturnType<typeof unsentOf>,
  sighting: Omit<T, keyof Lasting>,
): Promise<T | null> {
  const [row] = await sql<{ value: T }[]>`
    INSERT INTO troubles AS s (name, value)
    SELECT ${name}, ${jsonRows([sighting])}::text::jsonb -> 0
      || jsonb_build_object('runs', 1, 'since', iso(clock_timestamp()), 'lasts', false)
    ON CONFLICT (name) DO UPDATE SET updated_at = now(), value = excluded.value
      || CASE WHEN s.value -> 'block' <> excluded.value -> 'block' THEN '{}' ELSE jsonb_build_object(
        'runs', (s.value ->> 'runs')::int + 1, 'since', s.value -> 'since', 'lasts', (s.value ->> 'runs')::int + 1 >= ${RUNS_MIN}
          AND clock_timestamp() - (s.value ->> 'since')::timestamptz >= make_interval(secs => ${LASTS_SEC})) END
    RETURNING value`
  if (!row?.value.lasts) return null
  return (await noteTrouble(sql, name)) ? row.value : null
}

/** Notes a run that nothing stopped. If nothing has stopped runs for long enough, we report that. Run in a transaction. */
export const noteMoving = (sql: Sql): Promise<void> => noteOver(sql, 'stuck', { action: 'unstuck' })

/** Notes a run that sent what waited, or had nothing to send. Run in a transaction. */
export const noteSent = (sql: Sql, pass: SendingPass): Promise<void> =>
  noteOver(sql, unsentOf(pass), { action: 'sentAgain', subject: pass })

async function noteOver(
  sql: Sql,
  name: 'stuck' | ReturnType<typeof unsentOf>,
  what: { action: string; subject?: string },
): Promise<void> {
  await clearFinding(sql, name)
  if ((await noteCalm(sql, name)) !== 'over') return
  await writeAudit(sql, { actor: 'pass', ...what, detail: {} })
}

/** SQL: `block` and `since` of the block that stops the passes, if the fault lasts; else null. */
export const STUCK = `(SELECT jsonb_build_object('block', value -> 'block', 'since', value -> 'since') FROM troubles
  WHERE name = 'stuck' AND (value -> 'lasts')::boolean)`

/** The block that stops the passes, if the fault lasts; else null. */
export async function readStuck(sql: Sql): Promise<Stuck | null> {
  const stuck = await readFinding<Stuck>(sql, 'stuck')
  return stuck?.lasts ? stuck : null
}

/** What the passes have not sent for longer than we expect. */
export async function readUnsent(sql: Sql): Promise<Unsent[]> {
  const rows = await Promise.all([
    readFinding<Unsent>(sql, unsentOf('payments')),
    readFinding<Unsent>(sql, unsentOf('credit')),
  ])
  return rows.flatMap((unsent) => (unsent?.lasts ? [unsent] : []))
}
