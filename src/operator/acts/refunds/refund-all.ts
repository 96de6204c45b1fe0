// Prepares the refunds of all payments that are held for one reason and were paid before a time: first a preview, then the act, which names the
// preview's sum. Each payment is judged and held as if it were the only one. It sends nothing and never could.
import { type HeldPayment, readHeldBefore } from '../../../db/payments/refunds.ts'
import { DECIDABLE_REASONS } from '../../../domain/payment.ts'
import { inEther } from '../../../domain/units.ts'
import { TIME_MAX } from '../../../lib/times.ts'
import { type Actor, fieldNamed, type OperatorRefusal, refuseAct } from '../../act.ts'
import { defineGuardedAct } from '../../define-act.ts'
import * as field from '../../input.ts'
import { type OneOfMany, prepareRows, previewRows } from './refund-many.ts'
import { type PrepareDeps, readHorizon } from './refunding.ts'
import { batchesOf, type SafeBatch } from './safe-batch.ts'

/** How many payments one act prepares: each takes up to 30 round trips to the database, and a request has 30 seconds. */
const ALL_MAX = 500

/** What was prepared, or would be. */
export interface AllPrepared {
  dryRun: boolean
  /** How many payments this act holds for their refunds, and their sum. A refused payment counts in neither. */
  count: number
  sumWei: bigint
  /** How many payments another act would still find. */
  remaining: number
  results: OneOfMany[]
  /** The sum that may be sent now to known payers: the sum of the files. */
  sendNowWei: bigint
  /** Files with one transfer for each refund that may be sent now. */
  safeBatches: SafeBatch[]
}

const ALL = {
  heldFor: field.word('the reason that they are held for', DECIDABLE_REASONS, { value: 'reason' }),
  before: field.whole('only payments before this time, unix seconds of block time', 1, TIME_MAX, 'unix'),
  again: field.flag('also what an earlier file pays; only if nobody sent that file'),
  sumWei: field.orNull(field.wei('the sum that the preview named; if it is another by now, the act is refused')),
  dryRun: field.flag('only say what would happen to each: the service tries it and undoes it'),
  reason: field.REASON,
}
type Asked = field.Read<typeof ALL>

export const prepareAllRefunds = defineGuardedAct({
  path: 'payments/refunds/prepare-all',
  scope: 'decide',
  command: 'payments refund-all',
  summary: 'prepare the refunds of all payments that are held for a reason and were paid before a time',
  details: `Shows what would happen to each payment and their sum, and asks. Takes the oldest 500; run it again for more. Each file for Safe's
Transaction Builder has up to 200 transfers, to payers whom you may pay now. Later runs leave out what a file pays. Record each refund.`,
  examples: ['payments refund-all soldOut --before 1767225600 --safe-file refunds.json --yes'],
  args: ['heldFor'],
  fields: ALL,
  onChain: true,
  check: ({ dryRun, sumWei }, { complain }) => {
    if (!dryRun && sumWei === null) complain('sumWei', `is required without ${fieldNamed('dryRun')}`, 'missing')
  },
  proposedAs: 'prepareAllRefunds',
  // What is prepared already gives away nothing more, unless another file pays it again.
  sum: async (sql, asked) => {
    if (asked.dryRun) return 0n
    const payments = await readHeldBefore(sql, asked, ALL_MAX)
    return sumOf(payments.filter(({ isPrepared }) => asked.again || !isPrepared))
  },
  run: prepareAll,
  says: ({ dryRun, count, sumWei, remaining, sendNowWei }) =>
    [
      `${count} ${dryRun ? 'would be held' : 'are held'} for their refunds, ${inEther(sumWei)} ether in all.`,
      `Of it ${inEther(sendNowWei)} ether may be sent now.`,
      ...(remaining > 0 ? [`${remaining} more remain: ask again for them.`] : []),
    ].join(' '),
})

const sumOf = (payments: readonly HeldPayment[]): bigint => payments.reduce((sum, { valueWei }) => sum + valueWei, 0n)

/** Counts what is not refused. */
function totalOf(results: readonly OneOfMany[]) {
  const held = results.filter(({ refusal }) => refusal === null)
  return { count: held.length, sumWei: held.reduce((sum, { valueWei }) => sum + (valueWei ?? 0n), 0n) }
}

async function prepareAll(deps: PrepareDeps, actor: Actor, given: Asked): Promise<AllPrepared | OperatorRefusal> {
  const { heldFor, again, dryRun, reason: note } = given
  const payments = await readHeldBefore(deps.pool, given, ALL_MAX)
  const rows = payments.map(({ id }) => ({ payment: String(id), row: { id } }))
  const horizon = await readHorizon(deps)
  const asked = { actor, note, horizon, signers: deps.signers, heldFor, skipsFiled: !again }
  const found = await previewRows(deps, rows, asked)
  const { sumWei } = totalOf(found.results)
  if (!dryRun && given.sumWei !== sumWei)
    return refuseAct('conflict', `The sum is ${sumWei} wei by now, not ${given.sumWei}: preview it again.`)
  const { transfers, ...prepared } = dryRun ? found : await prepareRows(deps, rows, asked)
  const remaining = (payments[0]?.total ?? 0) - payments.length
  const safeBatches = dryRun ? [] : await batchesOf(deps.pool, transfers, 'Refunds')
  return { dryRun, ...totalOf(prepared.results), remaining, ...prepared, safeBatches }
}
