/**
 * A timeout only ends a test that hangs, so that no test fails because its machine is slow. The slowest single wait
 * takes a minute on two quiet cores. This is ten times as long.
 */
export const HANGING_MS = 600_000
/** Interval between two polls. A shorter one may reach the service's rate limits. */
const PAUSE_MS = 250
/** Interval between two polls for a receipt. A test's own node has no limits, and mines within milliseconds. */
const RECEIPT_PAUSE_MS = 20

/** Polls until the answer is neither null nor false nor an error, and returns it. On timeout, throws the last error, or says what never came. */
export async function until<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  waitMs = HANGING_MS,
  pauseMs = PAUSE_MS,
): Promise<T> {
  const deadline = Date.now() + waitMs
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== null && answer !== false) return answer
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    if (Date.now() > deadline) throw new Error(`waited ${waitMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/**
 * Waits for the receipt of a sent transaction. viem's waitForTransactionReceipt looks again only when a new block arrives. But a node that mines each
 * transaction at once may answer before it can show the receipt, and then mine no other block.
 */
export function untilMined<Receipt>(
  reader: { getTransactionReceipt(of: { hash: `0x${string}` }): Promise<Receipt> },
  hash: `0x${string}`,
): Promise<Receipt> {
  return until(`the receipt of ${hash}`, () => reader.getTransactionReceipt({ hash }), HANGING_MS, RECEIPT_PAUSE_MS)
}
