// How many nodes of a tier are sold and reserved, by the fourth edition of the rules of the sale (`sold` and `reserved` have one definition), docs/ADMIN.md
// (Tiers: Places are taken in the order of the chain, A place becomes free) and api/openapi.yaml (Tier). Loops over the ledger's rows; which tier an
// amount selects in a block is the model's own (../sale.ts).
//
// Choices in what the documents leave open:
// - A reservation lasts an hour of block time. At exactly one hour it is over, like a grace.
// - An amount selects a tier only if a version of the tier sells for it in that block.
// - An expelled node is no longer of its tier, but its payment keeps the place until it is refunded. So an expelled node without a payment has none.
// - A refund that is prepared after a mint was signed leaves the payment its place, because only one prepared before frees it.
import { choose, comesBefore, type Sale } from '../sale.ts'

const HOUR_SEC = 3600

export interface NodeRow {
  owner: string
  /** The tier of the cohort that it is in, or from which it was expelled. */
  tierId: string
  isExpelled: boolean
  /** `refunded`: its payment has a refund on record. */
  payment: 'none' | 'kept' | 'refunded'
}
export interface PaymentRow {
  from: string
  state: 'seen' | 'accepted' | 'minting' | 'held' | 'refunded' | 'dismissed'
  tierId: string | null
  /** For a payment that is held: a refund is prepared. */
  isRefunding: boolean
  /** A mint for it was signed. */
  hasMint: boolean
  valueWei: bigint
  block: number
  txIndex: number
  innerIndex: number
  time: number
}
export interface Ledger {
  sale: Sale
  nodes: NodeRow[]
  payments: PaymentRow[]
  headTime: number
}

/** All nodes of the tier, and payments that are about to become one. */
export function soldOf(ledger: Ledger, tierId: string): number {
  let sold = 0
  for (const node of ledger.nodes) {
    if (node.tierId !== tierId) continue
    if (!node.isExpelled || node.payment === 'kept') sold += 1
  }
  for (const one of ledger.payments) {
    if (one.tierId !== tierId) continue
    if (one.state === 'accepted' || one.state === 'minting') sold += 1
    if (one.state === 'held' && one.isRefunding && one.hasMint) sold += 1
  }
  return sold
}

/** What a wallet has of its limits: nodes that it holds, and payments that are about to become one, of a tier or of all. */
export function useOf(ledger: Ledger, wallet: string, tierId: string | null) {
  const isMeant = (one: { tierId: string | null }) => tierId === null || one.tierId === tierId
  const nodes = ledger.nodes.filter((one) => one.owner === wallet)
  const paid = ledger.payments.filter((one) => {
    const isUnderWay = one.state === 'accepted' || one.state === 'minting'
    return one.from === wallet && (isUnderWay || (one.state === 'held' && one.isRefunding && one.hasMint))
  })
  // An expelled node is of no tier any more, but the wallet still holds it.
  return {
    nodes: nodes.filter((one) => tierId === null || (isMeant(one) && !one.isExpelled)).length,
    inFlight: paid.filter(isMeant).length,
  }
}

/** The undecided payments that each may take a place of the tier. */
export function reservationsOf(ledger: Ledger, tierId: string): PaymentRow[] {
  const found: PaymentRow[] = []
  for (const one of ledger.payments) {
    if (one.state !== 'seen') continue
    if (ledger.headTime - one.time >= HOUR_SEC) continue
    const choice = choose(ledger.sale, one.valueWei, { ...one, number: one.block })
    if (choice.kind === 'sells' && choice.tierId === tierId) found.push(one)
  }
  return found
}

/** What the judge counts for a payment: only what is before it in the chain. */
export function reservedBefore(ledger: Ledger, tierId: string, payment: PaymentRow): number {
  return reservationsOf(ledger, tierId).filter((one) => comesBefore(one, payment)).length
}
