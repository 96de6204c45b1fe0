// The form of the doctor's checks: tables from ids to functions, each table with the context that its checks need. "Could not check" is a separate
// finding, neither ok nor wrong.

import { databaseFault } from '../../db/core/faults.ts'
import { messageOf } from '../../lib/errors.ts'
import { ChainFault } from '../../ports/faults.ts'
import { ALERTS } from './alerts.ts'

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

/** What a check says if all is well, or what to do next, by severity. */
export interface Said {
  readonly says: string
  readonly warn?: string | false
  readonly fail?: string | false
  readonly reading?: unknown
}

/** A string means that all is well, null that there is nothing to check. */
type Answer = string | Said | { readonly unknown: string } | null
export type Look<Context> = (context: Context) => Answer | readonly Answer[] | Promise<Answer | readonly Answer[]>
export type Checks<Context> = Readonly<Record<string, Look<Context>>>

/** Runs checks one by one. An error becomes a finding, so a part that is down does not stop the others. */
export async function runChecks<Context>(checks: Checks<Context>, context: Context): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [check, look] of Object.entries(checks)) {
    try {
      const answers = [await look(context)].flat() as Answer[]
      findings.push(...answers.filter((answer) => answer !== null).map((answer) => findingOf(check, answer)))
    } catch (error) {
      findings.push(findingOf(check, { unknown: reasonOf(error) }))
    }
  }
  return findings
}

/** Turns an answer into a finding. */
export function findingOf(check: string, answer: NonNullable<Answer>): Finding {
  const none = { check, todo: null, runbook: null, reading: null }
  if (typeof answer === 'string') return { ...none, verdict: 'ok', says: answer }
  if ('unknown' in answer) return { ...none, verdict: 'unknown', says: `could not check: ${answer.unknown}` }
  const { says, warn, fail, reading = null } = answer
  const todo = fail || warn || null
  const runbook = todo === null ? null : (ALERTS[check] ?? null)
  return { check, verdict: fail ? 'fail' : warn ? 'warn' : 'ok', says, todo, runbook, reading }
}

/** Why a check could not be made, in a few words without secrets. */
export function reasonOf(error: unknown): string {
  const firstLine = messageOf(error).split('\n')[0] ?? ''
  const fault = databaseFault(error)
  if (fault) return `the database ${fault.says}: ${firstLine}`
  if (error instanceof ChainFault) return `the chain does not answer: ${error.message}`
  return firstLine
}
