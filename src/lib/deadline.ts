// Limits how long a caller waits. The work itself goes on. If a request can be cancelled, give it an `AbortSignal.timeout` instead.

/** A part of this service did not answer in time. */
export class Overdue extends Error {
  override readonly name = 'Overdue'

  constructor(what: string, ms: number) {
    super(`${what} did not answer within ${ms} ms`)
  }
}

/**
 * Settles as `promise` does. After `ms` milliseconds it settles with what `late` returns or throws, and ignores it if `promise` rejects later.
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

/** Settles as `promise` does. After `ms` milliseconds it throws an Overdue that names `what`. */
export function inTime<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  return within(ms, promise, (): never => {
    throw new Overdue(what, ms)
  })
}

/** What `read` returns; null if it throws, or if it takes longer than `ms` milliseconds. */
export async function inTimeOrNull<T>(ms: number, read: () => Promise<T>): Promise<T | null> {
  try {
    return await within(ms, read(), () => null)
  } catch {
    return null
  }
}

/** True if a request failed because its `AbortSignal.timeout` fired. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}
