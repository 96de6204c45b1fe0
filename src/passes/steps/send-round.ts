// Makes a round from a plan (plan-round.ts) and sends it: as much as fits into a transaction and the account's ether covers, without the cohorts that
// the contract rejects. If one cohort is wrong in the ledger, the others are still paid.

import type { Cursor } from '../../db/blocks/blocks.ts'
import { writeAudit, writeState } from '../../db/core/state.ts'
import { readLedgerCounters } from '../../db/nodes/nodes.ts'
import { lastRound } from '../../db/nodes/rounds.ts'
import { firstHalf, type PlannedCredit, planOf, type RoundPlan } from '../../domain/rounds/round-plan.ts'
import { wei } from '../../domain/units.ts'
import type {
  ChainRead,
  CreditRules,
  FactoryRead,
  LedgerDb,
  Logging,
  RuledBy,
  SendRules,
} from '../../ports/contexts.ts'
import type { FactoryCall } from '../../ports/sending.ts'
import { type DueRound, holdToTerms } from './plan-round.ts'
import { guardOf, type SenderRun, type Sent, send, validUntil } from './send.ts'

type RoundContext = LedgerDb & ChainRead & FactoryRead & RuledBy<CreditRules & SendRules> & Logging

/** The contract's errors that may be about one cohort that differs from the ledger. Any other error is about the entire round. */
const COHORTS_FAULTS: readonly string[] = [
  'EmptyCohort',
  'WrongTurn',
  'TurnNotDue',
  'TurnOwed',
  'AmountOutOfBounds',
  'AmountTooLarge',
  // A round must send its exact value. If a cohort's size differs from the ledger's, the value is wrong, and the contract returns one of these
  // errors.
  'WrongValue',
  'AllowanceExceeded',
  'SurplusExceeded',
]
/** The most simulations in one run before a search for faulty cohorts ends: enough to find three among two hundred. */
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
export async function sendRound(ctx: RoundContext, sending: SenderRun, plannedRound: PlannedRound): Promise<SentRound> {
  const search: Search = { simulations: 0, refused: null }
  const attempt = await sendSound(ctx, sending, plannedRound, search)
  if (search.refused !== null) await report(ctx, search.refused)
  else if (attempt.sent?.kind === 'sent') await writeState(ctx.pool, 'refused_cohorts', [])
  return attempt
}

/** Sends a plan without the cohorts that the contract rejects. */
async function sendSound(
  ctx: RoundContext,
  sending: SenderRun,
  plannedRound: PlannedRound,
  search: Search,
): Promise<SentRound> {
  const round = (await lastRound(ctx.pool)) + 1
  let { plan } = plannedRound
  // Each time around fewer cohorts are left. We go back to all of them: if ether is short, only the oldest were tried.
  for (;;) {
    const attempt = await trySend(ctx, sending, { round, search }, { ...plannedRound, plan })
    if (
      attempt.sent?.kind !== 'refused' ||
      attempt.sent.why !== 'reverts' ||
      !COHORTS_FAULTS.includes(attempt.sent.detail)
    )
      return attempt
    if (search.simulations >= SIMULATIONS_MAX) return attempt
    const refusedCohorts = await findFaults(ctx, sending, attempt, search)
    search.refused = [...(search.refused ?? []), ...refusedCohorts]
    const remainder = plan.credits.filter(({ cohort }) => !refusedCohorts.includes(cohort))
    if (refusedCohorts.length === 0 || remainder.length === 0) return attempt
    plan = planOf(plan, remainder)
  }
}

/** Sends the plan. If it is too large, sends its first half instead, and so on, down to the fewest turns that the bounds allow. */
async function trySend(
  ctx: RoundContext,
  sending: SenderRun,
  { round, search }: { round: number; search: Search },
  { plan, basis, bounds }: PlannedRound,
): Promise<SentRound> {
  search.simulations += 1
  const affordable = ctx.rules.distMode === 'treasury' || (await surplusSuffices(ctx, sending.cursor, plan))
  const call = callOf(ctx, sending, round, plan)
  const sendResult = affordable ? await send(ctx, sending, call, (sql) => holdToTerms(sql, basis)) : null
  const isTooLarge = sendResult === null || (sendResult.kind === 'refused' && TOO_LARGE.includes(sendResult.why))
  const half = isTooLarge ? firstHalf(plan, bounds) : null
  return half
    ? trySend(ctx, sending, { round, search }, { plan: half, basis, bounds })
    : { round, plan, sent: sendResult }
}

const TOO_LARGE: readonly string[] = ['overGasCap', 'insufficientFunds']

function callOf(
  ctx: RuledBy<CreditRules & SendRules>,
  sending: SenderRun,
  round: number,
  plan: RoundPlan,
): FactoryCall {
  return {
    kind: 'credit',
    round,
    credits: plan.credits.map(({ cohort, pendingDue, skipped: skippedTurns, turns, amountWei }) => ({
      cohort,
      firstDue: pendingDue,
      skipped: skippedTurns,
      paid: turns.length,
      amountPerNodeWei: amountWei,
    })),
    valueWei: ctx.rules.distMode === 'treasury' ? plan.totalWei : wei(0n),
    guard: guardOf(sending),
    validUntil: validUntil(ctx, sending),
  }
}

/**
 * True if the contract can pay the plan. In `swaps` mode a round spends what the contract holds beyond its debts, which followed events show, up to the
 * owner's allowance.
 */
async function surplusSuffices(
  { pool, chain, contract }: LedgerDb & ChainRead & FactoryRead,
  cursor: Cursor,
  plan: RoundPlan,
): Promise<boolean> {
  const [{ outstandingWei }, balance, allowanceWei] = await Promise.all([
    readLedgerCounters(pool),
    chain.balanceAt(contract.factory, cursor),
    contract.swapsAllowance(),
  ])
  const balanceWei = balance?.wei ?? (await contract.balance(contract.factory, cursor.number))
  return plan.totalWei <= balanceWei - outstandingWei && plan.totalWei <= allowanceWei
}

/** A run's search for faulty cohorts. */
interface Search {
  simulations: number
  /** Null until the contract rejects a round for a cohort. */
  refused: number[] | null
}

/** The cohorts of a plan that a simulation rejects. If the contract rejects a set of cohorts, we try each half of it, down to single cohorts. */
async function findFaults(
  ctx: RoundContext,
  sending: SenderRun,
  { round, plan }: SentRound,
  search: Search,
): Promise<number[]> {
  const halvesOf = (credits: readonly PlannedCredit[]) => {
    const middle = Math.ceil(credits.length / 2)
    return [credits.slice(0, middle), credits.slice(middle)]
  }
  const numbers = (credits: readonly PlannedCredit[]) => credits.map(({ cohort }) => cohort)
  async function faulty(credits: readonly PlannedCredit[]): Promise<number[]> {
    // Cohorts that are not checked by now wait for the next run.
    if (search.simulations++ >= SIMULATIONS_MAX) return numbers(credits)
    const outcome = await sending.sender.estimate(callOf(ctx, sending, round, planOf(plan, credits)))
    if (outcome.kind !== 'reverts') return []
    return credits.length === 1 ? numbers(credits) : await faultyHalves(credits)
  }
  async function faultyHalves(credits: readonly PlannedCredit[]): Promise<number[]> {
    const faultyCohorts: number[] = []
    for (const half of halvesOf(credits)) faultyCohorts.push(...(await faulty(half)))
    return faultyCohorts
  }
  return plan.credits.length === 1 ? numbers(plan.credits) : await faultyHalves(plan.credits)
}

/** Alerts the operator when the set of rejected cohorts changes. The reconciler compares all cohorts with the contract. */
async function report(ctx: LedgerDb & Logging, cohorts: readonly number[]): Promise<void> {
  ctx.log.error({ cohorts }, 'the contract rejects these cohorts as the ledger has them; the round goes without them')
  if (await writeState(ctx.pool, 'refused_cohorts', cohorts))
    await writeAudit(ctx.pool, { actor: 'pass', action: 'cohortsRefused', detail: { cohorts } })
}
