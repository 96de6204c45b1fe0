// Finds the payers of value that came by inner calls: the operator names the transactions, and the provider's traces prove who paid. This way the
// operator can split a residue of several payers' money, transfer by transfer; what is left stays a residue. Once its payer is known, a payment can be
// released like any other, but only to that payer.
import { innerRef } from '../../chain/digest.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../db/core/state.ts'
import { sumOfPayments } from '../../db/operator/sums.ts'
import { type Part, readStanding, takeParts } from '../../db/payments/attributions.ts'
import { type DeskPayment, readForReview, readResidueRange } from '../../db/payments/decisions.ts'
import { readKnownIn } from '../../db/payments/inner.ts'
import { readRefundsBy } from '../../db/payments/refunds.ts'
import { type Address, type Hash, inEther } from '../../domain/units.ts'
import type { InnerTransfer } from '../../ports/chain.ts'
import type { ChainRead, LedgerDb } from '../../ports/contexts.ts'
import {
  type Actor,
  type Fields,
  fieldNamed,
  isOperatorRefusal,
  type OperatorRefusal,
  recordAct,
  refuseAct,
} from '../act.ts'
import { defineGuardedAct } from '../define-act.ts'
import * as field from '../input.ts'
import { isOwnBlock, type MinedTransaction, readMined, refuseReorg } from './mined.ts'
import { lockHeld, PAYMENT } from './payments.ts'

/** How many transfers one act takes out of a residue at most. Each transaction costs a trace. */
const TRANSFERS_MAX = 20
/** No transaction has enough gas for so many calls. */
const INDEX_MAX = 1_000_000

/** A payment with its payer. It is held, or minted if a node that is already on chain belongs to it. */
export interface AttributedPart {
  id: number
  txHash: string
  innerIndex: number
  from: string
  valueWei: bigint
  ref: string
  /** `stated`: no provider could trace the transaction, so we have only the operator's word for who sent it. */
  proof: 'trace' | 'stated'
  status: string
  /** The node's id on the chain; null if there is no node. */
  nodeId: string | null
}

/** The first attributed transfer, all of them, and what is left of the residue without a payer. */
export interface Attribution extends AttributedPart {
  parts: AttributedPart[]
  restWei: bigint
}

/** A transfer as the operator names it; a field is null if they leave it to the trace. */
const TRANSFER = {
  txHash: field.hash('the transaction, as an explorer shows it'),
  innerIndex: field.orNull(
    field.whole('the transfer’s place among the transaction’s transfers to the wallet, from 1', 1, INDEX_MAX),
  ),
  from: field.orNull(field.address('who made the transfer, as an explorer shows it')),
  valueWei: field.orNull(field.wei('the value of the transfer')),
}
type Named = field.Read<typeof TRANSFER>

const ASKED = {
  payment: { ...PAYMENT, help: 'its row id, as "payments list" shows it' },
  ...TRANSFER,
  txHash: field.orNull(TRANSFER.txHash),
  transfers: field.orNull(
    field.ofForm<Fields[]>(
      'several transfers instead, as hash#place,hash#place; #place only if a transaction made several',
      {
        value: 'list',
        otherwise: [],
        form: `a list of 1 to ${TRANSFERS_MAX} transfers`,
        parse: parseTransfers,
        schema: 'TransfersInput',
      },
    ),
  ),
  reason: field.REASON,
}
type Asked = field.Read<typeof ASKED>

/** A named transaction, and its inner transfers to the wallet; null if no provider can trace it. */
interface Traced {
  tx: MinedTransaction
  transfers: InnerTransfer[] | null
}

export const attributePayment = defineGuardedAct({
  path: 'payments/:payment/attribute',
  scope: 'decide',
  command: 'payments attribute',
  summary: 'enter the transactions that brought the ether of an unexplained payment',
  details: `For a payment held "unattributed", such as a Safe's. The provider's trace (debug_traceTransaction) must show the transfer; its sender
becomes the payer. If you give only a transaction, it must have brought the whole value. --inner-index or --value-wei makes one transfer a payment of its own, --transfers several; what remains stays held. If no provider has the trace, give --inner-index, --from and --value-wei: the service then relies on your statement, and records that.`,
  examples: ['payments attribute <unattributed> --tx-hash <inner> --reason "their Safe" --yes'],
  fields: ASKED,
  check: checkNamed,
  onChain: true,
  asks: 'Attribute it?',
  proposedAs: 'attribute',
  // A fully stated transfer may rest on the operator's word alone. In several small acts one person could give a payment to anyone, so the whole
  // payment counts. All other transfers are proven by a trace, and count as 0.
  sum: (sql, request) => (namedIn(request).some(isStated) ? sumOfPayments(sql, [request.payment]) : 0n),
  run: attribute,
  says: ({ parts, restWei }) => {
    const rest = restWei === 0n ? [] : [`${inEther(restWei)} ETH of it still have no sender.`]
    return [...parts.map(partInWords), ...rest].join('\n')
  },
})

function partInWords({ id, from, valueWei, txHash, innerIndex, proof, nodeId }: AttributedPart): string {
  const by = proof === 'stated' ? ', by your statement only' : ''
  const came = `Payment ${id}: ${inEther(valueWei)} ETH came from ${from}, inner transfer ${innerIndex} of ${txHash}${by}.`
  if (nodeId !== null) return `${came} Its node is on chain already: node ${nodeId}. Do not pay it back.`
  return `${came} It is still held: release, refund or dismiss it.`
}

const isStated = ({ innerIndex, from, valueWei }: Named) => innerIndex !== null && from !== null && valueWei !== null

async function attribute(
  deps: LedgerDb & ChainRead,
  actor: Actor,
  request: Asked,
): Promise<Attribution | OperatorRefusal> {
  const { payment: key, reason } = request
  const [names, isAlone] = [namedIn(request), request.transfers === null]
  const to = (await readForReview(deps.pool, key, { lock: false }))[0]?.wallet ?? null
  const traces = await traceNamed(deps, names, to)
  if (isOperatorRefusal(traces)) return traces
  return inTransaction(deps.pool, async (sql) => {
    // We lock the cursor before the payment's row, as the follower does, so that we file no part in a block that a reorganisation is removing.
    await readCursor(sql, { lock: true })
    for (const { tx } of traces.values()) if ((await isOwnBlock(sql, tx)) === false) return refuseReorg('transaction')
    const payment = await lockHeld(sql, key)
    if (isOperatorRefusal(payment)) return payment
    const parts = await chooseParts(sql, payment, { named: names, traced: traces, isAlone })
    if (isOperatorRefusal(parts)) return parts
    const { ids, restWei } = await takeParts(sql, payment, { parts, by: actor.name })
    const answers = await Promise.all(parts.map((part, place) => answerOf(sql, ids[place] as number, part)))
    for (const { id, valueWei, status: _, nodeId: __, ...place } of answers) {
      const after = { id, ...place, valueWei: valueWei.toString(), partOf: payment.id, restWei: restWei.toString() }
      await recordAct(sql, actor, { action: 'attributed', subject: place.txHash, after, reason })
    }
    await notifyLedgerChanged(sql)
    return { ...(answers[0] as AttributedPart), parts: answers, restWei }
  })
}

/** One transfer from the act's fields, or several from a list, which the command line writes as `hash#place,hash#place`. */
function namedIn({ transfers, txHash, innerIndex, from, valueWei }: Asked): Named[] {
  if (transfers === null) return txHash === null ? [] : [{ txHash, innerIndex, from, valueWei }]
  return transfers.flatMap((one) => {
    const transfer = readTransfer(one)
    return isOperatorRefusal(transfer) ? [] : [transfer]
  })
}

const readTransfer = (input: Fields) => field.readInput(TRANSFER, input, { refuseOthers: true })

function checkNamed({ transfers }: Asked, { isGiven, complain }: Parameters<field.Check<typeof ASKED>>[1]): void {
  if (!isGiven('transfers') && !isGiven('txHash')) complain('txHash', `is required: ${TRANSFER.txHash.form}`, 'missing')
  const alone = Object.keys(TRANSFER).filter(isGiven)
  if (isGiven('transfers') && alone.length > 0)
    complain(null, `${alone.map(fieldNamed).join(', ')} and ${fieldNamed('transfers')} exclude each other: give one`)
  for (const [place, one] of (transfers ?? []).entries()) {
    const read = readTransfer(one)
    if (isOperatorRefusal(read))
      for (const { field: name, code, text } of read.problems)
        complain(null, `transfer ${place + 1}: ${name === null ? '' : `${fieldNamed(name)} `}${text}`, code)
  }
}

function parseTransfers(value: unknown): Fields[] | undefined {
  const input = typeof value === 'string' ? value.split(',').map(fromText) : value
  if (!Array.isArray(input) || input.length === 0 || input.length > TRANSFERS_MAX) return undefined
  return input.map((one) => (typeof one === 'object' && one !== null ? (one as Fields) : {}))
}

function fromText(text: string): Fields {
  const [txHash, innerIndex] = text.trim().split('#')
  return { txHash, innerIndex }
}

/** Reads the transactions and their traces. `to` is null if there is no such payment; the code that locks the payment then refuses. */
async function traceNamed(
  deps: ChainRead,
  transfers: readonly Named[],
  to: Address | null,
): Promise<Map<Hash, Traced> | OperatorRefusal> {
  const traces = new Map<Hash, Traced>()
  for (const { txHash } of transfers) {
    if (traces.has(txHash)) continue
    const tx = await readMined(deps, 'transaction', txHash)
    if (isOperatorRefusal(tx)) return tx
    traces.set(txHash, { tx, transfers: to === null ? [] : await deps.chain.innerTransfers(txHash, to) })
  }
  return traces
}

/** The transfers that the operator means. None may be in the books already, and together they may not exceed the residue. */
async function chooseParts(
  sql: Sql,
  payment: DeskPayment,
  { named, traced, isAlone }: { named: readonly Named[]; traced: ReadonlyMap<Hash, Traced>; isAlone: boolean },
): Promise<Part[] | OperatorRefusal> {
  const { wallet, valueWei: wholeWei, from } = payment
  if (from !== null) return refuseAct('conflict', `The payment came from ${from}: it needs no attribution.`)
  const range = await readResidueRange(sql, payment.id)
  const isKnown = await readKnown(sql, wallet, traced)
  const parts: Omit<Part, 'ref'>[] = []
  for (const one of named) {
    const { tx, transfers } = traced.get(one.txHash) as Traced
    if (!range || tx.blockNumber < range.fromBlock || tx.blockNumber > range.toBlock)
      return refuseAct('invalid', `The transaction is in block ${tx.blockNumber}, where this value did not arrive.`)
    const transfer = isAlone && one.innerIndex === null && one.valueWei === null ? { ...one, valueWei: wholeWei } : one
    const isTaken = (index: number) =>
      isKnown(one.txHash, index) || parts.some((part) => part.txHash === one.txHash && part.innerIndex === index)
    const reply = transfers === null ? byWord(one, wallet, isTaken) : byTrace(transfer, transfers, isTaken)
    if (isOperatorRefusal(reply)) return reply
    const { index: innerIndex, from: payer, valueWei } = reply
    const proof = transfers === null ? 'stated' : 'trace'
    parts.push({ txHash: one.txHash, txIndex: tx.txIndex, innerIndex, from: payer, valueWei, proof })
  }
  const sumWei = parts.reduce((total, { valueWei }) => total + valueWei, 0n)
  if (sumWei > wholeWei) return refuseAct('invalid', `These are ${sumWei} wei; the payment holds ${wholeWei} wei.`)
  if (sumWei < wholeWei && payment.reason !== 'unattributed')
    return refuseAct('conflict', `The payment is held as ${payment.reason}: attribute all of it, or nothing.`)
  return parts.map((part) => ({ ...part, ref: innerRef(part.txHash, wallet, part.innerIndex) }))
}

/** Tells whether an inner transfer to the wallet is already in the books: as a payment, as dust, or as a refund that was paid to the wallet. */
async function readKnown(sql: Sql, wallet: Address, traces: ReadonlyMap<Hash, Traced>) {
  const isIn = await readKnownIn(sql, [...traces.keys()])
  const refunds = new Set<string>()
  for (const txHash of traces.keys())
    for (const { innerIndex } of await readRefundsBy(sql, txHash, wallet)) refunds.add(`${txHash} ${innerIndex}`)
  return (txHash: Hash, innerIndex: number) =>
    isIn({ txHash, wallet, innerIndex }) || refunds.has(`${txHash} ${innerIndex}`)
}

const conflict = refuseAct('conflict', 'That transfer is already another payment, or you gave it twice.')

/** The named transfer in a trace. If several differ only in their position, the first of them. */
function byTrace(
  wanted: Named,
  transfers: readonly InnerTransfer[],
  isTaken: (index: number) => boolean,
): InnerTransfer | OperatorRefusal {
  const { innerIndex, from, valueWei } = wanted
  const fits = transfers.filter(
    (transfer) =>
      (innerIndex === null || transfer.index === innerIndex) &&
      (from === null || transfer.from === from) &&
      (valueWei === null || transfer.valueWei === valueWei),
  )
  const free = fits.filter(({ index }) => !isTaken(index))
  const [first] = free
  if (first && free.every((other) => other.from === first.from && other.valueWei === first.valueWei)) return first
  if (fits.length > 0 && !first) return conflict
  const shows = transfers
    .map(({ index, from: payer, valueWei: value }) => `${index}: ${value} wei from ${payer}`)
    .join('; ')
  const description = [innerIndex && `at place ${innerIndex}`, valueWei && `of ${valueWei} wei`, from && `from ${from}`]
  const what = first
    ? `The transaction made several of these transfers: choose one by its place, ${fieldNamed('innerIndex')}.`
    : `The transaction made no inner transfer ${[...description.filter(Boolean), 'to the payments wallet'].join(' ')}.`
  return refuseAct('invalid', transfers.length === 0 ? what : `${what} The trace shows ${shows}.`)
}

/** The transfer as the operator states it, if there is no trace. */
function byWord(
  { innerIndex, from, valueWei }: Named,
  wallet: Address,
  isTaken: (index: number) => boolean,
): InnerTransfer | OperatorRefusal {
  if (innerIndex === null || from === null || valueWei === null)
    return refuseAct(
      'unavailable',
      `The provider cannot trace that transaction: add a provider that supports debug_traceTransaction. If none can trace it, state the transfer yourself: ${['from', 'valueWei'].map(fieldNamed).join(', ')} and ${fieldNamed('innerIndex')}.`,
    )
  if (valueWei === 0n || from === wallet)
    return refuseAct('invalid', 'That transaction brought nothing to the payments wallet.')
  return isTaken(innerIndex) ? conflict : { index: innerIndex, from, valueWei }
}

async function answerOf(sql: Sql, id: number, part: Part): Promise<AttributedPart> {
  const { txHash, innerIndex, from, valueWei, ref, proof } = part
  const { state: status, nodeId } = await readStanding(sql, id)
  return { id, txHash, innerIndex, from, valueWei, ref, proof, status, nodeId }
}
