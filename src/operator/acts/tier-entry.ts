// Enters a tier's change, now or ahead, unless there is an objection at any instant to come. The preview (`dryRun`) goes the same way, and stores nothing.
import type { Sql } from '../../db/core/sql.ts'
import { readCohorts } from '../../db/nodes/cohorts.ts'
import { lockTiers } from '../../db/payments/lock-order.ts'
import { countPlaces, countPlacesOf } from '../../db/payments/supply.ts'
import { hasAllowlist, readLargestAllocation } from '../../db/sale/allowlists.ts'
import { readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import {
  insertTierPlan,
  insertTierVersion,
  lockTierTable,
  readTierPlans,
  readTierVersions,
  type TierPlan,
  type TierRow,
} from '../../db/sale/tiers.ts'
import { creditMaxWei } from '../../domain/rounds/turn-amounts.ts'
import {
  type Changes,
  isTooLate,
  mergeTerms,
  PLAN_AHEAD_SEC,
  readChanges,
  refuseVersion,
  type TermName,
  type TierTerms,
  termsOf,
} from '../../domain/sale/changes.ts'
import { byEffect, closedFrom, type FirstSaleTerms } from '../../domain/tiers.ts'
import { inUtc, timeInWords } from '../../lib/times.ts'
import type { ChainRead, FactoryRead, LedgerDb, RuledBy } from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'
import {
  type Actor,
  type ActRecord,
  fieldNamed,
  isOperatorRefusal,
  type OperatorRefusal,
  refuseAct,
  refuseField,
  withFieldNames,
} from '../act.ts'
import type { Changing } from '../define-act.ts'
import { refuseWhileMending } from '../guard.ts'
import { readNow, refuseOutOfBounds } from './terms.ts'
import { changesIn, nowSec, versionInWords, whyUnfit } from './tier-change.ts'

export type TierContext = LedgerDb & ChainRead & FactoryRead & RuledBy<FirstSaleTerms>

/** A planned change of a tier, as of now. */
export interface PlannedView {
  tierId: string
  version: number
  /** Unix seconds of block time. */
  fromTime: number
  /** What it changes, in words. */
  says: string
  /** Why it would not take effect as things are; null if it would. */
  unfit: string | null
  enteredAt: string
  enteredBy: string
}

/** A tier with every version it ever had, in the order in which they took effect, and how many cohorts the contract has for it. */
export interface TierView extends Omit<TierRow, 'live'> {
  cohorts: number
  /** How many nodes there are, and payments that are about to become nodes. */
  sold: number
  versions: TierRow[]
  planned: PlannedView[]
}

/** A tier after an act, or as it would be. `changed` is false if nothing changes. */
export interface EnteredTier {
  tier: TierView
  changed: boolean
  dryRun: boolean
  /** What is entered, and what the operator should know about it. */
  notes: string[]
}

/** What the operator proposes to enter: a new tier with all its terms, or the terms that a change names. */
export interface TierProposal {
  tierId: string
  /** The terms of a new tier; null for a change. */
  first: TierTerms | null
  changes: Partial<TierTerms>
  graceSec: number | null
  fromTime: number | null
  dryRun: boolean
}

/** The default grace period of the next version: the grace period of the last version that did not end its predecessor immediately. */
export const nextGraceSec = (
  versions: readonly Pick<TierRow, 'graceSec'>[],
  { priceGraceSec }: Pick<FirstSaleTerms, 'priceGraceSec'>,
): number => versions.findLast(({ graceSec }) => graceSec > 0)?.graceSec ?? priceGraceSec

export async function readTierViews(sql: Sql): Promise<TierView[]> {
  const [rows, plans] = [await readTierVersions(sql), await readTierPlans(sql)]
  const [cohorts, places] = [await readCohorts(sql), await countPlaces(sql)]
  const views = plannedViews(rows, plans)
  return [...Map.groupBy(rows, (row) => row.tierId).values()].flatMap((versions) => {
    const now = versions.at(-1)
    if (!now) return []
    const { live: _, ...fields } = now
    const ofTier = cohorts.filter(({ tierNo }) => tierNo === now.tierNo)
    const soldCount = places.get(now.tierNo)?.sold ?? 0
    const own = views.filter(({ tierId }) => tierId === now.tierId)
    return [
      {
        ...fields,
        supply: shownSupply(now, soldCount),
        cohorts: ofTier.length,
        sold: soldCount,
        versions,
        planned: own,
      },
    ]
  })
}

/** A supply that was lowered ahead may be below what is sold. Then the sale is over, and what is sold is shown. */
const shownSupply = ({ supply }: TierRow, soldCount: number) => (supply === null ? null : Math.max(supply, soldCount))

export function plannedViews(rows: readonly TierRow[], plans: readonly TierPlan[]): PlannedView[] {
  const { fit, unfit } = readChanges(rows, plans)
  const plannedOf = ({ tierId, version, fromTime, enteredAt, enteredBy }: Omit<TierRow, 'fromBlock'>) => ({
    tierId,
    version,
    fromTime,
    enteredAt,
    enteredBy,
  })
  const views = [
    ...fit.map(({ before, version }) => ({ ...plannedOf(version), says: inWords(before, version), unfit: null })),
    ...unfit.map(({ plan, why }) => {
      const { text } = whyUnfit(why, versionsOf(fit), plan.fromTime)
      return { ...plannedOf(plan), says: plan.names.join(', '), unfit: withFieldNames(text) }
    }),
  ]
  return views.sort((a, b) => a.fromTime - b.fromTime || a.enteredAt.localeCompare(b.enteredAt))
}

const inWords = (before: object, after: object) => changesIn(before, after).join(', ') || 'no change'

/** Enters a version or a planned change, unless there is an objection. A dry run stores nothing, and locks nothing while it asks the chain. */
export async function enterTier(
  { sql, actor, record }: Changing,
  deps: TierContext,
  dryRun: boolean,
  propose: (rows: readonly TierRow[]) => Omit<TierProposal, 'dryRun'> | OperatorRefusal,
): Promise<EnteredTier | OperatorRefusal> {
  if (!dryRun) await lockTierTable(sql)
  const wait = await refuseWhileMending(sql)
  if (wait) return wait
  const now = await readNow(deps, sql, { lock: !dryRun })
  const change = propose(await readTierVersions(sql))
  if (isOperatorRefusal(change)) return change
  const proposal = { ...change, dryRun }
  const { tierId, fromTime } = proposal
  if (fromTime !== null && isTooLate(fromTime, now.time, nowSec())) return tooLate()
  // Read under the tier's lock, because a step may have opened just now.
  const tierNo = proposal.first?.tierNo ?? (await tierNoOf(sql, tierId))
  if (!dryRun) await lockTiers(sql, [tierNo], { wait: true })
  const [rows, plans] = [await readTierVersions(sql), await readTierPlans(sql)]
  const next = nextOf(rows, plans, proposal, { now: now.time, rules: deps.rules })
  const { before, terms } = next
  const refusal =
    refusePrice(terms) ??
    (fromTime === null ? await refuseSupply(sql, terms) : null) ??
    refuseUnfit(rows, plans, next) ??
    (await refuseList(sql, terms)) ??
    (await refusePayout(deps, sql, terms, now.number)) ??
    (before?.holdingToken === terms.holdingToken ? null : await refuseToken(deps, terms, now))
  if (refusal) return refusal
  const isChange = !before || !changesNothing(before, terms)
  if (isChange && !dryRun) await store(sql, actor, next, now.number + 1).then(record)
  const notes = [changeInWords(next, now.number + 1), ...(await notesOn(deps, sql, next))]
  return { tier: await readTierView(sql, tierId), changed: isChange, dryRun, notes: isChange ? notes : ['No change.'] }
}

/** @returns the row of the audit log. */
async function store(
  sql: Sql,
  actor: Actor,
  { proposal, before, terms, time }: Next,
  fromBlock: number,
): Promise<ActRecord> {
  const { tierId, fromTime, changes } = proposal
  const after = fromTime === null ? terms : { ...terms, fromTime }
  if (fromTime === null) await insertTierVersion(sql, { ...terms, fromBlock, fromTime: time }, actor.name)
  else {
    const madeWith = actor.keyDigest ?? null
    await insertTierPlan(sql, { ...terms, fromTime, names: namesOf(changes), keyDigest: madeWith }, actor.name)
  }
  const action = !before ? 'tierCreated' : fromTime === null ? 'tierChanged' : 'tierPlanned'
  return { action, subject: tierId, before, after }
}

const tooLate = () =>
  refuseField(
    'conflict',
    'fromTime',
    `must be at least ${PLAN_AHEAD_SEC} seconds after the provider's latest block and after the clock.`,
  )

async function tierNoOf(sql: Sql, tierId: string): Promise<number> {
  const row = (await readTierVersions(sql)).find((one) => one.tierId === tierId)
  return row?.tierNo ?? Promise.reject(new Error(`there is no tier ${tierId}`))
}

export async function readTierView(sql: Sql, tierId: string): Promise<TierView> {
  const own = (await readTierViews(sql)).find((tier) => tier.tierId === tierId)
  return own ?? Promise.reject(new Error(`there is no tier ${tierId}`))
}

const namesOf = (changes: Partial<TierTerms>) =>
  Object.keys(changes).filter((name): name is TermName => name !== 'graceSec')

type Before = Omit<TierRow, 'fromBlock'>
interface Next {
  proposal: TierProposal
  /** The version that it follows; null for a new tier. */
  before: Before | null
  terms: TierTerms
  time: number
}

/** The terms that a proposal resolves to: over what is in force at its time, by all that is planned until then. */
function nextOf(
  rows: readonly TierRow[],
  plans: readonly TierPlan[],
  proposal: TierProposal,
  { now, rules }: { now: number; rules: FirstSaleTerms },
): Next {
  const { tierId, first, changes, fromTime } = proposal
  const ofTier = rows.filter((row) => row.tierId === tierId)
  // A former change may have asked a provider that is ahead of ours, or the chain has gone back since. The later change still counts, after all others.
  const time = fromTime ?? Math.max(now + 1, ...rows.map((row) => row.fromTime))
  const fitting = plannedAfter(rows, plans, time).filter((one) => one.tierId === tierId)
  const inOrder = [...ofTier, ...fitting].sort(byEffect)
  const before = inOrder.at(-1) ?? null
  const graceSec = proposal.graceSec ?? nextGraceSec(inOrder.length > 0 ? (inOrder as TierRow[]) : rows, rules)
  const terms = first ?? (before && mergeTerms(termsOf(before), changes))
  if (!terms) throw new Error(`there is no tier ${tierId}`)
  return { proposal, before, terms: { ...terms, graceSec }, time }
}

const versionsOf = (fit: Changes<TierRow>['fit']) => fit.map(({ version }) => version)

const plannedAfter = (rows: readonly TierRow[], plans: readonly TierPlan[], time: number) =>
  versionsOf(
    readChanges(
      rows,
      plans.filter(({ fromTime }) => fromTime <= time),
    ).fit,
  )

/** Refuses a proposal that does not fit at its own time, or with which a planned change would no longer fit. */
function refuseUnfit(rows: readonly TierRow[], plans: readonly TierPlan[], next: Next): OperatorRefusal | null {
  const { proposal, terms, time } = next
  const dueChanges = plannedAfter(rows, plans, time)
  const earlier = [...rows.filter(({ fromTime }) => fromTime <= time), ...dueChanges]
  const version = { ...terms, fromTime: time }
  const why = refuseVersion(earlier, version)
  if (why) return refusalOf(whyUnfit(why, dueChanges, time))
  const number =
    1 + Math.max(0, ...[...rows, ...plans].filter((one) => one.tierId === proposal.tierId).map((one) => one.version))
  const place =
    earlier.findLast((one) => one.tierId === proposal.tierId && one.opensAfter === terms.opensAfter)?.opened ?? null
  const candidate = { ...version, version: number, opened: place, live: false, enteredAt: LAST, enteredBy: '' }
  const after =
    proposal.fromTime === null
      ? readChanges([...rows, { ...candidate, fromBlock: 0 }], plans)
      : readChanges(rows, [...plans, { ...candidate, fromBlock: null, names: namesOf(proposal.changes) }])
  return refuseWorse(readChanges(rows, plans), after)
}
/** Later than any proposal. */
const LAST = '9999'

/** Refuses if a planned change would no longer fit. */
export function refuseWorse(before: Changes<TierRow>, after: Changes<TierRow>): OperatorRefusal | null {
  const isSame = (a: TierPlan, b: TierPlan) => a.tierId === b.tierId && a.version === b.version
  const worse = after.unfit.find(({ plan }) => !before.unfit.some((one) => isSame(one.plan, plan)))
  if (!worse) return null
  const { tierId, version, fromTime } = worse.plan
  const { text } = whyUnfit(worse.why, versionsOf(after.fit), fromTime)
  return refuseAct(
    'conflict',
    `Then change ${version} of tier ${tierId}, planned for ${timeInWords(fromTime, nowSec())}, would not fit: ${text}`,
  )
}

function refusalOf({ field, text }: ReturnType<typeof whyUnfit>): OperatorRefusal {
  return field === null ? refuseAct('conflict', text) : refuseField('invalid', field, text)
}

const refusePrice = ({ priceWei }: TierTerms): OperatorRefusal | null =>
  priceWei === 0n
    ? refuseField('invalid', 'priceWei', 'must be more than 0: a transfer of nothing buys nothing.')
    : null

/** A new grace period alone is not a change, unless it ends the grace period that the last version left. */
function changesNothing(before: Before, terms: TierTerms): boolean {
  const names = (Object.keys(terms) as (keyof TierTerms)[]).filter((name) => name !== 'graceSec')
  return names.every((name) => before[name] === terms[name]) && !(terms.graceSec === 0 && before.graceSec > 0)
}

function changeInWords({ proposal: { fromTime }, before, terms, time }: Next, fromBlock: number): string {
  const from = fromTime === null ? `from block ${fromBlock}` : `from ${timeInWords(fromTime, nowSec())}`
  return versionInWords(before, { ...terms, fromTime: time }, from)
}

/** What an operator should know about a change, although it is allowed. */
async function notesOn({ contract }: FactoryRead, sql: Sql, next: Next): Promise<string[]> {
  const { allowlist, maxPerWallet } = next.terms
  const largest = allowlist === null ? 0 : await readLargestAllocation(sql, allowlist)
  const walletMax = largest > 0 ? await orNull(contract.maxPerWallet()) : null
  return [
    ...noteOnClosing(next),
    ...(largest > maxPerWallet
      ? [`The list allows a wallet up to ${largest} nodes, but the tier only ${maxPerWallet} per wallet.`]
      : []),
    ...(walletMax !== null && largest > walletMax
      ? [`The list allows a wallet up to ${largest} nodes, but the contract only ${walletMax} of all tiers.`]
      : []),
  ]
}

/** Terms on sale that begin after their closing sell at most until its grace period ends. */
function noteOnClosing({ proposal, before, terms, time }: Next): string[] {
  const [{ closesAt, onSale }, from] = [terms, Math.max(time, nowSec())]
  if (!onSale || closesAt === null || closesAt > from) return []
  const end = closedFrom(terms)
  const sold =
    end > from ? `sell only until ${inUtc(end)}, when the grace period after the closing ends` : 'sell nothing'
  if (!before || proposal.changes.closesAt !== undefined)
    return [`It closes before it begins, so these terms ${sold}. Earlier terms still buy for the grace period.`]
  const closing = `The tier ${closesAt > nowSec() ? 'closes' : 'closed'} at ${inUtc(closesAt)}`
  return [`${closing}, and this change keeps that, so these terms ${sold}. Change the closing too (0: never).`]
}

/** Checks the supply under the tier's lock, so that no other session takes a place in the meantime. */
async function refuseSupply(sql: Sql, { tierNo, supply }: TierTerms): Promise<OperatorRefusal | null> {
  if (supply === null) return null
  const { sold } = await countPlacesOf(sql, tierNo)
  if (supply >= sold) return null
  return refuseAct('conflict', `${sold} nodes of this tier are sold: ${fieldNamed('supply')} cannot be less.`)
}

async function refuseList(sql: Sql, { allowlist }: TierTerms): Promise<OperatorRefusal | null> {
  if (allowlist === null || (await hasAllowlist(sql, allowlist))) return null
  return refuseField('invalid', 'allowlist', 'is the root of no list: enter the list first.')
}

/** Refuses a payout if its lifetime sum exceeds the contract's cap for a node, or if a single turn exceeds the distributor's bounds. */
async function refusePayout(
  { contract }: FactoryRead,
  sql: Sql,
  { payoutBps }: TierTerms,
  atBlock: number,
): Promise<OperatorRefusal | null> {
  const terms = (await readCreditTerms(sql)).at(-1)
  if (!terms) return null
  if (terms.maxWei > creditMaxWei(terms.intervalSec, payoutBps))
    return refuseAct(
      'conflict',
      `At ${payoutBps} basis points and ${terms.maxWei} wei a turn, a node's total could outgrow the contract's 80 bits within 100 years.`,
    )
  return terms.payouts ? refuseOutOfBounds(contract, terms, { payoutBps: [payoutBps], atBlock }) : null
}

/** Refuses a token that we cannot read, because every payment would be held. */
async function refuseToken(
  deps: LedgerDb & ChainRead,
  { holdingToken }: TierTerms,
  now: Awaited<ReturnType<typeof readNow>>,
): Promise<OperatorRefusal | null> {
  if (holdingToken === null) return null
  const holder = (await readWalletInForce(deps.pool)) ?? holdingToken
  if ((await deps.chain.holding(holdingToken, holder, now)) !== null) return null
  return refuseAct('invalid', `The chain could not return a balance of ${holdingToken}: is that an ERC-20 token there?`)
}
