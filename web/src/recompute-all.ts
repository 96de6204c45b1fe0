// Recomputing the amounts of many rounds from what they publish. Apart from recompute.ts, so that the overview loads little for it.
import type { Distribution } from '@node-ledger/client'
import { recomputeRound } from '@node-ledger/client/viem'
import { ledger } from './ledger.ts'

/** What came of recomputing many rounds. */
export interface Recomputed {
  /** Rounds of which every amount follows from its published seed and terms. */
  right: number
  /** Numbers of the rounds of which one does not. */
  wrong: number[]
  /** Rounds for whose turns the ledger has no terms. */
  unknown: number
  /** Rounds that paid a group several turns at once, and were not read turn by turn. */
  unread: number
  tookMs: number
}

/** Rounds that are read turn by turn: each takes a request, of which the service answers sixty a minute. */
const READ_MAX = 20

type Verdict = boolean | null | 'unread'

/** What was read turn by turn, by round and transaction: the past stays, unless a chain takes it back. */
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
    // The page of the round says what is the matter.
    return 'unread'
  }
}
