// Previews the credit pass as if it ran now: the due round, its cost, its obstacles, and the lowest and highest cost of the next day. Uses the same
// planning step as the pass. Stores and sends nothing.

import { type Cursor, readCursor } from '../../db/blocks/blocks.ts'
import { readHalt } from '../../db/blocks/halts.ts'
import { readState } from '../../db/core/state.ts'
import { readCohorts } from '../../db/nodes/cohorts.ts'
import { hasTerms, readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { readSenderTroubles } from '../../db/sends/signers.ts'
import { hasPending, readLastGasPrice } from '../../db/sends/transactions.ts'
import type { LedgerCohort } from '../../domain/replay.ts'
import type { PlannedCredit, RoundPlan } from '../../domain/rounds/round-plan.ts'
import { type CreditTerms, termsAt } from '../../domain/rounds/turn-amounts.ts'
import { payoutBpsAt, type TierVersion } from '../../domain/tiers.ts'
import { BPS_BASE } from '../../domain/units.ts'
import { type DueRound, planDueRound } from '../../passes/steps/plan-round.ts'
import type { ChainRead, CreditRules, FactoryRead, LedgerDb, RuledBy, TrustRules } from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'
import { type OperatorRefusal, refuseAct, type SignerAddresses } from '../act.ts'
import { defineReading } from '../define-act.ts'

type PreviewContext = LedgerDb & ChainRead & FactoryRead & SignerAddresses & RuledBy<CreditRules & TrustRules>

/** Gas of a round with one cohort, and of each further cohort, including the guard. The contract's gas tests check these figures. */
const FIRST_COHORT_GAS = 44_900n
const FURTHER_COHORT_GAS = 9_460n
const DAY_SEC = 86_400

/** Previews a round. Values from the chain are null if we could not reach it. */
export const previewRound = defineReading({
  path: 'credit/preview',
  command: 'rounds preview',
  group: 'books',
  summary: 'show what a credit pass would pay now, what stops it, and what the next day will cost',
  examples: ['rounds preview'],
  fields: {},
  onChain: true,
  run: plan,
})

async function plan(deps: PreviewContext): Promise<object | OperatorRefusal> {
  const cursor = await readCursor(deps.pool)
  if (!cursor) return refuseAct('unavailable', 'The ledger has not followed a block yet: run the payments pass first.')
  const bounds = await orNull(deps.contract.bounds(cursor.number))
  const round = await planDueRound(deps, { cursor, bounds, upTo: cursor.time })
  const funds = await readFunds(deps, cursor, round.plan)
  return {
    blockNumber: cursor.number,
    blockTime: isoOf(cursor.time),
    mode: deps.rules.distMode,
    round: shownRound(round),
    funds,
    stops: await whatStops(deps, cursor, round.plan, funds),
    nextDay: await nextDay(deps, cursor, await readCohorts(deps.pool)),
  }
}

function shownRound({ plan, cohorts }: DueRound) {
  const credits = new Map(plan.credits.map((credit) => [credit.cohort, credit]))
  return {
    totalWei: plan.totalWei,
    nodeCount: plan.nodeCount,
    turns: cohorts.map((due) => shownTurns(due, credits.get(due.cohort) ?? null)),
    /** Cohorts that wait for the owner's window of turns not owed, a grant for unpaid nodes, terms, a seed block, or wider bounds in the contract. */
    delayedCohorts: plan.delayed,
    unbackedCohorts: plan.unbacked,
    unknownCohorts: plan.unknown,
    outOfBoundsCohorts: plan.outOfBounds,
  }
}

/** A due cohort's turns as one element. The terms and the seed are shown only for a single turn. */
function shownTurns(cohort: DueRound['cohorts'][number], credit: PlannedCredit | null) {
  const [first] = cohort.turns
  const count = credit ? credit.turns.length : cohort.turns.length
  const of = <Field extends 'seedBlock' | 'minWei' | 'maxWei' | 'payoutBps'>(field: Field) =>
    count === 1 ? (first?.[field] ?? null) : null
  return {
    cohort: cohort.cohort,
    tierId: first?.tierId ?? null,
    due: isoOf(first?.due ?? cohort.pendingDue),
    count,
    skipped: cohort.skipped,
    nodeCount: cohort.size,
    amountWei: credit ? credit.amountWei : (first?.amountWei ?? null),
    seedBlock: of('seedBlock'),
    minWei: of('minWei'),
    maxWei: of('maxWei'),
    payoutBps: of('payoutBps'),
    unbackedNodes: cohort.unbackedNodes,
    inRound: credit !== null,
  }
}

interface Funds {
  distributor: string | null
  balanceWei: bigint | null
  gasEstimate: bigint
  /** The gas at the distributor's latest gas price; null before its first transaction. */
  gasCostWei: bigint | null
  surplusWei: bigint | null
  swapsAllowanceWei: bigint | null
  contractPaused: boolean | null
  /** True if the balance is large enough; null if we could not check that. */
  sufficient: boolean | null
}

async function readFunds(
  deps: LedgerDb & FactoryRead & SignerAddresses & RuledBy<CreditRules>,
  cursor: Cursor,
  plan: RoundPlan,
): Promise<Funds> {
  const { distributor } = deps.signers
  const [balanceWei, counters, swapsAllowanceWei] = await Promise.all([
    distributor && orNull(deps.contract.balance(distributor, cursor.number)),
    orNull(deps.contract.counters(cursor.number)),
    orNull(deps.contract.swapsAllowance()),
  ])
  const { length } = plan.credits
  const gasEstimate = length === 0 ? 0n : FIRST_COHORT_GAS + BigInt(length - 1) * FURTHER_COHORT_GAS
  const gasPriceWei = distributor && (await readLastGasPrice(deps.pool, distributor))
  const gasCostWei = gasPriceWei === null ? null : gasEstimate * gasPriceWei
  const surplusWei = counters && counters.contractBalanceWei - counters.outstandingWei
  const neededWei = (deps.rules.distMode === 'treasury' ? plan.totalWei : 0n) + (gasCostWei ?? 0n)
  let sufficient = balanceWei === null ? null : balanceWei >= neededWei
  if (deps.rules.distMode === 'swaps' && sufficient !== false)
    sufficient =
      surplusWei === null || swapsAllowanceWei === null
        ? null
        : sufficient && plan.totalWei <= surplusWei && plan.totalWei <= swapsAllowanceWei
  const contractPaused = counters?.paused ?? null
  return { distributor, balanceWei, gasEstimate, gasCostWei, surplusWei, swapsAllowanceWei, contractPaused, sufficient }
}

/** Everything that would keep the round from being sent now, in the order in which the pass would find it. */
async function whatStops(
  deps: LedgerDb & ChainRead & SignerAddresses & RuledBy<CreditRules>,
  cursor: Cursor,
  plan: RoundPlan,
  funds: Funds,
): Promise<string[]> {
  const { distributor } = deps.signers
  const head = await orNull(deps.chain.head())
  const isNothing = plan.outOfBounds.length + plan.delayed.length + plan.unknown.length + plan.credits.length === 0
  const reasons: [boolean, string][] = [
    [(await readHalt(deps.pool)) !== null, 'halted'],
    [!(await hasTerms(deps.pool)), 'disabled'],
    [distributor === null, 'noDistributor'],
    [head === null, 'chainUnreachable'],
    [head !== null && head.number > cursor.number, 'behind'],
    [await readState(deps.pool, 'paused'), 'paused'],
    [funds.contractPaused === true, 'contractPaused'],
    [distributor !== null && (await hasPending(deps.pool, distributor)), 'pending'],
    [(await readSenderTroubles(deps.pool, 'signer')).some(({ role }) => role === 'distributor'), 'notSigned'],
    [(await readSenderTroubles(deps.pool, 'role')).some(({ role }) => role === 'distributor'), 'roleLost'],
    [plan.outOfBounds.length > 0 && plan.credits.length === 0, 'outOfBounds'],
    [plan.delayed.length > 0 && plan.credits.length === 0, 'delayed'],
    [plan.unknown.length > 0 && plan.credits.length === 0, 'unknown'],
    [isNothing && plan.unbacked.length === 0, 'nothingDue'],
    [isNothing && plan.unbacked.length > 0, 'unpaidNodes'],
    [plan.credits.length > 0 && funds.sufficient === false, 'underfunded'],
  ]
  return reasons.filter(([applies]) => applies).map(([, reason]) => reason)
}

/** Turns that fall due within a day after the cursor, and their lowest and highest cost. Turns already due belong to the round. */
async function nextDay(deps: LedgerDb, cursor: Cursor, cohorts: readonly LedgerCohort[]) {
  const [terms, tiers] = await Promise.all([readCreditTerms(deps.pool), readTierVersions(deps.pool)])
  const coming = cohorts.flatMap((cohort) => comingTurns(cohort, cursor.time, terms, tiers) ?? [])
  coming.sort((a, b) => a.firstDue.localeCompare(b.firstDue) || a.cohort - b.cohort)
  const sum = (field: 'minWei' | 'maxWei') => coming.reduce((total, turn) => total + (turn[field] ?? 0n), 0n)
  return { until: isoOf(cursor.time + DAY_SEC), minWei: sum('minWei'), maxWei: sum('maxWei'), cohorts: coming }
}

function comingTurns(cohort: LedgerCohort, now: number, terms: readonly CreditTerms[], tiers: readonly TierVersion[]) {
  const { nextDue, intervalSec, size } = cohort
  const overdueTurns = nextDue > now ? 0 : Math.floor((now - nextDue) / intervalSec) + 1
  const firstDue = nextDue + overdueTurns * intervalSec
  if (size === 0 || firstDue > now + DAY_SEC) return null
  const turns = Math.floor((now + DAY_SEC - firstDue) / intervalSec) + 1
  const inForce = termsAt(terms, firstDue)
  const payoutBps = payoutBpsAt(tiers, cohort.tierNo, firstDue)
  const cost = (drawWei: bigint | undefined) =>
    drawWei === undefined || payoutBps === null
      ? null
      : ((drawWei * BigInt(payoutBps)) / BPS_BASE) * BigInt(size) * BigInt(turns)
  return {
    cohort: cohort.cohort,
    tierNo: cohort.tierNo,
    nodeCount: size,
    firstDue: isoOf(firstDue),
    turns,
    minWei: cost(inForce?.minWei),
    maxWei: cost(inForce?.maxWei),
  }
}

const isoOf = (time: number) => new Date(time * 1000).toISOString()
