// Proves payments whose amount matches no tier, but which the operator released. We did not prove them when we read their block, because a transfer
// of that amount buys nothing on its own. We must not mint them unproven.
import { orNull } from '../../chain/faults.ts'
import type { Cursor } from '../../db/blocks/blocks.ts'
import { readProofStates } from '../../db/blocks/proofs.ts'
import * as payments from '../../db/payments/rows.ts'
import { VOICES } from '../../domain/finality.ts'
import { MINT_BATCH_MAX } from '../../domain/send.ts'
import { compareTransfers } from '../../follower/left-out.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy, RunLimits } from '../context.ts'

type ProveContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/**
 * Proves accepted payments that rest on one provider's word.
 * @returns true if one provider's word is enough for a mint: there is no second provider, and this chain cannot prove transactions.
 */
export async function proveReleased(ctx: ProveContext, cursor: Cursor, run: RunLimits): Promise<boolean> {
  const isAlone = ctx.chain.providers.length < VOICES
  if (isAlone && (await readProofStates(ctx.pool)).get('transactions') !== 'askedFor') return true
  const open = { states: ['accepted' as const], rests: 'onOne' as const, upToBlock: cursor.number }
  for (const payment of await payments.readPayments(ctx.pool, { ...open, limit: MINT_BATCH_MAX })) {
    if (run.outOfTime()) break
    const place = { number: payment.blockNumber, hash: payment.blockHash }
    if ((await compareTransfers(ctx, cursor, place)) === 'unproven' && !isAlone) await agree(ctx, payment)
  }
  return false
}

/** Asks all providers about a payment. @returns true if two of them agree with the ledger, or the only one does. */
export async function agree({ pool, chain }: LedgerDb & ChainRead, payment: payments.Payment): Promise<boolean> {
  const tx = await orNull(chain.minedTransaction(payment.txHash))
  const { txHash, from, wallet, valueWei, blockHash, succeeded } = payment
  if (tx?.from !== from || tx.to !== wallet || tx.valueWei !== valueWei) return false
  if (tx.blockHash !== blockHash || tx.succeeded !== succeeded) return false
  await payments.noteProof(pool, { blockHash, txHashes: [txHash] }, 'agreed')
  return true
}
