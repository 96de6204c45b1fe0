// A tier's change in words, for commands and pages: `0.01 -> 0.012 ETH from block 800; 0.01 still buys until 14:21 UTC`, and why one does
// not fit.
import type { TierTerms, Unfit } from '../../domain/sale/changes.ts'
import { closedFrom, latestOf, type TierVersion } from '../../domain/tiers.ts'
import { inEther } from '../../domain/units.ts'
import { inUtc, timeInWords } from '../../lib/times.ts'
import { fieldNamed } from '../act.ts'

/** Our words for each term. A text leaves out the other terms. */
const NAMED: Readonly<Record<string, string>> = {
  label: 'name',
  maxPerWallet: 'for a wallet',
  payoutBps: 'rate',
  holdingToken: 'token',
  holdingWei: 'holding',
  holdingSymbol: 'symbol',
  holdingDecimals: 'decimals',
  holdingRetrySec: 'holding retried for seconds',
  supply: 'supply',
  opensAt: 'opens',
  closesAt: 'closes',
  opensAfter: 'opens after',
  allowlist: 'allowlist',
}

/** The terms that differ, each as `name before -> after`. What `after` does not name stays. Takes stored terms, and those that an operator types. */
export function changesIn(before: object, after: object): string[] {
  const terms = before as Readonly<Record<string, unknown>>
  return Object.entries(after).flatMap(([name, value]) => {
    const [from, to] = [shown(name, terms[name]), shown(name, value)]
    if (value === undefined || from === to) return []
    if (name === 'onSale') return [value ? 'off sale -> on sale' : 'on sale -> off sale']
    if (name === 'priceWei') return [`${from} -> ${to} ETH`]
    return NAMED[name] ? [`${NAMED[name]} ${from} -> ${to}`] : []
  })
}

type Terms = Omit<TierVersion, 'version' | 'opened' | 'fromBlock' | 'fromTime'>

/** A version that is entered. `before`: the tier's version until then; null if the tier is new. `from`: when it takes effect. */
export function versionInWords(
  before: Terms | null,
  after: Terms & Pick<TierVersion, 'fromTime'>,
  from: string,
): string {
  if (before === null) return `${after.label} at ${inEther(after.priceWei)} ETH ${from}.`
  const changes = changesIn(before, after).join(', ') || 'the grace period ends'
  const still = whatStillBuys(before, after)
  const untilTime = Math.min(after.fromTime + after.graceSec, closedFrom(before))
  return `${changes} ${from}${still && untilTime > after.fromTime ? `; ${still} until ${untilOf(after, untilTime)}` : ''}.`
}

/** What a change's grace period is for: `0.01 still buys`; null if it is for nothing. */
export function whatStillBuys(
  before: Pick<TierVersion, 'priceWei' | 'onSale'>,
  after: { readonly priceWei?: unknown; readonly onSale?: unknown },
): string | null {
  if (!before.onSale) return null
  if (after.priceWei != null && String(after.priceWei) !== String(before.priceWei))
    return `${inEther(before.priceWei)} still buys`
  return after.onSale === false ? 'it still sells' : null
}

function shown(name: string, value: unknown): string {
  if (name === 'priceWei') return inEther(BigInt(String(value)))
  const isTime = name === 'opensAt' || name === 'closesAt'
  if (value === null || value === undefined || value === '-' || /^0(x0{64})?$/.test(String(value))) return 'none'
  return isTime && /^\d+$/.test(String(value)) ? inUtc(Number(value)) : String(value)
}

/** When the earlier version stops selling, with its day if that is another one. */
function untilOf({ fromTime }: Pick<TierVersion, 'fromTime'>, untilTime: number): string {
  const [from, until] = [inUtc(fromTime), inUtc(untilTime)]
  return from.slice(0, 10) === until.slice(0, 10) ? until.slice(11) : until
}

export const nowSec = () => Date.now() / 1000

type Timed = Pick<TierVersion, 'tierId' | 'version' | 'fromTime'>

/** Why a change does not fit at its time: its field, and a sentence; some sentences begin with the field's name, which is left out here. `plans`: the planned changes that fit. */
export function whyUnfit(
  why: Unfit,
  plans: readonly Timed[],
  fromTime: number,
): { field: keyof TierTerms | null; text: string } {
  switch (why.kind) {
    case 'noTier':
      return { field: null, text: 'There is no such tier.' }
    case 'closing':
      return { field: 'closesAt', text: `must be later than ${fieldNamed('opensAt')}.` }
    case 'holding':
      return {
        field: 'holdingWei',
        text: `needs a ${fieldNamed('holdingToken')}, the ERC-20 token that a buyer must hold.`,
      }
    case 'ladder':
      return {
        field: 'opensAfter',
        text: `must be another tier with a supply that does not wait for this one, and ${why.otherId} is not.`,
      }
    case 'awaited':
      return { field: null, text: `Tier ${why.otherId} opens once this one is sold out: it needs a supply.` }
    case 'raised':
      return {
        field: null,
        text: `Tier ${why.otherId} has opened after this one: ${fieldNamed('supply')} cannot be raised.`,
      }
    case 'priceTaken': {
      const later = latestOf(plans.filter((one) => one.tierId === why.otherId && one.fromTime <= fromTime))
      const isOn = later
        ? `will be on sale at that price from ${timeInWords(later.fromTime, nowSec())}`
        : 'is on sale at that price'
      return { field: null, text: `Tier ${why.otherId} ${isOn}, and the amount is what selects the tier.` }
    }
    case 'priceInGrace': {
      const until = timeInWords(why.untilTime, nowSec())
      return {
        field: null,
        text: `That price still buys tier ${why.otherId} until ${until} (block time), because it was that tier’s price until recently.`,
      }
    }
  }
}
