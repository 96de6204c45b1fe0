// Makes a round from a plan (plan-round.ts) and sends it: as much as fits into a transaction and the account's ether covers, without the cohorts that
// the contract rejects. If one cohort is wrong in the ledger, the others are still paid.
import type { FactoryCall, SignerAccount } from '../../chain/port.ts'
import type { Cursor } from '../../db/blocks/blocks.ts'
import { writeAudit, writeState } from '../../db/core/state.ts'
import { lastRound } from '../../db/nodes/rounds.ts'
import { firstHalf, type PlannedCredit, planOf, type RoundPlan } from '../../domain/credit.ts'
import { wei } from '../../domain/units.ts'
import type { ChainRead, CreditRules, FactoryRead, LedgerDb, Logging, RuledBy, SendRules } from '../context.ts'
import { type DueRound, holdToTerms } from './plan-round.ts'
import { type SenderRun, type Sent, send, validUntil } from './send.ts'

type RoundContext = LedgerDb & ChainRead & FactoryRead & RuledBy<CreditRules & SendRules> & Logging

/** The contract's errors that may be about one cohort that differs from the ledger. Any other error is about the entire round. */
const COHORTS_FAULTS: readonly string[] = [
  ...['EmptyCohort', 'WrongTurn', 'TurnNotDue', 'TurnOwed', 'AmountOutOfBounds', 'AmountTooLarge'],
  // A round must send its exact value. If a cohort's size differs from the ledger's, the value is wrong, and the contract returns one of these
  // errors.
  ...['WrongValue', 'AllowanceExceeded', 'SurplusExceeded'],
]
/** The most simulations in one run in search of faulty cohorts: enough to find three among two hundred. */
const SIMULATIONS_MAX = 48

type PlannedRound = Pick<DueRound, 'plan' | 'basis' | 'bounds'>

/** The result of sending a plan: its round, and the part of the plan that we tried last. */
export interface SentRound {
  round: number
  plan: RoundPlan
  /** Null if the contract's surplus or the owner's allowance is too low. */
  sent: Sent | null
}

/** Sends a plan as a round, or as much of it as we can. */
export async function sendRound(ctx: RoundContext, sending: SenderRun, planned: PlannedRound): Promise<SentRound> {
  const round = (await lastRound(ctx.pool)) + 1
  const tried = await trySend(ctx, sending, round, planned)
  if (tried.sent?.kind === 'sent') await writeState(ctx.pool, 'refusedCohorts', [], 'pass')
  if (tried.sent?.kind !== 'refused' || tried.sent.why !== 'reverts' || !COHORTS_FAULTS.includes(tried.sent.detail))
    return tried
  const sound = await withoutFaults(ctx, sending, round, tried.plan)
  await report(ctx, tried.plan, sound)
  const { length } = sound.credits
  return length === 0 || length === tried.plan.credits.length
    ? tried
    : trySend(ctx, sending, round, { ...planned, plan: sound })
}

/** Sends the plan. If it is too large, sends its first half instead, and so on, down to the fewest turns that the bounds allow. */
async function trySend(
  ctx: RoundContext,
  sending: SenderRun,
  round: number,
  { plan, basis, bounds }: PlannedRound,
): Promise<SentRound> {
  const affordable = ctx.rules.distMode === 'treasury' || (await surplusSuffices(ctx, sending.cursor, plan))
  const call = callOf(ctx, sending, round, plan)
  const sent = affordable ? await send(ctx, sending, call, (sql) => holdToTerms(sql, basis)) : null
  const isTooLarge = sent === null || (sent.kind === 'refused' && TOO_LARGE.includes(sent.why))
  const half = isTooLarge ? firstHalf(plan, bounds) : null
  return half ? trySend(ctx, sending, round, { plan: half, basis, bounds }) : { round, plan, sent }
}

const TOO_LARGE: readonly string[] = ['overGasCap', 'insufficientFunds']

function callOf(
  ctx: RuledBy<CreditRules & SendRules>,
  sending: SenderRun,
  round: number,
  plan: RoundPlan,
): FactoryCall {
  const { run, cursor } = sending
  return {
    kind: 'credit',
    round,
    credits: plan.credits.map(({ cohort, pendingDue, skipped, turns, amountWei }) => ({
      cohort,
      firstDue: pendingDue,
      skipped,
      paid: turns.length,
      amountPerNodeWei: amountWei,
    })),
    valueWei: ctx.rules.distMode === 'treasury' ? plan.totalWei : wei(0n),
    guard: run.guardUsable ? { number: cursor.number, hash: cursor.hash } : null,
    validUntil: validUntil(ctx, sending),
  }
}

/** True if the contract can pay the plan. In `swaps` mode a round spends what the contract holds beyond its debts, up to the owner's allowance. */
async function surplusSuffices(ctx: ChainRead & FactoryRead, cursor: Cursor, plan: RoundPlan): Promise<boolean> {
  const [counters, balance, allowanceWei] = await Promise.all([
    ctx.contract.counters(cursor.number),
    ctx.chain.balanceAt(ctx.contract.factory, cursor),
    ctx.contract.swapsAllowance(),
  ])
  const surplusWei = (balance?.wei ?? counters.contractBalanceWei) - counters.outstandingWei
  return plan.totalWei <= surplusWei && plan.totalWei <= allowanceWei
}

/** The cohorts that a simulation accepts. If the contract rejects a set of cohorts, it tries each half of it, down to single cohorts. */
async function withoutFaults(
  ctx: RoundContext,
  sending: SenderRun,
  round: number,
  plan: RoundPlan,
): Promise<RoundPlan> {
  let simulations = 0
  async function sound(sender: SignerAccount, credits: readonly PlannedCredit[]): Promise<readonly PlannedCredit[]> {
    // Cohorts that are not checked by now wait for the next run.
    if (simulations++ >= SIMULATIONS_MAX) return []
    const outcome = await sender.estimate(callOf(ctx, sending, round, planOf(plan, credits)))
    if (outcome.kind !== 'reverts') return credits
    if (credits.length === 1) return []
    const middle = Math.ceil(credits.length / 2)
    return [...(await sound(sender, credits.slice(0, middle))), ...(await sound(sender, credits.slice(middle)))]
  }
  const halves = plan.credits.length === 1 ? [] : [0, Math.ceil(plan.credits.length / 2)]
  const kept: PlannedCredit[] = []
  for (const [i, from] of halves.entries())
    kept.push(...(await sound(sending.sender, plan.credits.slice(from, halves[i + 1]))))
  return planOf(plan, kept)
}

/** Alerts the operator when the set of rejected cohorts changes. The reconciler compares all cohorts with the contract. */
async function report(ctx: LedgerDb & Logging, refused: RoundPlan, sound: RoundPlan): Promise<void> {
  const kept = new Set(sound.credits.map(({ cohort }) => cohort))
  const cohorts = refused.credits.map(({ cohort }) => cohort).filter((cohort) => !kept.has(cohort))
  ctx.log.error({ cohorts }, 'the contract rejects these cohorts as the ledger has them; the round goes without them')
  if (await writeState(ctx.pool, 'refusedCohorts', cohorts, 'pass'))
    await writeAudit(ctx.pool, { actor: 'pass', action: 'cohortsRefused', detail: { cohorts } })
}
