// Named points in the passes at which a test can kill the process, as a power cut would. None of them is armed unless NODE_LEDGER_FAILPOINT names one
// at start, which production refuses. This module must never do anything else.
import { KnownError } from './errors.ts'

/** All failpoints. `mint.*`, `credit.*` and `openCohorts.*` are the same points, for three kinds of transactions. */
export const FAILPOINTS = [
  'follow.observed', // blocks are read, nothing is stored
  'follow.storing', // inside the transaction that stores the blocks
  'follow.stored', // blocks are stored; the pass goes on to judge or to plan
  'rewind.storing', // inside the transaction that takes blocks back
  'rewind.stored',
  'judge.storing', // inside the transaction that stores a page of verdicts
  'judge.stored', // one page is stored, others are to come
  'openCohorts.signed', // signed, not stored
  'openCohorts.storing', // inside the transaction that stores the intent
  'openCohorts.stored', // stored, not sent
  'openCohorts.sent', // sent, the result not stored
  'mint.signed',
  'mint.storing',
  'mint.stored',
  'mint.sent',
  'credit.signed',
  'credit.storing',
  'credit.stored',
  'credit.sent',
  'bump.stored', // a raised fee is stored, not sent
  'resend.sent', // an earlier run's stored bytes were sent again
] as const
export type Failpoint = (typeof FAILPOINTS)[number]

/** A failpoint cannot be armed; the message explains why. */
export class FailpointError extends KnownError {
  override readonly name = 'FailpointError'

  constructor(message: string) {
    super('refused', message)
  }
}

let armedPoint: string | null = null

/**
 * Arms a failpoint for this process; does nothing without a name. Throws a FailpointError if the name is unknown. In production it always throws,
 * because nothing there must be able to kill the service.
 */
export function armFailpoint(name: string | undefined, { production }: { production: boolean }): void {
  if (!name) return
  if (production)
    throw new FailpointError('NODE_LEDGER_FAILPOINT is for tests: with NODE_ENV=production it is refused.')
  if (!(FAILPOINTS as readonly string[]).includes(name))
    throw new FailpointError(`NODE_LEDGER_FAILPOINT: there is no point ${name}. There are: ${FAILPOINTS.join(', ')}.`)
  armedPoint = name
}

/** Thrown by a simulation instead of killing the process. Code that survives other errors must not survive this one. */
export class Killed extends Error {
  override readonly name: string = 'Killed'
}

let watch: ((name: Failpoint) => void) | null = null

/**
 * Calls `hit` at every failpoint, for a simulation whose instances die while its process lives on: `hit` throws if the instance must die. Null ends
 * this.
 */
export function watchFailpoints(hit: ((name: Failpoint) => void) | null): void {
  watch = hit
}

/** Kills this process if the failpoint is armed. No cleanup runs, and no connection is closed properly. */
export function failpoint(name: Failpoint): void {
  if (name === armedPoint) process.kill(process.pid, 'SIGKILL')
  watch?.(name)
}
