// The first step of a refund. We hold the payment, so that no further mint is signed for it, and show the operator when the last signed mint expires.
// An earlier refund might pay back a payment that still becomes a node. It sends nothing and never could.
import { readBlock, readCursor } from '../../../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../../db/core/state.ts'
import { isExpelled } from '../../../db/nodes/nodes.ts'
import { sumOfPayments, sumToPrepare } from '../../../db/operator/sums.ts'
import type { DeskPayment, PaymentKey } from '../../../db/payments/decisions.ts'
import { writeVerdict } from '../../../db/payments/moves.ts'
import { readRecheck, type Word } from '../../../db/payments/recheck.ts'
import {
  isIntentPending,
  moveFromRefunding,
  readFirstFile,
  readSignedUntil,
  withdrawRefunding,
} from '../../../db/payments/refunds.ts'
import { FINAL_DEPTH } from '../../../domain/finality.ts'
import type { Evidence, HoldReason } from '../../../domain/judgement.ts'
import { type FinalBlock, isRefundSafe, judgeRefund, type RefundSafety } from '../../../domain/refund-safety.ts'
import { VALID_FOR_SEC_MAX } from '../../../domain/send.ts'
import { mayMove } from '../../../domain/transitions.ts'
import { finalityInWords, isSettled, lookAtFinality } from '../../../follower/followed-finality.ts'
import { proveSender, readTrustsOne } from '../../../passes/steps/prove-released.ts'
import type {
  ChainRead,
  FinalityRules,
  FollowRules,
  LedgerDb,
  Logging,
  RuledBy,
  TrustRules,
} from '../../../ports/contexts.ts'
import {
  type Actor,
  isOperatorRefusal,
  type OperatorRefusal,
  recordAct,
  refuseAct,
  type SignerAddresses,
} from '../../act.ts'
import { defineGuardedAct } from '../../define-act.ts'
import { filedInWords, nameOf, paidBackInWords, readBrief, warningsOf } from '../in-words.ts'
import { lockPayment, PAYMENT_ACT, refuseNoSale, refuseSpent } from '../payments.ts'

export type RefundDeps = LedgerDb & ChainRead & RuledBy<FinalityRules & FollowRules & TrustRules> & Logging
export type PrepareDeps = RefundDeps & SignerAddresses

/** A payment that is about to be refunded, and whether its ether may already be sent. */
export interface PreparedRefund {
  id: number
  txHash: string | null
  status: 'held'
  reason: 'refunding'
  tierId: string | null
  /** The last time at which a signed mint for it can be executed; null if there is none. */
  safeAfter: string | null
  /** True if it may still be minted. */
  mayStillMint: boolean
  /** True if no reorganisation can remove the payment. */
  isPaymentFinal: boolean
  /** True if the ether should be sent back now. */
  sendNow: boolean
  /** When the first Safe file that refunds it was made, ISO 8601; null if there is none. */
  fileMadeAt: string | null
  /** What these fields mean for the operator, in words. */
  says: string
}

/** Call this act again to see whether the ether may be sent by now. */
export const prepareRefund = defineGuardedAct({
  path: 'payments/:payment/refund/prepare',
  scope: 'decide',
  command: 'payments refund-prepare',
  summary: 'prepare a refund, and show whether you may send it now',
  details: `This is the first step of a refund, for any payment without a node. The service signs no mint for it from then on; one signed
before may still land until the time that the command prints. Send nothing until it prints "Send it now": run it again until then.`,
  examples: ['payments refund-prepare <hash> --reason "agreed by mail" --yes'],
  fields: PAYMENT_ACT,
  onChain: true,
  asks: 'Prepare the refund?',
  proposedAs: 'prepareRefund',
  // The second preparation of a refund gives away nothing more, so it counts as 0.
  sum: (sql, { payment }) => sumToPrepare(sql, [payment]),
  run: async (deps: PrepareDeps, actor, { payment: key, reason: note }) => {
    const request = { actor, note, horizon: await readHorizon(deps), signers: deps.signers }
    const prepare = () => inTransaction(deps.pool, (sql) => prepareLocked(sql, key, request))
    const first = await prepare()
    const outcome = (await proveSenderOf(deps, first)) ? await prepare() : first
    return isOperatorRefusal(outcome) ? outcome : outcome.answer
  },
  preview: async ({ id, says }, _request, sql) => {
    const payment = await readBrief(sql, id)
    return [`${nameOf(payment)}: the service signs no mint for it. ${says}`, ...paidBackInWords(payment)]
  },
  says: (result) => result.says,
})

/** The inputs of a preparation that are the same for every payment. */
export interface Preparing extends SignerAddresses {
  actor: Actor
  note: string | null
  horizon: RefundHorizon
  /** Refuses a payment that is held for another reason, or is no longer held. If left out, any payment without a node is prepared. */
  heldFor?: HoldReason
}

/** Proves who paid, once the payment is held, if only one provider reports it. @returns true if it has to be prepared again. */
export async function proveSenderOf(deps: PrepareDeps, outcome: Prepared | OperatorRefusal): Promise<boolean> {
  if (isOperatorRefusal(outcome) || outcome.payment.proof !== 'believed') return false
  await proveSender(deps, outcome.payment.id)
  return true
}

/** A payment that is held for its refund, and whether its ether may be sent. */
interface Prepared {
  payment: DeskPayment
  answer: PreparedRefund
}

/** Locks a payment and holds it for its refund, unless it is already held for that. Returns whether its ether may be sent. */
export async function prepareLocked(
  sql: Sql,
  key: PaymentKey,
  { actor, note, horizon, signers, heldFor }: Preparing,
): Promise<Prepared | OperatorRefusal> {
  const payment = await lockPayment(sql, key)
  if (isOperatorRefusal(payment)) return payment
  if (heldFor && !(payment.state === 'held' && [heldFor, 'refunding'].includes(payment.reason ?? '')))
    return refuseAct('conflict', `The payment is no longer held for ${heldFor}: it is ${payment.state}.`)
  if (await isExpelled(sql, payment))
    return refuseAct(
      'conflict',
      'Its node was expelled, and no other can be minted for it. Send it back now, then record the refund.',
    )
  if (!mayMove('prepareRefund', payment.state, 'held'))
    return refuseAct('conflict', `The payment is ${payment.state}. Send nothing back.`)
  const refusal = (await refuseNoSale(sql, signers, payment)) ?? (await refuseSpent(sql, payment))
  if (refusal) return refusal
  const safety = await refundSafety(sql, payment, horizon)
  if (isOperatorRefusal(safety)) return safety
  if (payment.reason !== 'refunding') await hold(sql, { actor, payment, note })
  const { id, ref, txHash, tierId } = payment
  const fileMadeAt = await readFirstFile(sql, ref)
  return {
    payment,
    answer: { id, txHash, status: 'held', reason: 'refunding', tierId, ...tell(safety, horizon, fileMadeAt) },
  }
}

/** Records that a file refunds this payment, so that we can warn anyone who asks for another file. The payment must be locked. */
export function noteFile(sql: Sql, actor: Actor, payment: DeskPayment): Promise<void> {
  const after = { ref: payment.ref, valueWei: payment.valueWei.toString() }
  return recordAct(sql, actor, { action: 'refundFileMade', subject: subjectOf(payment), after })
}

async function hold(
  sql: Sql,
  { actor, payment, note }: { actor: Actor; payment: DeskPayment; note: string | null },
): Promise<void> {
  const evidence = {
    rule: 'refunding',
    stoodAs: payment.state,
    heldFor: payment.reason,
    blockHash: payment.blockHash,
    tierId: payment.tierId,
    tierVersion: payment.tierVersion,
    note,
  }
  await writeVerdict(sql, payment.id, { move: 'prepareRefund', evidence, by: actor.name })
  const before = { status: payment.state, reason: payment.reason }
  const after = { status: 'held', reason: 'refunding' }
  await recordAct(sql, actor, { action: 'refundPrepared', subject: subjectOf(payment), before, after, reason: note })
  await notifyLedgerChanged(sql)
}

const subjectOf = ({ id, txHash }: DeskPayment) => txHash ?? String(id)

function tell(safety: RefundSafety, { final, note }: RefundHorizon, fileMadeAt: string | null) {
  const { safeAfter, mayStillMint, isPaymentFinal, isSenderKnown } = safety
  const at = safeAfter === null ? null : new Date(safeAfter * 1000).toISOString()
  const waits = final === null ? note : null
  const says = waits
    ? `Do not send it yet: ${waits}`
    : mayStillMint
      ? `Do not send it yet: a mint signed for it can be executed until the chain’s final block is later than ${at}. Try again after that.`
      : !isPaymentFinal
        ? 'Do not send it yet: the payment’s own block is not final. If a reorganisation removed the payment, you would have paid back ether that you never received. Try again later.'
        : !isSenderKnown
          ? 'Do not send it yet: only one provider reports who paid it, and nothing proves it. Try again once another provider answers.'
          : fileMadeAt === null
            ? 'Send it now, then record it.'
            : `A file that pays it back was made at ${fileMadeAt}. Send it now unless that file was sent, then record it.`
  const sendNow = isRefundSafe(safety)
  return {
    safeAfter: at,
    mayStillMint,
    isPaymentFinal,
    sendNow,
    fileMadeAt,
    says: sendNow && note ? `${says} ${note}` : says,
  }
}

/** A payment whose refund was cancelled. */
export interface CancelledRefund {
  id: number
  txHash: string | null
  status: string
  reason: string | null
  /** When the first Safe file that refunds it was made, ISO 8601; null if there is none. */
  fileMadeAt: string | null
}

/** The next pass judges the payment again, so it may become a node although its ether was already sent back. */
export const cancelRefund = defineGuardedAct({
  path: 'payments/:payment/refund/cancel',
  scope: 'decide',
  command: 'payments refund-cancel',
  summary: 'cancel a prepared refund: the payment returns to its earlier state, or the service judges it again',
  examples: ['payments refund-cancel <refunding> --yes'],
  fields: PAYMENT_ACT,
  asks: 'Cancel its refund?',
  proposedAs: 'cancelRefund',
  sum: (sql, { payment }) => sumOfPayments(sql, [payment]),
  change: async ({ sql, actor, record }, { payment: key }): Promise<CancelledRefund | OperatorRefusal> => {
    const payment = await lockPayment(sql, key)
    if (isOperatorRefusal(payment)) return payment
    if (payment.state !== 'held' || payment.reason !== 'refunding')
      return refuseAct('conflict', 'No refund of that payment is being prepared.')
    const { before: evidence, word } = await withdrawRefunding(sql, payment.id, actor.name)
    const stands = standsAs(payment, { before: evidence, word, isMinting: await isIntentPending(sql, payment.id) })
    const { verdict: status, reason } = await moveFromRefunding(sql, payment.id, stands)
    const [before, after] = [
      { status: 'held', reason: 'refunding' },
      { status, reason },
    ]
    record({ action: 'refundCancelled', subject: subjectOf(payment), before, after })
    return { id: payment.id, txHash: payment.txHash, ...after, fileMadeAt: await readFirstFile(sql, payment.ref) }
  },
  preview: async (result, _request, sql) => {
    const payment = await readBrief(sql, result.id)
    return [`${nameOf(payment)}: no refund. ${stateInWords(result)}`, ...warningsOf(payment)]
  },
  says: (result) => [stateInWords(result), ...filedInWords(result)].join(' '),
})

const stateInWords = ({ status, reason }: CancelledRefund) =>
  status === 'seen' ? 'The next pass judges it again.' : `It is ${status}${reason ? ` (${reason})` : ''}.`

/**
 * The state of a payment once its refund is cancelled. If a pass had accepted it, we judge it again, because its wallet may be full by now. We also
 * judge it again if its state was from another block.
 */
function standsAs(
  { from, blockHash }: DeskPayment,
  { before, word, isMinting }: { before: Evidence | null; word: Word | null; isMinting: boolean },
): Word {
  const heldFor = before?.heldFor === undefined ? null : (before.heldFor as string | null)
  const formerState = before?.blockHash === blockHash ? before?.stoodAs : null
  if (formerState === 'held' && heldFor !== null) return { verdict: 'held', reason: heldFor }
  if (formerState === 'minting' && isMinting) return { verdict: 'minting', reason: null }
  if (from === null && word?.verdict !== 'dismissed') return { verdict: 'held', reason: 'unattributed' }
  if (word) return word.verdict === 'accepted' ? { ...word, reason: null } : word
  return { verdict: 'seen', reason: null }
}

/** What a refund's safety depends on, apart from the payment. */
export interface RefundHorizon {
  final: FinalBlock | null
  /** Why nothing is final, or what to compare because only one provider reports what is; null if two agree, or if nothing is final yet. */
  note: string | null
  /**
   * The block up to which the ledger was restored or rebuilt, and the time until which lost transactions may still be executed; null if it never was.
   */
  lost: { upToBlock: number; until: number } | null
  /** True if one provider's word is enough for who paid. */
  trustsOne: boolean
}

/** Reads the horizon from the chain. Throws a ChainFault if no provider answers. */
export async function readHorizon(deps: RefundDeps): Promise<RefundHorizon> {
  const upToBlock = await readRecheck(deps.pool)
  // Our own header first, because one provider could date that block too early.
  const lastLost =
    upToBlock === null ? null : ((await readBlock(deps.pool, upToBlock)) ?? (await deps.chain.block(upToBlock)))
  const facts = { ...(await readSettled(deps)), trustsOne: await readTrustsOne(deps) }
  if (upToBlock === null) return { ...facts, lost: null }
  // If that block does not exist yet, everything that was lost is older than now.
  const time = lastLost?.time ?? (await deps.chain.head()).time
  return { ...facts, lost: { upToBlock, until: time + VALID_FOR_SEC_MAX } }
}

/** The newest block that is settled and followed, so that we know all mints up to it. If the chain has no finality, it is at least 64 blocks deep. */
async function readSettled(deps: RefundDeps): Promise<Pick<RefundHorizon, 'final' | 'note'>> {
  const { finality } = deps.rules
  const cursor = await readCursor(deps.pool)
  const depth = Math.max(FINAL_DEPTH, typeof finality === 'number' ? finality : 0)
  const sighting = cursor && (await lookAtFinality(deps, cursor, depth))
  const words = finalityInWords(sighting)
  const note = words && `${words.says}. ${words.todo}`
  return { final: isSettled(sighting) ? { number: sighting.firm, time: sighting.time } : null, note }
}

/** Checks that a refund of a payment is safe. The payment must be locked. */
export async function refundSafety(
  sql: Sql,
  { ref, blockNumber, proof }: DeskPayment,
  { final, lost, trustsOne }: RefundHorizon,
): Promise<RefundSafety | OperatorRefusal> {
  if ((await readRecheck(sql)) !== (lost?.upToBlock ?? null))
    return refuseAct('notYet', 'The service has just found that the ledger was restored: try again.')
  const isLost = lost !== null && blockNumber !== null && blockNumber <= lost.upToBlock
  const signedUntil = await readSignedUntil(sql, ref, final?.time ?? 0)
  const lostUntil = isLost ? lost.until : null
  return judgeRefund({ final, signedUntil, lostUntil, blockNumber, proof, trustsOne })
}
