// Who buys on a ladder, by docs/ADMIN.md (Tiers: a step sells behind the payment that took the last place of the tier before it; places are taken
// in the order of the chain). One tier after the other: what came to it while it was open, in the order of the chain, and what took its last place.
//
// Choices in what the document leaves open:
// - An undecided payment that is an hour old reserves no place any more. Later ones may take it first, or it may take the place of a later one that
//   waits with it: who then has bought is taken as said. All places are taken nevertheless.
// - If the tier is sold out already without its step being open, the step opens with the followed block: payments until then came too early.
import { comesBefore, type Payment as Position } from '../sale.ts'

export interface Payment {
  id: number
  /** The step whose price it pays, from 0. */
  step: number
  from: string
  block: number
  txIndex: number
  innerIndex: number
  /** Seconds of block time since its block. */
  age: number
}
export interface Ladder {
  /** How many nodes of each step there are before, the last of them paid in a block, and how many there may be; null: any number. */
  steps: { nodes: number; paidIn: number; supply: number | null }[]
  payments: Payment[]
}
export type Fate = 'accepted' | 'soldOut' | 'notOpenYet'

/** Where in its block the node was paid that there is before. */
export const NODE_AT = { txIndex: 9, innerIndex: 0 }
const HOUR = 3_600
const START: Position = { block: -1, txIndex: 0, innerIndex: 0 }

/**
 * Whether later payments of its tier may take its place: it reserves none, and may wait for its step, or for the code of a sender of its wallet.
 */
function mayComeLate({ payments }: Ladder, payment: Payment): boolean {
  const isBehindReading = payments.some(
    (one) => one.innerIndex > 0 && one.from === payment.from && !comesBefore(payment, one),
  )
  return payment.age >= HOUR && (payment.step > 0 || isBehindReading)
}

/** Which payments that came to an open tier take its `places`, by the order of the chain, and `said` where that order does not decide. */
function buyersOf(ladder: Ladder, own: Payment[], places: number, said: ReadonlySet<number>): Payment[] {
  const buyers: Payment[] = []
  let isAnyLate = false
  for (const payment of own) {
    const isLate = mayComeLate(ladder, payment)
    const buys = isLate || isAnyLate ? said.has(payment.id) : buyers.length < places
    if (buys) buyers.push(payment)
    if (buys && isLate) isAnyLate = true
  }
  return buyers.length === Math.min(places, own.length) ? buyers : own.slice(0, places)
}

/** What becomes of each payment, and behind which place each step after the first tier is open; null: it is not. `said`: who has bought. */
export function fatesOf(
  ladder: Ladder,
  said: ReadonlySet<number>,
): { fates: Map<number, Fate>; openings: (Position | null)[] } {
  const fates = new Map<number, Fate>()
  const openings: (Position | null)[] = [START]
  for (const [n, { supply, nodes, paidIn }] of ladder.steps.entries()) {
    const opened = openings[n] ?? null
    const came = ladder.payments.filter((one) => one.step === n).toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))
    const own = came.filter((one) => opened !== null && comesBefore(opened, one))
    const places = supply === null ? own.length : Math.max(0, supply - nodes)
    const buyers = buyersOf(ladder, own, places, said)
    for (const one of came)
      fates.set(one.id, !own.includes(one) ? 'notOpenYet' : buyers.includes(one) ? 'accepted' : 'soldOut')
    const taken: Position[] = [...(nodes > 0 ? [{ block: paidIn, ...NODE_AT }] : []), ...buyers]
    const last = taken.toSorted((a, b) => (comesBefore(a, b) ? 1 : -1))[0] ?? START
    const { block, txIndex, innerIndex } = last
    openings.push(nodes + buyers.length === supply ? { block, txIndex, innerIndex } : null)
  }
  return { fates, openings: openings.slice(1, ladder.steps.length) }
}
