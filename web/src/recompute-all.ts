// Recomputes the amounts of many rounds from their published data. Apart from recompute.ts, so the overview loads little.
import type { Distribution } from '@node-ledger/client'
import { recomputeRound } from '@node-ledger/client/viem'
import { ledger } from './ledger.ts'

/** The result of recomputing many rounds. */
export interface Recomputed {
  /** Rounds whose every amount follows from its published seed and terms. */
  right: number
  /** Numbers of the rounds with a wrong amount. */
  wrong: number[]
  /** Rounds with turns that the ledger has no terms for. */
  unknown: number
  /** Rounds that paid a group several turns at once, and were not read turn by turn. */
  unread: number
  tookMs: number
}

/** Rounds to read turn by turn. Each takes a request, and the service allows sixty a minute. */
const READ_MAX = 20

type Verdict = boolean | null | 'unread'

/** Rounds read turn by turn, by round and transaction. The past does not change, unless there is a reorg. */
const read = new Map<string, boolean | null>()

/** Recomputes the amounts of rounds, the newest first. */
export async function recomputeAll(rounds: readonly Distribution[]): Promise<Recomputed> {
  const start = performance.now()
  const verdicts: [id: number, verdict: Verdict][] = []
  let mayRead = READ_MAX
  for (const round of rounds) {
    const isSum = round.turns.some(({ count }) => count > 1)
    const verdict = isSum ? await verdictOfSum(round, mayRead > 0) : await recomputeRound(ledger, round)
    if (isSum) mayRead--
    verdicts.push([round.id, verdict])
  }
  const of = (wanted: Verdict) => verdicts.filter(([, verdict]) => verdict === wanted).map(([id]) => id)
  const counts = { right: of(true).length, unknown: of(null).length, unread: of('unread').length }
  return { ...counts, wrong: of(false), tookMs: performance.now() - start }
}

async function verdictOfSum(round: Distribution, mayRead: boolean): Promise<Verdict> {
  const name = `${round.id} ${round.txHash}`
  const before = read.get(name)
  if (before !== undefined) return before
  if (!mayRead) return 'unread'
  try {
    const verdict = await recomputeRound(ledger, round)
    read.set(name, verdict)
    return verdict
  } catch {
    // The page of the round shows the error.
    return 'unread'
  }
}
