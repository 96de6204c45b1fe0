// A claim: a buyer reports the hash of their payment. The hash only shows where to look: the ledger follows to the payment's block under the same
// rules as in any pass, and judges the payment like any other. A claim starts the payments pass now instead of later. Once it starts, it takes at
// most 12 s (REQUEST_POLL_POLICY in ports/contexts.ts); with its time in the queue, at most 20 s (http/routes/payments/claim.ts).

import { isDust } from '../db/payments/junk.ts'
import { findPayments } from '../db/payments/rows.ts'
import { isBalanceChecked, isInResidue } from '../db/payments/wallet.ts'
import { readPaymentWallets } from '../db/sale/payment-wallets.ts'
import { isWatched, type PaymentWallet } from '../domain/payment-wallets.ts'
import type { Hash } from '../domain/units.ts'
import { within } from '../lib/deadline.ts'
import type { TransactionView } from '../ports/chain.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, Polling, RuledBy } from '../ports/contexts.ts'
import { ChainFault } from '../ports/faults.ts'
import type { ClaimOutcome, PaymentsOutcome } from '../ports/outcomes.ts'
import { type Looks, lookOnce, reachBlock } from './reach.ts'

type ClaimContext = LedgerDb & ChainRead & Polling & RuledBy<FollowRules> & Logging

/** Creates the function behind POST /api/payments/claim. It starts the payments pass. */
export function claimer(
  ctx: ClaimContext,
  runPayments: () => Promise<PaymentsOutcome>,
): (txHash: Hash) => Promise<ClaimOutcome> {
  // Pages repeat a claim while they wait, so repeated requests share one lookup.
  const looks: Looks = { lookedAt: null }
  const reaching = (txHash: Hash) => ({ isDone: isJudged(ctx, txHash), looks })
  return async (txHash) => {
    const payments = await findPayments(ctx.pool, txHash)
    // We have already followed the payment's block. Only a new block can show that the payment is settled now, or let its mint start.
    const seenPayment = payments.find(({ state }) => state === 'seen')
    if (seenPayment) await reachBlock(ctx, seenPayment.blockNumber ?? 0, runPayments, reaching(txHash))
    if (payments.some(({ state }) => state === 'accepted')) await lookOnce(ctx, runPayments, looks)
    if (payments.some(({ state }) => state !== 'orphaned')) return { kind: 'known' }
    if (await isDust(ctx.pool, txHash)) return { kind: 'dust' }
    const tx = await readTransaction(ctx, txHash)
    if (!tx) return payments.length > 0 ? { kind: 'known' } : { kind: 'notFound' }
    return claimFound(ctx, tx, runPayments, looks)
  }
}

/** Claims a transaction that is on chain, and for which the ledger has no payment in a block. */
async function claimFound(
  ctx: ClaimContext,
  tx: TransactionView,
  runPayments: () => Promise<PaymentsOutcome>,
  looks: Looks,
): Promise<ClaimOutcome> {
  const { txHash, from, valueWei, blockNumber } = tx
  const wallets = await readPaymentWallets(ctx.pool)
  const refusal = refuse(ctx, tx, wallets)
  if (refusal) return refusal
  if (blockNumber === null) return { kind: 'pending' }
  if (!isToWallet(tx, wallets)) return claimInside(ctx, { txHash, blockNumber }, runPayments, looks)
  await reachBlock(ctx, blockNumber, runPayments, { isDone: isJudged(ctx, txHash), looks })
  return (await onRecord(ctx, txHash)) ?? { kind: 'following', from, valueWei, blockNumber }
}

/** Reads the transaction from the chain. Throws a ChainFault if no provider answers in time. */
function readTransaction({ chain, pollPolicy: { readMs } }: ChainRead & Polling, txHash: Hash) {
  return within(readMs, chain.transaction(txHash), (): never => {
    throw new ChainFault(`the transaction was not read within ${readMs} ms`)
  })
}

/** What the ledger has recorded for a transaction; null if nothing yet. */
async function onRecord({ pool }: LedgerDb, txHash: Hash): Promise<ClaimOutcome | null> {
  if (await isDust(pool, txHash)) return { kind: 'dust' }
  return (await findPayments(pool, txHash)).length > 0 ? { kind: 'known' } : null
}

/**
 * Claims a transaction that went to another account. It may have paid through inner calls, as a contract wallet does; the balance check finds such
 * payments. The outcome is `pending` until the check has reached the block, and as long as the block has an unexplained residue.
 */
async function claimInside(
  ctx: ClaimContext,
  { txHash, blockNumber }: { txHash: Hash; blockNumber: number },
  runPayments: () => Promise<PaymentsOutcome>,
  looks: Looks,
): Promise<ClaimOutcome> {
  const isChecked = () => isBalanceChecked(ctx.pool, blockNumber)
  const isDone = async () => ((await findPayments(ctx.pool, txHash)).length > 0 ? isJudged(ctx, txHash)() : isChecked())
  await reachBlock(ctx, blockNumber, runPayments, { isDone, looks })
  if ((await findPayments(ctx.pool, txHash)).length > 0) return { kind: 'known' }
  const isKnown = (await isChecked()) && !(await isInResidue(ctx.pool, blockNumber))
  return isKnown ? notASale('the transaction does not pay the payments wallet') : { kind: 'pending' }
}

const notASale = (why: string): ClaimOutcome => ({ kind: 'notASale', why })

function isToWallet({ to, blockNumber }: TransactionView, wallets: readonly PaymentWallet[]): boolean {
  const paidWallet = wallets.find(({ wallet }) => wallet === to)
  return paidWallet !== undefined && isWatched(paidWallet, blockNumber ?? Number.MAX_SAFE_INTEGER)
}

/** Refuses a transaction that cannot be a payment by its own fields. Its value is judged later, by the ledger's tiers. */
function refuse(
  { rules }: RuledBy<FollowRules>,
  tx: TransactionView,
  wallets: readonly PaymentWallet[],
): ClaimOutcome | null {
  if (wallets.length === 0) return notASale('no payments wallet')
  if (wallets.some(({ wallet }) => wallet === tx.from))
    return notASale('the payments wallet itself sent the transaction')
  if (tx.succeeded === false) return notASale('the transaction failed on chain')
  if (tx.valueWei === 0n && isToWallet(tx, wallets)) return notASale('the transaction moves nothing')
  if (tx.blockNumber !== null && tx.blockNumber < rules.startBlock)
    return notASale('the transaction is from before the sale began')
  return null
}

/** True if all payments of the transaction are judged and their blocks followed, or if it turned out to be dust. */
function isJudged({ pool }: LedgerDb, txHash: Hash): () => Promise<boolean> {
  return async () => {
    const standing = (await findPayments(pool, txHash)).filter(({ state }) => state !== 'orphaned')
    if (standing.length > 0) return standing.every(({ state }) => state !== 'seen')
    return isDust(pool, txHash)
  }
}
