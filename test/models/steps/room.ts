// What becomes of a page of payments, some of which a person released, as a second reading of docs/ADMIN.md (Deciding; Places; Tiers: opensAfter; Contract
// wallets): places follow the order of the chain, an undecided payment reserves its own for an hour, a release goes by the wallet's cap and the supply and by
// nothing else.
//
// Choices in what the document leaves open:
// - A released payment without room stays as it is, and the later ones of its wallet do not wait for it.
// - The judge asks two providers about a payment only once it has a place.
// - A payment that is held again for its reason has no new verdict. Only a contract's has: its evidence may have changed.

export interface Payment {
  id: number
  from: string
  /** Its price: of one of two tiers, of the step behind the first one, of none, or nothing at all. */
  pays: 'tier' | 'step' | 'odd' | 'zero'
  tier: number
  block: number
  txIndex: number
  /** Seconds of block time since its block. */
  age: number
  state: 'seen' | 'held' | 'accepted' | 'ignored'
  reason: string | null
  /** Whether one provider alone tells of it. */
  isDoubtful: boolean
  /** Whether a contract sent it, and none may buy. */
  isContract: boolean
  /** The last decision of a person that stands. */
  decision: string | null
  isInPage: boolean
  /** Whether a person has dismissed it since the run read it. */
  isGone: boolean
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
  walletMax: number
  walletNodes: number
  walletInFlight: number
  supply?: number
  sold?: number
  reserved?: number
  place?: number
}
export interface Verdict {
  id: number
  verdict: 'accepted' | 'held' | 'ignored'
  reason: string | null
  tier: number | null
  /** Of a released one; null for the others. */
  place: Place | null
}
export interface Result {
  outcomes: { id: number; outcome: string }[]
  verdicts: Verdict[]
  /** Tiers with a supply of which places were taken. */
  sales: { tier: number; before: number; sold: number }[]
}

const isBefore = (a: Payment, b: Payment) => a.block < b.block || (a.block === b.block && a.txIndex < b.txIndex)
const HOUR = 3_600
/** The tier of the step, behind the two others. */
export const STEP = 2

function placesOf({ payments, nodes }: Ledger, isMeant: (owner: string, tier: number) => boolean) {
  let [held, inFlight] = [0, 0]
  for (const { owner, tier } of nodes) if (isMeant(owner, tier)) held += 1
  for (const { from, tier, state } of payments) if (state === 'accepted' && isMeant(from, tier)) inFlight += 1
  return { held, inFlight, all: held + inFlight }
}
const soldOf = (ledger: Ledger, tier: number) => placesOf(ledger, (_, other) => other === tier).all
const undecidedBefore = ({ payments }: Ledger, payment: Payment, tier: number) =>
  payments.filter((one) => {
    const isUndecided = one.state === 'seen' && !one.isGone && one.pays === 'tier'
    return isUndecided && one.tier === tier && isBefore(one, payment)
  })

type Fate =
  | { kind: 'accepted'; place: Place | null }
  | { kind: 'held' | 'ignored'; reason: string }
  | { kind: 'undecided' | 'early' | 'unchanged' }

/** The step behind the first tier has not opened. It may yet, if undecided payments take what is left of that tier. */
function ofStep(ledger: Ledger, payment: Payment): Fate {
  const [supply = null] = ledger.supply
  const mayTake = undecidedBefore(ledger, payment, 0).filter(({ age, isDoubtful }) => age < HOUR || !isDoubtful)
  const mayOpen = supply !== null && soldOf(ledger, 0) + mayTake.length >= supply
  return mayOpen ? { kind: 'early' } : { kind: 'held', reason: 'notOpenYet' }
}

/** What becomes of one, if it is still as it was read. */
function judge(ledger: Ledger, payment: Payment): Fate {
  const { tier, from, pays } = payment
  if (payment.isGone) return { kind: 'unchanged' }
  const supply = ledger.supply[tier] ?? null
  const sold = soldOf(ledger, tier)
  const reserved = undecidedBefore(ledger, payment, tier).filter(({ age }) => age < HOUR).length
  const { held: walletNodes, inFlight: walletInFlight, all } = placesOf(ledger, (owner) => owner === from)
  const isFull = all >= ledger.walletMax
  const isReserved = supply !== null && sold + reserved >= supply
  if (payment.state === 'held' && payment.decision === 'accepted') {
    if (isFull || isReserved) return { kind: 'unchanged' }
    const wallet = { walletMax: ledger.walletMax, walletNodes, walletInFlight }
    return {
      kind: 'accepted',
      place: supply === null ? wallet : { ...wallet, supply, sold, reserved, place: sold + 1 },
    }
  }
  if (pays === 'zero') return { kind: 'ignored', reason: 'zero' }
  if (pays === 'odd') return { kind: 'held', reason: 'wrongAmount' }
  if (pays === 'step') return ofStep(ledger, payment)
  if (supply !== null && sold >= supply) return { kind: 'held', reason: 'soldOut' }
  if (payment.isDoubtful) return { kind: 'undecided' }
  if (payment.isContract) return { kind: 'held', reason: 'contractWallet' }
  if (isFull) return { kind: 'held', reason: 'walletLimit' }
  return isReserved ? { kind: 'undecided' } : { kind: 'accepted', place: null }
}

/** Writes what became of one. @returns its verdict, if that is a new one. */
function store(payment: Payment, fate: Fate): { isSame: boolean; verdict: Verdict | null } {
  if (fate.kind !== 'accepted' && fate.kind !== 'held' && fate.kind !== 'ignored')
    return { isSame: false, verdict: null }
  const reason = fate.kind === 'accepted' ? null : fate.reason
  const was = payment.reason === 'supplySpent' ? 'soldOut' : payment.reason
  const isSame = payment.state === 'held' && fate.kind === 'held' && was === reason
  if (isSame && reason !== 'contractWallet') return { isSame, verdict: null }
  payment.state = fate.kind
  payment.reason = reason
  const hasTier = payment.pays === 'tier' || payment.pays === 'step'
  const place = fate.kind === 'accepted' ? fate.place : null
  return { isSame, verdict: { id: payment.id, verdict: fate.kind, reason, tier: hasTier ? payment.tier : null, place } }
}

/** Decides on a page in the order of the chain. While one waits, so do the later ones of its wallet. */
export function judgePage(ledger: Ledger): Result {
  const waiting = new Set<string>()
  const result: Result = { outcomes: [], verdicts: [], sales: [] }
  const before = ledger.supply.map((_, tier) => soldOf(ledger, tier))
  const page = ledger.payments.filter(({ isInPage }) => isInPage)
  for (const payment of page.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))) {
    const fate: Fate = waiting.has(payment.from) ? { kind: 'undecided' } : judge(ledger, payment)
    if (fate.kind === 'undecided') waiting.add(payment.from)
    const { isSame, verdict } = store(payment, fate)
    result.outcomes.push({ id: payment.id, outcome: isSame ? 'unchanged' : fate.kind })
    if (verdict) result.verdicts.push(verdict)
  }
  for (const [tier, supply] of ledger.supply.entries()) {
    const [then = 0, sold] = [before[tier], soldOf(ledger, tier)]
    if (supply !== null && sold > then) result.sales.push({ tier, before: then, sold })
  }
  return result
}
