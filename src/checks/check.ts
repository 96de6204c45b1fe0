// The form of a check: what it reads, how it judges what it read, and the alert that reports the same fault. The start, the doctor and the alerts use
// the same checks. "Could not check" is an answer of its own, neither ok nor wrong.
import { databaseFault } from '../db/core/faults.ts'
import type { Pool } from '../db/core/sql.ts'
import { messageOf } from '../lib/errors.ts'
import { ChainFault } from '../ports/faults.ts'

/** `unknown`: could not check. */
export type Verdict = 'ok' | 'warn' | 'fail' | 'unknown'

export interface Finding {
  /** The check's name, such as `database.schema`. Stable, for scripts. */
  readonly check: string
  readonly verdict: Verdict
  readonly says: string
  /** The next step; null if there is nothing to do. */
  readonly todo: string | null
  /** The section of docs/RUNBOOK.md about the fault, named like its alert; null if all is well, or if no alert reports the fault. */
  readonly runbook: string | null
  /** The value read, for scripts; null if it could not be read. */
  readonly reading: unknown
}

/** What a check reports if all is well, or what to do next, by severity. */
export interface Said {
  readonly says: string
  readonly warn?: string | false
  readonly fail?: string | false
}

/** A string means that all is well, null that there is nothing to check. */
export type Answer = string | Said | { readonly unknown: string; readonly todo?: string } | null

export interface Check<Context> {
  /** The alert that reports the same fault, which names its section of docs/RUNBOOK.md; null if none does. */
  readonly alert: string | null
  /** Reads and judges. Throws if it cannot read. */
  readonly look: (context: Context) => Promise<readonly { reading: unknown; answer: Answer }[]>
}
export type Checks<Context> = Readonly<Record<string, Check<Context>>>

/** A check of one reading. */
export function check<Context, Reading>(
  alert: string | null,
  read: (context: Context) => Reading | Promise<Reading>,
  judge: (reading: Reading, context: Context) => Answer | readonly Answer[],
): Check<Context> {
  const look = async (context: Context) => {
    const reading = await read(context)
    const answers = [judge(reading, context)].flat() as Answer[]
    return answers.map((answer) => ({ reading: reading instanceof Error ? null : reading, answer }))
  }
  return { alert, look }
}

/** A check of each item that is read. `none`: what it reports if there is no item; null if nothing. */
export function checkEach<Context, Item>(
  alert: string | null,
  read: (context: Context) => readonly Item[] | Promise<readonly Item[]>,
  none: string | null,
  judge: (item: Item, context: Context) => Answer,
): Check<Context> {
  const look = async (context: Context) => {
    const items = await read(context)
    if (items.length === 0) return [{ reading: null, answer: none }]
    return items.map((item) => ({ reading: item, answer: judge(item, context) }))
  }
  return { alert, look }
}

/** A reading of the ledger's database alone. */
export const ofLedger =
  <Reading>(read: (sql: Pool) => Reading) =>
  <Context extends { readonly pool: Pool }>({ pool }: Context) =>
    read(pool)

/** Makes checks one by one. An error becomes a finding, so a part that is down does not stop the others. */
export async function runChecks<Context>(checks: Checks<Context>, context: Context): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, { alert, look }] of Object.entries(checks)) {
    try {
      for (const { reading, answer } of await look(context))
        if (answer !== null) findings.push(findingOf(name, answer, alert, reading))
    } catch (error) {
      findings.push(findingOf(name, { unknown: reasonOf(error) }))
    }
  }
  return findings
}

/** Turns an answer into a finding. */
export function findingOf(
  check: string,
  answer: NonNullable<Answer>,
  alert: string | null = null,
  reading: unknown = null,
): Finding {
  if (typeof answer === 'string') return { check, verdict: 'ok', says: answer, todo: null, runbook: null, reading }
  if ('unknown' in answer) {
    const { unknown, todo = null } = answer
    return { check, verdict: 'unknown', says: `could not check: ${unknown}`, todo, runbook: null, reading: null }
  }
  const { says, warn, fail } = answer
  const todo = fail || warn || null
  const verdict = fail ? 'fail' : warn ? 'warn' : 'ok'
  return { check, verdict, says, todo, runbook: todo === null ? null : alert, reading }
}

/** Why a check could not be made, in a few words without secrets. */
export function reasonOf(error: unknown): string {
  const firstLine = messageOf(error).split('\n')[0] ?? ''
  const fault = databaseFault(error)
  if (fault) return `the database ${fault.says}: ${firstLine}`
  if (error instanceof ChainFault) return `the chain does not answer: ${error.message}`
  return firstLine
}
