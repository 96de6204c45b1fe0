// What `node-ledger payments …` shows, and does beyond the operator's acts. It shows a payment before any decision about it. Nothing here can send
// ether.
import { Readable } from 'node:stream'
import type { components } from '../../../api/admin.ts'
import { toJson } from '../../lib/json.ts'
import type { Fields, LedgerPart } from '../../operator/act.ts'
import { dismissAllDust, dismissPayment } from '../../operator/acts/decide.ts'
import { showPayment } from '../../operator/acts/payments.ts'
import { type AllPrepared, prepareAllRefunds } from '../../operator/acts/refunds/refund-all.ts'
import { type OneOfMany, prepareRefunds } from '../../operator/acts/refunds/refund-many.ts'
import type { SafeBatch } from '../../operator/acts/refunds/safe-batch.ts'
import { resultLine } from '../../operator/define-act.ts'
import { toFile } from '../books/export.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { accepted, commandOf, fieldsOf, type View } from '../operator.ts'
import { mustAgree, outline, preview } from '../output.ts'

type Detail = components['schemas']['PaymentInFull']

/** Shows the payment before any decision about it. */
const DECISION: View = {
  first: async (parts: LedgerPart, { payment }, call) => {
    const { payments } = accepted(await showPayment(parts, { payment }), call) as unknown as { payments: Detail[] }
    for (const { verdicts, ...one } of payments) {
      preview(call, outline({ ...one, because: verdicts.at(-1)?.evidence ?? null }))
      for (const warning of paidBack(one)) call.out.say(warning)
    }
  },
}

const SAFE_FILE = { 'safe-file': { value: 'file', help: 'where to write the file; more files get a number' } }

export const VIEWS: Readonly<Record<string, View>> = {
  'payments refund-all': { options: SAFE_FILE, leavesOut: ['sumWei'], run: refundAll },
  'payments release': DECISION,
  'payments attribute': DECISION,
  'payments refund-prepare': DECISION,
  'payments refund-cancel': DECISION,
  'payments refund': DECISION,
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
  const { 'safe-file': _, ...values } = call.values
  return await withOperator(io, async (deps) => {
    const question = 'Prepare the refunds? The service then signs no mint for these payments.'
    await mustAgree(call, question)
    const payments = (call.args.payments ?? '').split(',').map((each) => each.trim())
    const input = { ...fieldsOf({ ...call, values }), payments }
    const batch = accepted(await prepareRefunds(deps, actorHere(), input), call)
    await out.result(batch, () => batch.results.map(lineOf).join('\n'))
    if (batch.safeBatch === null) out.say('Nothing may be sent yet: run it again later.')
    await writeSafeFile(call, batch)
    return EXIT.done
  })
}

/** `payments refund-all`: previews, asks, and prepares the refunds with the sum of the preview. */
async function refundAll(call: Call): Promise<ExitCode> {
  const { 'safe-file': path, ...values } = call.values
  if (path === undefined && !call.out.json && !call.flags.has('dry-run'))
    throw new UsageError(
      'Say where to write the files with --safe-file, or print them with --json: later runs leave out what a file pays.',
    )
  return await withOperator(call.io, async (deps) => {
    const given = fieldsOf({ ...call, values })
    const prepare = async (more: Fields) =>
      accepted(await prepareAllRefunds(deps, actorHere(), { ...given, ...more }), call)
    const show = (done: AllPrepared) =>
      call.out.result(done, () =>
        [...done.results.map(lineOf), resultLine(prepareAllRefunds.operation, done)].join('\n'),
      )
    const found = await prepare({ dryRun: true })
    if (call.flags.has('dry-run') || found.count === 0) return await show(found).then(() => EXIT.done)
    call.out.say(resultLine(prepareAllRefunds.operation, found))
    await mustAgree(call, 'Prepare these refunds? The service then signs no mint for these payments.')
    const done = await prepare({ sumWei: String(found.sumWei) })
    await show(done)
    for (const [place, safeBatch] of done.safeBatches.entries()) {
      const values = path === undefined ? {} : { 'safe-file': numbered(path, place + 1) }
      await writeSafeFile({ ...call, values }, { safeBatch, sendNowWei: sumOfBatch(safeBatch) })
    }
    return EXIT.done
  })
}

/** The name of the first file is the given one; the second is `name-2.json`. */
const numbered = (path: string, number: number) =>
  number === 1 ? path : path.replace(/(\.[^./\\]*)?$/, (extension) => `-${number}${extension}`)

const sumOfBatch = ({ transactions }: SafeBatch) => transactions.reduce((sum, { value }) => sum + BigInt(value), 0n)

/** Writes a file for a Safe to --safe-file, if that option is given and there is something to pay. */
export async function writeSafeFile(
  { values: { 'safe-file': path }, signal, out }: Call,
  { safeBatch, sendNowWei }: { safeBatch: SafeBatch | null; sendNowWei: bigint },
): Promise<void> {
  if (safeBatch === null || path === undefined) return
  await toFile({ stream: Readable.from([`${toJson(safeBatch)}\n`]) }, path, signal)
  out.say(`Written to ${path}: ${inEther(sendNowWei)} ether in ${safeBatch.transactions.length} transfers.`)
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
