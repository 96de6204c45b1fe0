// Who buys on a ladder, by docs/ADMIN.md (Tiers: a step sells behind the payment that took the last place of the tier before it; places are taken
// in the order of the chain). One tier after the other: what came to it while it was open, in the order of the chain, and what took its last place.
//
// Choices in what the document leaves open:
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
}
export interface Ladder {
  /** How many nodes of each step there are before, the last of them paid in a block, and how many there may be; null: any number. */
  steps: { nodes: number; paidIn: number; supply: number | null }[]
  payments: Payment[]
}
export type Fate = 'accepted' | 'soldOut' | 'notOpenYet'

/** Where in its block the node was paid that there is before. */
export const NODE_AT = { txIndex: 9, innerIndex: 0 }
const START: Position = { block: -1, txIndex: 0, innerIndex: 0 }

/** One tier that is open behind a place, with what comes for it in the order of the chain. */
function sell({ nodes, paidIn, supply }: Ladder['steps'][number], opened: Position | null, own: Payment[]) {
  const fates: [number, Fate][] = []
  let [sold, last] = [nodes, nodes > 0 ? { block: paidIn, ...NODE_AT } : START]
  for (const payment of own) {
    const isOpen = opened !== null && comesBefore(opened, payment)
    const hasPlace = supply === null || sold < supply
    fates.push([payment.id, !isOpen ? 'notOpenYet' : hasPlace ? 'accepted' : 'soldOut'])
    if (!isOpen || !hasPlace) continue
    sold += 1
    const { block, txIndex, innerIndex } = payment
    if (comesBefore(last, payment)) last = { block, txIndex, innerIndex }
  }
  return { fates, soldOutAt: sold === supply ? last : null }
}

/** What becomes of each payment, and behind which place each step after the first tier is open; null: it is not. */
export function fatesOf({ steps, payments }: Ladder): { fates: Map<number, Fate>; openings: (Position | null)[] } {
  const fates: [number, Fate][] = []
  const openings: (Position | null)[] = [START]
  for (const [n, step] of steps.entries()) {
    const own = payments.filter((one) => one.step === n).toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))
    const tier = sell(step, openings[n] ?? null, own)
    fates.push(...tier.fates)
    openings.push(tier.soldOutAt)
  }
  return { fates: new Map(fates), openings: openings.slice(1, steps.length) }
}
