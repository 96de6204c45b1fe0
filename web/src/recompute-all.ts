// Recomputes the amounts of many rounds from their published data. Separate from recompute.ts, so that the overview loads less code.
import type { Distribution } from '@node-ledger/client'
import { recomputeRound } from '@node-ledger/client/viem'
import { ledger, nameOf } from './ledger.ts'

/**
 * True if every amount of a round follows from its published seed and terms. Null if the ledger has no terms; `unread` if we did not fetch its single
 * turns.
 */
export type Verdict = boolean | null | 'unread'

export interface Recomputed {
  /** The verdicts by `nameOf` a round. */
  verdicts: ReadonlyMap<string, Verdict>
  tookMs: number
}

/** How many rounds we read turn by turn. Each takes a request, and the service allows sixty a minute. */
const READ_MAX = 20

/** Verdicts of rounds that were read turn by turn. */
const verdictsOfSums = new Map<string, boolean | null>()

/** Recomputes the amounts of rounds, newest first. */
export async function recomputeAll(rounds: readonly Distribution[]): Promise<Recomputed> {
  const start = performance.now()
  const verdicts = new Map<string, Verdict>()
  let mayRead = READ_MAX
  for (const round of rounds) {
    const isSum = round.turns.some(({ count }) => count > 1)
    verdicts.set(nameOf(round), isSum ? await verdictOfSum(round, mayRead > 0) : await recomputeRound(ledger, round))
    if (isSum) mayRead--
  }
  return { verdicts, tookMs: performance.now() - start }
}

async function verdictOfSum(round: Distribution, mayRead: boolean): Promise<Verdict> {
  const name = nameOf(round)
  const before = verdictsOfSums.get(name)
  if (before !== undefined) return before
  if (!mayRead) return 'unread'
  try {
    const verdict = await recomputeRound(ledger, round)
    verdictsOfSums.set(name, verdict)
    return verdict
  } catch {
    // The round's own page shows the error.
    return 'unread'
  }
}
