// The error that methods throw. Programs should decide by `status` and `retryable`, because the text is for people.

export interface LedgerErrorDetails {
  status: number | null
  retryable: boolean
  retryAfter: number | null
  cause?: unknown
}

/** A request that did not succeed. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
  /** The HTTP status; `null` if there was no answer (network error, timeout, or an answer that is not the API's). */
  readonly status: number | null
  /** True if the same request may succeed later. The client has already retried as often as its settings allow. */
  readonly retryable: boolean
  /** How many seconds the service asks the client to wait; `null` if not given. */
  readonly retryAfter: number | null

  constructor(message: string, { status, retryable, retryAfter, cause }: LedgerErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.retryable = retryable
    this.retryAfter = retryAfter
  }
}

/**
 * Statuses that the API asks clients to retry: 409 after a wait for the chain to settle, the others with exponential
 * back-off.
 */
const RETRYABLE = new Set([409, 429, 500, 502, 503, 504])

/** For `catch`: null if the service answered with this status: 401 to a visitor who is not signed in, 404 for what it does not have or not publish. */
export const nullOn = (status: number) => (error: unknown) => {
  if (error instanceof LedgerError && error.status === status) return null
  throw error
}

/** The error for an unsuccessful answer. With `notYet`, a 404 means that the object is not on the chain yet. */
export function errorOfAnswer(status: number, body: unknown, retryAfter: number | null, notYet = false): LedgerError {
  const reason = typeof body === 'object' && body !== null && 'error' in body ? body.error : null
  const message = typeof reason === 'string' ? reason : `The service answered ${status}.`
  return new LedgerError(message, {
    status,
    retryable: RETRYABLE.has(status) || (notYet && status === 404),
    retryAfter,
  })
}

/** The error for a request without an answer. */
export function errorWithoutAnswer(message: string, cause?: unknown): LedgerError {
  return new LedgerError(message, { status: null, retryable: true, retryAfter: null, cause })
}
