// Entering and taking back credit terms, by docs/ADMIN.md (Terms), the help of terms set and terms cancel and docs/REWARDS.md (what is not owed).
//
// Choices in what the documents leave open:
// - Terms are in force from their time on, also at a block of just that time.
// - "Until the contract's owner has set a window for them": any window of theirs counts, also one that begins later than they do or has ended since.
//   A window that ended before they begin is one of earlier terms.
// - Terms that pay out already when others would switch payouts off once more can be taken back only before they are in force: they switch nothing.

export interface Terms {
  fromTime: number
  payouts: boolean
  minWei: bigint
  maxWei: bigint
  intervalSec: number
  slotSec: number
}
export interface Window {
  from: number
  until: number
}
export interface Ledger {
  /** In the order of their times. */
  terms: Terms[]
  windows: Window[]
  /** Block times that the ledger, the chain and each provider tell; null: no answer. */
  followed: number
  heads: (number | null)[]
}
const AHEAD_SEC = 300

/** The latest block time that anyone tells; null if no provider answers, because then the ledger's own may be old. */
export function latestTime({ followed, heads }: Ledger): number | null {
  let latest: number | null = null
  for (const one of heads) if (one !== null && (latest === null || one > latest)) latest = one
  return latest === null ? null : Math.max(latest, followed)
}

/** The terms after the latest are taken back; or why they are not. */
export function cancelled(ledger: Ledger, fromTime: number): Terms[] | 'unavailable' | 'conflict' {
  const now = latestTime(ledger)
  if (now === null) return 'unavailable'
  const { terms, windows } = ledger
  const last = terms.at(-1)
  const former = terms.at(-2)
  if (last === undefined || former === undefined || last.fromTime !== fromTime) return 'conflict'
  const isInForce = last.fromTime <= now
  if (isInForce) {
    if (!former.payouts || last.payouts) return 'conflict'
    for (const { until } of windows) if (until > last.fromTime) return 'conflict'
  }
  return terms.slice(0, -1)
}

/** The terms after an entry; the same ones if it changes nothing; or why it is refused. */
export function entered(
  ledger: Ledger,
  { fromTime, ...given }: Partial<Terms>,
): Terms[] | 'unavailable' | 'conflict' | 'invalid' {
  const now = latestTime(ledger)
  if (now === null) return 'unavailable'
  const last = ledger.terms.at(-1) as Terms
  const next = { ...last, ...given }
  const names = ['payouts', 'minWei', 'maxWei', 'intervalSec', 'slotSec'] as const
  if (names.every((name) => next[name] === last[name])) return ledger.terms
  const earliest = Math.max(now + AHEAD_SEC, last.fromTime + 1)
  if (fromTime !== undefined && fromTime < earliest) return 'conflict'
  if (next.minWei > next.maxWei || next.intervalSec % next.slotSec !== 0) return 'invalid'
  return [...ledger.terms, { ...next, fromTime: fromTime ?? earliest }]
}

/** The state of each entry at the followed block. */
export function statesOf({ terms, followed }: Ledger): ('past' | 'inForce' | 'planned')[] {
  return terms.map(({ fromTime }, n) => {
    if (fromTime > followed) return 'planned'
    const next = terms[n + 1]
    return next !== undefined && next.fromTime <= followed ? 'past' : 'inForce'
  })
}
