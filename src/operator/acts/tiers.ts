// The operator's tiers, with their prices, in versions. A version is never changed. A new version takes effect at the block after the chain's head at
// the earliest, so it never applies to payments already made. The next payments pass opens the cohorts of a new tier.
import type { Sql } from '../../db/core/sql.ts'
import { readCohorts } from '../../db/nodes/cohorts.ts'
import { countPlaces } from '../../db/payments/supply.ts'
import { hasAllowlist } from '../../db/sale/allowlists.ts'
import { readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { insertTierVersion, readTierVersions, type TierInput, type TierRow } from '../../db/sale/tiers.ts'
import { creditMaxWei } from '../../domain/credit.ts'
import {
  type FirstSaleTerms,
  GRACE_SEC_MAX,
  GRACE_SEC_MIN,
  HOLDING_RETRY_SEC_MAX,
  refuseTierVersion,
  TIER_ID_FORM,
  type TierRefusal,
} from '../../domain/tiers.ts'
import { type Hash, hash, wei } from '../../domain/units.ts'
import { timeInWords } from '../../lib/times.ts'
import type { ChainRead, FactoryRead, LedgerDb, RuledBy } from '../../ports/contexts.ts'
import { fieldNamed, isOperatorRefusal, type OperatorRefusal, refuseAct, refuseField } from '../act.ts'
import { type Changing, defineAct, defineReading } from '../define-act.ts'
import { refuseWhileMending } from '../guard.ts'
import * as field from '../input.ts'
import { readNow, refuseOutOfBounds } from './terms.ts'
import { refuseLadder, refuseSupply } from './tier-bounds.ts'
import { versionInWords } from './tier-change.ts'

type TierContext = LedgerDb & ChainRead & FactoryRead & RuledBy<FirstSaleTerms>

export const PER_WALLET_MAX = 2 ** 31 - 1
const TIER_NO_MAX = 65_535
export const TIER_ID = field.text('the tier', {
  max: 32,
  pattern: TIER_ID_FORM,
  form: 'up to 32 of a-z, 0-9 and -, beginning with a letter or digit',
  schema: 'TierId',
})

/** A tier with every version it ever had, oldest first, and how many cohorts the contract has for it. */
export interface TierView extends Omit<TierRow, 'live'> {
  cohorts: number
  /** How many nodes there are, and payments that are about to become nodes. */
  sold: number
  versions: TierRow[]
}

/** A tier after an act. `changed` is false if nothing changed. */
export interface EnteredTier {
  tier: TierView
  changed: boolean
}

/** All tiers by number, as they are now, each with its versions. */
export const listTiers = defineReading({
  path: 'tiers',
  command: 'tiers list',
  summary: 'list the tiers with their prices and terms',
  examples: ['tiers list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ tiers: await readTiers(pool) }),
  columns: [
    ...['tierId', 'tierNo', 'label'],
    ['ether', 'priceWei'],
    ...['maxPerWallet', 'payoutBps', 'holdingToken', 'supply', 'sold', 'opensAt', 'closesAt', 'opensAfter', 'onSale'],
    ['version', 'versions', 'size'],
    'fromBlock',
  ],
})

async function readTiers(sql: Sql): Promise<TierView[]> {
  const [rows, cohorts, places] = [await readTierVersions(sql), await readCohorts(sql), await countPlaces(sql)]
  return [...Map.groupBy(rows, (row) => row.tierId).values()].flatMap((versions) => {
    const now = versions.at(-1)
    if (!now) return []
    const { live: _, ...shown } = now
    const ofTier = cohorts.filter(({ tierNo }) => tierNo === now.tierNo)
    return [{ ...shown, cohorts: ofTier.length, sold: places.get(now.tierNo)?.sold ?? 0, versions }]
  })
}

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
  opensAt: field.orNull(field.time('when it opens, by block time; 0: at once', 0)),
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
      ...{ schema: { type: 'string', pattern: '^(0|0x[0-9a-fA-F]{64})$' }, value: 'root', otherwise: NO_LIST },
      form: "a list's root, 0x and 64 hex digits, or 0",
      parse: (given) => (given === '0' ? NO_LIST : LIST.parse(given)),
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
  atOnce: field.flag('after a mistake: without a grace period, from the next block on'),
}
const SALE = { onSale: field.orNull(field.yesOrNo('whether it is on sale')), ...GRACE, reason: field.REASON }

/** The fields of a tier that a new version changes; null keeps the current value. `atOnce` means no grace period, whatever `graceSec` is. */
type Change = { readonly [Name in Exclude<keyof Terms, 'tierId' | 'tierNo'>]?: Terms[Name] | null }
const changeOf = <T extends { graceSec: number | null; atOnce: boolean }>({ atOnce, ...change }: T) => ({
  ...change,
  graceSec: atOnce ? 0 : change.graceSec,
})

export const createTier = defineAct({
  path: 'tiers',
  scope: 'prices',
  command: 'tiers create',
  summary: 'create a tier, on sale from the next block on',
  details:
    'A tier keeps its number on the contract. No two tiers on sale may have the same price, because the amount selects the tier.',
  examples: ['tiers create silver --label Silver --price-wei 30000000000000000 --max-per-wallet 5 --yes'],
  args: ['tierId'],
  leavesOut: ['onSale', 'graceSec', 'atOnce'],
  fields: {
    tierId: { ...TIER_ID, help: 'its permanent id' },
    ...{ priceWei: PRICE, label: LABEL, maxPerWallet: PER_WALLET, ...TERMS, ...BOUNDS },
    tierNo: field.orNull(field.whole('its number on the contract; by default the next free one', 1, TIER_NO_MAX)),
    ...SALE,
  },
  onChain: true,
  asks: 'Enter this tier permanently?',
  change: (changing, { tierId, tierNo, reason: _, ...asked }, deps: TierContext) =>
    enter(changing, deps, (rows) => {
      if (rows.some((row) => row.tierId === tierId))
        return refuseAct('conflict', `There is a tier ${tierId} already: give it a new version instead.`)
      const number = tierNo ?? Math.max(0, ...rows.map((row) => row.tierNo)) + 1
      const taken = rows.find((row) => row.tierNo === number)
      if (taken) return refuseAct('conflict', `Tier ${taken.tierId} already has number ${number} on the contract.`)
      if (number > TIER_NO_MAX) return refuseAct('conflict', `The contract has no more than ${TIER_NO_MAX} tiers.`)
      const sale = {
        graceSec: nextGraceSec(rows, deps.rules),
        holdingRetrySec: rows.at(-1)?.holdingRetrySec ?? deps.rules.holdingRetrySec,
      }
      const fresh = {
        tierId,
        tierNo: number,
        label: '',
        priceWei: wei(0n),
        maxPerWallet: 1,
        payoutBps: 10_000,
        ...sale,
      }
      const open = { holdingWei: wei(0n), holdingToken: null, holdingSymbol: null, holdingDecimals: null, onSale: true }
      const unbounded = { supply: null, opensAt: null, closesAt: null, opensAfter: null, allowlist: null }
      return { before: null, ...merge({ ...fresh, ...open, ...unbounded }, changeOf(asked)) }
    }),
  says: enteredInWords,
})

export const changeTier = defineAct({
  path: 'tiers/:tierId',
  scope: 'prices',
  command: 'tiers price',
  summary: "change a tier's price or other terms from the next block on",
  details:
    'The old price still buys the tier for a grace period, because caches keep quotes. Omitted terms stay as they are.',
  examples: ['tiers price basic --price-wei 12000000000000000 --reason "spring prices" --yes'],
  leavesOut: ['onSale'],
  fields: {
    tierId: TIER_ID,
    priceWei: field.orNull({ ...PRICE, help: 'its new price' }),
    ...{ label: field.orNull(LABEL), maxPerWallet: field.orNull(PER_WALLET), ...TERMS, ...BOUNDS, ...SALE },
  },
  onChain: true,
  asks: 'Enter this version?',
  change: enterVersion,
  says: enteredInWords,
})

function enteredInWords({ changed, tier: { versions } }: EnteredTier): string {
  const [before, after] = [versions.at(-2) ?? null, versions.at(-1)]
  return changed && after ? `Entered: ${versionInWords(before, after)}` : 'No change.'
}

function enterVersion(
  changing: Changing,
  {
    tierId,
    reason: _,
    ...asked
  }: Change & { tierId: string; graceSec: number | null; atOnce: boolean; reason: string | null },
  deps: TierContext,
): Promise<EnteredTier | OperatorRefusal> {
  const change = changeOf(asked)
  return enter(changing, deps, (rows) => {
    const ofTier = rows.filter((row) => row.tierId === tierId)
    const before = ofTier.at(-1)
    if (!before) return refuseAct('notFound', `There is no tier ${tierId}.`)
    const graceSec = nextGraceSec(ofTier, deps.rules)
    return { before, ...merge({ ...before, graceSec }, change) }
  })
}

/** The default grace period of the next version: the grace period of the last version that did not end its predecessor at once. */
export const nextGraceSec = (
  versions: readonly Pick<TierRow, 'graceSec'>[],
  { priceGraceSec }: Pick<FirstSaleTerms, 'priceGraceSec'>,
): number => versions.findLast(({ graceSec }) => graceSec > 0)?.graceSec ?? priceGraceSec

export const setOnSale = defineAct({
  path: 'tiers/:tierId/sale',
  scope: 'prices',
  summary: 'put a tier on sale, or take it off sale after a grace period',
  fields: { tierId: TIER_ID, ...SALE, onSale: field.yesOrNo('whether it is on sale') },
  onChain: true,
  change: enterVersion,
  says: enteredInWords,
})

type Terms = Omit<TierInput, 'fromBlock' | 'fromTime'>

function merge(before: Terms, change: Change): Terms {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null))
  const isOtherToken = change.holdingToken != null && change.holdingToken !== before.holdingToken
  const {
    tierId,
    tierNo,
    label,
    priceWei,
    maxPerWallet,
    payoutBps,
    onSale,
    graceSec,
    holdingRetrySec,
    holdingSymbol,
    holdingDecimals,
    supply,
    opensAt,
    closesAt,
    opensAfter,
    allowlist,
    ...holding
  } = {
    ...before,
    // Symbol and decimals describe one token. Kept for another token, they would mislead the buyers who must hold it.
    ...(isOtherToken ? { holdingSymbol: null, holdingDecimals: null } : {}),
    ...given,
  }
  const open = holding.holdingWei === 0n
  return {
    ...{ tierId, tierNo, label, priceWei, maxPerWallet, payoutBps, onSale, graceSec, holdingRetrySec },
    supply: supply || null,
    opensAt: opensAt || null,
    closesAt: closesAt || null,
    opensAfter: opensAfter === '-' ? null : opensAfter,
    allowlist: allowlist === NO_LIST ? null : allowlist,
    holdingWei: holding.holdingWei,
    holdingToken: open ? null : holding.holdingToken,
    holdingSymbol: open ? null : holdingSymbol,
    holdingDecimals: open ? null : holdingDecimals,
  }
}

/** Enters the version that `propose` derives from the current tiers, unless there is an objection. */
async function enter(
  { sql, actor, record }: Changing,
  deps: TierContext,
  propose: (rows: readonly TierRow[]) => (Terms & { before: TierRow | null }) | OperatorRefusal,
): Promise<EnteredTier | OperatorRefusal> {
  await sql`LOCK TABLE tiers IN SHARE ROW EXCLUSIVE MODE`
  const wait = await refuseWhileMending(sql)
  if (wait) return wait
  const now = await readNow(deps, sql)
  const rows = await readTierVersions(sql)
  const proposed = propose(rows)
  if (isOperatorRefusal(proposed)) return proposed
  const { before, ...terms } = proposed
  const refusal =
    refuseTerms(terms) ??
    (await refuseSupply(sql, terms)) ??
    // Read again under the tier's lock, because a step may have opened just now.
    refuseLadder(await readTierVersions(sql), terms, before) ??
    (await refuseList(sql, terms)) ??
    wordsOf(refuseTierVersion(rows, terms, now.time)) ??
    (await refusePayout(deps, sql, terms, now.number)) ??
    (before?.holdingToken === terms.holdingToken ? null : await refuseToken(deps, terms, now))
  if (refusal) return refusal
  const view = async () => {
    const tier = (await readTiers(sql)).find(({ tierId }) => tierId === terms.tierId)
    return tier ?? Promise.reject(new Error(`there is no tier ${terms.tierId}`))
  }
  if (before && changesNothing(before, terms)) return { tier: await view(), changed: false }
  await insertTierVersion(sql, { ...terms, fromBlock: now.number + 1, fromTime: now.time + 1 }, actor.name)
  const action = before ? 'tierChanged' : 'tierCreated'
  record({ action, subject: terms.tierId, before, after: terms })
  return { tier: await view(), changed: true }
}

/** A new grace period alone is not a change, unless it ends the grace period that the last version left. */
function changesNothing(before: TierRow, terms: Terms): boolean {
  const names = (Object.keys(terms) as (keyof Terms)[]).filter((name) => name !== 'graceSec')
  return names.every((name) => before[name] === terms[name]) && !(terms.graceSec === 0 && before.graceSec > 0)
}

function refuseTerms(terms: Terms): OperatorRefusal | null {
  if (terms.priceWei === 0n)
    return refuseField('invalid', 'priceWei', 'must be more than 0: a transfer of nothing buys nothing.')
  if (terms.opensAt !== null && terms.closesAt !== null && terms.closesAt <= terms.opensAt)
    return refuseField('invalid', 'closesAt', `must be later than ${fieldNamed('opensAt')}.`)
  if (terms.holdingWei > 0n && terms.holdingToken === null)
    return refuseField(
      'invalid',
      'holdingWei',
      `needs a ${fieldNamed('holdingToken')}, the ERC-20 token that a buyer must hold.`,
    )
  return null
}

async function refuseList(sql: Sql, { allowlist }: Terms): Promise<OperatorRefusal | null> {
  if (allowlist === null || (await hasAllowlist(sql, allowlist))) return null
  return refuseField('invalid', 'allowlist', 'is the root of no list: enter the list first.')
}

function wordsOf(refusal: TierRefusal | null): OperatorRefusal | null {
  if (refusal === null) return null
  if (refusal.kind === 'priceTaken')
    return refuseAct(
      'conflict',
      `Tier ${refusal.by} is on sale at that price, and the amount is what selects the tier.`,
    )
  const until = timeInWords(refusal.untilTime, Date.now() / 1000)
  return refuseAct(
    'conflict',
    `That price still buys tier ${refusal.by} until ${until} (block time), because it was that tier’s price until recently.`,
  )
}

/** Refuses a payout if its lifetime sum exceeds the contract's cap for a node, or if a single turn exceeds the distributor's bounds. */
async function refusePayout(
  { contract }: FactoryRead,
  sql: Sql,
  { payoutBps }: Terms,
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
  { holdingToken }: Terms,
  now: Awaited<ReturnType<typeof readNow>>,
): Promise<OperatorRefusal | null> {
  if (holdingToken === null) return null
  const somebody = (await readWalletInForce(deps.pool)) ?? holdingToken
  if ((await deps.chain.holding(holdingToken, somebody, now)) !== null) return null
  return refuseAct('invalid', `The chain could not return a balance of ${holdingToken}: is that an ERC-20 token there?`)
}
