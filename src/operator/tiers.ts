// The operator's tiers, with their prices, in versions that hold from a block on. A version is never changed. It holds from the
// block after the chain's head at the earliest, so that payments already made are not judged by it. The next payments pass opens
// the cohorts of a new tier.
import { readCursor } from '../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import { readCohorts } from '../db/nodes/cohorts.ts'
import { readWalletInForce } from '../db/sale/payment-wallets.ts'
import { readCreditTerms } from '../db/sale/terms.ts'
import { insertTierVersion, readTierHistory, type TierInput, type TierRow } from '../db/sale/tiers.ts'
import { creditMaxWei } from '../domain/credit.ts'
import {
  type FirstSaleTerms,
  GRACE_SEC_MAX,
  GRACE_SEC_MIN,
  HOLDING_RETRY_SEC_MAX,
  refuseTierVersion,
  TIER_ID_FORM,
  type TierRefusal,
} from '../domain/tiers.ts'
import { type Wei, wei } from '../domain/units.ts'
import type { ChainRead, FactoryRead, LedgerDb, RuledBy } from '../passes/context.ts'
import { type Actor, isOperatorRefusal, type OperatorRefusal, recordAct, refuseAct } from './act.ts'
import { defineAct } from './define-act.ts'
import type { FieldReader } from './input.ts'
import { refuseOutOfBounds } from './terms.ts'

type TierContext = LedgerDb & ChainRead & FactoryRead & RuledBy<FirstSaleTerms>

const PAYOUT_BPS_MAX = 1_000_000
const PER_WALLET_MAX = 2 ** 31 - 1
const TIER_NO_MAX = 65_535
const TIER_ID = {
  max: 32,
  pattern: TIER_ID_FORM,
  form: 'up to 32 of a-z, 0-9 and -, beginning with one of the first',
}

/** A tier with every version it ever had, oldest first, and how many cohorts the contract has for it. */
export interface TierView extends Omit<TierRow, 'live'> {
  cohorts: number
  versions: TierRow[]
}

/** A tier after an act. `changed` is false where it stood so already. */
export interface EnteredTier {
  tier: TierView
  changed: boolean
}

/** GET tiers: all of them, by number, as they are now and with their versions. */
export async function listTiers(deps: LedgerDb): Promise<{ tiers: TierView[] }> {
  return { tiers: await readTiers(deps.pool) }
}

async function readTiers(sql: Sql): Promise<TierView[]> {
  const [rows, cohorts] = [await readTierHistory(sql), await readCohorts(sql)]
  return [...Map.groupBy(rows, (row) => row.tierId).values()].flatMap((versions) => {
    const now = versions.at(-1)
    if (!now) return []
    const { live: _, ...shown } = now
    return [{ ...shown, cohorts: cohorts.filter(({ tierNo }) => tierNo === now.tierNo).length, versions }]
  })
}

/** The fields of a tier that a new version may change. Null: as it was. */
interface Change {
  label: string | null
  priceWei: Wei | null
  maxPerWallet: number | null
  payoutBps: number | null
  holdingWei: Wei | null
  holdingToken: `0x${string}` | null
  holdingSymbol: string | null
  holdingDecimals: number | null
  onSale: boolean | null
  graceSec: number | null
  holdingRetrySec: number | null
}

function readChange(fields: FieldReader): { change: Change; reason: string | null } {
  const change = {
    label: fields.textOrNull('label', { max: 64 }),
    priceWei: fields.weiOrNull('priceWei'),
    maxPerWallet: fields.wholeOrNull('maxPerWallet', 1, PER_WALLET_MAX),
    payoutBps: fields.wholeOrNull('payoutBps', 0, PAYOUT_BPS_MAX),
    holdingWei: fields.weiOrNull('holdingWei'),
    holdingToken: fields.addressOrNull('holdingToken'),
    holdingSymbol: fields.textOrNull('holdingSymbol', { max: 32 }),
    holdingDecimals: fields.wholeOrNull('holdingDecimals', 0, 255),
    onSale: fields.flagOrNull('onSale'),
    graceSec: readGrace(fields),
    holdingRetrySec: fields.wholeOrNull('holdingRetrySec', 0, HOLDING_RETRY_SEC_MAX),
  }
  return { change, reason: fields.textOrNull('reason') }
}

/** `atOnce` is no grace, whatever `graceSec` says. */
function readGrace(fields: FieldReader): number | null {
  const graceSec = fields.wholeOrNull('graceSec', GRACE_SEC_MIN, GRACE_SEC_MAX)
  return fields.flagOrNull('atOnce') === true ? 0 : graceSec
}

/**
 * POST tiers `{tierId, label, priceWei, maxPerWallet, payoutBps?, holdingWei?, holdingToken?, holdingSymbol?, holdingDecimals?,
 * holdingRetrySec?, onSale?, graceSec?, tierNo?, reason?}`: a new tier. `tierNo` is its number on the
 * contract, for good; by default the next free one.
 */
export const createTier = defineAct({
  read: (fields) => {
    const tierId = fields.text('tierId', TIER_ID)
    const tierNo = fields.wholeOrNull('tierNo', 1, TIER_NO_MAX)
    for (const name of ['label', 'priceWei', 'maxPerWallet'] as const)
      if (!fields.isGiven(name)) fields.complain(`${name} is required`)
    return { tierId, tierNo, ...readChange(fields) }
  },
  run: (deps: TierContext, actor, { tierId, tierNo, change, reason }) =>
    enter(deps, actor, reason, (rows) => {
      if (rows.some((row) => row.tierId === tierId))
        return refuseAct('conflict', `There is a tier ${tierId} already: give it a new version instead.`)
      const number = tierNo ?? Math.max(0, ...rows.map((row) => row.tierNo)) + 1
      const taken = rows.find((row) => row.tierNo === number)
      if (taken) return refuseAct('conflict', `Number ${number} is that of tier ${taken.tierId} on the contract.`)
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
      return { before: null, ...merge({ ...fresh, ...open }, change) }
    }),
})

/**
 * POST tiers/:tierId `{label?, priceWei?, maxPerWallet?, payoutBps?, holding…?, onSale?, graceSec?, atOnce?, reason?}`: the tier's next version;
 * what is left out stays. What was on sale before still buys the tier for `graceSec`, and its price is no other tier's until then; with `atOnce` it ends
 * with the block before, even if grace was left. `holdingWei: "0"` opens it to anyone.
 */
export const changeTier = defineAct({
  read: (fields) => ({ tierId: fields.text('tierId', TIER_ID), ...readChange(fields) }),
  run: enterVersion,
})

function enterVersion(
  deps: TierContext,
  actor: Actor,
  { tierId, change, reason }: { tierId: string; change: Partial<Change>; reason: string | null },
): Promise<EnteredTier | OperatorRefusal> {
  return enter(deps, actor, reason, (rows) => {
    const ofTier = rows.filter((row) => row.tierId === tierId)
    const before = ofTier.at(-1)
    if (!before) return refuseAct('notFound', `There is no tier ${tierId}.`)
    const graceSec = nextGraceSec(ofTier, deps.rules)
    return { before, ...merge({ ...before, graceSec }, change) }
  })
}

/** The grace of a next version, unless it is given: that of the last one that did not end the one before at once. */
export const nextGraceSec = (
  versions: readonly Pick<TierRow, 'graceSec'>[],
  { priceGraceSec }: Pick<FirstSaleTerms, 'priceGraceSec'>,
): number => versions.findLast(({ graceSec }) => graceSec > 0)?.graceSec ?? priceGraceSec

/** POST tiers/:tierId/sale `{onSale, graceSec?, atOnce?, reason?}`: puts a tier on sale or takes it off, which ends after a grace. */
export const setOnSale = defineAct({
  read: (fields) => {
    const tierId = fields.text('tierId', TIER_ID)
    const change = { onSale: fields.flag('onSale'), graceSec: readGrace(fields) }
    return { tierId, change, reason: fields.textOrNull('reason') }
  },
  run: enterVersion,
})

type Terms = Omit<TierInput, 'fromBlock' | 'fromTime'>

function merge(before: Terms, change: Partial<Change>): Terms {
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
    ...holding
  } = {
    ...before,
    // They describe one token. Kept for another one, they would mislead the buyers who are asked to hold it.
    ...(isOtherToken ? { holdingSymbol: null, holdingDecimals: null } : {}),
    ...given,
  }
  const open = holding.holdingWei === 0n
  return {
    ...{ tierId, tierNo, label, priceWei, maxPerWallet, payoutBps, onSale, graceSec, holdingRetrySec },
    holdingWei: holding.holdingWei,
    holdingToken: open ? null : holding.holdingToken,
    holdingSymbol: open ? null : holdingSymbol,
    holdingDecimals: open ? null : holdingDecimals,
  }
}

/** Enters what `propose` makes of the tiers there are, unless something speaks against it. */
async function enter(
  deps: TierContext,
  actor: Actor,
  reason: string | null,
  propose: (rows: readonly TierRow[]) => (Terms & { before: TierRow | null }) | OperatorRefusal,
): Promise<EnteredTier | OperatorRefusal> {
  return inTransaction(deps.pool, async (sql) => {
    await sql`LOCK TABLE tiers IN SHARE ROW EXCLUSIVE MODE`
    const now = await readNow(deps, sql)
    const rows = await readTierHistory(sql)
    const proposed = propose(rows)
    if (isOperatorRefusal(proposed)) return proposed
    const { before, ...terms } = proposed
    const refusal =
      refuseTerms(terms) ??
      wordsOf(refuseTierVersion(rows, terms, now.time)) ??
      (await refusePayout(deps, sql, terms, now.number)) ??
      (before?.holdingToken === terms.holdingToken ? null : await refuseToken(deps, terms, now))
    if (refusal) return refusal
    const view = async () => {
      const tier = (await readTiers(sql)).find(({ tierId }) => tierId === terms.tierId)
      return tier ?? Promise.reject(new Error(`tier ${terms.tierId} is not there`))
    }
    if (before && changesNothing(before, terms)) return { tier: await view(), changed: false }
    await insertTierVersion(sql, { ...terms, fromBlock: now.number + 1, fromTime: now.time + 1 }, actor.name)
    const action = before ? 'tierChanged' : 'tierCreated'
    await recordAct(sql, actor, { action, subject: terms.tierId, before, after: terms, reason })
    await notifyLedgerChanged(sql)
    return { tier: await view(), changed: true }
  })
}

/**
 * The newest block there is: payments up to it were made under the old terms. No pass follows beyond it before the
 * version is stored, so payments are judged and credited only by the terms in force at their block.
 */
async function readNow(deps: ChainRead, sql: Sql) {
  const [head, cursor] = [await deps.chain.head(), await readCursor(sql, { lock: true })]
  return cursor && cursor.number > head.number ? { ...cursor, time: Math.max(cursor.time, head.time) } : head
}

/** A grace alone is no change, unless it ends what the last one left. */
function changesNothing(before: TierRow, terms: Terms): boolean {
  const names = (Object.keys(terms) as (keyof Terms)[]).filter((name) => name !== 'graceSec')
  return names.every((name) => before[name] === terms[name]) && !(terms.graceSec === 0 && before.graceSec > 0)
}

function refuseTerms(terms: Terms): OperatorRefusal | null {
  if (terms.priceWei === 0n)
    return refuseAct('invalid', 'priceWei must be more than 0: a transfer of nothing buys nothing.')
  if (terms.holdingWei > 0n && terms.holdingToken === null)
    return refuseAct('invalid', 'holdingWei needs a holdingToken, the ERC-20 token that a buyer must hold.')
  return null
}

function wordsOf(refusal: TierRefusal | null): OperatorRefusal | null {
  if (refusal === null) return null
  if (refusal.kind === 'priceTaken')
    return refuseAct(
      'conflict',
      `Tier ${refusal.by} is on sale at that price, and the amount is what selects the tier.`,
    )
  const until = new Date(refusal.untilTime * 1000).toISOString()
  return refuseAct(
    'conflict',
    `That price still buys tier ${refusal.by} until ${until} (block time): it gave it up just now.`,
  )
}

/** Refuses a payout whose lifetime sum exceeds the contract's cap of a node, or whose turn exceeds the distributor's bounds. */
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

/** A token that cannot be read would hold every payment. */
async function refuseToken(
  deps: LedgerDb & ChainRead,
  { holdingToken }: Terms,
  now: Awaited<ReturnType<typeof readNow>>,
): Promise<OperatorRefusal | null> {
  if (holdingToken === null) return null
  const somebody = (await readWalletInForce(deps.pool)) ?? holdingToken
  if ((await deps.chain.holding(holdingToken, somebody, now)) !== null) return null
  return refuseAct(
    'invalid',
    `The chain could not say what anybody holds of ${holdingToken}: is that an ERC-20 token on it?`,
  )
}
