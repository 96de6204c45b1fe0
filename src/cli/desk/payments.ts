// The commands `node-ledger payments …`: payments, the reasons of held ones, and the operator's decisions about them. Shows the payment
// before anything is decided; nothing here can send ether.
import { Readable } from 'node:stream'
import type { components } from '../../../api/admin.ts'
import { readPaymentsIn } from '../../db/reads/public-payments.ts'
import type { Hash } from '../../domain/units.ts'
import { toJson } from '../../lib/json.ts'
import type { Actor, Fields, OperatorDeps, OperatorRefusal } from '../../operator/act.ts'
import { type AttributedPart, type Attribution, attributePayment } from '../../operator/attribute.ts'
import { dismissAllDust, dismissPayment, releasePayment } from '../../operator/decide.ts'
import { readPayments, showHistory, showPayment } from '../../operator/payments.ts'
import { type RefundResult, refundPayment } from '../../operator/refunds/refund.ts'
import { type OneOfMany, prepareRefunds } from '../../operator/refunds/refund-many.ts'
import { cancelRefund, type PreparedRefund, prepareRefund } from '../../operator/refunds/refunding.ts'
import { paymentsPass } from '../../passes/payments.ts'
import { claimer } from '../../requests/claim.ts'
import { toFile } from '../books/export.ts'
import { withOperator, withPasses } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { RefusedError, UnavailableError, UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { fields, mustAgree, table } from '../output.ts'

type Row = Omit<components['schemas']['Payment'], 'verdict'>
type Detail = components['schemas']['PaymentInFull']

/** `payments list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const page = accepted(await readPayments(deps, fieldsOf(call)), call)
    await showPage(call, page, (rows) => asTable(rows as Row[]))
    return EXIT.done
  })
}

function asTable(rows: readonly Row[]): string {
  return table(
    ['id', 'block time', 'status', 'reason', 'ether', 'tier', 'from', 'transaction'],
    rows.map((row) => [
      row.id,
      row.blockTime,
      row.status,
      row.reason,
      inEther(row.valueWei),
      row.tierId,
      row.from,
      row.txHash,
    ]),
  )
}

/** `payments show`. */
export async function show(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const found = accepted(await showPayment(deps, fieldsOf(call)), call) as { payments: Detail[] }
    await call.out.result(found, () => found.payments.map(describe).join('\n\n'))
    return EXIT.done
  })
}

/** `payments history`. */
export async function history(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const found = accepted(await showHistory(deps, fieldsOf(call)), call)
    await call.out.result(found, () =>
      found.history.map(({ at, what, by, detail }) => `${at}  ${what}, ${by}\n${pairs(detail as object)}`).join('\n'),
    )
    return EXIT.done
  })
}

function describe(payment: Detail): string {
  const { verdicts, refund, attribution, parts, traceShows, intent, mint } = payment
  return [
    [summary(payment), ...paidBack(payment)].join('\n'),
    ...verdicts.map(
      ({ verdict, reason, decidedBy, decidedAt, evidence }) =>
        `${decidedAt}  ${verdict}${reason ? ` (${reason})` : ''} by ${decidedBy}\n${pairs(evidence)}`,
    ),
    ...parts.map((part) => `taken out of it\n${pairs(part)}`),
    ...(traceShows ?? []).map((transfer) => `a later trace shows\n${pairs(transfer)}`),
    ...Object.entries({ attribution, refund, intent, mint }).flatMap(([name, value]) =>
      value ? [`${name}\n${pairs(value)}`] : [],
    ),
  ].join('\n\n')
}

function summary({ id, txHash, from, valueWei, status, reason, tierId, blockTime, nodeId }: Row): string {
  return fields([
    ['payment', id],
    ['transaction', txHash],
    ['from', from ?? 'not known: it came by an internal call'],
    ['value', `${inEther(valueWei)} ether (${valueWei} wei)`],
    ['status', reason ? `${status} (${reason})` : status],
    ['tier', tierId],
    ['block time', blockTime],
    ['node', nodeId],
  ])
}

/** A restored ledger no longer knows later refunds: the operator has to see them before paying twice. */
function paidBack({ id, looksRefundedBy }: Detail): string[] {
  return looksRefundedBy.map(
    ({ txHash, blockNumber }) =>
      `looks refunded: the payments wallet sent this very amount back in block ${blockNumber}.\n  If that was its refund: node-ledger payments refund ${id} --refund-tx-hash ${txHash}`,
  )
}

function pairs(value: object): string {
  return fields(Object.entries(value).map(([name, entry]) => [`  ${name}`, entry] as const))
}

type Decision = (deps: OperatorDeps, actor: Actor, input: Fields) => Promise<object | OperatorRefusal>

/** `payments release`. */
export const release = (call: Call) => decide(call, releasePayment, 'Release it, so that the next pass mints its node?')
/** `payments refund`. */
export const refund = (call: Call) =>
  decide(call, refundPayment, 'Record that it was paid back, so that no node comes of it?', (done) => {
    const { alarm, status } = done as RefundResult
    return alarm === null
      ? 'It is refunded.'
      : `The refund is on record, and the payment is ${status}. ${CONTRADICTS[alarm]}`
  })

const CONTRADICTS: Record<NonNullable<RefundResult['alarm']>, string> = {
  refundOfMinted: 'It has its node as well: the buyer has both.',
  refundOfOrphaned: 'Its block was reorganised out: what you paid back you may never have received.',
  refundTooEarly: 'It was too early: a mint that was signed before may yet give the buyer a node as well.',
}

/** `payments refund-prepare`. */
export const refundPrepare = (call: Call) =>
  decide(
    call,
    prepareRefund,
    'Hold it, so that no mint is signed for it any more?',
    (done) => (done as PreparedRefund).says,
  )

/** `payments refund-batch`: the same for several, and one file for a Safe that pays them all. */
export async function refundBatch(call: Call): Promise<ExitCode> {
  const { io, out, signal } = call
  const { 'safe-file': path, ...values } = call.values
  return await withOperator(io, async (deps) => {
    const question = 'Hold them, so that no mint is signed for them any more?'
    await mustAgree(call, question)
    const payments = (call.args.payments ?? '').split(',').map((each) => each.trim())
    const asked = { ...fieldsOf({ ...call, values }), payments }
    const done = accepted(await prepareRefunds(deps, actorHere(), asked), call)
    await out.result(done, () => done.results.map(lineOf).join('\n'))
    if (done.safeBatch === null) out.say('Nothing may be sent yet: run it again later.')
    else if (path !== undefined) {
      await toFile({ stream: Readable.from([`${toJson(done.safeBatch)}\n`]) }, path, signal)
      out.say(
        `Written to ${path}: ${inEther(done.sendNowWei)} ether in ${done.safeBatch.transactions.length} transfers.`,
      )
    }
    return EXIT.done
  })
}

function lineOf({ payment, from, valueWei, prepared, refusal }: OneOfMany): string {
  const paid = valueWei === null ? '' : ` (${inEther(valueWei)} ether from ${from ?? 'an unknown payer'})`
  return `${payment}${paid}: ${refusal ?? prepared?.says}`
}

/** `payments refund-cancel`. */
export const refundCancel = (call: Call) =>
  decide(call, cancelRefund, 'Give its refund up, so that it stands as before?', (done) => {
    const { status, reason } = done as { status: string; reason: string | null }
    return `It is ${status}${reason ? ` (${reason})` : ''}.`
  })

/** `payments attribute`: names the payer, which a release needs to know. */
export async function attribute(call: Call): Promise<ExitCode> {
  return await decide(call, attributePayment, 'Hold that transaction’s trace against it?', (done) => {
    const { parts, restWei } = done as Attribution
    const rest = restWei === 0n ? [] : [`${inEther(restWei)} ether of it stay without a sender.`]
    return [...parts.map(origin), ...rest].join('\n')
  })
}

function origin({ id, from, valueWei, txHash, innerIndex, proof, nodeId }: AttributedPart): string {
  const by = proof === 'word' ? ', by your word alone' : ''
  const came = `Payment ${id}: ${inEther(valueWei)} ether came from ${from}, inner transfer ${innerIndex} of ${txHash}${by}.`
  if (nodeId !== null) return `${came} Its node is on chain already: node ${nodeId}. Nothing is to be paid back.`
  return `${came} It is held still: release, refund or dismiss it.`
}

/** `payments dismiss`: one payment, or all the dust. */
export async function dismiss(call: Call): Promise<ExitCode> {
  const { args, values, io, out } = call
  if ((args.payment === undefined) === (values['below-wei'] === undefined))
    throw new UsageError('Name one payment, or all held ones below an amount with --below-wei.')
  if (args.payment !== undefined)
    return await decide(call, dismissPayment, 'Dismiss it, so that neither a node nor a refund comes of it?')
  return await withDatabase(io, async (deps) => {
    const dust = (dryRun: boolean) => dismissAllDust(deps, actorHere(), { ...fieldsOf(call), dryRun })
    const { count, sumWei } = accepted(await dust(true), call)
    out.say(`Held below ${values['below-wei']} wei: ${count}, together ${inEther(sumWei)} ether.`)
    if (count > 0) await mustAgree(call, 'Dismiss them all?', 'Nothing was dismissed.')
    const done = accepted(await dust(count === 0), call)
    await out.result(done, `${count === 0 ? 0 : done.count} dismissed, ${done.remaining} left.`)
    return EXIT.done
  })
}

async function decide(
  call: Call,
  act: Decision,
  question: string,
  tell = (done: object) => {
    const { status, tierId } = done as { status: string; tierId: string | null }
    return `It is ${status}${tierId ? `, in tier ${tierId}` : ''}.`
  },
): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    const { payments } = accepted(await showPayment(deps, fieldsOf(call)), call) as { payments: Detail[] }
    for (const payment of payments) out.say([summary(payment), held(payment), ...paidBack(payment)].join('\n'))
    await mustAgree(call, question)
    const done = accepted(await act(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, tell(done))
    return EXIT.done
  })
}

/** The evidence of the verdict that stands, for the operator's decision. */
function held({ verdicts }: Detail): string {
  const last = verdicts.at(-1)
  return last ? `  because\n${pairs(last.evidence)}` : ''
}

/** `payments claim`: what a buyer's claim does. */
export async function claim(call: Call): Promise<ExitCode> {
  const { io, out, args } = call
  const txHash = readHash(args.hash ?? '')
  return await withPasses(io, async (ctx) => {
    const outcome = await claimer(ctx, paymentsPass(ctx))(txHash)
    if (outcome.kind === 'notFound' || outcome.kind === 'pending')
      throw new UnavailableError(
        outcome.kind === 'pending'
          ? 'The transaction is in no block yet: ask again shortly.'
          : 'The provider knows no such transaction (yet).',
      )
    if (outcome.kind === 'notASale') throw new RefusedError(`It is no sale: ${outcome.why}.`)
    const found = await readPaymentsIn(ctx.pool, txHash)
    if (!found) throw new UnavailableError('The ledger has not followed to its block yet: ask again shortly.')
    const payment = JSON.parse(found.json) as { payments: object[] }
    await out.result(payment, () => payment.payments.map((one) => fields(Object.entries(one))).join('\n\n'))
    return EXIT.done
  })
}

function readHash(text: string): Hash {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new UsageError('<hash>: a transaction hash is wanted, 0x and 64 hex digits')
  return text.toLowerCase() as Hash
}
