// Which versions of which tier an amount buys in a block, from the versions and wallets that the service publishes for that block. Pure.
import type { Sale, TierVersion } from '../types.ts'

/** A payment's place in the chain, and its block's time in seconds. */
export interface Position {
  blockNumber: number
  txIndex: number
  innerIndex: number
  timeSec: number
}

export interface Selling {
  /** `sells`, or the reason for which the service holds the payment. */
  kind: 'sells' | 'notOpenYet' | 'saleClosed' | 'wrongAmount'
  /** The versions that the verdict may name. */
  versions: TierVersion[]
}

const secOf = (time: Date) => time.getTime() / 1000

/** The latest first: by the time from which they count, then by entry. */
const byEffect = (a: TierVersion, b: TierVersion): number => secOf(b.fromAt) - secOf(a.fromAt) || b.version - a.version

/** The tier's version in force in a block. */
export const inForce = ({ versions }: Sale, tierId: string): TierVersion | undefined =>
  versions.filter((one) => one.tierId === tierId).sort(byEffect)[0]

export function selectSelling(sale: Sale, valueWei: bigint, at: Position): Selling {
  const begun = sale.versions.filter(({ fromBlock }) => fromBlock <= at.blockNumber)
  const tierIds = [...new Set(begun.map(({ tierId }) => tierId))]
  const tiers = tierIds.map((id) => begun.filter(({ tierId }) => tierId === id))
  const priced = tiers.map((ofTier) => aliveOf(ofTier, at.timeSec).filter(({ priceWei }) => priceWei === valueWei))
  const selling = priced
    .map((some) => some.filter((one) => kindOf(one, at) === 'sells'))
    .filter(({ length }) => length > 0)
  // A price in force takes precedence over another tier's former price.
  const versions =
    selling.find(([first]) => first === inForce({ ...sale, versions: begun }, first?.tierId ?? '')) ?? selling[0]
  if (versions) return { kind: 'sells', versions }
  const refusing = priced.flat()
  const early = refusing.filter((one) => kindOf(one, at) === 'notOpenYet')
  if (early.length > 0) return { kind: 'notOpenYet', versions: early }
  const closed = refusing.filter(({ onSale }) => onSale)
  return refusing.length === 0
    ? { kind: 'wrongAmount', versions: [] }
    : { kind: 'saleClosed', versions: closed.length > 0 ? closed : refusing }
}

/** A tier's version in force, then those still in their grace period, the newest first. */
function aliveOf(ofTier: readonly TierVersion[], timeSec: number): TierVersion[] {
  const [now, ...former] = [...ofTier].sort(byEffect)
  if (!now) return []
  const alive = [now]
  let endSec = Number.POSITIVE_INFINITY
  for (let [next, rest] = [now, former]; rest[0]; [next, rest] = [rest[0], rest.slice(1)]) {
    endSec = Math.min(endSec, secOf(next.fromAt) + next.graceSec)
    if (rest[0].onSale && timeSec < endSec) alive.push(rest[0])
  }
  return alive
}

function kindOf(one: TierVersion, at: Position): Selling['kind'] {
  if (!one.onSale) return 'saleClosed'
  if ((one.opensAt !== null && at.timeSec < secOf(one.opensAt)) || !isStepOpen(one, at)) return 'notOpenYet'
  return one.closesAt !== null && at.timeSec >= secOf(one.closesAt) + one.graceSec ? 'saleClosed' : 'sells'
}

const isStepOpen = ({ opensAfter, opened }: TierVersion, at: Position): boolean =>
  opensAfter === null || (opened !== null && comesBefore(opened, at))

/** The order of the chain: by block, by transaction, by inner transfer. */
function comesBefore(a: NonNullable<TierVersion['opened']>, b: Position): boolean {
  if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber
  return a.txIndex === b.txIndex ? a.innerIndex < b.innerIndex : a.txIndex < b.txIndex
}

/** True if a version in force is past its closing, so that it sells by its grace period. */
export const isClosing = ({ closesAt }: TierVersion, { timeSec }: Position): boolean =>
  closesAt !== null && timeSec >= secOf(closesAt)

/** True if another payments wallet has replaced this one, and the grace period is over. A wallet that the service does not name is replaced. */
export function isReplaced({ wallets }: Sale, address: string, at: Position): boolean {
  const place = wallets.findIndex((one) => one.address === address)
  if (place < 0) return true
  return wallets.slice(place + 1).some(({ fromBlock, fromAt, graceSec }) => {
    const sinceSec = at.timeSec - secOf(fromAt)
    return fromBlock <= at.blockNumber && sinceSec >= 0 && sinceSec >= graceSec
  })
}
