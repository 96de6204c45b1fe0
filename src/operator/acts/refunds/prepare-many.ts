// The first step of several refunds together. It judges and holds each payment separately, in a transaction of its own, and puts the refunds that may
// be sent now into a file for Safe's Transaction Builder. It sends nothing and never could.
import { inTransaction, inUndoneTransaction, type Sql } from '../../../db/core/sql.ts'
import { sumOfPayments, sumToPrepare } from '../../../db/operator/sums.ts'
import { readInBrief } from '../../../db/payments/decisions.ts'
import { type Address, counted, inEther, type Wei } from '../../../domain/units.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import { type Actor, isOperatorRefusal, type OperatorRefusal } from '../../act.ts'
import { defineGuardedAct } from '../../define-act.ts'
import * as field from '../../input.ts'
import { firstOf, groupInWords, nameOf, paidBackInWords } from '../in-words.ts'
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
  preview: async ({ results, sendNowWei, safeBatch }, _request, sql) => [
    ...(await eachInWords(sql, results)),
    ...sendInWords({ results, sendNowWei }, safeBatch === null ? 0 : 1),
  ],
  says: ({ results, sendNowWei }) => {
    const count = results.filter(({ refusal }) => refusal === null).length
    return `${count} of ${results.length} held for refund. Send ${inEther(sendNowWei)} ETH of it now.`
  },
})

/** One of several payments, for people: who paid how much, and what happens to it. */
export function oneInWords({ payment, from, valueWei, prepared, refusal }: OneOfMany): string {
  if (valueWei === null || prepared === null) return `Payment ${payment}: ${refusal}`
  return `${nameOf({ id: prepared.id, from, valueWei })}: ${prepared.says}`
}

/** The payments, for a question: the first of them, and what looks refunded already. */
export async function eachInWords(sql: Sql, results: readonly OneOfMany[]): Promise<string[]> {
  const briefs = await readInBrief(
    sql,
    results.flatMap(({ prepared }) => prepared?.id ?? []),
  )
  return [...firstOf(results.map(oneInWords)), ...firstOf(briefs.flatMap(paidBackInWords))]
}

/** What may be sent now, and what is in no file and why. */
export function sendInWords(
  { results, sendNowWei }: Pick<PreparedRefunds, 'results' | 'sendNowWei'>,
  fileCount: number,
): string[] {
  const others = Map.groupBy(results, whyInNoFile)
  others.delete(null)
  const files = fileCount === 0 ? '' : `, in ${counted(fileCount, 'file')}`
  return [
    `Of it ${inEther(sendNowWei)} ETH may be sent now${files}.`,
    ...[...others].slice(0, REASONS_MAX).map(([why, those]) => `In no file: ${groupInWords(those)}. ${why}`),
  ]
}

/** How many reasons the outcome names. */
const REASONS_MAX = 6

/** Why no file pays it: a sentence; null if one does. */
function whyInNoFile({ refusal, prepared, from, valueWei }: OneOfMany): string | null {
  if (refusal !== null || prepared === null) return refusal ?? 'It was not prepared.'
  const { mayStillMint, isPaymentFinal, sendNow } = prepared
  if (mayStillMint) return 'A mint that was signed before may still be executed: try again later.'
  if (!isPaymentFinal) return 'The block is not final yet: try again later.'
  if (!sendNow) return 'Only one provider reports who paid: try again later.'
  if (from === null) return 'No payer is proven: attribute the payment first.'
  return valueWei === 0n ? 'It has no value.' : null
}

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
    // Recorded under the payment's lock. If two people ask at the same time, the second is shown that there is already a file.
    if (transfer && !request.holdOnly) await noteFile(sql, request.actor, outcome.payment)
    return { result: { payment, from, valueWei, prepared: outcome.answer, refusal: null }, transfer }
  })
}
