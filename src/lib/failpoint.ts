// Named points at the boundaries of the passes, at which a test can kill the process as a power cut would. None is armed unless NODE_LEDGER_FAILPOINT
// names one at start; production refuses that. This module must never do anything else.
import { KnownError } from './errors.ts'

/** All failpoints. `mint.*`, `credit.*` and `openCohorts.*` are the same points for three kinds of transaction. */
export const FAILPOINTS = [
  'follow.observed', // blocks are read, nothing is stored
  'follow.storing', // inside the transaction that stores them
  'follow.stored', // stored, the pass goes on to judge or to plan
  'rewind.storing', // inside the transaction that takes blocks back
  'rewind.stored',
  'judge.storing', // inside the transaction that stores a page of verdicts
  'judge.stored', // one page stored, others to come
  'openCohorts.signed', // signed and not stored
  'openCohorts.storing', // inside the transaction that stores it
  'openCohorts.stored', // stored and not sent
  'openCohorts.sent', // sent, the answer not stored
  'mint.signed',
  'mint.storing',
  'mint.stored',
  'mint.sent',
  'credit.signed',
  'credit.storing',
  'credit.stored',
  'credit.sent',
  'bump.stored', // a raised fee stored and not sent
  'resend.sent', // bytes stored by an earlier run sent again
] as const
export type Failpoint = (typeof FAILPOINTS)[number]

/** Thrown for a point that cannot be armed; the message says why. */
export class FailpointError extends KnownError {
  override readonly name = 'FailpointError'

  constructor(message: string) {
    super('refused', message)
  }
}

let armed: string | null = null

/**
 * Arms a point for this process; does nothing without a name. Throws FailpointError for an unknown name, and in production, because a service there
 * must not carry a bomb.
 */
export function armFailpoint(name: string | undefined, { production }: { production: boolean }): void {
  if (!name) return
  if (production)
    throw new FailpointError('NODE_LEDGER_FAILPOINT is for tests: with NODE_ENV=production it is refused.')
  if (!(FAILPOINTS as readonly string[]).includes(name))
    throw new FailpointError(`NODE_LEDGER_FAILPOINT: there is no point ${name}. There are: ${FAILPOINTS.join(', ')}.`)
  armed = name
}

/** Thrown in place of the kill, by a simulation: whatever survives other errors must not survive this one. */
export class Killed extends Error {
  override readonly name: string = 'Killed'
}

let watch: ((name: Failpoint) => void) | null = null

/**
 * Calls `hit` at every point instead of killing the process. For a simulation whose instances die while its process lives on: `hit` throws when the
 * instance should die. Null ends it.
 */
export function watchFailpoints(hit: ((name: Failpoint) => void) | null): void {
  watch = hit
}

/** Kills this process if the point is armed: no cleanup runs, no connection is closed properly. */
export function failpoint(name: Failpoint): void {
  if (name === armed) process.kill(process.pid, 'SIGKILL')
  watch?.(name)
}
