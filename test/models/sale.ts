// Which tier an amount buys, as a second reading of the rules: docs/ADMIN.md (Tiers), docs/decisions/0002 and 0014, and the tables `tiers` and
// `tier_openings` of migrations/0001_schema.sql. Grace, lists and supply follow the fourth edition of the rules of the sale. Slow on purpose: arrays
// and loops only, and nothing of src.

// Choices in what the documents leave open:
// - A grace of n seconds ends n seconds after it began. A block of exactly that time is outside, like a block at `closesAt`.
// - A superseded version's grace ends with that of each later version, so a version with a shorter grace shortens those before it, and one at once (a
//   grace of 0) ends them. ADMIN.md says only the last.
// - The first block of a version is in the tables so that they can be read by blocks. Here only times decide.
// - A version that has not opened and is past its closing has not opened: a ladder's step may still open before the payment's place in the chain.
// - A version in its grace that does not sell, by its own opening or closing, holds the payment by that reason: the price is still the tier's.
// - An amount that only a version past its grace had is a wrong amount, because no tier has this price in that block.

export interface Version {
  tierId: string
  version: number
  priceWei: bigint
  maxPerWallet: number
  holdingWei: bigint
  onSale: boolean
  graceSec: number
  supply: number | null
  opensAt: number | null
  closesAt: number | null
  opensAfter: string | null
  allowlist: string | null
  fromBlock: number
  fromTime: number
}
export interface Block {
  number: number
  time: number
  /** Where a payment is in the block; left out behind all of its payments. */
  txIndex?: number
  innerIndex?: number
}
/** A step of a ladder that opened behind the payment which took the last place before it. */
export interface Opening {
  tierId: string
  opensAfter: string
  fromBlock: number
  txIndex: number
  innerIndex: number
}
export interface Sale {
  versions: Version[]
  openings: Opening[]
}

type Standing = 'sells' | 'notOpenYet' | 'saleClosed'

/** The versions of a tier that have begun in a block, in the order of their times, and of equal times in that of their entry. */
function begun(sale: Sale, tierId: string, { time }: Block): Version[] {
  const found: Version[] = []
  for (const one of sale.versions) if (one.tierId === tierId && one.fromTime <= time) found.push(one)
  return found.sort((a, b) => a.fromTime - b.fromTime || a.version - b.version)
}

/** The version of a tier in force in a block: the latest that has begun. */
export const inForce = (sale: Sale, tierId: string, block: Block): Version | undefined =>
  begun(sale, tierId, block).at(-1)

/** The versions of a tier, on sale before the one in force, that are still in their grace, newest first. */
export function graced(sale: Sale, tierId: string, block: Block): Version[] {
  const all = begun(sale, tierId, block).reverse()
  const found: Version[] = []
  let ends = Number.MAX_SAFE_INTEGER
  for (let i = 1; i < all.length; i++) {
    const successor = all[i - 1] as Version
    ends = Math.min(ends, successor.fromTime + successor.graceSec)
    const one = all[i] as Version
    // A version that was off sale has no price to keep.
    if (block.time < ends && one.onSale) found.push(one)
  }
  return found
}

/** Whether a version has opened by its time and by its step of the ladder. */
export function hasOpened(sale: Sale, one: Version, block: Block): boolean {
  if (one.opensAt !== null && block.time < one.opensAt) return false
  if (one.opensAfter === null) return true
  const { number, txIndex = Number.MAX_SAFE_INTEGER, innerIndex = 0 } = block
  const step = sale.openings.find(({ tierId, opensAfter }) => tierId === one.tierId && opensAfter === one.opensAfter)
  return step !== undefined && comesBefore({ ...step, block: step.fromBlock }, { block: number, txIndex, innerIndex })
}

/** What a version says about a sale in a block, by its own terms. */
export function standing(sale: Sale, one: Version, block: Block): Standing {
  if (!one.onSale) return 'saleClosed'
  if (!hasOpened(sale, one, block)) return 'notOpenYet'
  if (one.closesAt !== null && block.time >= one.closesAt + one.graceSec) return 'saleClosed'
  return 'sells'
}

export type Choice =
  | { kind: 'sells'; tierId: string; versions: Version[]; byGrace: boolean }
  | { kind: 'held'; reason: 'wrongAmount' | 'notOpenYet' | 'saleClosed'; version: Version | null }

/** The tier that an amount buys in a block, with every version that sells it: the one in force first. */
export function choose(sale: Sale, valueWei: bigint, block: Block): Choice {
  const tierIds = [...new Set(sale.versions.map((one) => one.tierId))]
  const refusals: { version: Version; reason: Standing }[] = []
  for (const tierId of tierIds) {
    const now = inForce(sale, tierId, block)
    const alive = [...(now === undefined ? [] : [now]), ...graced(sale, tierId, block)]
    const ofPrice = alive.filter((one) => one.priceWei === valueWei)
    const selling = ofPrice.filter((one) => standing(sale, one, block) === 'sells')
    const [first] = selling
    if (first) {
      const isPast = first.closesAt !== null && block.time >= first.closesAt
      return { kind: 'sells', tierId, versions: selling, byGrace: first !== now || isPast }
    }
    for (const version of ofPrice) refusals.push({ version, reason: standing(sale, version, block) })
  }
  // The amount selects the tier among those on sale, of which no two share a price. Only then does it name a tier that is off sale.
  const refusal =
    refusals.find((one) => one.reason === 'notOpenYet') ?? refusals.find((one) => one.version.onSale) ?? refusals[0]
  if (refusal === undefined) return { kind: 'held', reason: 'wrongAmount', version: null }
  return { kind: 'held', reason: refusal.reason as 'notOpenYet' | 'saleClosed', version: refusal.version }
}

/** The tier that must be sold out before a version sells, if nothing else keeps the version from it; null otherwise. */
export function awaited(sale: Sale, one: Version, block: Block): string | null {
  const isTimely = one.opensAt === null || block.time >= one.opensAt
  const hasOpenedStep = sale.openings.some((step) => step.tierId === one.tierId && step.opensAfter === one.opensAfter)
  return isTimely && !hasOpenedStep ? one.opensAfter : null
}

/** How many nodes of a tier may ever be sold, as the judge of a block and the pages see it. Null: no limit. Supply has no grace. */
export function supplyOf(sale: Sale, tierId: string, block: Block, cap: number | null): number | null {
  const ofTier = sale.versions.filter((one) => one.tierId === tierId)
  const latest = ofTier.sort((a, b) => a.fromTime - b.fromTime || a.version - b.version).at(-1)
  const limits = [inForce(sale, tierId, block)?.supply, latest?.supply, cap]
  const known = limits.filter((one): one is number => one !== null && one !== undefined)
  return known.length === 0 ? null : Math.min(...known)
}

/** How many payments of the tier a wallet may make by a version's list. Null: no list limits it. */
export function allocationOf(one: Version, lists: Map<string, Map<string, number>>, wallet: string): number | null {
  return one.allowlist === null ? null : (lists.get(one.allowlist)?.get(wallet) ?? 0)
}

export interface Payment {
  block: number
  txIndex: number
  innerIndex: number
}

/** The order of the chain: by block, by place in it, by place in the transaction. */
export function comesBefore(a: Payment, b: Payment): boolean {
  if (a.block !== b.block) return a.block < b.block
  if (a.txIndex !== b.txIndex) return a.txIndex < b.txIndex
  return a.innerIndex < b.innerIndex
}

/** Whether a payment gets a place: sold places are gone, reserved ones before it may still be taken. */
export function place(limit: number | null, sold: number, reservedBefore: number): 'free' | 'waits' | 'soldOut' {
  if (limit === null) return 'free'
  if (sold >= limit) return 'soldOut'
  if (sold + reservedBefore >= limit) return 'waits'
  return 'free'
}

/**
 * Which other tier a new version's price belongs to, if any. Two tiers on sale may not share a price, by their latest versions; and a price that
 * another tier gave up is its own until its grace is over, at `untilTime`.
 */
export function priceOwner(
  sale: Sale,
  candidate: { tierId: string; priceWei: bigint; onSale: boolean },
  now: number,
): { tierId: string; untilTime: number | null } | null {
  if (!candidate.onSale) return null
  const tierIds = [...new Set(sale.versions.map((one) => one.tierId))].filter((one) => one !== candidate.tierId)
  for (const tierId of tierIds) {
    const later = { number: Number.MAX_SAFE_INTEGER, time: now }
    const latest = inForce(sale, tierId, later)
    if (latest?.onSale && latest.priceWei === candidate.priceWei) return { tierId, untilTime: null }
    const sellsAt = (time: number) =>
      graced(sale, tierId, { ...later, time }).some((one) => one.priceWei === candidate.priceWei)
    if (!sellsAt(now)) continue
    const ends = sale.versions.map((one) => one.fromTime + one.graceSec).sort((a, b) => a - b)
    return { tierId, untilTime: ends.find((time) => time > now && !sellsAt(time)) ?? null }
  }
  return null
}
