// What becomes of a payment when it is judged, as a second reading of docs/ADMIN.md (Contract wallets, Tiers), docs/RUNBOOK.md (Held
// payments), docs/ARCHITECTURE.md (Judging) and the payments part of the rules of the sale. Each rule is a step; the first that does not pass decides.

// Choices in what the documents leave open:
// - The documents say only that the deny list and the tier's rules come before the rule about contract wallets. The rest of the order is the code's.
// - A wallet that may have n nodes of a tier has n when nodes and payments under way together are n: the next one is one too many.
// - In a tier with a supply a fact is read again for no longer than a place is reserved, an hour, or later buyers would wait without end.
// - The judge knows no residue and no payment of the factory: `unattributed` and `mintReverted` come from elsewhere.
import { type Choice, place } from './sale.ts'

/**
 * What a selling version asks of the wallet. `heldWei` is what the wallet holds of its token; null if it cannot be read. `allocation` is the wallet's
 * on the version's own list; null if it has no list.
 */
export interface Terms {
  version: number
  allocation: number | null
  maxPerWallet: number
  /** The token's number, if a holding is asked for. */
  token: number
  holdingWei: bigint
  heldWei: bigint | null
}
export interface Facts {
  succeeded: boolean
  valueWei: bigint
  sender: 'buyer' | 'paymentsWallet' | 'operator'
  toOldWallet: boolean
  isDenied: boolean
  choice: Choice['kind'] | 'wrongAmount' | 'notOpenYet' | 'saleClosed'
  /** True if earlier payments that are undecided may still open the ladder's step. */
  mayOpen: boolean
  /** The versions that sell, the one in force first. */
  terms: Terms[]
  /** The wallet's payments of the tier. */
  paidOfTier: number
  /** Nodes of the tier in the wallet, with its payments of the tier under way; then the same of all tiers, and the contract's cap. */
  ofTier: number
  ofWallet: number
  walletCap: number
  beforeRestore: boolean
  restsOnOne: boolean
  supply: number | null
  sold: number
  reservedBefore: number
  /** Null: the code of the payer cannot be read. True for a plain transfer. */
  payerMayBuy: boolean | null
  /** Block time since the payment, and for how long the tier has facts read again. */
  waitedSec: number
  retrySec: number
}

export type Outcome = { kind: 'pass' } | { kind: 'ignored' | 'held' | 'waits'; why: string }
const PASS: Outcome = { kind: 'pass' }
const held = (why: string): Outcome => ({ kind: 'held', why })
const waits = (why: string): Outcome => ({ kind: 'waits', why })
const ignored = (why: string): Outcome => ({ kind: 'ignored', why })

const PLACE_SEC = 3_600
const retriesFor = (facts: Facts): number =>
  facts.supply !== null && facts.retrySec > PLACE_SEC ? PLACE_SEC : facts.retrySec

const meetsHolding = (one: Terms): boolean =>
  one.holdingWei === 0n || (one.heldWei !== null && one.heldWei >= one.holdingWei)

const isListed = (one: Terms, facts: Facts): boolean => one.allocation === null || facts.paidOfTier < one.allocation

/** The version by whose terms a payment is judged: the first of which it meets all, else one of which only the holding is unread, else the first. */
export function judgedBy(facts: Facts): Terms | undefined {
  const open = facts.terms.filter((one) => isListed(one, facts) && facts.ofTier < one.maxPerWallet)
  for (const one of open) if (meetsHolding(one)) return one
  for (const one of open) if (one.heldWei === null) return one
  return facts.terms[0]
}

function ofSale(facts: Facts): Outcome {
  if (facts.choice === 'sells') return PASS
  if (facts.choice === 'notOpenYet' && facts.mayOpen) return waits('opening')
  return held(facts.choice)
}

function ofHolding(facts: Facts, one: Terms | undefined): Outcome {
  if (one === undefined || meetsHolding(one)) return PASS
  if (one.heldWei === null && facts.waitedSec < retriesFor(facts)) return waits('holding')
  return held('holding')
}

function ofPayer(facts: Facts): Outcome {
  if (facts.payerMayBuy === null) return facts.waitedSec < retriesFor(facts) ? waits('payer') : held('contractWallet')
  return facts.payerMayBuy ? PASS : held('contractWallet')
}

const when = (broken: boolean, outcome: Outcome): Outcome => (broken ? outcome : PASS)

/** Every rule with its outcome, in the order in which they decide. Rules of a tier are there only if a tier sells. */
function steps(facts: Facts): Outcome[] {
  const before = [
    when(!facts.succeeded, facts.restsOnOne ? waits('proof') : ignored('failed')),
    when(facts.valueWei === 0n, ignored('zero')),
    when(facts.sender === 'paymentsWallet', ignored('self')),
    when(facts.sender === 'operator', ignored('operator')),
    when(facts.toOldWallet, held('oldWallet')),
    when(facts.isDenied, held('senderDenied')),
    ofSale(facts),
  ]
  if (facts.choice !== 'sells') return before
  const terms = judgedBy(facts)
  const room = place(facts.supply, facts.sold, facts.reservedBefore)
  return [
    ...before,
    when(terms !== undefined && !isListed(terms, facts), held('notListed')),
    when(terms === undefined || facts.ofTier >= terms.maxPerWallet, held('tierAllowance')),
    when(facts.beforeRestore, held('recheck')),
    when(room === 'soldOut', held('soldOut')),
    when(facts.restsOnOne, waits('proof')),
    ofPayer(facts),
    when(facts.ofWallet >= facts.walletCap, held('walletLimit')),
    ofHolding(facts, terms),
    when(room === 'waits', waits('place')),
  ]
}

export function judge(facts: Facts): Outcome {
  for (const outcome of steps(facts)) if (outcome.kind !== 'pass') return outcome
  return PASS
}
