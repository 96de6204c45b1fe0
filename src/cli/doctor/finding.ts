// What one look of the doctor came to. A finding says what is, and where something is wrong what to do; "could not look" is a
// finding of its own and never passes for well or ill.
import { ChainFault } from '../../chain/faults.ts'
import { isDatabaseDown } from '../../db/sql.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'

/** `unknown`: could not look. */
export type Verdict = 'ok' | 'warn' | 'fail' | 'unknown'

export interface Finding {
  /** What was looked at: `database.schema`. Stable, for scripts. */
  readonly check: string
  readonly verdict: Verdict
  readonly says: string
  /** What to do; null where nothing is to be done. */
  readonly todo: string | null
  /** What was read, for scripts; null where it could not be. */
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

/** Looks; whatever it meets becomes a finding, so that one part that is down keeps nothing else from being looked at. */
export async function look(check: string, body: () => Promise<Finding | readonly Finding[]>): Promise<Finding[]> {
  try {
    return [await body()].flat()
  } catch (error) {
    return [unknown(check, reasonOf(error))]
  }
}

/** Why something could not be looked at, in a few words without secrets. */
export function reasonOf(error: unknown): string {
  if (isDatabaseDown(error)) return `the database does not answer (${codeOf(error)})`
  if (error instanceof ChainFault) return `the chain does not answer: ${error.message}`
  return messageOf(error).split('\n')[0] ?? ''
}
