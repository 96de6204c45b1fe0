// Errors of a command that could not do its work. Each is one sentence or a few lines that say what to do,
// and its kind gives its exit code (run.ts). Anything else that is thrown is a fault of the program.
import { KnownError } from '../lib/errors.ts'

/** Called wrongly; nothing was checked. */
export class UsageError extends KnownError {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super('usage', message)
  }
}

/** Checked, and refused or declined; nothing was changed. */
export class RefusedError extends KnownError {
  override readonly name = 'RefusedError'

  constructor(message: string) {
    super('refused', message)
  }
}

/** A part that the command needs cannot be reached, so nothing is known. */
export class UnavailableError extends KnownError {
  override readonly name = 'UnavailableError'

  constructor(message: string) {
    super('retryable', message)
  }
}
