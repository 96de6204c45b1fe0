// What `node-ledger payments …` shows, and does beyond the operator's acts. It shows a payment before any decision about it. Nothing here can send
// ether.
import type { components } from '../../../api/admin.ts'
import type { Fields, LedgerPart } from '../../operator/act.ts'
import { dismissAllDust, dismissPayment } from '../../operator/acts/decide.ts'
import { filedInWords, showPayment } from '../../operator/acts/payments.ts'
import { type AllPrepared, allInWords, prepareAllRefunds } from '../../operator/acts/refunds/prepare-all.ts'
import { type OneOfMany, prepareRefunds } from '../../operator/acts/refunds/prepare-many.ts'
import { withTimes } from '../../operator/input.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { accepted, commandOf, fieldsOf, type View } from '../operator.ts'
import { mustAgree, outline, preview } from '../output.ts'
import { MAKES_FILES, mustReach, SAFE_FILE, writeFiles } from './safe-file.ts'

type Detail = components['schemas']['PaymentInFull']

/** Shows the payment before any decision about it, with the warnings that concern it. */
const showing = (warningsOf: (one: Detail) => string[]): View => ({
  first: async (parts: LedgerPart, { payment }, call) => {
    const { payments } = accepted(await showPayment(parts, { payment }), call) as unknown as { payments: Detail[] }
    for (const payment of payments) {
      const { verdicts, ...one } = payment
      const because = verdicts.findLast(({ withdrawnAt }) => withdrawnAt === null)?.evidence ?? null
      preview(call, outline({ ...one, because }))
      for (const warning of warningsOf(payment)) call.out.say(warning)
    }
  },
})
const REFUND = showing(paidBack)
/** A decision after which the payment may become a node, or is never refunded. */
const DECISION = showing((one) => [...paidBack(one), ...filedInWords(one)])

export const VIEWS: Readonly<Record<string, View>> = {
  'payments refund-all': { ...MAKES_FILES, leavesOut: ['sumWei'], run: refundAll },
  'payments release': DECISION,
  'payments attribute': DECISION,
  'payments refund-prepare': REFUND,
  'payments refund-cancel': DECISION,
  'payments refund': REFUND,
}

/** A restored ledger has lost later refunds. If we find one on the chain, we show it to the operator before they pay twice. */
function paidBack({ id, looksRefundedBy }: Pick<Detail, 'id' | 'looksRefundedBy'>): string[] {
  return looksRefundedBy.map(
    ({ txHash, blockNumber }) =>
      `looks refunded: the payments wallet sent exactly this amount back in block ${blockNumber}.\n  If that was its refund: node-ledger payments refund ${id} --refund-tx-hash ${txHash}`,
  )
}

/** `payments refund-batch`: prepares the refunds of several payments, with one file from which a Safe pays them all. */
export async function refundBatch(call: Call): Promise<ExitCode> {
  const { io, out } = call
  await mustReach(call)
  return await withOperator(io, async (deps) => {
    const question = 'Prepare the refunds? The service then signs no mint for these payments.'
    await mustAgree(call, question)
    const payments = (call.args.payments ?? '').split(',').map((each) => each.trim())
    const batch = accepted(await prepareRefunds(deps, actorHere(), { ...fieldsOf(call, SAFE_FILE), payments }), call)
    await out.result(batch, () => batch.results.map(lineOf).join('\n'))
    if (batch.safeBatch === null && batch.results.some(({ prepared: refund }) => refund?.sendNow === false))
      out.say('Nothing may be sent yet: run it again later.')
    await writeFiles(call, batch)
    return batch.results.every(({ refusal }) => refusal !== null) ? EXIT.negative : EXIT.done
  })
}

/** `payments refund-all`: previews, asks, and prepares the refunds with the sum of the preview. */
async function refundAll(call: Call): Promise<ExitCode> {
  const isDry = call.flags.has('dry-run')
  if (!isDry) await mustReach(call)
  return await withOperator(call.io, async (deps) => {
    const request = withTimes(prepareAllRefunds.operation.fields, fieldsOf(call, SAFE_FILE))
    const prepare = async (more: Fields) =>
      accepted(await prepareAllRefunds(deps, actorHere(), { ...request, ...more }), call)
    const show = (result: AllPrepared) =>
      call.out.result(result, () => [...result.results.map(lineOf), ...allInWords(result)].join('\n'))
    const dryResult = await prepare({ dryRun: true })
    if (isDry || dryResult.count === 0) return await show(dryResult).then(() => EXIT.done)
    preview(call, allInWords(dryResult).join('\n'))
    await mustAgree(call, 'Prepare these refunds? The service then signs no mint for these payments.')
    const result = await prepare({ sumWei: String(dryResult.sumWei) })
    await show(result)
    await writeFiles(call, result)
    return EXIT.done
  })
}

function lineOf({ payment, from, valueWei, prepared: refund, refusal }: OneOfMany): string {
  const amount = valueWei === null ? '' : ` (${inEther(valueWei)} ether from ${from ?? 'an unknown payer'})`
  return `${payment}${amount}: ${refusal ?? refund?.says}`
}

/** `payments dismiss`: one payment, or all the dust. */
export async function dismiss(call: Call): Promise<ExitCode> {
  const { args, values, io, out } = call
  if ((args.payment === undefined) === (values['below-wei'] === undefined))
    throw new UsageError('Name one payment, or all held ones below an amount with --below-wei.')
  if (args.payment !== undefined) return (await commandOf(dismissPayment.operation, DECISION).load())(call)
  return await withDatabase(io, async (deps) => {
    const dust = (dryRun: boolean) => dismissAllDust(deps, actorHere(), { ...fieldsOf(call), dryRun })
    const { count, sumWei } = accepted(await dust(true), call)
    out.say(`Held below ${values['below-wei']} wei: ${count}, together ${inEther(sumWei)} ether.`)
    if (count > 0) await mustAgree(call, 'Dismiss them all?', 'Nothing was dismissed.')
    const result = accepted(await dust(count === 0), call)
    await out.result(result, `${count === 0 ? 0 : result.count} dismissed, ${result.remaining} left.`)
    return EXIT.done
  })
}
