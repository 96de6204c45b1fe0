// What becomes of all payments that wait, one after the other: docs/ARCHITECTURE.md (Judging, Pages, Payments wallets), docs/ADMIN.md (Tiers: Places are
// taken in the order of the chain) and rows 24 to 26 and 32 of the faults. Which verdict a payment gets is the model's own (../judge.ts, ../sale.ts,
// ../wallets.ts); this file says in which order, and what an earlier payment leaves for a later one.

// Choices in what the documents leave open:
// - A payment that can buy nothing waits for none, and none waits for it: its amount was never a price in its block, or it failed.
// - A payment that was held for lack of room is judged again at its own place in the chain, before newer ones. As
//   long as the nodes of a wallet fill it, such payments stay as they are, whatever else may hold them by now.
// - Readings take time, and meanwhile a later payment may be held by a rule that no earlier payment changes. Then `soldOut` may be that rule instead.
// - If several versions sell and the wallet meets the terms of more than one, any of those may be named: the tier and the node are the same.
import { type Facts, judge, type Outcome } from '../judge.ts'
import { allocationOf, choose, comesBefore, type Sale, supplyOf } from '../sale.ts'
import { contractMayBuy, type Mode, modeFor, type Payer, type Wallet, walletSells } from '../wallets.ts'

export interface Payment {
  id: number
  from: string
  sender: Facts['sender']
  wallet: string
  valueWei: bigint
  block: number
  txIndex: number
  innerIndex: number
  time: number
  succeeded: boolean
  /** Whether only one provider of two tells of it as it is on record. */
  restsOnOne: boolean
  /** Whether no verdict on it can be stored. */
  fails: boolean
  /** What made it by a call inside a transaction, as it was after the payment's block; null for a transfer of its own. */
  payer: (Pick<Payer, 'code' | 'isKnown'> & { isReadable: boolean }) | null
  /** What the wallet held of the token in that block; null if no provider says it. */
  heldWei: bigint | null
  state: 'seen' | 'accepted' | 'held' | 'ignored'
  reason: string | null
  /** Another reason that may stand instead. */
  orReason?: string | null
  tierId: string | null
  /** The versions of the tier whose terms the wallet met when it was accepted. */
  versions: number[]
}
export interface Ledger {
  sale: Sale
  wallets: Wallet[]
  lists: Map<string, Map<string, number>>
  denied: string[]
  modes: { fromBlock: number; mode: Mode }[]
  signedIn: string[]
  allowed: string[]
  nodes: { owner: string; tierId: string }[]
  payments: Payment[]
  walletCap: number
  /** Block time and number of the followed head. */
  now: number
  height: number
  /** The last block that counts as settled. */
  upTo: number
  retrySec: number
}
const PLACE_SEC = 3_600

/** Nodes, and payments that are about to become one, of a tier, of a wallet, or of both. */
function placesOf(ledger: Ledger, { tierId, owner }: { tierId?: string | null; owner?: string }): number {
  const isMeant = (tier: string | null, wallet: string) =>
    (tierId === undefined || tier === tierId) && (owner === undefined || wallet === owner)
  const nodes = ledger.nodes.filter((one) => isMeant(one.tierId, one.owner))
  const paid = ledger.payments.filter((one) => one.state === 'accepted' && isMeant(one.tierId, one.from))
  return nodes.length + paid.length
}
const placeOf = (one: Payment) => ({ ...one, number: one.block })

function reservedBefore(ledger: Ledger, payment: Payment, tierId: string): number {
  let count = 0
  for (const one of ledger.payments) {
    if (one.state !== 'seen' || !comesBefore(one, payment) || ledger.now - one.time >= PLACE_SEC) continue
    const choice = choose(ledger.sale, one.valueWei, placeOf(one))
    if (one.succeeded && choice.kind === 'sells' && choice.tierId === tierId) count += 1
  }
  return count
}

/** Whether a payer may buy by itself; null if no provider says what is at its address. */
function mayBuyInside(ledger: Ledger, { payer, from, block }: Payment): boolean | null {
  if (payer === null) return true
  if (!payer.isReadable) return null
  const known = { signedIn: ledger.signedIn.includes(from), isAllowed: ledger.allowed.includes(from) }
  return contractMayBuy({ ...payer, ...known }, modeFor(ledger.modes, block, ledger.height))
}

function factsOf(ledger: Ledger, payment: Payment): Facts {
  const choice = choose(ledger.sale, payment.valueWei, placeOf(payment))
  const tierId = choice.kind === 'sells' ? choice.tierId : null
  const versions = choice.kind === 'sells' ? choice.versions : []
  return {
    ...{ succeeded: payment.succeeded, valueWei: payment.valueWei, sender: payment.sender },
    toOldWallet: !walletSells(ledger.wallets, payment.wallet, placeOf(payment)),
    isDenied: ledger.denied.includes(payment.from),
    choice: choice.kind === 'sells' ? 'sells' : choice.reason,
    mayOpen: false,
    terms: versions.map((one) => {
      const { version, maxPerWallet, holdingWei } = one
      const allocation = allocationOf(one, ledger.lists, payment.from)
      return { version, maxPerWallet, token: 1, holdingWei, heldWei: payment.heldWei, allocation }
    }),
    paidOfTier: ledger.payments.filter(
      (one) => one.state === 'accepted' && one.from === payment.from && one.tierId === tierId,
    ).length,
    ofTier: placesOf(ledger, { tierId, owner: payment.from }),
    ofWallet: placesOf(ledger, { owner: payment.from }),
    walletCap: ledger.walletCap,
    ...{ beforeRestore: false, restsOnOne: payment.restsOnOne, payerMayBuy: mayBuyInside(ledger, payment) },
    supply: tierId === null ? null : supplyOf(ledger.sale, tierId, placeOf(payment), null),
    sold: placesOf(ledger, { tierId }),
    reservedBefore: tierId === null ? 0 : reservedBefore(ledger, payment, tierId),
    waitedSec: ledger.now - payment.time,
    retrySec: ledger.retrySec,
  }
}

function store(payment: Payment, facts: Facts, tierId: string | null, outcome: Outcome): void {
  if (outcome.kind === 'waits') return
  payment.state = outcome.kind === 'pass' ? 'accepted' : outcome.kind
  payment.reason = outcome.kind === 'pass' ? null : outcome.why
  if (outcome.kind === 'held' && outcome.why === 'soldOut') {
    const before = judge({ ...facts, sold: 0, reservedBefore: facts.supply ?? 0 })
    payment.orReason = before.kind === 'held' ? before.why : null
  }
  if (outcome.kind !== 'pass') return
  payment.tierId = tierId
  const meets = (holdingWei: bigint) => holdingWei === 0n || (payment.heldWei !== null && payment.heldWei >= holdingWei)
  const met = facts.terms.filter((one) => facts.ofTier < one.maxPerWallet && meets(one.holdingWei))
  payment.versions = met.map(({ version }) => version)
}

/** @returns for what it waits, if it is not judged. */
function judgeOne(ledger: Ledger, payment: Payment): 'fact' | 'fault' | null {
  const choice = choose(ledger.sale, payment.valueWei, placeOf(payment))
  const facts = factsOf(ledger, payment)
  // A holding is read once nothing else decides.
  const unread = judge({ ...facts, terms: facts.terms.map((one) => ({ ...one, heldWei: null })) })
  const outcome = 'why' in unread && unread.why === 'holding' ? judge(facts) : unread
  if (outcome.kind === 'waits') return 'fact'
  if (payment.fails) return 'fault'
  store(payment, facts, choice.kind === 'sells' ? choice.tierId : null, outcome)
  return null
}

/**
 * Judges what waits, in the order of the chain. Once a payment waits, or cannot be judged, the later ones of its wallet wait with it.
 * @returns how many could not be judged, with those that wait for one of them.
 */
export function judgeAll(ledger: Ledger): number {
  let failed = 0
  const waiting = new Map<string, 'fact' | 'fault'>()
  const hasRoom = ({ from }: Payment) => ledger.nodes.filter(({ owner }) => owner === from).length < ledger.walletCap
  const open = ledger.payments.filter((one) => one.state === 'seen' || (one.reason === 'walletLimit' && hasRoom(one)))
  for (const payment of open.toSorted((a, b) => (comesBefore(a, b) ? -1 : 1))) {
    const choice = choose(ledger.sale, payment.valueWei, placeOf(payment))
    const mayBuy = !payment.succeeded || choice.kind === 'sells' || choice.reason !== 'wrongAmount'
    if (payment.block > ledger.upTo) continue
    const waitsFor = mayBuy ? waiting.get(payment.from) : undefined
    const becomes = waitsFor ?? judgeOne(ledger, payment)
    if (becomes !== null) waiting.set(payment.from, becomes)
    if (becomes === 'fault') failed += 1
  }
  return failed
}
