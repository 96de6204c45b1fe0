// The one error of this folder that is meant for the person at the terminal. Its message says what is wrong and what to
// do, so the command prints only the message, without a stack.
import { KnownError } from '../../src/lib/errors.ts'

/** An embedded part cannot start, or its directory cannot be used. The message says what to do. */
export class EmbedError extends KnownError {
  override readonly name = 'EmbedError'

  constructor(message: string) {
    super('refused', message)
  }
}
