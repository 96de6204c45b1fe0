// The first step of several refunds at once: each payment is judged by itself and held in a transaction of its own, and what may be sent now is a
// file for Safe's Transaction Builder. It sends nothing and never could.
import { inTransaction } from '../../db/core/sql.ts'
import { readState } from '../../db/core/state.ts'
import { sumToPrepare } from '../../db/operator/sums.ts'
import type { Address, Wei } from '../../domain/units.ts'
import type { ChainRead, FinalityRules, LedgerDb, RuledBy } from '../../passes/context.ts'
import { type Actor, isOperatorRefusal } from '../act.ts'
import { defineGuardedAct } from '../define-act.ts'
import { keysOf, type NamedPayment, namesNone, readMany } from '../payments.ts'
import { type PreparedRefund, prepareLocked, type RefundHorizon, readHorizon } from './refunding.ts'
import { type SafeBatch, safeBatch } from './safe-batch.ts'

/** The outcome for a payment that was named. */
export interface OneOfMany {
  /** As it was named. */
  payment: string
  /** Its payer; null where none is proven, and the operator knows whom to pay back. */
  from: Address | null
  valueWei: Wei | null
  prepared: PreparedRefund | null
  /** Why it was not prepared; null where it was. */
  refusal: string | null
}

export interface PreparedRefunds {
  results: OneOfMany[]
  /** The sum of what may be sent now to payers that are known. */
  sendNowWei: bigint
  /** One transfer for each of these; null where there is none. */
  safeBatch: SafeBatch | null
}

/** POST payments/refunds/prepare `{payments, reason?}`: as if each were prepared alone; one that is refused keeps no other from it. */
export const prepareRefunds = defineGuardedAct({
  name: 'prepareRefunds',
  scope: 'decide',
  read: (fields) => ({ named: readMany(fields), note: fields.textOrNull('reason') }),
  sum: (sql, { named }) => sumToPrepare(sql, keysOf(named)),
  run: prepareEach,
})

async function prepareEach(
  deps: LedgerDb & ChainRead & RuledBy<FinalityRules>,
  actor: Actor,
  { named, note }: { named: readonly NamedPayment[]; note: string | null },
): Promise<PreparedRefunds> {
  const horizon = await readHorizon(deps)
  const results: OneOfMany[] = []
  for (const one of named) results.push(await prepareOne(deps, actor, one, { note, horizon }))
  const transfers = results.flatMap(({ from, valueWei, prepared }) =>
    prepared?.sendNow && from && valueWei ? [{ to: from, valueWei }] : [],
  )
  return {
    results,
    sendNowWei: transfers.reduce((sum, { valueWei }) => sum + valueWei, 0n),
    safeBatch: transfers.length === 0 ? null : await batchOf(deps, transfers),
  }
}

async function prepareOne(
  { pool }: LedgerDb,
  actor: Actor,
  { payment, key }: NamedPayment,
  { note, horizon }: { note: string | null; horizon: RefundHorizon },
): Promise<OneOfMany> {
  const found =
    key === null ? namesNone : await inTransaction(pool, (sql) => prepareLocked(sql, { actor, key, note, horizon }))
  if (isOperatorRefusal(found)) return { payment, from: null, valueWei: null, prepared: null, refusal: found.message }
  const { from, valueWei } = found.payment
  return { payment, from, valueWei, prepared: found.answer, refusal: null }
}

async function batchOf({ pool }: LedgerDb, transfers: Parameters<typeof safeBatch>[0]): Promise<SafeBatch> {
  const { chainId } = (await readState(pool, 'identity')) as { chainId: number }
  return safeBatch(transfers, {
    ...{ chainId, createdAt: Date.now() },
    description: `${transfers.length} payments, each paid back to its payer with the exact amount`,
  })
}
