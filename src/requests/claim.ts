// A claim: a buyer reports the hash of their payment. The hash is only a pointer: the ledger follows to its block, under the same rules as any pass,
// and judges it like any other payment. A claim starts the payments pass now instead of later. It takes at most 12 s once it starts
// (REQUEST_POLL_POLICY in passes/context.ts), and 20 s including its time in the queue (http/routes/payments/claim.ts).
import { ChainFault } from '../chain/faults.ts'
import type { TransactionView } from '../chain/port.ts'
import { readBlock, readCursor } from '../db/blocks/blocks.ts'
import { noteClaimedBlock } from '../db/blocks/claimed.ts'
import { isDust } from '../db/payments/junk.ts'
import { findPayments } from '../db/payments/rows.ts'
import { isBalanceChecked, isInResidue } from '../db/payments/wallet.ts'
import { readPaymentWallets } from '../db/sale/payment-wallets.ts'
import { isWatched, type PaymentWallet } from '../domain/payment-wallets.ts'
import type { Hash } from '../domain/units.ts'
import { within } from '../lib/deadline.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, Polling, RuledBy } from '../passes/context.ts'
import type { ClaimOutcome, PaymentsOutcome } from '../passes/outcomes.ts'
import { type Looks, lookOnce, reachBlock } from './reach.ts'

type ClaimContext = LedgerDb & ChainRead & Polling & RuledBy<FollowRules> & Logging

/** Builds the claim (POST /api/payments/claim), which triggers the payments pass. */
export function claimer(
  ctx: ClaimContext,
  runPayments: () => Promise<PaymentsOutcome>,
): (txHash: Hash) => Promise<ClaimOutcome> {
  // Pages repeat a claim while they wait, so their requests share what they looked at.
  const looks: Looks = { lookedAt: null }
  const reaching = (txHash: Hash) => ({ done: judged(ctx, txHash), looks })
  return async (txHash) => {
    const known = await findPayments(ctx.pool, txHash)
    // We have already followed to its block. The payment may be settled now, or its mint may start, but only a new block can show that.
    const seen = known.find(({ state }) => state === 'seen')
    if (seen) await reachBlock(ctx, seen.blockNumber ?? 0, runPayments, reaching(txHash))
    if (known.some(({ state }) => state === 'accepted')) await lookOnce(ctx, runPayments, looks)
    if (known.some(({ state }) => state !== 'orphaned')) return { kind: 'known' }
    if (await isDust(ctx.pool, txHash)) return { kind: 'dust' }
    const tx = await readTransaction(ctx, txHash)
    if (!tx) return known.length > 0 ? { kind: 'known' } : { kind: 'notFound' }
    return claimFound(ctx, tx, runPayments, looks)
  }
}

/** Claims a transaction for which the ledger has no payment in a block. */
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
  if (await noteNotOnRecord(ctx, tx)) looks.lookedAt = null
  await reachBlock(ctx, blockNumber, runPayments, { done: judged(ctx, txHash), looks })
  return (await onRecord(ctx, txHash)) ?? { kind: 'following', from, valueWei, blockNumber }
}

/** If a followed block should hold this payment but we have no record of it, has that block read again. @returns true if the next run does so. */
async function noteNotOnRecord({ pool }: LedgerDb, { blockNumber, blockHash }: TransactionView): Promise<boolean> {
  const own = blockNumber === null ? null : await readBlock(pool, blockNumber)
  const cursor = await readCursor(pool)
  if (!own || own.hash !== blockHash || own.number > (cursor?.number ?? -1)) return false
  return noteClaimedBlock(pool, own.number)
}

/** The transaction, read from the chain. Throws a chain fault if no provider answers in time. */
function readTransaction({ chain, pollPolicy: { readMs } }: ChainRead & Polling, txHash: Hash) {
  return within(readMs, chain.transaction(txHash), (): never => {
    throw new ChainFault(`the transaction was not read within ${readMs} ms`, { retryable: true })
  })
}

/** The ledger's answer for a transaction; null if there is none yet. */
async function onRecord({ pool }: LedgerDb, txHash: Hash): Promise<ClaimOutcome | null> {
  if (await isDust(pool, txHash)) return { kind: 'dust' }
  return (await findPayments(pool, txHash)).length > 0 ? { kind: 'known' } : null
}

/**
 * Claims a transaction to another account that may have paid through its inner calls, as a contract wallet does. The balance check finds such
 * payments. There is no answer until it has reached the block, or while the block has a residue without an explanation.
 */
async function claimInside(
  ctx: ClaimContext,
  { txHash, blockNumber }: { txHash: Hash; blockNumber: number },
  runPayments: () => Promise<PaymentsOutcome>,
  looks: Looks,
): Promise<ClaimOutcome> {
  const isChecked = () => isBalanceChecked(ctx.pool, blockNumber)
  const done = async () => ((await findPayments(ctx.pool, txHash)).length > 0 ? judged(ctx, txHash)() : isChecked())
  await reachBlock(ctx, blockNumber, runPayments, { done, looks })
  if ((await findPayments(ctx.pool, txHash)).length > 0) return { kind: 'known' }
  const isKnown = (await isChecked()) && !(await isInResidue(ctx.pool, blockNumber))
  return isKnown ? notASale('the transaction does not pay the payments wallet') : { kind: 'pending' }
}

const notASale = (why: string): ClaimOutcome => ({ kind: 'notASale', why })

function isToWallet({ to, blockNumber }: TransactionView, wallets: readonly PaymentWallet[]): boolean {
  const paid = wallets.find(({ wallet }) => wallet === to)
  return paid !== undefined && isWatched(paid, blockNumber ?? Number.MAX_SAFE_INTEGER)
}

/** Refuses a transaction whose own fields rule out a payment. Its value is judged later, from the ledger. */
function refuse(
  { rules }: RuledBy<FollowRules>,
  tx: TransactionView,
  wallets: readonly PaymentWallet[],
): ClaimOutcome | null {
  if (wallets.length === 0) return notASale('no payments wallet')
  if (wallets.some(({ wallet }) => wallet === tx.from))
    return notASale('the transaction was sent by the payments wallet itself')
  if (tx.succeeded === false) return notASale('the transaction failed on chain')
  if (tx.valueWei === 0n && isToWallet(tx, wallets)) return notASale('the transaction moves nothing')
  if (tx.blockNumber !== null && tx.blockNumber < rules.startBlock)
    return notASale('the transaction is from before the sale began')
  return null
}

/** True if a payment was judged and its block followed, or it turned out to be dust. */
function judged({ pool }: LedgerDb, txHash: Hash): () => Promise<boolean> {
  return async () => {
    const standing = (await findPayments(pool, txHash)).filter(({ state }) => state !== 'orphaned')
    if (standing.length > 0) return standing.every(({ state }) => state !== 'seen')
    return isDust(pool, txHash)
  }
}
