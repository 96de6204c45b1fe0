// The switch `payouts`: which turns are owed by the ledger's terms and the contract owner's windows, and which acts of the owner make the two agree.
// A turn is skipped only if both declare it not owed.
import { type CreditTerms, termsAt } from './turn-amounts.ts'

/** A window of turns that are not owed: due at `from` or later, and before `until`. The contract keeps windows in order, without overlap. */
export interface NotOwedWindow {
  /** The window's number on the contract, from 1. */
  window: number
  from: number
  until: number
}

/** The end of an open-ended window: the contract's largest time. */
export const NO_END = 2 ** 40 - 1

/**
 * What happens to a turn. `delay`: the terms do not owe it, but it stays owed until the contract's owner adds a window. So the turn waits for the
 * window.
 */
export type TurnFate = 'pay' | 'skip' | 'delay'

/** What happens to the turn due at a time. Without terms it is `pay`, but the turn then waits for its terms. */
export function turnFate(terms: readonly CreditTerms[], windows: readonly NotOwedWindow[], due: number): TurnFate {
  if (termsAt(terms, due)?.payouts !== false) return 'pay'
  if (windows.some(({ from, until }) => from <= due && due < until)) return 'skip'
  // A new window always comes after the last one. So a turn outside all windows that is due before the last one ends is owed for good.
  return due < (windows.at(-1)?.until ?? 0) ? 'pay' : 'delay'
}

/** A call by the contract's owner about windows, with the contract's arguments. */
export type WindowCall =
  | { name: 'addNotOwed'; window: bigint; from: bigint; until: bigint }
  | { name: 'endNotOwed'; window: bigint; until: bigint }

/** The owner's next act to make the windows agree with the terms; null if they already agree as far as they can. */
export function windowCallNeeded(
  terms: readonly CreditTerms[],
  windows: readonly NotOwedWindow[],
  now: number,
): WindowCall | null {
  const spans = spansOff(terms)
  const last = windows.at(-1)
  if (last) {
    const owedFrom = spans.findLast(({ from }) => from < last.until)?.until ?? last.from
    // The contract replaces a past time with its own.
    if (Math.max(owedFrom, last.from, now) < last.until)
      return { name: 'endNotOwed', window: BigInt(last.window), until: BigInt(Math.max(owedFrom, last.from)) }
  }
  for (const { from, until } of spans) {
    const start = Math.max(from, last?.until ?? 0)
    if (start < until)
      return {
        name: 'addNotOwed',
        window: BigInt((last?.window ?? 0) + 1),
        from: BigInt(start),
        until: BigInt(until),
      }
  }
  return null
}

/** The times in which the terms do not owe turns, in order. */
function spansOff(terms: readonly CreditTerms[]): { from: number; until: number }[] {
  const inOrder = [...terms].sort((a, b) => a.fromTime - b.fromTime)
  const spans: { from: number; until: number }[] = []
  for (const [index, { fromTime, payouts }] of inOrder.entries()) {
    if (payouts) continue
    const until = inOrder[index + 1]?.fromTime ?? NO_END
    const before = spans.at(-1)
    if (before?.until === fromTime) before.until = until
    else spans.push({ from: fromTime, until })
  }
  return spans
}
