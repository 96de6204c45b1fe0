// Errors of commands that could not do their work. Each message is a sentence or a few lines that explain what to do. The kind determines the exit code
// (run.ts). Any other error is a bug.
import { KnownError } from '../lib/errors.ts'
import type { Proposed } from '../operator/act.ts'

/** Called wrongly; nothing was checked. */
export class UsageError extends KnownError {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super('usage', message)
  }
}

/** Checked, and refused or declined; nothing has changed. */
export class RefusedError extends KnownError {
  override readonly name = 'RefusedError'

  constructor(message: string) {
    super('refused', message)
  }
}

/** The command could not reach a part that it needs, so nothing is known. */
export class UnavailableError extends KnownError {
  override readonly name = 'UnavailableError'

  constructor(message: string) {
    super('retryable', message)
  }
}

/** The act is now a proposal. It is the command's result, with an exit code of its own. */
export class WaitsError extends KnownError {
  override readonly name = 'WaitsError'
  readonly proposed: Proposed

  constructor(result: Proposed) {
    const { says, id } = result.proposal
    super('refused', `${says} They run "node-ledger proposals confirm ${id}".`)
    this.proposed = result
  }
}
