// Recomputing the amounts of many rounds from what they publish. Apart from recompute.ts, so that the overview loads little for it.
import type { Distribution } from '@node-ledger/client'
import { recompute } from '@node-ledger/client/viem'

/** What came of recomputing many rounds. */
export interface Recomputed {
  /** Rounds of which every amount follows from its published seed and terms. */
  right: number
  /** Numbers of the rounds of which one does not. */
  wrong: number[]
  /** Rounds that pay several turns at once, or have no terms: more has to be read for them. */
  unknown: number
  tookMs: number
}

/** Recomputes the amounts of rounds from what they publish. Asks nothing. */
export function recomputeAll(rounds: readonly Distribution[]): Recomputed {
  const start = performance.now()
  const verdicts = rounds.map((round) => [round.id, isRight(round)] as const)
  const wrong = verdicts.filter(([, right]) => right === false).map(([id]) => id)
  const right = verdicts.filter(([, right]) => right === true).length
  return { right, wrong, unknown: rounds.length - right - wrong.length, tookMs: performance.now() - start }
}

/** Null where it cannot be told from what the round itself publishes. */
function isRight({ turns, totalWei }: Distribution): boolean | null {
  const sumWei = turns.reduce((sum, { amountWei, nodeCount }) => sum + amountWei * BigInt(nodeCount), 0n)
  const amounts = turns.map((turn) => [recompute(turn), turn.amountWei] as const)
  if (sumWei !== totalWei || amounts.some(([expected, amount]) => expected !== null && expected !== amount))
    return false
  return turns.length > 0 && amounts.every(([expected]) => expected !== null) ? true : null
}
