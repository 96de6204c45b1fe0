// What proves a refund, and which acts of the operator's a payment takes around it, as a second reading of docs/ADMIN.md (Payments: Dismiss, Prepare a
// refund, Refund; "one transfer proves one refund; a batch is recorded once for each payment"), of docs/RUNBOOK.md (Held payments) and of the decisions that
// a refund on chain is always recorded, and that a dismissed payment may still be refunded.

// Choices in what the documents leave open:
// - "Not before the payment's" speaks of blocks: a refund in the payment's own block proves it, whichever came first there.
// - "From anyone but them" speaks of the account that the transfer comes from. A transfer is no refund either if the payer signed its transaction.
// - A payment that is about to be refunded is neither released nor dismissed: it is recorded or given up (RUNBOOK.md, refunding).
// - A minted payment stays minted when its refund is recorded, so recording the same one again is no change; a refunded payment takes no refund.
// - Preparing a refund again is no change, so it is never refused.
// - A state of another block says nothing about this one, so the payment is judged again. What a person decided stands in any block.
// - A payment of unknown payer can be decided by a person only, so it is never judged.

export interface Transfer {
  from: string
  to: string
  valueWei: bigint
}
export interface Transaction {
  sender: string
  block: number
  succeeded: boolean
  /** Those that moved ether: of the transaction itself, and of calls inside it. */
  transfers: Transfer[]
}
export type Standing = 'held' | 'refunding' | 'accepted' | 'minted' | 'dismissed' | 'refunded'
export interface Payment {
  payer: string
  valueWei: bigint
  block: number
  standing: Standing
  /** What `refunding` goes back to. */
  before: Standing | null
  isExpelled: boolean
  refundedBy: string | null
}
export type Act = 'prepare' | 'cancel' | 'dismiss' | 'release'
export type Answer = { kind: 'refused' } | { kind: 'done'; standing: Standing; alarm: string | null }

const REFUSED: Answer = { kind: 'refused' }
const done = (standing: Standing, alarm: string | null = null): Answer => ({ kind: 'done', standing, alarm })

/** An act without a transaction: the state after it, or the refusal. */
export function act(one: Payment, name: Act): Answer {
  const { standing, before } = one
  if (name === 'prepare') {
    if (standing === 'minted' || standing === 'refunded') return REFUSED
    return done('refunding')
  }
  if (name === 'cancel') return standing === 'refunding' && before !== null ? done(before) : REFUSED
  if (standing !== 'held') return REFUSED
  return done(name === 'dismiss' ? 'dismissed' : 'accepted')
}

export function carryOut(one: Payment, name: Act): Answer {
  const answer = act(one, name)
  if (answer.kind === 'refused') return answer
  if (name === 'prepare') {
    if (one.standing !== 'refunding') one.before = one.standing
  } else if (name === 'cancel') one.before = null
  one.standing = answer.standing
  return answer
}

/** How many transfers of a transaction may each prove a refund of a payment. */
export function proofs(one: Payment, tx: Transaction): number {
  if (!tx.succeeded || tx.block < one.block || tx.sender === one.payer) return 0
  let found = 0
  for (const { from, to, valueWei } of tx.transfers) {
    if (to === one.payer && from !== one.payer && valueWei === one.valueWei) found += 1
  }
  return found
}

/** Recording a transaction as the refund of a payment, with all payments on record. */
export function record(all: Payment[], one: Payment, name: string, tx: Transaction | undefined): Answer {
  if (tx === undefined) return REFUSED
  if (one.standing === 'minted' && one.refundedBy === name)
    return done('minted', one.isExpelled ? null : 'refundOfMinted')
  if (one.refundedBy !== null) return REFUSED
  // Transfers that are alike prove one refund each, whichever is taken for which.
  let taken = 0
  for (const other of all) {
    if (other.refundedBy === name && other.payer === one.payer && other.valueWei === one.valueWei) taken += 1
  }
  if (proofs(one, tx) <= taken) return REFUSED
  one.refundedBy = name
  if (one.standing === 'minted') return done('minted', one.isExpelled ? null : 'refundOfMinted')
  one.standing = 'refunded'
  return done('refunded')
}

/** A payment whose refund is being prepared, and what was decided before. */
export interface Refunding {
  /** What it was when the refund was prepared, and whether it is still in that block. */
  stood: { state: 'seen' | 'accepted' | 'minting' | 'held' | 'dismissed'; reason: string | null }
  isSameBlock: boolean
  hasPayer: boolean
  /** Its mint is neither in a block nor out of time. */
  isMintPending: boolean
  /** Whether its tier has a limited number of places: then a released payment waits for one. */
  hasSupply: boolean
  /** All verdicts before, the oldest first. */
  verdicts: {
    verdict: 'accepted' | 'held' | 'dismissed'
    reason: string | null
    byPass: boolean
    isWithdrawn: boolean
  }[]
}

/** Its state and reason once the refund is given up. */
export function givenUp({ stood, isSameBlock, ...one }: Refunding): { state: string; reason: string | null } {
  if (isSameBlock && stood.state === 'held') return { ...stood }
  if (isSameBlock && stood.state === 'minting' && one.isMintPending) return { state: 'minting', reason: null }
  const decided = one.verdicts.filter(({ byPass, isWithdrawn }) => !byPass && !isWithdrawn).at(-1)
  if (!one.hasPayer && decided?.verdict !== 'dismissed') return { state: 'held', reason: 'unattributed' }
  if (decided === undefined) return { state: 'seen', reason: null }
  if (decided.verdict !== 'accepted') return { state: decided.verdict, reason: decided.reason }
  return one.hasSupply ? { state: 'held', reason: 'soldOut' } : { state: 'accepted', reason: null }
}
