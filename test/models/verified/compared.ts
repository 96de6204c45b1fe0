// What the tests of this folder share: how an outcome is taken and compared.
import assert from 'node:assert/strict'

/** `threw`, with the error's code if it is in words. */
type Threw = `threw${string}`
export type Outcome<T> = T | Threw

/** What a call returns, or that it threw. An error with such a code must have a text, too. */
export async function outcome<T>(call: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return await call()
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown }
    if (typeof code === 'string') assert.notEqual(message, '')
    return typeof code === 'string' ? `threw ${code}` : 'threw'
  }
}

export const isThrown = (of: unknown): of is Threw => typeof of === 'string'

/** Fails with the whole case, so that it can be read. */
export function assertSame(found: unknown, expected: unknown, given: unknown): void {
  try {
    assert.deepEqual(found, expected)
  } catch (error) {
    const text = JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
    throw new Error(`${(error as Error).message}\n${text}`)
  }
}

/** The same verdict, whichever difference stands first. */
export function inOrder<T extends { differences: readonly string[] }>(verdict: Outcome<T>): Outcome<T> {
  return isThrown(verdict) ? verdict : { ...verdict, differences: verdict.differences.toSorted() }
}

/** Both verdicts must be frequent, or a comparison says little. A run with few cases cannot tell. */
export function assertBothSeen({ right, not }: { right: number; not: number }): void {
  if (right + not >= 100) assert.ok(right * 8 > not && not * 8 > right, `${right} right, ${not} not`)
}
