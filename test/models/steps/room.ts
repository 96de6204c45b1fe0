// Who takes the places of a page of payments, some of which a person released, as a second reading of docs/ADMIN.md (Deciding; Places): places follow the order of the
// chain, an undecided payment reserves its own for an hour, a release goes by the wallet's cap and the supply and by nothing else.
//
// Choices in what the document leaves open:
// - A released payment without room stays as it is, and the later ones of its wallet do not wait for it.
// - What two providers must still tell of a payment is asked only once it has a place.

export interface Payment {
  id: number
  from: string
  tier: number
  block: number
  txIndex: number
  /** Seconds of block time since its block. */
  age: number
  state: 'seen' | 'held' | 'accepted'
  reason: string | null
  /** Whether one provider alone tells of it. */
  isDoubtful: boolean
  /** The last decision of a person that stands. */
  decision: string | null
  isInPage: boolean
}
export interface Ledger {
  payments: Payment[]
  nodes: { owner: string; tier: number }[]
  /** The supply of each tier; null: it has none. */
  supply: (number | null)[]
  walletMax: number
}
/** What a released payment took, as its evidence has it. */
export interface Place {
  id: number
  supply: number
  sold: number
  reserved: number
}

const isBefore = (a: Payment, b: Payment) => a.block < b.block || (a.block === b.block && a.txIndex < b.txIndex)
const HOUR = 3_600

function placesOf({ payments, nodes }: Ledger, isMeant: (owner: string, tier: number) => boolean): number {
  let count = 0
  for (const { owner, tier } of nodes) if (isMeant(owner, tier)) count += 1
  for (const { from, tier, state } of payments) if (state === 'accepted' && isMeant(from, tier)) count += 1
  return count
}

/** Decides on one. @returns whether it still waits for a fact or a place. */
function decide(ledger: Ledger, payment: Payment, places: Place[]): boolean {
  const { tier, from } = payment
  const supply = ledger.supply[tier] ?? null
  const sold = placesOf(ledger, (_, other) => other === tier)
  const reserving = ledger.payments.filter((one) => {
    return one.state === 'seen' && one.tier === tier && one.age < HOUR && isBefore(one, payment)
  })
  const isFull = placesOf(ledger, (owner) => owner === from) >= ledger.walletMax
  const isReleased = payment.state === 'held' && payment.decision === 'accepted'
  const hold = (reason: string) => {
    payment.state = 'held'
    payment.reason = reason
    return false
  }
  const isReserved = supply !== null && sold + reserving.length >= supply
  if (isReleased && (isFull || isReserved)) return false
  if (!isReleased) {
    if (supply !== null && sold >= supply) return hold('soldOut')
    if (payment.isDoubtful) return true
    if (isFull) return hold('walletLimit')
    if (isReserved) return true
  }
  payment.state = 'accepted'
  payment.reason = null
  if (isReleased && supply !== null) places.push({ id: payment.id, supply, sold, reserved: reserving.length })
  return false
}

/** Decides on a page in the order of the chain. While one waits, so do the later ones of its wallet. */
export function judgePage(ledger: Ledger): Place[] {
  const [waiting, places]: [Set<string>, Place[]] = [new Set(), []]
  const page = ledger.payments.filter(({ isInPage }) => isInPage)
  for (const payment of page.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)))
    if (!waiting.has(payment.from) && decide(ledger, payment, places)) waiting.add(payment.from)
  return places
}
