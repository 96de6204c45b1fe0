// Payments in words, for previews and results of decisions about them: who paid, how much, and what warns before the decision. Reads, and never decides.
import type { Sql } from '../../db/core/sql.ts'
import { type PaymentInBrief, readInBrief } from '../../db/payments/decisions.ts'
import { counted, inEther } from '../../domain/units.ts'

export const nameOf = ({ id, from, valueWei }: Pick<PaymentInBrief, 'id' | 'from' | 'valueWei'>) =>
  `Payment ${id} (${inEther(valueWei)} ETH from ${from ?? 'an unknown payer'})`

export async function readBrief(sql: Sql, id: number): Promise<PaymentInBrief> {
  const [payment] = await readInBrief(sql, [id])
  return payment ?? Promise.reject(new Error(`there is no payment ${id}`))
}

/** What warns before a decision after which a payment may become a node, or is never paid back. */
export const warningsOf = (payment: PaymentInBrief): string[] => [...paidBackInWords(payment), ...filedInWords(payment)]

interface LooksRefunded {
  readonly id: number
  readonly looksRefundedBy: readonly { readonly txHash: string | null; readonly blockNumber: number }[]
}

/** A restored ledger has lost later refunds. If we find one on the chain, we show it to the operator before they pay twice. */
export const paidBackInWords = ({ id, looksRefundedBy }: LooksRefunded): string[] =>
  looksRefundedBy.map(
    ({ txHash, blockNumber }) =>
      `Payment ${id} looks refunded: the payments wallet sent exactly this amount back in block ${blockNumber}. If that was its refund, run "node-ledger payments refund ${id} --refund-tx-hash ${txHash}" instead.`,
  )

/** A warning for an act after which a payment may become a node, in a list; empty if no file pays it back. */
export const filedInWords = ({ fileMadeAt }: { fileMadeAt: string | null }): string[] =>
  fileMadeAt === null ? [] : [`A file made at ${fileMadeAt} pays it back: continue only if it was never sent.`]

type Sum = readonly { readonly valueWei: bigint | null }[]
const sumOf = (payments: Sum) => payments.reduce((wei, { valueWei }) => wei + (valueWei ?? 0n), 0n)

export const sumInWords = (payments: Sum) => `${counted(payments.length, 'payment')}, ${inEther(sumOf(payments))} ETH`

/** How many payments of a group are named. */
const NAMED_MAX = 3

/** Payments with the same fate: how many, their sum, and the first of them. */
export function groupInWords(those: readonly { payment: string; valueWei?: bigint | null }[]): string {
  const sum = sumOf(those.map(({ valueWei = null }) => ({ valueWei })))
  const names = those.slice(0, NAMED_MAX).map(({ payment }) => payment)
  const more = those.length > NAMED_MAX ? ' and others' : ''
  return `${those.length}${sum > 0n ? `, ${inEther(sum)} ETH` : ''} (payment${those.length === 1 ? '' : 's'} ${names.join(', ')}${more})`
}

/** How many lines of a list a question shows. */
const LINES_MAX = 10

export const firstOf = (lines: readonly string[], rest = 'more'): string[] =>
  lines.length <= LINES_MAX ? [...lines] : [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} ${rest}`]
