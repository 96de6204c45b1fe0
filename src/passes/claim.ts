// A claim: a buyer tells the hash of his payment. The hash is only a pointer; the ledger follows to its block, under the
// same rules as any pass, and judges it like any other payment. A claim starts the payments pass now instead of later.
import { orNull } from '../chain/faults.ts'
import type { TransactionView } from '../chain/port.ts'
import { findPayment } from '../db/payments.ts'
import type { Hash } from '../domain/units.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, Polling, RuledBy, SaleRules } from './context.ts'
import type { ClaimOutcome, PaymentsOutcome } from './outcomes.ts'
import { reachBlock, triggerPaymentsPass } from './steps/reach.ts'

/** Builds the claim (POST /api/payments/claim) on the payments pass it triggers. */
export function claimer(
  ctx: LedgerDb & ChainRead & Polling & RuledBy<FollowRules & SaleRules> & Logging,
  runPayments: () => Promise<PaymentsOutcome>,
): (txHash: Hash) => Promise<ClaimOutcome> {
  const lookOnce = onceABlock(ctx, runPayments)
  return async (txHash) => {
    const known = await findPayment(ctx.pool, txHash)
    if (known && known.state !== 'orphaned') {
      // Followed to already. It may be settled by now, or its mint may start: only a new block can tell.
      if (known.state === 'seen' || known.state === 'accepted') await lookOnce()
      return { kind: 'known' }
    }
    const tx = await ctx.chain.transaction(txHash)
    if (!tx) return known ? { kind: 'known' } : { kind: 'notFound' }
    const refusal = refuse(ctx, tx)
    if (refusal) return refusal
    if (tx.blockNumber === null) return { kind: 'pending' }
    return reach(ctx, tx, tx.blockNumber, runPayments)
  }
}

/** Runs the pass unless it was run for the chain's newest block already: pages claim again and again while they wait. */
function onceABlock(
  ctx: ChainRead & Polling & Logging,
  runPayments: () => Promise<PaymentsOutcome>,
): () => Promise<void> {
  let lookedAt: Hash | null = null
  return async () => {
    const head = await orNull(ctx.chain.head())
    if (head === null || head.hash === lookedAt) return
    lookedAt = head.hash
    const outcome = await triggerPaymentsPass(ctx, runPayments)
    if (outcome?.ran !== true && lookedAt === head.hash) lookedAt = null
  }
}

/** What the transaction itself says against being a payment. Its value is judged later, from the ledger. */
function refuse(ctx: RuledBy<FollowRules & SaleRules>, tx: TransactionView): ClaimOutcome | null {
  const { paymentAddress, startBlock } = ctx.rules
  const notASale = (why: string): ClaimOutcome => ({ kind: 'notASale', why })
  if (!paymentAddress || tx.to !== paymentAddress) return notASale('the transaction does not pay the payments wallet')
  if (tx.from === paymentAddress) return notASale('the transaction was sent by the payments wallet itself')
  if (tx.succeeded === false) return notASale('the transaction failed on chain')
  if (tx.blockNumber !== null && tx.blockNumber < startBlock)
    return notASale('the transaction is from before the sale began')
  return null
}

/** Follows to the payment's block; judges and mints while at it. */
async function reach(
  ctx: LedgerDb & Polling & Logging,
  tx: TransactionView,
  blockNumber: number,
  runPayments: () => Promise<PaymentsOutcome>,
): Promise<ClaimOutcome> {
  const judged = async () => {
    const payment = await findPayment(ctx.pool, tx.txHash)
    return payment !== null && payment.state !== 'seen' && payment.state !== 'orphaned'
  }
  await reachBlock(ctx, blockNumber, runPayments, judged)
  if (await findPayment(ctx.pool, tx.txHash)) return { kind: 'known' }
  return { kind: 'following', from: tx.from, valueWei: tx.valueWei, blockNumber }
}
