// The credit pass: follows, then handles the pending round; if there is none, plans the next round and sends it. A round pays as many of the owed
// turns as fit into it. The contract itself rejects a turn that was already paid or is early, and a wrong round number.

import { readBlock, readCursor } from '../db/blocks/blocks.ts'
import { readMending } from '../db/blocks/mending.ts'
import { readState } from '../db/core/state.ts'
import { readCohorts, readSoundCohorts } from '../db/nodes/cohorts.ts'
import { type SeedWait, writeSeedWait } from '../db/nodes/seed-waits.ts'
import { hasTerms } from '../db/sale/terms.ts'
import { readPending } from '../db/sends/outbox.ts'
import type { LedgerCohort } from '../domain/replay.ts'
import type { RoundPlan } from '../domain/rounds/round-plan.ts'
import { isDue } from '../domain/schedule.ts'
import { type Hash, sumWei, wei } from '../domain/units.ts'
import { follow } from '../follower/follow.ts'
import { settledHeight } from '../follower/followed-finality.ts'
import { compareHistories } from '../follower/histories.ts'
import { linkSeeds } from '../follower/link-seeds.ts'
import type {
  ChainRead,
  CreditRules,
  FactoryRead,
  FinalityRules,
  FollowRules,
  LedgerDb,
  Logging,
  Preflight,
  RuledBy,
  Run,
  RunLock,
  SendRules,
  Signers,
  TrustRules,
} from '../ports/contexts.ts'
import type { CreditOutcome, CreditReason, Passes, PaymentsOutcome } from '../ports/outcomes.ts'
import type { SignerAccount } from '../ports/sending.ts'
import { passRunner } from './run.ts'
import { type DueRound, planDueRound } from './steps/plan-round.ts'
import { resolvePending, reviveCall, type SenderRun } from './steps/send.ts'
import { sendRound } from './steps/send-round.ts'
import { withSigner } from './steps/signer.ts'
import { tellUnsent, whyUnsent } from './steps/unsent.ts'

type CreditPassRules = FollowRules & FinalityRules & CreditRules & SendRules & TrustRules
type CreditContext = LedgerDb & ChainRead & FactoryRead & Signers & RuledBy<CreditPassRules> & Logging

/** Builds the pass (GET|POST /api/cron/credit). Concurrent calls return `ran: false`. */
export function creditPass(ctx: CreditContext & RunLock & Preflight): Passes['credit'] {
  const onHalt = async () => uncounted({ ran: true, reason: 'paused' })
  const body = (run: Run, paymentsOutcome: PaymentsOutcome | null) => credit(ctx, run, paymentsOutcome)
  const run = passRunner(ctx, { name: 'credit', body, halted: onHalt })
  return async (paymentsOutcome = null) => (await run(paymentsOutcome)) ?? uncounted({ ran: false, reason: null })
}

async function credit(ctx: CreditContext, run: Run, paymentsOutcome: PaymentsOutcome | null): Promise<CreditOutcome> {
  const startMs = performance.now()
  const result = (await rest(ctx, paymentsOutcome?.headBlock ?? null)) ?? (await creditOnce(ctx, run))
  return { ...result, durationMs: Math.round(performance.now() - startMs) }
}

/**
 * Skips the run if the provider can have nothing new: the ledger is at the head that the payments pass has just seen, no turn is due, and no round is
 * pending. Null if there is something to do.
 */
async function rest(ctx: CreditContext, headBlock: number | null): Promise<CreditOutcome | null> {
  const cursor = headBlock === null ? null : await readCursor(ctx.pool)
  if (!cursor || cursor.number !== headBlock) return null
  if ((await readSoundCohorts(ctx.pool)).some((cohort) => isDue(cohort, cursor.time))) return null
  const { distributor } = ctx
  if (!distributor || !(await hasTerms(ctx.pool))) return outcome({ reason: 'disabled' })
  if ((await readPending(ctx.pool, distributor.address)).length > 0) return null
  if (await readState(ctx.pool, 'paused')) return outcome({ reason: 'paused' })
  const { signer } = await withSigner(ctx, 'distributor', distributor, async () => {})
  return { ...outcome({ reason: 'nothingDue' }), signer }
}

async function creditOnce(ctx: CreditContext, limits: Run): Promise<CreditOutcome> {
  const { cursor, head } = await follow(ctx, limits)
  if (!cursor) return outcome({ reason: 'nothingDue' })
  const due = (await readSoundCohorts(ctx.pool)).filter((cohort) => isDue(cohort, cursor.time))
  const dueNodes = due.reduce((nodes, cohort) => nodes + cohort.size, 0)
  const { distributor } = ctx
  if (!distributor || !(await hasTerms(ctx.pool))) return outcome({ reason: 'disabled', dueNodes })
  // Below the head, or while blocks are read again, the ledger may not yet know which turns are paid. If the provider is behind the ledger, it knows even less.
  if (cursor.number !== head.number || (await readMending(ctx.pool))) return outcome({ reason: 'pending', dueNodes })
  if (await readState(ctx.pool, 'paused')) return outcome({ reason: 'paused', dueNodes })
  if (await ctx.contract.paused(cursor.number)) {
    await tellUnsent(ctx, 'credit', due.length > 0 ? 'every provider reports that the contract is paused' : null)
    return outcome({ reason: 'paused', dueNodes })
  }
  const run = { ...limits, agreed: await compareHistories(ctx, cursor) }
  const sendWith = (sender: SignerAccount) => settleAndPay(ctx, { run, sender, cursor }, due)
  const { result, signer } = await withSigner(ctx, 'distributor', distributor, sendWith)
  return { ...result, dueNodes, signer }
}

/** Handles the pending round. If there is none, plans and sends the next one. */
async function settleAndPay(
  ctx: LedgerDb & ChainRead & FactoryRead & RuledBy<CreditPassRules> & Logging,
  sending: SenderRun,
  due: readonly LedgerCohort[],
): Promise<CreditOutcome> {
  if (await resolvePending(ctx, sending)) return outstandingRound(ctx, sending)
  if (due.length === 0) {
    await tellUnsent(ctx, 'credit', null)
    return outcome({ reason: 'nothingDue' })
  }
  const { cursor } = sending
  const settledTime = await timeSettled(ctx, sending)
  if (due.every(({ nextDue }) => nextDue > settledTime)) return outcome({ reason: 'pending' })
  const bounds = await ctx.contract.bounds(cursor.number)
  const dueRound = await planDueRound(ctx, { cursor, bounds, upTo: settledTime })
  const { plan, waits } = dueRound
  if (waits) await linkWaiting(ctx, sending.run, waits)
  else await writeSeedWait(ctx.pool, null)
  for (const { cohorts, why } of leftOut(plan)) ctx.log.error({ cohorts, ...bounds }, why)
  if (plan.credits.length > 0) return await pay(ctx, sending, dueRound)
  await tellUnsent(ctx, 'credit', whyLeftOut(plan))
  return outcome({ reason: whyNothing(plan) })
}

/** The due cohorts that a plan does not pay, by reason. `isTold`: something else reports it, or it passes by itself. */
function leftOut(plan: RoundPlan): { cohorts: number[]; why: string; isTold: boolean }[] {
  const window =
    'turns wait: by the terms they are not owed, but the contract’s owner has not set the window; "node-ledger terms list" shows the transaction'
  return [
    { cohorts: plan.delayed, isTold: false, why: window },
    {
      cohorts: plan.outOfBounds,
      isTold: false,
      why: 'cohorts are not credited: their amount is outside the distributor’s bounds',
    },
    { cohorts: plan.unbacked, isTold: true, why: 'cohorts are not credited: they hold nodes without payment or grant' },
    {
      cohorts: plan.unknown,
      isTold: true,
      why: 'cohorts are due at a time for which the ledger has no terms, payout or seed',
    },
  ].filter(({ cohorts }) => cohorts.length > 0)
}

const whyLeftOut = (plan: RoundPlan): string | null => leftOut(plan).find(({ isTold }) => !isTold)?.why ?? null

/** Links the headers before a turn that waits for its seed, as many as one run may read, and records what it still waits for. */
async function linkWaiting(ctx: LedgerDb & ChainRead & Logging, run: Run, waits: SeedWait): Promise<void> {
  const wait = await linkSeeds(ctx, run, waits.due)
  const remainingWait = wait === 'linked' ? null : (wait ?? waits)
  if (remainingWait) ctx.log.warn(remainingWait, 'turns wait for their seed')
  await writeSeedWait(ctx.pool, remainingWait)
}

function whyNothing(plan: RoundPlan): CreditReason {
  if (plan.outOfBounds.length + plan.delayed.length + plan.unknown.length > 0) return 'pending'
  return plan.unbacked.length > 0 ? 'unpaidNodes' : 'nothingDue'
}

/**
 * The time up to which turns can be paid. Without a guard, a round would be valid on another fork too. So each turn then waits until the block of its
 * seed is settled, and while histories differ, for a block that they share.
 */
async function timeSettled(
  ctx: LedgerDb & ChainRead & RuledBy<FinalityRules & FollowRules>,
  { run, cursor }: SenderRun,
): Promise<number> {
  if (run.guardUsable && !run.agreed) return cursor.time
  return (await readBlock(ctx.pool, await settledHeight(ctx, cursor, run)))?.time ?? 0
}

const NO_SURPLUS = 'the contract holds too little ether beyond its debts, or its owner allows too little of it'

/** Sends as much of a plan as it can. */
export async function pay(
  ctx: LedgerDb & ChainRead & FactoryRead & RuledBy<CreditRules & SendRules> & Logging,
  sending: SenderRun,
  dueRound: DueRound,
): Promise<CreditOutcome> {
  const { round, plan, sent: sendResult } = await sendRound(ctx, sending, dueRound)
  await tellUnsent(
    ctx,
    'credit',
    whyLeftOut(dueRound.plan) ?? (sendResult === null ? NO_SURPLUS : whyUnsent(sendResult)),
  )
  if (sendResult === null) return outcome({ reason: 'underfunded' })
  if (sendResult.kind === 'sent')
    return outcome({
      distributionId: round,
      nodeCount: plan.nodeCount,
      totalWei: plan.totalWei,
      txHash: sendResult.txHash,
    })
  ctx.log.warn({ round, ...sendResult }, 'the round was not sent; the next run tries again')
  return outcome({ reason: sendResult.why === 'insufficientFunds' ? 'underfunded' : 'pending' })
}

/**
 * The pending round, as planned. The sizes of its cohorts cannot have changed: a due cohort takes no nodes, and if a node is expelled from one, the
 * contract rejects the round.
 */
async function outstandingRound(ctx: LedgerDb, { sender }: SenderRun): Promise<CreditOutcome> {
  const [pending] = await readPending(ctx.pool, sender.address)
  const call = pending ? reviveCall(pending.call) : null
  if (!pending || call?.kind !== 'credit') return outcome({ reason: 'pending' })
  const sizes = new Map((await readCohorts(ctx.pool)).map(({ cohort, size }) => [cohort, size]))
  const paidCredits = call.credits
    .filter(({ paid: paidTurns }) => paidTurns > 0)
    .map(({ cohort, amountPerNodeWei }) => ({ amountPerNodeWei, nodes: sizes.get(cohort) ?? 0 }))
  return outcome({
    reason: 'pending',
    distributionId: call.round,
    txHash: pending.txHash,
    nodeCount: paidCredits.reduce((nodes, turn) => nodes + turn.nodes, 0),
    totalWei: sumWei(paidCredits.map((turn) => turn.amountPerNodeWei * BigInt(turn.nodes))),
  })
}

/** For a run that ended before it checked what is due. Its counts are null, because it counted nothing. */
function uncounted(fields: Pick<CreditOutcome, 'ran' | 'reason'>): CreditOutcome {
  const counts = { nodeCount: null, totalWei: null, dueNodes: null, durationMs: null }
  return { ...fields, ...counts, distributionId: null, txHash: null, signer: null }
}

function outcome(fields: {
  reason?: CreditReason
  distributionId?: number
  nodeCount?: number
  totalWei?: bigint
  dueNodes?: number
  txHash?: Hash
}): CreditOutcome {
  return {
    ran: true,
    reason: fields.reason ?? null,
    distributionId: fields.distributionId ?? null,
    nodeCount: fields.nodeCount ?? 0,
    totalWei: wei(fields.totalWei ?? 0n),
    dueNodes: fields.dueNodes ?? 0,
    txHash: fields.txHash ?? null,
    signer: null,
    durationMs: 0,
  }
}
