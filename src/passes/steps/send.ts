// The only place that makes our transactions: simulate, sign, store, then send. We always send the stored bytes, immediately and again after a crash. We
// make a new transaction only if the signer account has no pending one.

import { type Cursor, readBlock } from '../../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { writeAudit } from '../../db/core/state.ts'
import { noteCalm, noteTrouble, writeFinding } from '../../db/core/troubles.ts'
import * as outbox from '../../db/sends/outbox.ts'
import type { Fees } from '../../domain/fees.ts'
import { affordablePart, decideSend } from '../../domain/send.ts'
import type { Hash } from '../../domain/units.ts'
import { type Failpoint, failpoint } from '../../lib/failpoint.ts'
import type { BlockRef } from '../../ports/chain.ts'
import type { ChainRead, LedgerDb, Logging, RuledBy, Run, SendRules } from '../../ports/contexts.ts'
import { SignerFault } from '../../ports/faults.ts'
import type { FactoryCall, SendOutcome, SignerAccount } from '../../ports/sending.ts'
import { feesNow, feesSuggested } from './fees.ts'
import { refuseGuard } from './guard.ts'
import { agreedNonce, readNonce } from './nonce.ts'
import { refusesRole } from './signer.ts'

type SendContext = LedgerDb & ChainRead & RuledBy<SendRules> & Logging

/** If this many calls in a row reverted although the simulation accepted them, the signer account pauses, because some fault is wasting its gas. */
const REVERTS_MAX = 3
/** The cooldown, in seconds of block time since the last revert. After it the account tries once, and pauses again if that call reverts. */
const REST_SEC = 900

/** An account that sends in one run of its pass, as of the followed block. That run holds the lock. */
export interface SenderRun {
  readonly run: Run
  readonly sender: SignerAccount
  readonly cursor: Cursor
}

/** The block time after which a call signed now can no longer be executed. So every signed call expires. */
export function validUntil({ rules }: RuledBy<SendRules>, { cursor }: SenderRun): number {
  return cursor.time + rules.validForSec
}

/** The block that a call names, so that it reverts on a fork without it; null if the contract cannot check it. */
export function guardOf({ run, cursor }: SenderRun): BlockRef | null {
  return run.guardUsable ? (run.agreed ?? { number: cursor.number, hash: cursor.hash }) : null
}

export type Sent =
  | { kind: 'sent'; txHash: Hash }
  /** Nothing was signed. The next run tries again. */
  | {
      kind: 'refused'
      why:
        | 'insufficientFunds'
        | 'overGasCap'
        | 'reverts'
        | 'roleLost'
        | 'providerBehind'
        | 'feeCapped'
        | 'resting'
        | 'notSigned'
        | 'nonceUnknown'
        | 'guardRefused'
      detail: string
      /** Set if the signer account has less ether than the call needs. */
      short?: { hasWei: bigint; needsWei: bigint }
    }

/**
 * Makes and sends a call. `claim` marks what the call is for, in the transaction that stores the signed bytes. If `claim` throws, that transaction is
 * rolled back and nothing is sent.
 */
export async function send(
  ctx: SendContext,
  sending: SenderRun,
  call: FactoryCall,
  claim: (sql: Sql, outboxId: number) => Promise<void>,
): Promise<Sent> {
  const { sender, cursor } = sending
  const cooldown = await cooldownOf(ctx, sending)
  if (cooldown) return { kind: 'refused', why: 'resting', detail: cooldown }
  const estimate = await sender.estimate(call)
  if (estimate.kind === 'reverts')
    return { kind: 'refused', why: refusesRole(estimate) ? 'roleLost' : 'reverts', detail: estimate.error }
  if (estimate.kind !== 'ok') return { kind: 'refused', why: estimate.kind, detail: '' }

  const refusal = await refuseGuard(ctx, sending, call)
  if (refusal) return { kind: 'refused', why: 'guardRefused', detail: refusal }
  const [reading, fees, balance] = await Promise.all([readNonce(ctx, sending), feesNow(ctx, sender), sender.balance()])
  if (reading.kind === 'unknown') return { kind: 'refused', why: 'nonceUnknown', detail: reading.detail }
  const nonce = reading.next
  // All that we sent is in followed blocks. So a provider with a lower nonce has not seen all these blocks yet.
  if (reading.now < nonce)
    return { kind: 'refused', why: 'providerBehind', detail: `nonce ${reading.now}, the ledger is at ${nonce}` }
  if (fees.maxFeeWei > ctx.rules.feeCapWei) return await refuseCapped(ctx, sender, { nonce, maxFeeWei: fees.maxFeeWei })
  await noteCalm(ctx.pool, `fee ${sender.address}`)
  const valueWei = call.kind === 'credit' ? call.valueWei : 0n
  const neededWei = valueWei + estimate.gas * fees.maxFeeWei
  if (balance < neededWei) {
    const short = { hasWei: balance, needsWei: neededWei }
    return { kind: 'refused', why: 'insufficientFunds', detail: `has ${balance} wei, needs ${neededWei}`, short }
  }

  const transaction = await signedOrNot(ctx, sender.sign(call, { nonce, gasLimit: estimate.gas, fees }))
  if (transaction instanceof SignerFault) return { kind: 'refused', why: 'notSigned', detail: transaction.message }
  failpoint(`${call.kind}.signed`)
  await inTransaction(ctx.pool, async (sql) => {
    const guardBlock = call.kind === 'openCohorts' ? null : (call.guard?.number ?? null)
    const ends = { guardBlock, validUntil: call.validUntil }
    const intent = { kind: call.kind, sender: sender.address, nonce, call, gasLimit: estimate.gas, ...ends }
    const outboxId = await outbox.insertIntent(
      sql,
      intent,
      attemptOf(transaction.txHash, transaction.raw, fees, cursor),
    )
    await claim(sql, outboxId)
    await holdToGuard(sql, call)
    failpoint(`${call.kind}.storing`)
  })
  failpoint(`${call.kind}.stored`)
  await handOver(ctx, sending, transaction, `${call.kind}.sent`)
  return { kind: 'sent', txHash: transaction.txHash }
}

/**
 * Sends a batch, in order. Sends fewer items if all do not fit in a transaction on this chain, or the signer account cannot pay for all. `sendPart`
 * makes and sends the call for some of the items.
 */
export async function sendWhatFits<T>(
  batch: readonly T[],
  sendPart: (part: readonly T[]) => Promise<Sent>,
): Promise<Sent> {
  const sendResult = await sendPart(batch)
  const size = sendResult.kind === 'refused' && batch.length > 1 ? smallerSize(sendResult, batch.length) : null
  return size === null ? sendResult : sendWhatFits(batch.slice(0, size), sendPart)
}

function smallerSize({ why, short }: Extract<Sent, { kind: 'refused' }>, size: number): number | null {
  if (why === 'insufficientFunds' && short) return affordablePart(size, short)
  return why === 'overGasCap' || why === 'insufficientFunds' ? Math.ceil(size / 2) : null
}

/**
 * Throws if the ledger is no longer on the fork that a call's guard names. Another pass may have switched forks after we read the cursor. A payment
 * from the new fork would then be minted on the old one, on which it was never made. Call it once the call's payments or cohorts are locked.
 */
async function holdToGuard(sql: Sql, call: FactoryCall): Promise<void> {
  if (call.kind === 'openCohorts' || call.guard === null) return
  const { number, hash } = call.guard
  if ((await readBlock(sql, number))?.hash !== hash)
    throw new Error('the ledger was rewound while a call was being signed; the next run makes it again')
}

/** Why a signer account must pause: its last transactions all reverted. Null if it may send. */
async function cooldownOf(ctx: LedgerDb & Logging, { sender, cursor }: SenderRun): Promise<string | null> {
  const { inARow, lastTime } = await outbox.readReverts(ctx.pool, sender.address, REVERTS_MAX)
  // `lastTime` is null if the header of the last revert's block is pruned, so that revert is long ago.
  if (inARow < REVERTS_MAX || lastTime === null || cursor.time - lastTime >= REST_SEC) return null
  const detail = `its last ${inARow} transactions reverted; it tries again at block time ${lastTime + REST_SEC}`
  ctx.log.error({ sender: sender.address }, `nothing is sent by this sender for now: ${detail}`)
  // Reported once per cooldown; the last revert identifies the cooldown.
  if (await writeFinding(ctx.pool, `resting ${sender.address}`, lastTime))
    await writeAudit(ctx.pool, { actor: 'pass', action: 'senderRests', subject: sender.address, detail: { detail } })
  return detail
}

/**
 * Handles stored transactions that are in no followed block: sends the same bytes again, or the same call at a higher fee.
 * @returns true if something is pending; the caller must then send nothing new.
 */
export async function resolvePending(ctx: SendContext, sending: SenderRun): Promise<boolean> {
  const { sender, cursor } = sending
  const pending = await outbox.readPending(ctx.pool, sender.address)
  const first = pending[0]
  if (!first) return false
  const [reading, fees, freedNonce] = await Promise.all([
    readNonce(ctx, sending),
    feesNow(ctx, sender),
    outbox.freeNonceBelowPending(ctx.pool, sender.address),
  ])
  if (reading.kind === 'unknown') {
    for (const intent of pending) await handOver(ctx, sending, intent, 'resend.sent')
    return true
  }
  const accountNonce = reading.now
  // If the outbox does not know that the account's nonce is free (its uses may have been hidden), the nonce at the followed block shows it. A provider
  // that lags does not have that block.
  const isBelow = accountNonce < first.nonce && freedNonce !== accountNonce
  const free = isBelow ? agreedNonce(await sender.noncesAt(cursor.hash)) : freedNonce
  // If both nonces are the same, this nonce is unused: it is in no followed block, and in no newer block of the provider.
  if (free !== null && free === accountNonce) await fillNonce(ctx, sending, free, fees)
  const isRefused = pending.some(({ lastOutcome }) => lastOutcome === 'feeTooLow')
  const suggestedFees = isRefused ? await feesSuggested(ctx, sender) : fees
  const { feeCapWei, tipMaxWei } = ctx.rules
  for (const intent of pending) {
    const offers = { feesNow: fees, suggested: suggestedFees, feeCapWei, tipMaxWei }
    const view = { headBlock: cursor.number, accountNonce, ...offers, isLapsed: outbox.isLapsed(intent, cursor) }
    const decision = decideSend(intent, view)
    switch (decision.kind) {
      case 'wait':
        break
      case 'capped':
        await noteCapped(ctx, sender, intent)
        ctx.log.error(
          { nonce: intent.nonce, txHash: intent.txHash },
          'a transaction is stuck and the fee it needs is above the cap',
        )
        await handOver(ctx, sending, intent, 'resend.sent')
        break
      case 'resend':
        await handOver(ctx, sending, intent, 'resend.sent')
        break
      case 'bump':
        await bump(ctx, sending, intent, decision)
    }
  }
  return true
}

/** Reports that fees are at the operator's caps and the pools want more. Does so only once while that lasts. */
async function noteCapped(
  ctx: SendContext,
  { address }: SignerAccount,
  { nonce, maxFeeWei }: { nonce: number; maxFeeWei: bigint },
): Promise<void> {
  const { feeCapWei, tipMaxWei } = ctx.rules
  const detail = { nonce, maxFeeWei: String(maxFeeWei), feeCapWei: String(feeCapWei), tipMaxWei: String(tipMaxWei) }
  await inTransaction(ctx.pool, async (sql) => {
    if (await noteTrouble(sql, `fee ${address}`))
      await writeAudit(sql, { actor: 'pass', action: 'feeCapped', subject: address, detail })
  })
}

async function refuseCapped(
  ctx: SendContext,
  sender: SignerAccount,
  offer: { nonce: number; maxFeeWei: bigint },
): Promise<Sent> {
  await noteCapped(ctx, sender, offer)
  return { kind: 'refused', why: 'feeCapped', detail: `${offer.maxFeeWei} wei per gas` }
}

/** A gas limit that is enough for a call that does nothing or reverts immediately. */
const FILL_GAS = 100_000n
/** A call that does nothing: an empty mint, which at worst reverts. */
function nothing(ctx: RuledBy<SendRules>, sending: SenderRun): FactoryCall {
  return { kind: 'mint', orders: [], guard: null, validUntil: validUntil(ctx, sending) }
}

/** Uses up a free nonce below our pending transactions, because they cannot be mined before it is used. */
async function fillNonce(ctx: SendContext, sending: SenderRun, nonce: number, fees: Fees): Promise<void> {
  const { sender, cursor } = sending
  if (fees.maxFeeWei > ctx.rules.feeCapWei) return
  const call = nothing(ctx, sending)
  const transaction = await signedOrNot(ctx, sender.sign(call, { nonce, gasLimit: FILL_GAS, fees }))
  if (transaction instanceof SignerFault) return
  const ends = { guardBlock: null, validUntil: call.validUntil }
  const intent = { kind: call.kind, sender: sender.address, nonce, call, gasLimit: FILL_GAS, ...ends }
  await inTransaction(ctx.pool, (sql) =>
    outbox.insertIntent(sql, intent, attemptOf(transaction.txHash, transaction.raw, fees, cursor)),
  )
  ctx.log.warn({ nonce, txHash: transaction.txHash }, 'a nonce below ours became free: filled')
  await handOver(ctx, sending, transaction, 'mint.sent')
}

/**
 * Signs the same call again, with the same nonce and guard, at a higher fee, and stores it as another attempt at the same intent. If the call or its
 * guard has expired, the call could only revert. Then a call that does nothing takes the nonce, for less gas, and the payments or the round are sent
 * again.
 */
async function bump(ctx: SendContext, sending: SenderRun, intent: outbox.PendingIntent, fees: Fees): Promise<void> {
  const { sender, cursor } = sending
  const isLapsed = outbox.isLapsed(intent, cursor)
  const call = isLapsed ? nothing(ctx, sending) : reviveCall(intent.call)
  if (await refuseGuard(ctx, sending, call)) return void (await handOver(ctx, sending, intent, 'resend.sent'))
  const gasLimit = isLapsed ? FILL_GAS : BigInt(intent.gasLimit)
  const transaction = await signedOrNot(ctx, sender.sign(call, { nonce: intent.nonce, gasLimit, fees }))
  // Sends the transaction that is already signed, because it may still be mined.
  if (transaction instanceof SignerFault) return void (await handOver(ctx, sending, intent, 'resend.sent'))
  await outbox.insertAttempt(ctx.pool, intent.id, attemptOf(transaction.txHash, transaction.raw, fees, cursor))
  const message = isLapsed
    ? 'the call has expired: a call that does nothing replaces it, at a higher fee'
    : 'fee raised'
  ctx.log.warn({ nonce: intent.nonce, txHash: transaction.txHash, replaces: intent.txHash }, message)
  failpoint('bump.stored')
  await handOver(ctx, sending, transaction, 'resend.sent')
}

/** Returns a SignerFault instead of throwing it, so that the pass continues. The unsigned call waits for the next run. */
async function signedOrNot<T>(ctx: Logging, signing: Promise<T>): Promise<T | SignerFault> {
  try {
    return await signing
  } catch (error) {
    if (!(error instanceof SignerFault)) throw error
    ctx.log.error({ err: error }, 'not signed: nothing was stored or sent, and no nonce was used')
    return error
  }
}

async function handOver(
  ctx: LedgerDb & Logging,
  { run, sender }: SenderRun,
  tx: { txHash: Hash; raw: `0x${string}` },
  point: Failpoint,
): Promise<SendOutcome> {
  run.checkLock()
  const outcome = await sender.broadcast(tx.raw)
  failpoint(point)
  ctx.log.info({ txHash: tx.txHash, outcome }, 'transaction handed to the providers')
  await outbox.noteSend(ctx.pool, tx.txHash, outcome.kind === 'unknown' ? `unknown: ${outcome.detail}` : outcome.kind)
  return outcome
}

function attemptOf(txHash: Hash, raw: `0x${string}`, fees: Fees, cursor: Cursor): outbox.Attempt {
  return {
    txHash,
    raw,
    maxFeeWei: fees.maxFeeWei,
    maxPriorityFeeWei: fees.maxPriorityFeeWei,
    signedAtBlock: cursor.number,
  }
}

/** A call from the outbox's JSON, with its amounts converted back to bigints. */
export function reviveCall(json: unknown): FactoryCall {
  const call = json as FactoryCall
  if (call.kind !== 'credit') return call
  const credits = call.credits.map((credit) => ({
    ...credit,
    amountPerNodeWei: BigInt(credit.amountPerNodeWei) as typeof credit.amountPerNodeWei,
  }))
  return { ...call, credits, valueWei: BigInt(call.valueWei) as typeof call.valueWei }
}
