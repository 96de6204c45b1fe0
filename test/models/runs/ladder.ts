// Who buys on a ladder, by docs/ADMIN.md (Tiers: a step opens at the block of the payment that took the last place of the tier before it; places are taken
// in the order of the chain). One tier after the other: what came to it while it was open, in the order of the chain, and what took its last place.
//
// Choices in what the document leaves open:
// - The step is open in all of that block, also for a payment before the one that took the last place.
// - If the tier is sold out already without its step being open, the step opens with the followed block: payments until then came too early.
import { comesBefore } from '../sale.ts'

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

/** One tier that is open from a block on, with what comes for it in the order of the chain. */
function sell({ nodes, paidIn, supply }: Ladder['steps'][number], opened: number | null, own: Payment[]) {
  const fates: [number, Fate][] = []
  let [sold, lastBlock] = [nodes, nodes > 0 ? paidIn : 0]
  for (const { id, block } of own) {
    const isOpen = opened !== null && block >= opened
    const hasPlace = supply === null || sold < supply
    fates.push([id, !isOpen ? 'notOpenYet' : hasPlace ? 'accepted' : 'soldOut'])
    if (!isOpen || !hasPlace) continue
    sold += 1
    lastBlock = Math.max(lastBlock, block)
  }
  return { fates, soldOutIn: sold === supply ? lastBlock : null }
}

/** What becomes of each payment, and from which block on each step after the first tier is open; null: it is not. */
export function fatesOf({ steps, payments }: Ladder): { fates: Map<number, Fate>; openings: (number | null)[] } {
  const fates: [number, Fate][] = []
  const openings: (number | null)[] = [0]
  for (const [n, step] of steps.entries()) {
    const own = payments.filter((one) => one.step === n).toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))
    const tier = sell(step, openings[n] ?? null, own)
    fates.push(...tier.fates)
    openings.push(tier.soldOutIn)
  }
  return { fates: new Map(fates), openings: openings.slice(1, steps.length) }
}
