// Errors that say what can be done about them, so that no caller has to know which module threw. Anything else that is thrown is a bug, ours or a
// library's.

/**
 * `usage`: a wrong request; nothing was read. `refused`: checked and rejected; the message says what to do. `retryable`: not available now;
 * ask again later or elsewhere. `fatal`: reality does not match the settings; a person has to look.
 */
export type ErrorKind = 'usage' | 'refused' | 'retryable' | 'fatal'

export class KnownError extends Error {
  readonly kind: ErrorKind
  /** The reasons below the message's heading, a line each; null if the message is all. */
  readonly reasons: readonly string[] | null = null

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }

  get retryable(): boolean {
    return this.kind === 'retryable'
  }

  /** True if an answer came, but without what we need. */
  get isAnswered(): boolean {
    return false
  }
}

/** The kind of an error; null for an unknown one. */
export function kindOf(error: unknown): ErrorKind | null {
  return error instanceof KnownError ? error.kind : null
}

/** The code by which Node, PostgreSQL and its driver distinguish their errors; null if there is none. */
export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : null
}

/** The message of an error; anything else that was thrown, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
