// Mints accepted payments, all in one transaction, each node into the cohort that fits its time. If a tier lacks cohorts, opens them first. It must
// never mint without the fork guard, except on chains on which the settled height replaces the guard, and never sign more than the minter's budget
// allows.

import type { Cursor } from '../../db/blocks/blocks.ts'
import { readSoundCohorts } from '../../db/nodes/cohorts.ts'
import { readWindows } from '../../db/nodes/owner-acts.ts'
import { readMintablePayments } from '../../db/payments/queues.ts'
import * as payments from '../../db/payments/rows.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import type { MinterBudget } from '../../domain/observed.ts'
import { cohortToSkipFor, type OwedTurns } from '../../domain/rounds/due-turns.ts'
import { turnFate } from '../../domain/rounds/payouts.ts'
import { termsAt } from '../../domain/rounds/turn-amounts.ts'
import {
  type CohortsAt,
  chooseCohort,
  chooseSharedCohort,
  isDue,
  type Opening,
  openingsNeeded,
  sharedOpening,
} from '../../domain/schedule.ts'
import { MINT_BATCH_MAX } from '../../domain/send.ts'
import type { ChainRead, FactoryRead, LedgerDb, Logging, RuledBy, SendRules } from '../../ports/contexts.ts'
import type { BudgetAnswer } from '../../ports/outcomes.ts'
import type { FactoryCall, MintOrder } from '../../ports/sending.ts'
import { guardOf, type SenderRun, type Sent, send, sendWhatFits, validUntil } from './send.ts'
import { refusesRole } from './signer.ts'

type MintContext = LedgerDb & ChainRead & FactoryRead & RuledBy<SendRules> & Logging

/** The most cohorts opened in one transaction; each takes about 50,000 gas. */
const OPENINGS_MAX = 100
/**
 * How long a payment waits for a round that skips turns, in seconds of block time since the payment's own block. After that we open a cohort for it.
 */
const SKIP_AWAITED_SEC = 300

/** Reasons for which a call was refused although another call may be accepted. */
const OF_THE_CALL: readonly string[] = ['reverts', 'overGasCap', 'insufficientFunds']

export interface Mintable {
  /** The settled height. */
  upToBlock: number
  /** True if one provider's word for a payment is enough. */
  trustsOne: boolean
}

export interface MintResult {
  /** The transaction that we tried to send; null if there was nothing to send. */
  sent: Sent | null
  /** Which of the minter's budgets ran out while work was waiting; null if neither did. */
  budgetSpent: BudgetAnswer
}

/**
 * Sends at most one transaction: the mint of accepted payments, or the openings of cohorts that they need first. If the operator released a payment
 * that is above the settled height, it still waits.
 */
export async function mint(ctx: MintContext, sending: SenderRun, mintable: Mintable): Promise<MintResult> {
  const { cursor, run } = sending
  const [terms, windows] = await Promise.all([readCreditTerms(ctx.pool), readWindows(ctx.pool)])
  const schedule = termsAt(terms, cursor.time)
  if (!schedule) return { sent: null, budgetSpent: null }
  const cohorts = await readSoundCohorts(ctx.pool)
  // On another fork its cohort number may belong to a different cohort. Without a guard on the followed block a mint is valid there too, so we use only
  // settled cohorts.
  const isGuarded = run.guardUsable && !run.agreed
  const settledCohorts = isGuarded ? cohorts : cohorts.filter((cohort) => cohort.openedBlock <= mintable.upToBlock)
  const choose = (tierNo: number) => chooseCohort(settledCohorts, tierNo, schedule, cursor.time)
  const acceptedPayments = await readAccepted(ctx, mintable, choose)
  const at = { cohorts, schedule, now: cursor.time, terms, windows }
  let batch = batchOf(acceptedPayments, choose)
  const lacking = batch.length === 0 || batch.length < acceptedPayments.length
  let openings = lacking ? await planOpenings(ctx, cursor, at, acceptedPayments) : []
  if ((openings.length > 0 || batch.length > 0) && (await areTurnsStanding(ctx, cursor, at))) {
    batch = batchOf(acceptedPayments, (tierNo) => chooseSharedCohort(settledCohorts, tierNo, schedule, cursor.time))
    openings = sharedOpenings(at, acceptedPayments)
  }
  // No guard binds an opening to the history that it rests on.
  if (run.agreed) openings = []
  if (openings.length === 0 && batch.length === 0) return { sent: null, budgetSpent: null }
  const budget = await ctx.contract.budget(cursor.number)
  return sendWithin(ctx, sending, budget, { batch, openings })
}

/** Sends the openings or the mint, as far as the budget allows. */
async function sendWithin(
  ctx: MintContext,
  sending: SenderRun,
  budget: MinterBudget,
  { batch, openings }: { batch: readonly Minting[]; openings: readonly Opening[] },
): Promise<MintResult> {
  // Openings go first, because otherwise buyers who wait for a cohort might wait forever. The other payments are minted just one transaction later.
  if (openings.length > 0 && budget.cohorts > 0) {
    const sendResult = await sendOpenings(ctx, sending, openings.slice(0, budget.cohorts), budget)
    if (sendResult.kind === 'sent' || batch.length === 0 || !OF_THE_CALL.includes(sendResult.why))
      return { sent: sendResult, budgetSpent: null }
    ctx.log.error(sendResult, 'cannot open cohorts; minting the orders that have one; the others wait')
  }
  const affordable = batch.slice(0, budget.nodes)
  const isUnopened = openings.length > 0 && budget.cohorts === 0
  const budgetSpent = affordable.length < batch.length ? 'nodes' : isUnopened ? 'cohorts' : null
  if (affordable.length === 0 && (await isMinterAnother(ctx, sending))) return { sent: null, budgetSpent: null }
  if (budgetSpent !== null)
    ctx.log.error({ ...budget, budgetSpent }, 'the minter’s budget is spent: the owner of the contract must refill it')
  const sendResult =
    affordable.length > 0 ? await sendWhatFits(affordable, (part) => sendMint(ctx, sending, part)) : null
  return { sent: sendResult, budgetSpent }
}

/** True if the contract has another account as its minter. Then the budget that we read belongs to that account. */
async function isMinterAnother(ctx: MintContext, sending: SenderRun): Promise<boolean> {
  const nothing: FactoryCall = { kind: 'mint', orders: [], guard: null, validUntil: validUntil(ctx, sending) }
  return refusesRole(await sending.sender.estimate(nothing))
}

type Choose = (tierNo: number) => { cohort: number } | null

/** The accepted payments for one mint. If some payments wait for a cohort, it reads as many more from tiers that have a cohort. */
async function readAccepted(
  { pool }: LedgerDb,
  { upToBlock, trustsOne }: Mintable,
  choose: Choose,
): Promise<payments.Payment[]> {
  const waiting: payments.Payment[] = []
  const exceptTiers: number[] = []
  // Ends, because each time around at least one more tier is excluded.
  for (;;) {
    const page = await readMintablePayments(pool, { trustsOne, exceptTiers }, { upToBlock, limit: MINT_BATCH_MAX })
    const lacking = page.filter(({ tierNo }) => tierNo !== null && choose(tierNo) === null)
    if (page.length < MINT_BATCH_MAX || lacking.length === 0) return [...waiting, ...page]
    waiting.push(...lacking)
    exceptTiers.push(...new Set(lacking.map(({ tierNo }) => tierNo as number)))
  }
}

function batchOf(acceptedPayments: readonly payments.Payment[], choose: Choose): Minting[] {
  const minting = acceptedPayments.flatMap((payment) => {
    const cohort = payment.tierNo === null ? null : choose(payment.tierNo)
    return cohort ? [{ payment, order: { to: payment.from, cohort: cohort.cohort, ref: payment.ref } }] : []
  })
  return minting.slice(0, MINT_BATCH_MAX)
}

/**
 * True if due turns may stay pending for an unknown time, because nothing pays or skips them. Either the contract has no distributor, or the terms
 * declare turns not owed and the contract's owner has not yet added the window. If we opened cohorts as usual, we would meanwhile open one for each
 * slot.
 */
async function areTurnsStanding(
  { contract }: FactoryRead,
  cursor: Cursor,
  { terms, windows }: OwedTurns,
): Promise<boolean> {
  return turnFate(terms, windows, cursor.time) === 'delay' || (await contract.distributor(cursor.number)) === null
}

/** One cohort to open for each tier with accepted payments and no cohort that they can join. */
function sharedOpenings(at: CohortsAt, acceptedPayments: readonly payments.Payment[]): Opening[] {
  const tiers = new Set(acceptedPayments.flatMap(({ tierNo }) => (tierNo === null ? [] : [tierNo])))
  return [...tiers].flatMap((tierNo) => sharedOpening(at, tierNo) ?? []).slice(0, OPENINGS_MAX)
}

/** Opens the given cohorts, in order. Opens fewer if all do not fit in a transaction on this chain, or the minter cannot pay for all. */
function sendOpenings(
  ctx: MintContext,
  sending: SenderRun,
  openings: readonly Opening[],
  budget: MinterBudget,
): Promise<Sent> {
  const first = budget.lastCohort + 1
  return sendWhatFits(openings, (part) => {
    const call: FactoryCall = { kind: 'openCohorts', first, openings: [...part], validUntil: validUntil(ctx, sending) }
    return send(ctx, sending, call, async () => {})
  })
}

interface Minting {
  payment: payments.Payment
  order: MintOrder
}

async function sendMint(ctx: MintContext, sending: SenderRun, batch: readonly Minting[]): Promise<Sent> {
  const call: FactoryCall = {
    kind: 'mint',
    // Sorted, so that a tier's nodes follow each other: the contract writes a tier's counter each time the tier changes.
    orders: batch.map(({ order }) => order).toSorted((a, b) => a.cohort - b.cohort),
    guard: guardOf(sending),
    validUntil: validUntil(ctx, sending),
  }
  return await send(ctx, sending, call, async (sql, outboxId) => {
    const ids = batch.map(({ payment }) => payment.id)
    const current = await payments.lockPayments(sql, ids)
    // In the meantime, a payment may have been orphaned or decided differently. The mint must not include it.
    if (current.length !== ids.length || current.some((payment) => payment.state !== 'accepted')) {
      throw new Error('a payment changed while its mint was being signed; the next run mints again')
    }
    await payments.markMinting(sql, ids, outboxId)
  })
}

/**
 * Plans the cohorts to open: for every tier on sale, and for tiers off sale that have accepted payments. If a round will soon make room in an
 * existing cohort, it opens none for payments that wait.
 */
async function planOpenings(
  ctx: LedgerDb & FactoryRead,
  cursor: Cursor,
  at: CohortsAt & OwedTurns,
  acceptedPayments: readonly payments.Payment[],
): Promise<Opening[]> {
  const latest = new Map((await readTierVersions(ctx.pool)).map((version) => [version.tierNo, version]))
  const owedTurns = await readSkippable(ctx, cursor, at, acceptedPayments)
  const openings = [...latest.values()].flatMap((tier) => {
    const waiting = acceptedPayments.filter((payment) => payment.tierNo === tier.tierNo)
    const isRoomMade =
      cohortToSkipFor(at, tier.tierNo, owedTurns) !== null &&
      waiting.every(({ blockTime }) => at.now - blockTime < SKIP_AWAITED_SEC)
    const isWaitedFor = waiting.length > 0 && !isRoomMade
    return tier.onSale || waiting.length > 0 ? openingsNeeded(at, tier.tierNo, isWaitedFor) : []
  })
  return openings.slice(0, OPENINGS_MAX)
}

/**
 * The terms and windows by which the distributor will skip turns to make room for waiting payments. The windows are empty, so that no turn counts as
 * skipped, if no payment waits or the contract has no distributor.
 */
async function readSkippable(
  { contract }: FactoryRead,
  { number }: Cursor,
  at: CohortsAt & OwedTurns,
  acceptedPayments: readonly payments.Payment[],
): Promise<OwedTurns> {
  const { terms, windows } = at
  const isAnySkipped =
    windows.length > 0 &&
    acceptedPayments.length > 0 &&
    at.cohorts.some((cohort) => isDue(cohort, at.now)) &&
    (await contract.distributor(number)) !== null
  return { terms, windows: isAnySkipped ? windows : [] }
}
