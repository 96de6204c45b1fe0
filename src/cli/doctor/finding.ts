// The result of one check of the doctor. A finding gives the state and, where it is wrong, what to do. "Could not look" is a
// finding of its own, and counts neither as well nor as ill.
import { ChainFault } from '../../chain/faults.ts'
import { isDatabaseDown } from '../../db/core/sql.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'

/** `unknown`: could not look. */
export type Verdict = 'ok' | 'warn' | 'fail' | 'unknown'

export interface Finding {
  /** Name of the check: `database.schema`. Stable, for scripts. */
  readonly check: string
  readonly verdict: Verdict
  readonly says: string
  /** The next step; null where there is nothing to do. */
  readonly todo: string | null
  /** The value read, for scripts; null where it could not be read. */
  readonly reading: unknown
}

export const ok = (check: string, says: string, reading: unknown = null): Finding => ({
  check,
  verdict: 'ok',
  says,
  todo: null,
  reading,
})
export const warn = (check: string, says: string, todo: string, reading: unknown = null): Finding => ({
  check,
  verdict: 'warn',
  says,
  todo,
  reading,
})
export const fail = (check: string, says: string, todo: string, reading: unknown = null): Finding => ({
  check,
  verdict: 'fail',
  says,
  todo,
  reading,
})
export const unknown = (check: string, why: string): Finding => ({
  check,
  verdict: 'unknown',
  says: `could not look: ${why}`,
  todo: null,
  reading: null,
})

/** Runs one check; an error becomes a finding, so that one part that is down does not stop the other checks. */
export async function look(check: string, body: () => Promise<Finding | readonly Finding[]>): Promise<Finding[]> {
  try {
    return [await body()].flat()
  } catch (error) {
    return [unknown(check, reasonOf(error))]
  }
}

/** Reason that a check could not look, in a few words without secrets. */
export function reasonOf(error: unknown): string {
  if (isDatabaseDown(error)) return `the database does not answer (${codeOf(error)})`
  if (error instanceof ChainFault) return `the chain does not answer: ${error.message}`
  return messageOf(error).split('\n')[0] ?? ''
}
