// A claim: a buyer reports the hash of their payment. The hash is only a pointer; the ledger follows to its block, under the
// same rules as any pass, and judges it like any other payment. A claim starts the payments pass now instead of later.
// One whose turn has come takes 12 s at most (REQUEST_POLL_POLICY in passes/context.ts), with its wait in line 20 s (http/routes/claim.ts).
import { ChainFault } from '../chain/faults.ts'
import type { TransactionView } from '../chain/port.ts'
import { isDust } from '../db/payments/junk.ts'
import { findPayment } from '../db/payments/rows.ts'
import { readPaymentWallets } from '../db/sale/payment-wallets.ts'
import { isWatched } from '../domain/payment-wallets.ts'
import type { Hash } from '../domain/units.ts'
import { within } from '../lib/deadline.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, Polling, RuledBy } from '../passes/context.ts'
import type { ClaimOutcome, PaymentsOutcome } from '../passes/outcomes.ts'
import { type Looks, lookOnce, reachBlock } from './reach.ts'

/** Builds the claim (POST /api/payments/claim) on the payments pass it triggers. */
export function claimer(
  ctx: LedgerDb & ChainRead & Polling & RuledBy<FollowRules> & Logging,
  runPayments: () => Promise<PaymentsOutcome>,
): (txHash: Hash) => Promise<ClaimOutcome> {
  // Pages claim again and again while they wait: they share what was looked at.
  const looks: Looks = { lookedAt: null }
  const reaching = (txHash: Hash) => ({ done: judged(ctx, txHash), looks })
  return async (txHash) => {
    const known = await findPayment(ctx.pool, txHash)
    // Followed to already. It may be settled by now, or its mint may start: only a new block can tell.
    if (known?.state === 'seen') await reachBlock(ctx, known.blockNumber ?? 0, runPayments, reaching(txHash))
    if (known?.state === 'accepted') await lookOnce(ctx, runPayments, looks)
    if (known && known.state !== 'orphaned') return { kind: 'known' }
    if (await isDust(ctx.pool, txHash)) return { kind: 'dust' }
    const tx = await readTransaction(ctx, txHash)
    if (!tx) return known ? { kind: 'known' } : { kind: 'notFound' }
    const refusal = await refuse(ctx, tx)
    if (refusal) return refusal
    if (tx.blockNumber === null) return { kind: 'pending' }
    await reachBlock(ctx, tx.blockNumber, runPayments, reaching(txHash))
    const { from, valueWei, blockNumber } = tx
    return (await onRecord(ctx, txHash)) ?? { kind: 'following', from, valueWei, blockNumber }
  }
}

/** The transaction as the chain has it; a fault of the chain where no provider answers in time. */
function readTransaction({ chain, pollPolicy: { readMs } }: ChainRead & Polling, txHash: Hash) {
  return within(readMs, chain.transaction(txHash), (): never => {
    throw new ChainFault(`the transaction was not read within ${readMs} ms`, { retryable: true })
  })
}

/** The ledger's answer for a transaction; null: nothing yet. */
async function onRecord({ pool }: LedgerDb, txHash: Hash): Promise<ClaimOutcome | null> {
  if (await isDust(pool, txHash)) return { kind: 'dust' }
  return (await findPayment(pool, txHash)) && { kind: 'known' }
}

/** Refuses a transaction that cannot be a payment by its own fields. Its value is judged later, from the ledger. */
async function refuse(ctx: LedgerDb & RuledBy<FollowRules>, tx: TransactionView): Promise<ClaimOutcome | null> {
  const { startBlock } = ctx.rules
  const wallets = await readPaymentWallets(ctx.pool)
  const paid = wallets.find(({ wallet }) => wallet === tx.to)
  const notASale = (why: string): ClaimOutcome => ({ kind: 'notASale', why })
  if (!paid || !isWatched(paid, tx.blockNumber ?? Number.MAX_SAFE_INTEGER))
    return notASale('the transaction does not pay the payments wallet')
  if (wallets.some(({ wallet }) => wallet === tx.from))
    return notASale('the transaction was sent by the payments wallet itself')
  if (tx.succeeded === false) return notASale('the transaction failed on chain')
  if (tx.valueWei === 0n) return notASale('the transaction moves nothing')
  if (tx.blockNumber !== null && tx.blockNumber < startBlock)
    return notASale('the transaction is from before the sale began')
  return null
}

/** True once a payment was judged and its block is followed, or it turned out to be dust. */
function judged({ pool }: LedgerDb, txHash: Hash): () => Promise<boolean> {
  return async () => {
    const payment = await findPayment(pool, txHash)
    if (payment !== null && payment.state !== 'orphaned') return payment.state !== 'seen'
    return isDust(pool, txHash)
  }
}
