// Limits how long a caller waits for something. The work itself goes on; if a request can be cancelled, give it an `AbortSignal.timeout` instead.

/** Thrown when a part of this service did not answer in time. */
export class Overdue extends Error {
  override readonly name = 'Overdue'

  constructor(what: string, ms: number) {
    super(`${what} did not answer within ${ms} ms`)
  }
}

/**
 * Settles as `promise` does, or after `ms` as `late` does. Ignores a rejection that comes later.
 * Leaves no timer behind.
 */
export async function within<T, L>(ms: number, promise: Promise<T>, late: () => L): Promise<T | Awaited<L>> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<Awaited<L>>((resolve) => {
    timer = setTimeout(() => resolve(Promise.try(late)), ms)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Settles as `promise` does; after `ms` it throws an Overdue that names `what`. */
export function inTime<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  return within(ms, promise, (): never => {
    throw new Overdue(what, ms)
  })
}

/** The answer; null on an error, or if the answer takes longer than `ms`. */
export async function inTimeOrNull<T>(ms: number, read: () => Promise<T>): Promise<T | null> {
  try {
    return await within(ms, read(), () => null)
  } catch {
    return null
  }
}

/** True for the error of a request whose `AbortSignal.timeout` has fired. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}
