// What proves that a payment was paid back, and what follows, as a second reading of docs/ADMIN.md (Record the refund), of docs/RUNBOOK.md (Held payments;
// unattributed; NodeLedgerRefundAlarms) and of api/admin.yaml: a successful transfer of that amount to the payer, from another account, in the payment's block
// or later, perhaps by an internal call.
//
// Choices in what the documents leave open:
// - A transaction to the payer itself is the refund, so nothing inside it is looked at.
// - Of several transfers inside one transaction the first that proves nothing else is the refund. Each record of that amount uses up one of them.
// - If the payer is unknown, the transaction itself is the refund, and its receiver is not checked.
// - A transfer to its own sender or signer pays nothing back, nor does one to a payments wallet.
// - A refund in a block that the ledger has not followed counts as its provider tells of it.
import { type Horizon, lookAt, type Payment } from './prepared.ts'

export interface Transfer {
  /** Its place among the transaction's inner transfers to its receiver, from 1; 0 for the transaction's own. */
  index: number
  from: string
  to: string
  valueWei: bigint
}
export interface Transaction {
  from: string
  /** Null if it makes a contract. */
  to: string | null
  valueWei: bigint
  succeeded: boolean
  block: number
  hash: string
  /** Null if no trace can be had. */
  inner: Transfer[] | null
}
/** What a transfer of the transaction proves on record. */
export interface Proof {
  to: string
  index: number
  valueWei: bigint
  of: 'this' | 'another' | 'commission'
}
export interface Desk {
  horizon: Horizon
  wallets: string[]
  signers: string[]
  /** The hashes of the ledger's blocks and of the provider's. */
  own: Map<number, string>
  canonical: Map<number, string>
  proofs: Proof[]
  /** Another transaction is on record as the payment's refund. */
  isRefundedElsewhere: boolean
  /** The ledger was found to be restored while the act began. */
  isRestored: boolean
}
export type Alarm = 'refundOfMinted' | 'refundOfOrphaned' | 'refundTooEarly'
export type Reason =
  | ('unmined' | 'forked' | 'failed' | 'creates' | 'state' | 'noSale' | 'restored')
  | ('used' | 'payee' | 'unmoved' | 'amount' | 'older')
export interface Recorded {
  transfer: Transfer
  state: Payment['state']
  alarm: Alarm | null
  safeAfter: number | null
}

/** Why the transaction shows nothing. */
export function unseen(tx: Transaction | null, { own, canonical }: Desk): Reason[] {
  if (tx === null) return ['unmined']
  const found: Reason[] = []
  if (canonical.get(tx.block) !== tx.hash) found.push('forked')
  else if (own.has(tx.block) && own.get(tx.block) !== tx.hash) found.push('forked')
  if (!tx.succeeded) found.push('failed')
  if (tx.to === null) found.push('creates')
  return found
}

function unfit(one: Payment, { wallets, signers, isRestored }: Desk): Reason[] {
  const found: Reason[] = []
  if (one.state === 'refunded') found.push('state')
  const isOurs = one.from !== null && [...wallets, ...signers].includes(one.from)
  if (one.state === 'seen' && one.from !== null && (!one.succeeded || one.valueWei === 0n || isOurs))
    found.push('noSale')
  if (isRestored) found.push('restored')
  return found
}

/** The transfer that would be the refund; none if all that could be it prove something else. */
function transferOf(one: Payment, tx: Transaction & { to: string }, { proofs }: Desk): Transfer | null {
  const { from, to, valueWei } = tx
  const whole = { index: 0, from, to, valueWei }
  if (one.from === null || to === one.from) return whole
  const fitting = (tx.inner ?? []).filter((part) => part.to === one.from && part.valueWei === one.valueWei)
  if (fitting.length === 0) return whole
  const others = proofs.filter((proof) => proof.of !== 'this' && proof.to === one.from)
  if (others.filter((proof) => proof.valueWei === one.valueWei).length >= fitting.length) return null
  return fitting.find(({ index }) => !others.some((proof) => proof.index === index)) ?? null
}

function wrongOf(one: Payment, tx: Transaction, transfer: Transfer, desk: Desk): Reason[] {
  const { from, to, valueWei, index } = transfer
  const found: Reason[] = []
  if (one.from !== null && to !== one.from) found.push('payee')
  if (desk.wallets.includes(to) || from === to || tx.from === to) found.push('unmoved')
  if (valueWei !== one.valueWei) found.push('amount')
  if (one.block !== null && tx.block < one.block) found.push('older')
  const isAgain = desk.proofs.some((proof) => proof.of === 'this')
  const isTaken = desk.proofs.some((proof) => proof.of !== 'this' && proof.to === to && proof.index === index)
  if (!isAgain && (isTaken || desk.isRefundedElsewhere)) found.push('used')
  return found
}

function alarmOf({ state, isExpelled }: Payment, mayStillMint: boolean): Alarm | null {
  if (state === 'minted') return isExpelled ? null : 'refundOfMinted'
  if (state === 'orphaned') return 'refundOfOrphaned'
  return mayStillMint ? 'refundTooEarly' : null
}

/** What is recorded, or every reason against it. */
export function record(one: Payment, tx: Transaction | null, desk: Desk): Recorded | Reason[] {
  const reasons = [...unseen(tx, desk), ...unfit(one, desk)]
  if (tx === null || tx.to === null) return reasons
  const transfer = transferOf(one, { ...tx, to: tx.to }, desk)
  if (transfer === null) return [...reasons, 'used']
  reasons.push(...wrongOf(one, tx, transfer, desk))
  if (reasons.length > 0) return reasons
  const { mayStillMint, safeAfter } = lookAt(one, desk.horizon)
  const state = one.state === 'minted' || one.state === 'orphaned' ? one.state : 'refunded'
  return { transfer, state, alarm: alarmOf(one, mayStillMint), safeAfter }
}
