// Commissions of referral codes: what is due, a file by which a Safe pays it, and the record of what was paid, which the chain must confirm. It sends
// nothing and never could.

import { readCursor } from '../../../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../../db/core/state.ts'
import { insertRefund, type Refund, readRefundsBy } from '../../../db/payments/refunds.ts'
import { type DueCommission, readBelievedMints, readDueCommissions } from '../../../db/reads/commissions.ts'
import { readPaymentWallets } from '../../../db/sale/payment-wallets.ts'
import { readReferrals } from '../../../db/sale/referrals.ts'
import { type Address, counted, type Hash, inEther, type Wei, wei } from '../../../domain/units.ts'
import { compareBlock } from '../../../mending/compare.ts'
import type { ChainRead } from '../../../ports/contexts.ts'
import { orNull } from '../../../ports/faults.ts'
import { type Actor, fieldNamed, isOperatorRefusal, type OperatorRefusal, recordAct, refuseAct } from '../../act.ts'
import { defineAct, defineGuardedAct, defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { firstOf } from '../in-words.ts'
import { isOwnBlock, type MinedTransaction, readMined, refuseReorg } from '../mined.ts'
import { type RefundDeps, readHorizon } from '../refunds/prepare.ts'
import { AGAIN } from '../refunds/prepare-many.ts'
import { innerTransfersTo, refuseUnmoved, unusedIn } from '../refunds/record.ts'
import { batchOf, type SafeBatch } from '../refunds/safe-batch.ts'
import { CODE } from './codes.ts'

interface CommissionHorizon {
  final: number
  trustsOne: boolean
  note: string | null
}

/** The newest settled block. If there is none, nothing is due, and `note` explains why. */
async function readCommissionHorizon(deps: RefundDeps): Promise<CommissionHorizon> {
  const { final, note, trustsOne } = await readHorizon(deps)
  return { final: final?.number ?? -1, trustsOne, note: final === null && note ? `Nothing is settled: ${note}` : note }
}

/** How many blocks of mints one file proves at most. The next one proves the others. */
const PROVEN_MAX = 50

/** Proves mints that only one provider reported when they were followed. A block that cannot be read stays as it is, and its commissions wait. */
async function proveMints(deps: RefundDeps, final: number): Promise<void> {
  const cursor = await readCursor(deps.pool)
  if (!cursor) return
  for (const block of await readBelievedMints(deps.pool, final, PROVEN_MAX))
    await orNull(compareBlock(deps, cursor, block))
}

export const listCommissions = defineReading({
  path: 'referrals/commissions',
  command: 'referrals commissions',
  summary: 'list what each code earned, and how much of that is reversed, paid and due',
  examples: ['referrals commissions'],
  fields: {},
  onChain: true,
  run: async (deps: RefundDeps) => {
    const horizon = await readCommissionHorizon(deps)
    return { commissions: await readDueCommissions(deps.pool, horizon), note: horizon.note }
  },
  columns: [
    'code',
    'payee',
    'count',
    'earnedWei',
    'reversedWei',
    'paidWei',
    'notFinalWei',
    'waitingWei',
    'believedWei',
    'dueWei',
    'filedWei',
    'fileMadeAt',
  ],
})

/** What is due by code and payee, and a file with one transfer for each; the file is null if nothing is due. */
export interface CommissionFile {
  commissions: DueCommission[]
  sendNowWei: bigint
  /** Names what waits and why, what an earlier file pays, and what rests on one provider; null if there is none. */
  note: string | null
  safeBatch: SafeBatch | null
}

/** What is not in the file, and why. */
function noteOf(
  lines: readonly DueCommission[],
  { note, trustsOne, again }: CommissionHorizon & { again: boolean },
): string | null {
  const sumIn = (name: 'notFinalWei' | 'waitingWei' | 'believedWei') =>
    lines.reduce((sum, line) => sum + line[name], 0n)
  const [notFinalWei, waitingWei, believedWei] = [sumIn('notFinalWei'), sumIn('waitingWei'), sumIn('believedWei')]
  const ether = `${inEther(believedWei)} ETH`
  const single = trustsOne
    ? `${ether} was earned by mints that only one provider reports.`
    : `${ether} waits: only one provider reports the mints that earned it. Try again once another provider answers.`
  const earlierFiles = lines.filter(({ dueWei, filedWei }) => dueWei > 0n && filedWei > 0n)
  const filedEarlier = again
    ? 'Earlier files pay this too, so send the new file only if they were never sent'
    : 'Left out, because earlier files pay it'
  const notes = [
    note,
    notFinalWei > 0n ? `${inEther(notFinalWei)} ETH waits until the blocks of its mints are final.` : null,
    waitingWei > 0n ? `${inEther(waitingWei)} ETH waits for the time that its codes set.` : null,
    believedWei > 0n ? single : null,
    earlierFiles.length > 0 ? `${filedEarlier}: ${earlierFiles.map(filedInWords).join(', ')}.` : null,
  ]
  return notes.filter((part) => part !== null).join(' ') || null
}

const filedInWords = ({ code, filedWei, fileMadeAt }: DueCommission) =>
  `${code} (${inEther(filedWei)} ETH, ${fileMadeAt})`

/** What a file pays for a line: what is due, without what an earlier file pays. */
const payOf = ({ dueWei, filedWei }: DueCommission, again: boolean): bigint => (again ? dueWei : dueWei - filedWei)

const toPay = (lines: readonly DueCommission[], again: boolean) => lines.filter((line) => payOf(line, again) > 0n)

/** The sum of a file. Overpaid codes do not reduce it. */
const sumOf = (lines: readonly DueCommission[], again: boolean): bigint =>
  toPay(lines, again).reduce((sum, line) => sum + payOf(line, again), 0n)

async function readProven(deps: RefundDeps): Promise<CommissionHorizon> {
  const horizon = await readCommissionHorizon(deps)
  if (!horizon.trustsOne) await proveMints(deps, horizon.final)
  return horizon
}

const contentsOf = (all: readonly DueCommission[], request: CommissionHorizon & { again: boolean }) => ({
  commissions: toPay(all, request.again),
  sendNowWei: sumOf(all, request.again),
  note: noteOf(all, request),
})

/** A file's contents in words. */
const fileInWords = ({ commissions, sendNowWei, note }: CommissionFile): string =>
  [`It pays ${inEther(sendNowWei)} ETH for ${counted(commissions.length, 'code')}.`, note].filter(Boolean).join(' ')

export const fileCommissions = defineGuardedAct({
  path: 'referrals/commissions/file',
  scope: 'decide',
  command: 'referrals file',
  summary: 'make the file with which a Safe pays all commissions that are due',
  details: `The file is for Safe's Transaction Builder, with a transfer for each code. Later files leave out what a file pays. Record the Safe's
transaction for each code with "referrals paid".`,
  examples: ['referrals file --safe-file commissions.json --yes'],
  fields: { again: AGAIN, reason: field.REASON },
  onChain: true,
  asks: 'Make the file? Later files leave out what it pays.',
  makesFiles: () => true,
  proposedAs: 'fileCommissions',
  // The guard reads no chain, so it counts what is not final yet, too.
  sum: async (sql, { again }) =>
    sumOf(await readDueCommissions(sql, { final: Number.MAX_SAFE_INTEGER, trustsOne: true }), again),
  run: async (deps: RefundDeps, actor, { again, reason }): Promise<CommissionFile> => {
    const horizon = await readProven(deps)
    return await inTransaction(deps.pool, async (sql) => {
      // If two people ask at the same time, the second file leaves out what the first pays.
      await sql`LOCK TABLE referral_codes IN SHARE ROW EXCLUSIVE MODE`
      const contents = contentsOf(await readDueCommissions(sql, horizon), { ...horizon, again })
      for (const line of contents.commissions) {
        const after = { payee: line.payee, valueWei: payOf(line, again).toString(), again }
        await recordAct(sql, actor, { action: 'commissionFileMade', subject: line.code, after, reason })
      }
      const transfers = contents.commissions.map((line) => ({ to: line.payee, valueWei: wei(payOf(line, again)) }))
      const texts = { name: 'Commissions', description: `${transfers.length} commissions, one transfer for each code` }
      return { ...contents, safeBatch: await batchOf(sql, transfers, texts) }
    })
  },
  preview: (file, { again }) => [
    ...firstOf(file.commissions.map((line) => `${line.code}: ${inEther(payOf(line, again))} ETH to ${line.payee}`)),
    fileInWords(file),
  ],
  says: fileInWords,
})

/** A recorded commission. `changed` is false if it was already on record. */
export interface RecordedCommission {
  code: string
  payee: Address
  txHash: Hash
  valueWei: Wei
  changed: boolean
}

const PAID = {
  code: CODE,
  txHash: field.hash('the transaction of your payment'),
  valueWei: field.orNull(field.wei('the amount, if the transaction pays the payee more than once')),
  reason: field.REASON,
}

export const recordCommission = defineAct({
  path: 'referrals/:code/paid',
  scope: 'decide',
  command: 'referrals paid',
  summary: 'record that you paid a commission, which the chain must confirm',
  details: `Pay with a wallet of your own: the service cannot send it. The transaction must be in a block, have succeeded and pay a payee of the code;
if a Safe made it, the provider's trace has to show that. One transfer proves one commission, and no refund.`,
  examples: ['referrals paid friends --tx-hash <refund> --yes'],
  fields: PAID,
  onChain: true,
  asks: 'Record it?',
  run: recordPaid,
  preview: ({ changed, code, valueWei, payee, txHash }) =>
    changed
      ? `${code}: ${inEther(valueWei)} ETH to ${payee} counts as paid by ${txHash}.`
      : 'No change: it is recorded.',
  says: ({ changed, valueWei, payee }) => (changed ? `Recorded: ${inEther(valueWei)} ETH to ${payee}.` : 'No change.'),
})

async function recordPaid(
  deps: RefundDeps,
  actor: Actor,
  { code, txHash, valueWei, reason }: field.Read<typeof PAID>,
): Promise<RecordedCommission | OperatorRefusal> {
  const tx = await readMined(deps, 'commission', txHash)
  if (isOperatorRefusal(tx)) return tx
  const versions = (await readReferrals(deps.pool)).filter((one) => one.code === code)
  if (versions.length === 0) return refuseAct('notFound', `There is no code ${code}.`)
  const moves: Moved[] = []
  for (const payee of new Set(versions.map(({ payee: each }) => each)))
    moves.push(...(await movedTo(deps, payee, tx)).filter((one) => valueWei === null || one.valueWei === valueWei))
  return await inTransaction(deps.pool, async (sql) => {
    if ((await isOwnBlock(sql, tx)) === false) return refuseReorg('commission')
    const choice = await choose(sql, code, txHash, moves)
    if (isOperatorRefusal(choice)) return choice
    const { transfer, isKnown } = choice
    const result = { code, payee: transfer.to, txHash, valueWei: transfer.valueWei }
    if (isKnown) return { ...result, changed: false }
    const refusal = refuseUnmoved('commission', await readPaymentWallets(sql), { ...transfer, signer: tx.from })
    if (refusal) return refusal
    const { blockNumber, blockHash } = tx
    const proof = { paymentRef: null, commissionOf: code, txHash, blockNumber, blockHash, recordedBy: actor.name }
    // The passes watch the transfer until its block is final.
    if (!(await insertRefund(sql, { ...transfer, ...proof, final: false })))
      return refuseAct('conflict', 'Another action has just used that transfer: try again.')
    const after = { payee: transfer.to, txHash, valueWei: transfer.valueWei.toString() }
    await recordAct(sql, actor, { action: 'commissionPaid', subject: code, after, reason })
    await notifyLedgerChanged(sql)
    return { ...result, changed: true }
  })
}

/** A transfer to a payee. */
type Moved = Pick<Refund, 'innerIndex' | 'from' | 'to' | 'valueWei'>

async function movedTo(deps: ChainRead, payee: Address, tx: MinedTransaction): Promise<Moved[]> {
  const inner = await innerTransfersTo(deps, payee, tx)
  const all = tx.to === payee ? [{ innerIndex: 0, from: tx.from, to: payee, valueWei: tx.valueWei }] : (inner ?? [])
  return all.filter(({ valueWei }) => valueWei > 0n)
}

/** The transfer recorded for this code, so that the same request changes nothing. If there is none, one that proves no other payout yet. */
async function choose(
  sql: Sql,
  code: string,
  txHash: Hash,
  moves: readonly Moved[],
): Promise<{ transfer: Moved; isKnown: boolean } | OperatorRefusal> {
  const free: Moved[] = []
  let ownMove: Moved | undefined
  for (const [payee, transfers] of Map.groupBy(moves, ({ to }) => to)) {
    const refunds = await readRefundsBy(sql, txHash, payee)
    const own = refunds.filter(({ commissionOf }) => commissionOf === code)
    ownMove = transfers.findLast(({ innerIndex }) => own.some((one) => one.innerIndex === innerIndex)) ?? ownMove
    free.push(...unusedIn(transfers, refunds))
  }
  if (ownMove) return { transfer: ownMove, isKnown: true }
  const [first] = free
  if (first && free.some(({ valueWei }) => valueWei !== first.valueWei))
    return refuseAct('invalid', `The transaction pays more than once: give ${fieldNamed('valueWei')}.`)
  if (first) return { transfer: first, isKnown: false }
  return refuseAct(
    'invalid',
    moves.length === 0
      ? 'The transaction does not pay that amount to a payee of the code. If a contract wallet paid, the provider has to show it (debug_traceTransaction).'
      : 'The transaction’s transfers already prove other refunds or commissions: one transfer proves one.',
  )
}
