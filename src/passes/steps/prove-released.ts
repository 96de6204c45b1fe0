// Proves payments that rest on one provider's word. We must not mint them unproven. A provider that would have agreed may have been silent when we read
// the block, or the ledger was in another mode.

import { type Cursor, readCursor } from '../../db/blocks/blocks.ts'
import { isProven, readMode } from '../../db/blocks/evidence.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { readBelievedPayments } from '../../db/payments/queues.ts'
import * as payments from '../../db/payments/rows.ts'
import { canAgree, trustsOne } from '../../domain/finality.ts'
import { MINT_BATCH_MAX } from '../../domain/send.ts'
import { tellFailedProofs } from '../../follower/proofs.ts'
import { compareBlock } from '../../mending/compare.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy, RunLimits, TrustRules } from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'

type ProveContext = LedgerDb & ChainRead & RuledBy<FollowRules & TrustRules> & Logging

/** A payment that only one provider confirms is reported once it is this old, in seconds of block time. */
const TOLD_AFTER_SEC = 120

/**
 * Proves accepted payments that rest on one provider's word, unless that word is enough. @returns true if it is.
 */
export async function proveReleased(ctx: ProveContext, cursor: Cursor, run: RunLimits): Promise<boolean> {
  if (await readTrustsOne(ctx)) return true
  for (const payment of await readBelievedPayments(ctx.pool, { upToBlock: cursor.number, limit: MINT_BATCH_MAX })) {
    if (run.outOfTime()) return false
    await prove(ctx, cursor, payment)
  }
  return false
}

/** True if one provider's word is enough on this ledger. */
export const readTrustsOne = async ({ pool, chain, rules }: ProveContext): Promise<boolean> =>
  trustsOne(chain, (await readMode(pool))?.mode ?? null, rules)

async function prove(ctx: ProveContext, cursor: Cursor, payment: payments.Payment): Promise<void> {
  const block = { number: payment.blockNumber, hash: payment.blockHash }
  const proven = (await isProven(ctx.pool)) ? await compareBlock(ctx, cursor, block) : []
  if (!proven.includes(payment.txHash)) await agree(ctx, payment, cursor.time)
}

/**
 * Proves who paid, before anything is sent to them.
 * @throws a LeftOutFault if the ledger has rewound, because the payment's block shows something else.
 */
export async function proveSender(ctx: ProveContext, paymentId: number): Promise<void> {
  const cursor = await readCursor(ctx.pool)
  const [payment] = await inTransaction(ctx.pool, (sql) => payments.lockPayments(sql, [paymentId]))
  if (cursor && payment && !(await readTrustsOne(ctx))) await prove(ctx, cursor, payment)
}

/**
 * Asks all providers about a payment that rests on one provider's word. If that is so for long, we report it. `now` is block time.
 * @returns true if two providers agree with the ledger.
 */
export async function agree(
  ctx: LedgerDb & ChainRead & Logging,
  payment: payments.Payment,
  now: number,
): Promise<boolean> {
  const { pool, chain } = ctx
  const { txHash, from, wallet, valueWei, blockNumber, blockHash, blockTime } = payment
  const tx = canAgree(chain) ? await orNull(chain.minedTransaction(txHash)) : null
  const isSame = tx?.from === from && tx.to === wallet && tx.valueWei === valueWei && tx.succeeded === payment.succeeded
  if (isSame && tx.blockHash === blockHash && tx.blockTime === blockTime) {
    await payments.noteProof(pool, { blockHash, txHashes: [txHash] }, 'agreed')
    return true
  }
  const says = `only one provider reports payment ${txHash}, and nothing proves it`
  const failure = { part: 'transactions', blockNumber, host: null, says } as const
  if (now - blockTime >= TOLD_AFTER_SEC) await inTransaction(pool, (sql) => tellFailedProofs(ctx, sql, [failure]))
  return false
}
