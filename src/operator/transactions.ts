// The transactions of the minter and the distributor, and the rounds, as the operator pages through them.
import { inTransaction } from '../db/core/sql.ts'
import { listNoncesAhead, readNonceAhead, writeNonceAhead } from '../db/sends/nonce-ahead.ts'
import { readRounds, readStuck, readTransactions, TRANSACTION_STATES } from '../db/sends/transactions.ts'
import { STUCK_AFTER_BLOCKS, whyStuck } from '../domain/send.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Fields, type OperatorRefusal, recordAct, refuseAct } from './act.ts'
import { defineAct } from './define-act.ts'
import { readFields } from './input.ts'
import { cachedResponseOf, type PageOf, readPageFields } from './page.ts'

/** GET transactions: newest first; `sender`, `status` (pending, mined, reverted, displaced), `cursor`, `limit`. */
export async function listTransactions(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  const asked = {
    sender: fields.addressOrNull('sender'),
    status: fields.wordOrNull('status', TRANSACTION_STATES),
    before,
    limit: limit + 1,
  }
  if (fields.refusal) return fields.refusal
  return cachedResponseOf('transactions', await readTransactions(deps.pool, asked), limit)
}

/**
 * GET transactions/stuck: signer accounts that send nothing, since the providers name a nonce that no followed block bears out; and
 * transactions that are in no block after 12, each with why.
 */
export async function listStuck(deps: LedgerDb): Promise<{ senders: object[]; transactions: object[] }> {
  const senders = await listNoncesAhead(deps.pool)
  const ahead = new Set(senders.map(({ sender }) => sender))
  const stuck = await readStuck(deps.pool, STUCK_AFTER_BLOCKS)
  const transactions = stuck.map(({ isOver, isBehind, maxFeeWei, baseFeeWei, ...row }) => ({
    ...row,
    maxFeeWei: maxFeeWei.toString(),
    baseFeeWei: baseFeeWei?.toString() ?? null,
    why: whyStuck({
      ...{ isOver, isBehind, lastOutcome: row.lastOutcome, isAhead: ahead.has(row.sender) },
      isCheap: baseFeeWei !== null && maxFeeWei < baseFeeWei,
    }),
  }))
  return { senders, transactions }
}

/**
 * POST transactions/free `{sender, reason?}`: trusts the providers about this signer account's nonce. The next run of the pass that holds the
 * key takes it over, if they still agree, and replaces transactions that can no longer be mined.
 */
export const takeOverNonce = defineAct({
  read: (fields) => ({ sender: fields.address('sender'), reason: fields.textOrNull('reason') }),
  run: ({ pool }: LedgerDb, actor, { sender, reason }) =>
    inTransaction(pool, async (sql) => {
      const before = await readNonceAhead(sql, sender)
      if (before === null)
        return refuseAct('conflict', 'No provider names a nonce of this sender that followed blocks do not bear out.')
      const after = { ...before, takeOver: true }
      await writeNonceAhead(sql, sender, after, actor.name)
      await recordAct(sql, actor, { action: 'senderFreed', subject: sender, before, after, reason })
      return { sender, ...after }
    }),
})

/** GET rounds: newest first, each with its turns, gas and fee; `cursor`, `limit`. */
export async function listRounds(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  if (fields.refusal) return fields.refusal
  return cachedResponseOf('rounds', await readRounds(deps.pool, { before, limit: limit + 1 }), limit)
}
