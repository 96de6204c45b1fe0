// The first step of several refunds at once. It judges and holds each payment separately, in a transaction of its own, and puts the refunds that may
// be sent now into a file for Safe's Transaction Builder. It sends nothing and never could.
import { inTransaction, inUndoneTransaction } from '../../../db/core/sql.ts'
import { sumOfPayments, sumToPrepare } from '../../../db/operator/sums.ts'
import { type Address, inEther, type Wei } from '../../../domain/units.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import { type Actor, isOperatorRefusal, type OperatorRefusal } from '../../act.ts'
import { defineGuardedAct } from '../../define-act.ts'
import * as field from '../../input.ts'
import { findRows, keysOf, lockTogether, PAYMENTS, type RowNamed } from '../payments.ts'
import {
  noteFile,
  type PrepareDeps,
  type PreparedRefund,
  type Preparing,
  prepareLocked,
  proveSenderOf,
  readHorizon,
} from './prepare.ts'
import { batchOf, type SafeBatch } from './safe-batch.ts'

/** The outcome for a named payment. */
export interface OneOfMany {
  /** The payment, as the caller named it. */
  payment: string
  /** The payer; null if none is proven. Then the operator has to know whom to pay back. */
  from: Address | null
  valueWei: Wei | null
  prepared: PreparedRefund | null
  /** Why the refund was not prepared; null if it was. */
  refusal: string | null
}

export interface PreparedRefunds {
  results: OneOfMany[]
  /** The sum that may be sent now to known payers. */
  sendNowWei: bigint
  /** A file with one transfer for each refund that may be sent now; null if there is none. */
  safeBatch: SafeBatch | null
}

export const AGAIN = field.flag('also what an earlier file pays; only if that file was never sent')
const MANY = {
  payments: PAYMENTS,
  again: AGAIN,
  holdOnly: field.flag('only hold them for their refunds, and make no file'),
  reason: field.REASON,
}

/** Prepares each refund as if it were the only one, so a refused one does not stop the others. */
export const prepareRefunds = defineGuardedAct({
  path: 'payments/refunds/prepare',
  scope: 'decide',
  summary: 'prepare the refunds of several payments: the service signs no more mints for them',
  fields: MANY,
  makesFiles: ({ holdOnly }) => holdOnly !== true,
  proposedAs: 'prepareRefunds',
  // What is prepared already gives away nothing more, unless another file pays it again.
  sum: (sql, { payments, again }) => (again ? sumOfPayments : sumToPrepare)(sql, keysOf(payments)),
  run: prepareEach,
  says: ({ results, sendNowWei }) =>
    `${results.filter(({ refusal }) => refusal === null).length} of ${results.length} are held for their refunds. Send ${inEther(sendNowWei)} ether of it now.`,
})

async function prepareEach(
  deps: PrepareDeps,
  actor: Actor,
  { payments, again, holdOnly, reason: note }: field.Read<typeof MANY>,
): Promise<PreparedRefunds> {
  const rows = await findRows(deps.pool, payments)
  const request = { actor, note, horizon: await readHorizon(deps), signers: deps.signers, again, holdOnly }
  const { transfers, ...summary } = await prepareRows(deps, rows, request)
  return {
    ...summary,
    safeBatch: await batchOf(deps.pool, holdOnly ? [] : transfers, {
      name: 'Refunds',
      description: `${transfers.length} payments, each paid back to its payer with the exact amount`,
    }),
  }
}

/** A transfer that refunds a payment. */
interface Transfer {
  to: Address
  valueWei: Wei
}

/** How to prepare each of several payments. */
interface PreparingMany extends Preparing {
  /** Pays also what an earlier file pays. */
  again: boolean
  /** Makes no file, so nothing is recorded as paid by one. */
  holdOnly: boolean
}

/** Holds each payment first, then prepares each, with its transfer if it may be sent. */
export async function prepareRows(deps: PrepareDeps, rows: readonly RowNamed[], request: PreparingMany) {
  await lockTogether(deps.pool, rows)
  for (const { row } of rows) {
    // Held first, because the proof takes a request. Once proven, no other payment of its block needs one.
    if (isOperatorRefusal(row)) continue
    await proveSenderOf(deps, await inTransaction(deps.pool, (sql) => prepareLocked(sql, row, request)))
  }
  return await collect(rows, (one) => prepareOne(deps, one, request, inTransaction))
}

/** The outcome for each payment if it were prepared now. Everything is undone. */
export const previewRows = (deps: LedgerDb, rows: readonly RowNamed[], request: PreparingMany) =>
  collect(rows, (one) => prepareOne(deps, one, request, inUndoneTransaction))

/** The outcomes with their transfers and the sum of these. */
async function collect(rows: readonly RowNamed[], outcomeOf: (one: RowNamed) => Promise<Outcome>) {
  const outcomes: Outcome[] = []
  for (const one of rows) outcomes.push(await outcomeOf(one))
  const transfers = outcomes.flatMap(({ transfer }) => transfer ?? [])
  const sendNowWei = transfers.reduce((sum, { valueWei }) => sum + valueWei, 0n)
  return { results: outcomes.map(({ result }) => result), sendNowWei, transfers }
}

interface Outcome {
  result: OneOfMany
  /** The payment's transfer in the file; null if it has none. */
  transfer: Transfer | null
}

async function prepareOne(
  { pool }: LedgerDb,
  { payment, row }: RowNamed,
  request: PreparingMany,
  within: typeof inTransaction,
): Promise<Outcome> {
  const refusalOutcome = ({ message: refusal }: OperatorRefusal): Outcome => ({
    result: { payment, from: null, valueWei: null, prepared: null, refusal },
    transfer: null,
  })
  if (isOperatorRefusal(row)) return refusalOutcome(row)
  return within(pool, async (sql) => {
    const outcome = await prepareLocked(sql, row, request)
    if (isOperatorRefusal(outcome)) return refusalOutcome(outcome)
    const { from, valueWei } = outcome.payment
    const { sendNow, fileMadeAt } = outcome.answer
    const isFiled = !request.again && fileMadeAt !== null
    const transfer = sendNow && !isFiled && from && valueWei > 0n ? { to: from, valueWei } : null
    // Recorded under the payment's lock. If two people ask at once, the second is shown that there is already a file.
    if (transfer && !request.holdOnly) await noteFile(sql, request.actor, outcome.payment)
    return { result: { payment, from, valueWei, prepared: outcome.answer, refusal: null }, transfer }
  })
}
