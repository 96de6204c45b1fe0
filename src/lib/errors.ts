// Errors that show what can be done about them, so that a caller need not know which module threw. Anything else that is thrown is a bug, in our code
// or in a library.

/**
 * `usage`: the request was wrong, and nothing was read. `refused`: we checked it and rejected it; the message explains what to do. `retryable`: not
 * available at the moment; try again later, or elsewhere. `fatal`: the settings do not match reality; a person must look.
 */
export type ErrorKind = 'usage' | 'refused' | 'retryable' | 'fatal'

export class KnownError extends Error {
  readonly kind: ErrorKind
  /** The lines below the message's heading, if the error keeps them separately; else null. */
  readonly reasons: readonly string[] | null = null

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }

  get retryable(): boolean {
    return this.kind === 'retryable'
  }

  /** True if an answer came that lacks what we need; false if none came. */
  get isAnswered(): boolean {
    return false
  }
}

/** The kind of an error; null if the error is not one of ours. */
export function kindOf(error: unknown): ErrorKind | null {
  return error instanceof KnownError ? error.kind : null
}

/** The code with which Node, PostgreSQL and its driver tell their errors apart; null if there is none. */
export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : null
}

/** The message of an error; anything else that was thrown, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
