// What a payments pass answers, mints and leaves, as a second reading of docs/ARCHITECTURE.md (What a pass does, in order; Sending) and the words at
// src/ports/outcomes.ts. Each payment has a wallet of its own, and its tier a cohort with room.
//
// Choices in what the documents leave open:
// - Counts are null if the run did not come to count: the pass was locked or halted, the provider is behind, or the ledger reads blocks again.
// - Before it mints, a run judges until it has a full mint or two seconds have passed. It judges the rest behind the mint.
// - A payment whose verdict cannot be stored stays, and the run's record says how many.
// - A mint takes the payments in the order of the chain.
// - While a call is pending, nothing else is sent, and the budget that is on record stays.
// - What is reported as unsent is only what no other report is about: not a role that was lost.

export interface Payment {
  kind: 'sale' | 'odd' | 'fault' | 'accepted' | 'former'
  block: number
}
export interface Given {
  isLocked: boolean
  isHalted: boolean
  hasKey: boolean
  /** The provider's head beside the followed block. */
  head: -1 | 0
  /** How far the ledger was when it began to read blocks again, beside the followed block; null if it never did. */
  mendingTo: 0 | 1 | null
  /** Blocks until one is settled. */
  finality: 0 | 1
  followed: number
  payments: Payment[]
  isPending: boolean
  /** Nodes that the minter may still mint, and the budget that was spent by the last record. */
  budget: number
  spentBefore: 'nodes' | null
  answer: 'ok' | 'roleLost' | 'reverts'
}
export interface Result {
  outcome: {
    ran: boolean
    headBlock: number | null
    held: number | null
    pending: number | null
    detected: number | null
    minted: number | null
    reconciled: number | null
    signer: 'signed' | 'roleLost' | null
    budgetSpent: 'nodes' | null
  }
  /** The state and reason of each payment. */
  payments: string[]
  failed: number
  /** Payments in the mint that was signed, in order. */
  orders: number[]
  /** What is on record as unsent, and the budget that is on record as spent. */
  unsent: string | null
  spent: 'nodes' | null
}

const BEFORE: Record<Payment['kind'], string> = {
  ...{ sale: 'seen', odd: 'seen', fault: 'seen', accepted: 'accepted', former: 'minting' },
}
const countOpen = (states: string[]) => states.filter((one) => ['seen', 'accepted', 'minting'].includes(one)).length
const NOTHING = {
  ...{ ran: true, headBlock: null, held: null, pending: null, detected: null, minted: null, reconciled: null },
  ...{ signer: null, budgetSpent: null },
}

/** Why a run does not come to judge; null if it does. */
function cutOf(given: Given, open: number): Result['outcome'] | null {
  if (given.isLocked) return { ...NOTHING, ran: false }
  if (given.isHalted) return { ...NOTHING, pending: open }
  if (given.head === 0 && given.mendingTo !== 1) return null
  return { ...NOTHING, headBlock: given.followed + given.head, detected: 0, minted: 0, pending: open }
}

/** Judges what waits. */
function judge(given: Given, states: string[], isSettled: (one: Payment) => boolean) {
  const waiting = given.payments
    .map((one, n) => ({ ...one, n }))
    .filter((one) => states[one.n] === 'seen' && isSettled(one))
  for (const { kind, n } of waiting) {
    if (kind === 'odd') states[n] = 'held wrongAmount'
    if (kind === 'sale') states[n] = 'accepted'
  }
  const count = (kind: Payment['kind']) => waiting.filter((one) => one.kind === kind).length
  return { held: count('odd'), failed: count('fault') }
}

/** Mints what the minter's budget and the chain allow. */
function mint({ budget, answer }: Given, states: string[], mintable: number[]) {
  const orders = mintable.slice(0, budget)
  const isSent = answer === 'ok' && orders.length > 0
  for (const n of isSent ? orders : []) states[n] = 'minting'
  // Of another account the budget is not ours, and a call of nothing shows that.
  const isLost = answer === 'roleLost' && mintable.length > 0
  const isSpent = orders.length < mintable.length && !(isLost && orders.length === 0)
  const signer = isLost ? ('roleLost' as const) : null
  return {
    orders: isSent ? orders.map((n) => 1 + n) : [],
    unsent: answer === 'reverts' && orders.length > 0 ? 'reverts: Paused' : null,
    spent: isSpent ? ('nodes' as const) : null,
    signer: isSent ? ('signed' as const) : signer,
  }
}

export function runOf(given: Given): Result {
  const states = given.payments.map(({ kind }) => BEFORE[kind])
  const nothing = { payments: states, failed: 0, orders: [], unsent: null, spent: given.spentBefore }
  const cut = cutOf(given, countOpen(states))
  if (cut) return { ...nothing, outcome: cut }
  const isSettled = ({ block }: Payment) => block <= given.followed - given.finality
  const { held, failed } = judge(given, states, isSettled)
  const counts = { ...NOTHING, headBlock: given.followed, detected: 0, minted: 0, held, reconciled: 0 }
  // A former key's mint is made again by this one.
  for (const [n, state] of states.entries()) if (given.hasKey && state === 'minting') states[n] = 'accepted'
  if (!given.hasKey || given.isPending)
    return { ...nothing, failed, outcome: { ...counts, pending: countOpen(states) } }
  const mintable = given.payments
    .flatMap((one, n) => (states[n] === 'accepted' && isSettled(one) ? [{ block: one.block, n }] : []))
    .toSorted((a, b) => a.block - b.block || a.n - b.n)
    .map(({ n }) => n)
  const { signer, ...minted } = mint(given, states, mintable)
  const outcome = { ...counts, pending: countOpen(states), budgetSpent: minted.spent, signer }
  return { payments: states, failed, ...minted, outcome }
}
