// What `node-ledger payments …` shows, and does beyond the operator's acts. It shows a payment before any decision about it. Nothing here can send
// ether.
import type { components } from '../../../api/admin.ts'
import type { Fields, LedgerPart } from '../../operator/act.ts'
import { type DustDismissal, dismissAllDust, dismissPayment } from '../../operator/acts/decide.ts'
import { paidBackInWords } from '../../operator/acts/in-words.ts'
import { showPayment } from '../../operator/acts/payments.ts'
import { type AllPrepared, allInWords, prepareAllRefunds } from '../../operator/acts/refunds/prepare-all.ts'
import { oneInWords, prepareRefunds } from '../../operator/acts/refunds/prepare-many.ts'
import { withTimes } from '../../operator/input.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, fieldsOf, isPreviewAll, LINE, previewOf, runAs, type View } from '../operator.ts'
import { mustAgree, outline, preview } from '../output.ts'
import { MAKES_FILES, mustReach, SAFE_FILE, writeFiles } from './safe-file.ts'

type Detail = components['schemas']['PaymentInFull']

/** Shows the payment in full before the preview of a decision about it. With --yes there is no preview, so we show what it would warn of. */
const DECISION: View = {
  first: async (parts: LedgerPart, { payment }, call) => {
    const { payments } = accepted(await showPayment(parts, { payment }), call) as unknown as { payments: Detail[] }
    for (const payment of payments) {
      const { verdicts, ...one } = payment
      const because = verdicts.findLast(({ withdrawnAt }) => withdrawnAt === null)?.evidence ?? null
      preview(call, outline({ ...one, because }))
      if (call.flags.has('yes')) for (const warning of paidBackInWords(payment)) call.out.say(warning)
    }
    return null
  },
}

export const VIEWS: Readonly<Record<string, View>> = {
  'payments refund-all': { ...MAKES_FILES, leavesOut: ['sumWei'], run: refundAll },
  'payments release': DECISION,
  'payments attribute': DECISION,
  'payments refund-prepare': DECISION,
  'payments refund-cancel': DECISION,
  'payments refund': DECISION,
}

/** `payments refund-batch`: prepares the refunds of several payments, with one file from which a Safe pays them all. */
export async function refundBatch(call: Call): Promise<ExitCode> {
  const { io, out } = call
  await mustReach(call)
  return await withOperator(io, async (deps) => {
    const payments = (call.args.payments ?? '').split(',').map((each) => each.trim())
    const input = { ...fieldsOf(call, SAFE_FILE), payments }
    if (await isPreviewAll(prepareRefunds.operation, deps, input, call)) return EXIT.done
    await mustAgree(call, 'Prepare these refunds?')
    const batch = accepted(await prepareRefunds(deps, actorHere(), input), call)
    await out.result(batch, () => batch.results.map(oneInWords).join('\n'))
    if (batch.safeBatch === null && batch.results.some(({ prepared: refund }) => refund?.sendNow === false))
      out.say('Nothing may be sent yet: run it again later.')
    await writeFiles(call, batch)
    return batch.results.every(({ refusal }) => refusal !== null) ? EXIT.negative : EXIT.done
  })
}

/** `payments refund-all`: previews, asks, and prepares the refunds with the sum of the preview. */
async function refundAll(call: Call): Promise<ExitCode> {
  const isDry = call.flags.has('dry-run')
  await mustReach(call)
  return await withOperator(call.io, async (deps) => {
    const request = withTimes(prepareAllRefunds.operation.fields, fieldsOf(call, SAFE_FILE))
    const prepare = async (more: Fields) =>
      accepted(await prepareAllRefunds(deps, actorHere(), { ...request, ...more }), call)
    const show = (result: AllPrepared) =>
      call.out.result(result, () => [...result.results.map(oneInWords), ...allInWords(result)].join('\n'))
    const { result: dry, text } = await previewOf(prepareAllRefunds.operation, deps, request, call)
    const dryResult = dry as AllPrepared
    if (isDry || dryResult.count === 0) return await show(dryResult).then(() => EXIT.done)
    preview(call, text)
    await mustAgree(call, 'Prepare these refunds?')
    const result = await prepare({ sumWei: String(dryResult.sumWei) })
    await show(result)
    await writeFiles(call, result)
    return EXIT.done
  })
}

/** `payments dismiss`: one payment, or all the dust. */
export async function dismiss(call: Call): Promise<ExitCode> {
  const { args, values } = call
  if ((args.payment === undefined) === (values['below-wei'] === undefined))
    throw new UsageError('Name one payment, or all held ones below an amount with --below-wei.')
  if (args.payment !== undefined) return await runAs(dismissPayment.operation, DECISION, call)
  const isNothing = ({ count }: DustDismissal) => count === 0
  return await runAs(dismissAllDust.operation, { ...LINE, isNothing }, call)
}
