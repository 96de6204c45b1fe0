// The operator's tiers, with their prices, in versions. A version is never changed. A new version takes effect at the block after the chain's head at
// the earliest, or from a time on that no instance has reached, so it never applies to payments already made. The next payments pass opens the cohorts
// of a new tier.
import type { Sql } from '../../db/core/sql.ts'
import { cancelTierPlan, lockTierTable, readTierPlans, readTierVersions, type TierPlan } from '../../db/sale/tiers.ts'
import { isTooLate, mergeTerms, readChanges, type TierTerms } from '../../domain/sale/changes.ts'
import { GRACE_SEC_MAX, GRACE_SEC_MIN, HOLDING_RETRY_SEC_MAX, TIER_ID_FORM } from '../../domain/tiers.ts'
import { counted, type Hash, hash, wei } from '../../domain/units.ts'
import { timeInWords } from '../../lib/times.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { isOperatorRefusal, type OperatorRefusal, refuseAct } from '../act.ts'
import { type Changing, defineAct, defineReading } from '../define-act.ts'
import { refuseWhileMending } from '../guard.ts'
import * as field from '../input.ts'
import { readNow } from './terms.ts'
import { nowSec } from './tier-change.ts'
import {
  type EnteredTier,
  enterTier,
  nextGraceSec,
  type PlannedView,
  plannedViews,
  readTierView,
  readTierViews,
  refuseWorse,
  type TierContext,
} from './tier-entry.ts'

export const PER_WALLET_MAX = 2 ** 31 - 1
const TIER_NO_MAX = 65_535
export const TIER_ID = field.text('the tier', {
  max: 32,
  pattern: TIER_ID_FORM,
  form: 'up to 32 of a-z, 0-9 and -, beginning with a letter or digit',
  schema: 'TierId',
})

/** All tiers by number, as they are now, each with its versions. */
export const listTiers = defineReading({
  path: 'tiers',
  command: 'tiers list',
  summary: 'list the tiers with their prices and terms',
  examples: ['tiers list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ tiers: await readTierViews(pool) }),
  columns: [
    ...['tierId', 'tierNo', 'label'],
    ['ETH', 'priceWei'],
    ...['maxPerWallet', 'payoutBps', 'holdingToken', 'supply', 'sold', 'opensAt', 'closesAt', 'opensAfter', 'onSale'],
    ...['version', 'fromBlock'],
  ],
})

/** Every planned change, in the order in which they take effect. */
export const listPlans = defineReading({
  path: null,
  command: 'tiers plans',
  summary: 'list the planned changes of tiers',
  examples: ['tiers plans'],
  fields: {},
  run: async ({ pool }: LedgerDb): Promise<{ plans: PlannedView[] }> => {
    const plans = (await readTierViews(pool)).flatMap(({ planned }) => planned)
    return { plans: plans.sort((a, b) => a.fromTime - b.fromTime) }
  },
  columns: ['tierId', ['change', 'version'], 'fromTime', 'says', 'unfit', 'enteredBy', 'enteredAt'],
})

const PRICE = field.wei('its price; the exact amount of a payment')
export const LABEL = field.text('its name, as buyers see it', { max: 64 })
const PER_WALLET = field.whole('nodes of this tier that one wallet may hold', 1, PER_WALLET_MAX)
/** What else a new version may change; null keeps the current value. */
const TERMS = {
  payoutBps: field.orNull(
    field.whole('its rate, in basis points of a draw; 10000 is the base rate', 0, 1_000_000, 'bps'),
  ),
  holdingToken: field.orNull(field.address('ERC-20 token that a buyer must hold')),
  holdingWei: field.orNull(field.wei('how much of it, in its smallest unit; 0: open to anyone', 'amount')),
  holdingSymbol: field.orNull(field.text("the token's symbol, as buyers see it", { max: 32 })),
  holdingDecimals: field.orNull(field.whole("the token's decimals", 0, 255)),
  holdingRetrySec: field.orNull(
    field.whole('seconds for which the service retries to read a holding', 0, HOLDING_RETRY_SEC_MAX),
  ),
}
const LIST = field.hash('')
/** What we store when an allowlist is removed. */
const NO_LIST = hash(`0x${'0'.repeat(64)}`)
/** Limits of the tier's sale; null keeps the current value, 0 means no limit. */
const BOUNDS = {
  supply: field.orNull(field.whole('the most nodes of it ever sold; 0: no limit', 0, PER_WALLET_MAX)),
  opensAt: field.orNull(field.time('when it opens, by block time; 0: immediately', 0)),
  closesAt: field.orNull(field.time('when it closes, by block time; a grace period follows; 0: never', 0)),
  opensAfter: field.orNull(
    field.text('the tier that must be sold out before it opens; -: none', {
      max: 32,
      pattern: new RegExp(`^-$|${TIER_ID_FORM.source}`),
      form: 'the id of a tier, or -',
    }),
  ),
  allowlist: field.orNull(
    field.ofForm<Hash>('the root of the allowlist; 0: anyone may buy', {
      schema: { type: 'string', pattern: '^(0|0x[0-9a-fA-F]{64})$' },
      value: 'root',
      otherwise: NO_LIST,
      form: "a list's root, 0x and 64 hex digits, or 0",
      parse: (input) => (input === '0' ? NO_LIST : LIST.parse(input)),
    }),
  ),
}
const GRACE = {
  graceSec: field.orNull(
    field.whole(
      'seconds for which the old price still buys; by default as at the last change',
      GRACE_SEC_MIN,
      GRACE_SEC_MAX,
    ),
  ),
  immediately: field.flag('after a mistake: without a grace period, from the next block on'),
}
const SALE = { onSale: field.orNull(field.yesOrNo('whether it is on sale')), ...GRACE, reason: field.REASON }
const AHEAD = {
  fromTime: field.orNull(
    field.time('when it takes effect, by block time, two minutes ahead or more; by default from the next block on'),
  ),
  dryRun: field.flag('only show what it would do'),
}

/** The terms that a change may name; null keeps the current value. */
type Change = { readonly [Name in Exclude<keyof TierTerms, 'tierId' | 'tierNo' | 'graceSec'>]?: TierTerms[Name] | null }

/** The terms that a change names. What removes a limit is stored as null. */
function namedIn(change: Change): Partial<TierTerms> {
  const input = Object.entries(change).filter(([, value]) => value !== null)
  const none = (value: unknown) => value === 0 || value === '-' || value === NO_LIST
  const limits = ['supply', 'opensAt', 'closesAt', 'opensAfter', 'allowlist']
  return Object.fromEntries(input.map(([name, value]) => [name, limits.includes(name) && none(value) ? null : value]))
}

export const createTier = defineAct({
  path: 'tiers',
  scope: 'prices',
  command: 'tiers create',
  summary: 'create a tier, on sale from the next block on',
  details:
    'A tier keeps its number on the contract. No two tiers on sale may have the same price, because the amount selects the tier.',
  examples: ['tiers create silver --label Silver --price-wei 30000000000000000 --max-per-wallet 5 --yes'],
  args: ['tierId'],
  leavesOut: ['onSale', 'graceSec', 'immediately'],
  fields: {
    tierId: { ...TIER_ID, help: 'its permanent id' },
    priceWei: PRICE,
    label: LABEL,
    maxPerWallet: PER_WALLET,
    ...TERMS,
    ...BOUNDS,
    tierNo: field.orNull(field.whole('its number on the contract; by default the next free one', 1, TIER_NO_MAX)),
    ...SALE,
  },
  onChain: true,
  asks: 'Enter this tier?',
  change: (changing, { tierId, tierNo, reason: _, graceSec, immediately, ...terms }, deps: TierContext) =>
    enterTier(changing, deps, false, (rows) => {
      if (rows.some((row) => row.tierId === tierId))
        return refuseAct('conflict', `There is a tier ${tierId} already: give it a new version instead.`)
      const number = tierNo ?? Math.max(0, ...rows.map((row) => row.tierNo)) + 1
      const holder = rows.find((row) => row.tierNo === number)
      if (holder) return refuseAct('conflict', `Tier ${holder.tierId} already has number ${number} on the contract.`)
      if (number > TIER_NO_MAX) return refuseAct('conflict', `The contract has no more than ${TIER_NO_MAX} tiers.`)
      const fresh = {
        tierId,
        tierNo: number,
        label: '',
        priceWei: wei(0n),
        maxPerWallet: 1,
        payoutBps: 10_000,
        onSale: true,
        graceSec: nextGraceSec(rows, deps.rules),
        holdingRetrySec: rows.at(-1)?.holdingRetrySec ?? deps.rules.holdingRetrySec,
        holdingWei: wei(0n),
        holdingToken: null,
        holdingSymbol: null,
        holdingDecimals: null,
        supply: null,
        opensAt: null,
        closesAt: null,
        opensAfter: null,
        allowlist: null,
      }
      const proposal = { tierId, graceSec: immediately ? 0 : graceSec, fromTime: null, changes: {} }
      return { ...proposal, first: mergeTerms(fresh, namedIn(terms)) }
    }),
  preview: (entered) => {
    const { tierNo, maxPerWallet, payoutBps, supply } = entered.tier
    return `${toEnter(entered)}\nFor a wallet: ${counted(maxPerWallet, 'node')}. Rate: ${payoutBps} bps. Supply: ${supply ?? 'no limit'}. Number ${tierNo} on the contract, permanently.`
  },
  says: enteredInWords,
})

export const changeTier = defineAct({
  path: 'tiers/:tierId',
  scope: 'prices',
  command: 'tiers price',
  summary: "change a tier's price or other terms, from the next block or a later time on",
  details:
    'The old price still buys the tier for a grace period, because caches keep quotes. Omitted terms stay as they are.',
  examples: [
    'tiers price basic --price-wei 12000000000000000 --reason "spring prices" --yes',
    'tiers price basic --label Base --from-time "in 2d" --yes',
  ],
  leavesOut: ['onSale', 'dryRun'],
  fields: {
    tierId: TIER_ID,
    priceWei: field.orNull({ ...PRICE, help: 'its new price' }),
    label: field.orNull(LABEL),
    maxPerWallet: field.orNull(PER_WALLET),
    ...TERMS,
    ...BOUNDS,
    ...SALE,
    ...AHEAD,
  },
  onChain: true,
  asks: 'Enter this change?',
  change: enterVersion,
  preview: toEnter,
  says: enteredInWords,
})

function enteredInWords({ notes, changed, dryRun }: EnteredTier): string {
  return `${changed ? (dryRun ? 'To enter: ' : 'Entered: ') : ''}${notes.join(' ')}`
}

function toEnter({ notes, changed }: EnteredTier): string {
  return `${changed ? 'To enter: ' : ''}${notes.join('\n')}`
}

function enterVersion(
  changing: Changing,
  {
    tierId,
    reason: _,
    graceSec,
    immediately,
    fromTime,
    dryRun,
    ...terms
  }: Change & {
    tierId: string
    reason: string | null
    graceSec: number | null
    immediately: boolean
    fromTime: number | null
    dryRun: boolean
  },
  deps: TierContext,
): Promise<EnteredTier | OperatorRefusal> {
  return enterTier(changing, deps, dryRun, (rows) =>
    rows.some((row) => row.tierId === tierId)
      ? { tierId, first: null, changes: namedIn(terms), graceSec: immediately ? 0 : graceSec, fromTime }
      : refuseAct('notFound', `There is no tier ${tierId}.`),
  )
}

export const setOnSale = defineAct({
  path: 'tiers/:tierId/sale',
  scope: 'prices',
  summary: 'put a tier on sale, or take it off sale after a grace period',
  fields: { tierId: TIER_ID, ...SALE, ...AHEAD, onSale: field.yesOrNo('whether it is on sale') },
  onChain: true,
  change: enterVersion,
  preview: toEnter,
  says: enteredInWords,
})

const CANCEL = {
  tierId: TIER_ID,
  version: field.whole('the number of the change', 1, PER_WALLET_MAX),
  reason: field.REASON,
}

export const cancelPlan = defineAct({
  path: 'tiers/:tierId/cancel',
  scope: 'prices',
  command: 'tiers cancel',
  summary: 'cancel a planned change of a tier',
  details: '"node-ledger tiers plans" lists them.',
  examples: ['tiers cancel basic <change> --yes'],
  args: ['tierId', 'version'],
  fields: CANCEL,
  onChain: true,
  asks: 'Cancel this change?',
  change: async ({ sql, record }, request, deps: TierContext): Promise<EnteredTier | OperatorRefusal> => {
    await lockTierTable(sql)
    const cancellation = await readCancellation(sql, deps, request)
    if (isOperatorRefusal(cancellation)) return cancellation
    const { plan, inWords } = cancellation
    await cancelTierPlan(sql, plan)
    const { tierId, version, fromTime, names } = plan
    record({ action: 'tierPlanCancelled', subject: tierId, before: { version, fromTime, names } })
    return { tier: await readTierView(sql, tierId), changed: true, dryRun: false, notes: [`${inWords}.`] }
  },
  preview: ({ notes }) => `To cancel: ${notes.join(' ')}`,
  says: ({ notes }) => `Cancelled: ${notes.join(' ')}`,
})

interface Cancellation {
  plan: TierPlan
  /** The change and what it would do. */
  inWords: string
}

/** The change to cancel, and what it would do; or why it cannot be cancelled. */
async function readCancellation(
  sql: Sql,
  deps: TierContext,
  { tierId, version }: { tierId: string; version: number },
): Promise<Cancellation | OperatorRefusal> {
  const wait = await refuseWhileMending(sql)
  if (wait) return wait
  const now = await readNow(deps, sql)
  const [rows, plans] = [await readTierVersions(sql), await readTierPlans(sql)]
  const isIt = (one: { tierId: string; version: number }) => one.tierId === tierId && one.version === version
  const plan = plans.find(isIt)
  const says = plannedViews(rows, plans).find(isIt)?.says
  if (!plan) return refuseAct('notFound', `Tier ${tierId} has no planned change ${version}.`)
  const at = timeInWords(plan.fromTime, nowSec())
  if (isTooLate(plan.fromTime, now.time, nowSec()))
    return refuseAct('conflict', `Change ${version} takes effect at ${at}: it is too late to cancel it.`)
  const others = plans.filter((one) => one !== plan)
  const worse = refuseWorse(readChanges(rows, plans), readChanges(rows, others))
  return worse ?? { plan, inWords: `change ${version} of tier ${tierId}, planned for ${at}: ${says}` }
}
