// Errors of a command that could not do its work. Each is one sentence or a few lines that say what to do,
// and has its exit code by its kind (run.ts). Anything else that is thrown is a fault of the program.
import { KnownError } from '../lib/errors.ts'

/** Called wrongly; nothing was looked at. */
export class UsageError extends KnownError {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super('usage', message)
  }
}

/** Looked at, and refused or declined; nothing was changed. */
export class RefusedError extends KnownError {
  override readonly name = 'RefusedError'

  constructor(message: string) {
    super('refused', message)
  }
}

/** A part that is needed cannot be reached, so that nothing is known. */
export class UnavailableError extends KnownError {
  override readonly name = 'UnavailableError'

  constructor(message: string) {
    super('retryable', message)
  }
}
