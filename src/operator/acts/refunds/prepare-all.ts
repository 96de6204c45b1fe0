// Prepares the refunds of all payments that are held for one reason and were paid before a time: first a preview, then the action, with the
// preview's sum. Each payment is judged and held as if it were the only one. It sends nothing and never could.
import { type HeldPayment, readHeldBefore } from '../../../db/payments/refunds.ts'
import { DECIDABLE_REASONS } from '../../../domain/judgement.ts'
import { counted, inEther } from '../../../domain/units.ts'
import { inUtc } from '../../../lib/times.ts'
import { type Actor, fieldNamed, type OperatorRefusal, refuseAct } from '../../act.ts'
import { defineGuardedAct } from '../../define-act.ts'
import * as field from '../../input.ts'
import { type PrepareDeps, readHorizon } from './prepare.ts'
import { AGAIN, eachInWords, type OneOfMany, prepareRows, previewRows, sendInWords } from './prepare-many.ts'
import { batchesOf, type SafeBatch, TRANSFERS_MAX } from './safe-batch.ts'

/** How many payments one act prepares: each takes up to 30 round trips to the database, and a request has 30 seconds. */
const ALL_MAX = 500

/** What was prepared, or would be. */
export interface AllPrepared {
  dryRun: boolean
  /** How many payments this act holds for their refunds, and their sum. A refused payment counts in neither. */
  count: number
  sumWei: bigint
  /** When the oldest and the newest of them were paid, ISO 8601; null if there is none. */
  oldestAt: string | null
  newestAt: string | null
  /** How many payments another act would still find. */
  remaining: number
  results: OneOfMany[]
  /** The sum that may be sent now to known payers: the sum of the files. */
  sendNowWei: bigint
  /** How many files it makes, or would make. */
  fileCount: number
  /** Files with one transfer for each refund that may be sent now. */
  safeBatches: SafeBatch[]
}

const ALL = {
  heldFor: field.word('the reason that they are held for', DECIDABLE_REASONS, { value: 'reason' }),
  before: field.time('only payments before this time, by block time'),
  again: AGAIN,
  sumWei: field.orNull(field.wei('the sum that the preview showed; if it has changed, the service refuses')),
  dryRun: field.flag('only show what would happen to each: the service tries it and undoes it'),
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
  examples: ['payments refund-all soldOut --before 2026-01-01 --safe-file refunds.json --yes'],
  args: ['heldFor'],
  fields: ALL,
  onChain: true,
  check: ({ dryRun, sumWei }, { complain }) => {
    if (!dryRun && sumWei === null) complain('sumWei', `is required without ${fieldNamed('dryRun')}`, 'missing')
  },
  asks: 'Prepare these refunds?',
  makesFiles: () => true,
  proposedAs: 'prepareAllRefunds',
  // What is prepared already gives away nothing more, unless another file pays it again.
  sum: async (sql, request) => {
    if (request.dryRun) return 0n
    const payments = await readHeldBefore(sql, request, ALL_MAX)
    return sumOf(payments.filter(({ isPrepared }) => request.again || !isPrepared))
  },
  run: prepareAll,
  preview: async (result, _request, sql) => [...(await eachInWords(sql, result.results)), ...allInWords(result)],
  says: (result) => allInWords(result).join(' '),
})

/** The outcome, one fact a line: what is held, what may be sent, and what is in no file and why. */
export function allInWords({ dryRun, count, sumWei, oldestAt, newestAt, remaining, ...of }: AllPrepared): string[] {
  const { fileCount } = of
  const times =
    oldestAt === null || newestAt === null ? '' : `, paid from ${toTheMinute(oldestAt)} to ${toTheMinute(newestAt)}`
  const held = counted(count, dryRun ? 'payment would be' : 'payment is', dryRun ? 'payments would be' : 'payments are')
  return [
    `${held} held for ${count === 1 ? 'its refund' : 'their refunds'}, ${inEther(sumWei)} ETH in all${times}.`,
    ...sendInWords(of, fileCount),
    ...(remaining > 0 ? [`${counted(remaining, 'more remains', 'more remain')}: run this again for them.`] : []),
  ]
}

const toTheMinute = (time: string) => inUtc(Math.floor(Date.parse(time) / 60_000) * 60)

const sumOf = (payments: readonly HeldPayment[]): bigint => payments.reduce((sum, { valueWei }) => sum + valueWei, 0n)

/** Counts what is not refused. `payments` are in the order of the results. */
function totalOf(results: readonly OneOfMany[], payments: readonly HeldPayment[]) {
  const refusals = results.map(({ refusal }) => refusal)
  const held = payments.filter((_, place) => refusals[place] === null)
  const times = held.map(({ paidAt }) => paidAt).sort()
  return { count: held.length, sumWei: sumOf(held), oldestAt: times[0] ?? null, newestAt: times.at(-1) ?? null }
}

async function prepareAll(deps: PrepareDeps, actor: Actor, input: Asked): Promise<AllPrepared | OperatorRefusal> {
  const { heldFor, again, dryRun, reason: note } = input
  const payments = await readHeldBefore(deps.pool, input, ALL_MAX)
  const rows = payments.map(({ id }) => ({ payment: String(id), row: { id } }))
  const horizon = await readHorizon(deps)
  const request = { actor, note, horizon, signers: deps.signers, heldFor, again, holdOnly: false }
  const preview = await previewRows(deps, rows, request)
  const { sumWei } = totalOf(preview.results, payments)
  if (!dryRun && input.sumWei !== sumWei)
    return refuseAct('conflict', `The sum is ${sumWei} wei now, not ${input.sumWei}: preview it again.`)
  const { transfers, ...summary } = dryRun ? preview : await prepareRows(deps, rows, request)
  const remaining = (payments[0]?.total ?? 0) - payments.length
  const safeBatches = dryRun ? [] : await batchesOf(deps.pool, transfers, 'Refunds')
  const fileCount = Math.ceil(transfers.length / TRANSFERS_MAX)
  return { dryRun, ...totalOf(summary.results, payments), remaining, ...summary, fileCount, safeBatches }
}
