// What becomes of a payment when it is judged, as a second reading of docs/ADMIN.md (the table of reasons, Contract wallets, Tiers), docs/RUNBOOK.md (Held
// payments), docs/ARCHITECTURE.md (Judging) and the payments part of the rules of the sale. It names every rule that a payment breaks; the verdict is the
// first of them in the order below.
//
// Choices in what the documents leave open:
// - The documents say only that the deny list and the tier's rules come before the rule about contract wallets. The order within is our choice.
// - A wallet that may have n nodes of a tier has n when nodes and payments under way together are n: the next one is one too many.
import { type Choice, place } from './sale.ts'

export interface Facts {
  succeeded: boolean
  valueWei: bigint
  /** Null: value that nobody is proven to have sent. */
  sender: 'buyer' | 'paymentsWallet' | 'operator' | 'factory' | null
  isDenied: boolean
  toOldWallet: boolean
  choice: Choice
  /** Per selling version: the nodes of the tier that the wallet may have, and the token it must hold. */
  terms: { maxPerWallet: number; holdingWei: bigint; allocation: number | null }[]
  /** Nodes of the tier in the wallet, with its payments of the tier under way. */
  ofTier: number
  /** Payments of the tier by the wallet that count for its allocation. */
  paidOfTier: number
  /** All nodes in the wallet, with all its payments under way, and the contract's cap. */
  ofWallet: number
  walletCap: number | null
  /** Null: it cannot be read. */
  heldWei: bigint | null
  /** Block time since the payment, and for how long facts are read again. */
  waitedSec: number
  retrySec: number
  supply: number | null
  sold: number
  reservedBefore: number
  /** Null: it cannot be read. True for a plain transfer. */
  payerMayBuy: boolean | null
}

export type Reason =
  | 'failed'
  | 'zero'
  | 'self'
  | 'operator'
  | 'mintReverted'
  | 'unattributed'
  | 'oldWallet'
  | 'senderDenied'
  | 'wrongAmount'
  | 'saleClosed'
  | 'notOpenYet'
  | 'notListed'
  | 'tierAllowance'
  | 'walletLimit'
  | 'holding'
  | 'contractWallet'
  | 'soldOut'

export const IGNORED: Reason[] = ['failed', 'zero', 'self', 'operator']

export interface Judgement {
  /** Every rule that the payment breaks. */
  broken: Reason[]
  /** Facts that cannot be read yet, and places that an earlier payment may still take. */
  waitsFor: ('holding' | 'code' | 'place')[]
}

/** The best terms of the versions that sell: a payment is a sale if it meets all terms of one of them. */
function termsBroken(facts: Facts): { broken: Reason[]; unread: boolean } {
  let best: { broken: Reason[]; unread: boolean } | undefined
  for (const one of facts.terms) {
    const broken: Reason[] = []
    if (one.allocation !== null && facts.paidOfTier >= one.allocation) broken.push('notListed')
    if (facts.ofTier >= one.maxPerWallet) broken.push('tierAllowance')
    const unread = one.holdingWei > 0n && facts.heldWei === null
    if (facts.heldWei !== null && facts.heldWei < one.holdingWei) broken.push('holding')
    if (unread && facts.waitedSec >= facts.retrySec) broken.push('holding')
    const found = { broken, unread: unread && facts.waitedSec < facts.retrySec }
    if (broken.length === 0 && !found.unread) return found
    best ??= found
  }
  return best ?? { broken: [], unread: false }
}

export function judge(facts: Facts): Judgement {
  const broken: Reason[] = []
  const waitsFor: Judgement['waitsFor'] = []
  if (!facts.succeeded) broken.push('failed')
  if (facts.valueWei === 0n) broken.push('zero')
  if (facts.sender === 'paymentsWallet') broken.push('self')
  if (facts.sender === 'operator') broken.push('operator')
  if (broken.length > 0) return { broken, waitsFor }
  if (facts.sender === null) return { broken: ['unattributed'], waitsFor }
  if (facts.sender === 'factory') broken.push('mintReverted')
  if (facts.toOldWallet) broken.push('oldWallet')
  if (facts.isDenied) broken.push('senderDenied')
  if (facts.choice.kind === 'held') return { broken: [...broken, facts.choice.reason], waitsFor }
  const terms = termsBroken(facts)
  broken.push(...terms.broken)
  if (terms.unread) waitsFor.push('holding')
  if (facts.walletCap !== null && facts.ofWallet >= facts.walletCap) broken.push('walletLimit')
  if (facts.payerMayBuy === false) broken.push('contractWallet')
  if (facts.payerMayBuy === null) {
    if (facts.waitedSec < facts.retrySec) waitsFor.push('code')
    else broken.push('contractWallet')
  }
  const got = place(facts.supply, facts.sold, facts.reservedBefore)
  if (got === 'soldOut') broken.push('soldOut')
  if (got === 'waits') waitsFor.push('place')
  return { broken, waitsFor }
}
