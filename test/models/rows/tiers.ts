// What `GET /api/tiers` and a quote say of each tier, by api/openapi.yaml (Tier, getDeployQuote), docs/ADMIN.md (Tiers) and the fourth edition of the
// rules of the sale. Which version is in force, which limit holds and whether a step has opened are the model's own (../sale.ts), and so is what is
// sold and reserved (./places.ts).
//
// Choices in what the documents leave open:
// - A tier is shown by its latest version, also before that version's first block is followed: the reader pays in a later block.
// - Of several states the first of closed, upcoming, sold out. So a tier that has not opened is upcoming, even if nothing of it is left.
// - A limit that the ledger and the contract share is the contract's, because it holds whatever the ledger does.
// - Tiers come by their number on the contract.
// - A quote is of a tier that is open. The first tier on sale is the first open one.
// - A caller that names a closed tier has named none (400). One that is not open yet, or sold out, may be quoted another time (503); one that
//   waits for a tier before it names that tier. Where nothing
//   can be sold at all, every name gets 503.
// - A quote says who may buy by an inner call in the block after the followed one.
import { type Block, hasOpened, supplyOf, type Version } from '../sale.ts'
import { type Ledger, reservationsOf, soldOf } from './places.ts'

/** What else a version says: nothing of it decides, all of it is shown. */
export interface Face {
  tierNo: number
  label: string
  payoutBps: number
  holdingToken: string | null
  holdingSymbol: string | null
  holdingDecimals: number | null
}
export interface CreditTerms {
  fromTime: number
  payouts: boolean
  minWei: bigint
  maxWei: bigint
  intervalSec: number
}
export interface Shop {
  ledger: Ledger
  head: Block
  /** By tier: what each version shows, the first one first. */
  faces: Map<string, Face[]>
  /** By tier: each cap that the contract's owner set, oldest first. A cap never rises. */
  caps: Map<string, number[]>
  /** Nodes that the minter may still mint; null if no pass has looked yet. */
  budget: number | null
  hasWallet: boolean
  /** The credit terms, oldest first. */
  terms: CreditTerms[]
  /** `QUOTE_TIER`. */
  quoteTier: string | null
  modes: { fromBlock: number; mode: string }[]
}

const iso = (sec: number | null) => (sec === null ? null : new Date(sec * 1_000).toISOString())

function latestOf({ ledger }: Shop, tierId: string): Version {
  const own = ledger.sale.versions.filter((one) => one.tierId === tierId)
  const latest = own.find((one) => own.every((other) => other.version <= one.version))
  if (latest === undefined) throw new Error(`there is no tier ${tierId}`)
  return latest
}

function faceOf(shop: Shop, tierId: string): Face {
  const face = shop.faces.get(tierId)?.[latestOf(shop, tierId).version - 1]
  if (face === undefined) throw new Error(`${tierId} shows nothing`)
  return face
}

/** The ids of all tiers by their numbers, tiers off sale among them. */
export function tierIdsOf(shop: Shop): string[] {
  const all = [...new Set(shop.ledger.sale.versions.map(({ tierId }) => tierId))]
  return all.toSorted((a, b) => faceOf(shop, a).tierNo - faceOf(shop, b).tierNo)
}

function capOf({ caps }: Shop, tierId: string): number | null {
  let lowest: number | null = null
  for (const most of caps.get(tierId) ?? []) if (lowest === null || most < lowest) lowest = most
  return lowest
}

export type State = 'upcoming' | 'open' | 'soldOut' | 'closed'

function stateOf({ ledger, head }: Shop, latest: Version, left: number | null): State {
  if (!latest.onSale) return 'closed'
  if (latest.closesAt !== null && head.time >= latest.closesAt) return 'closed'
  if (!hasOpened(ledger.sale, latest, head)) return 'upcoming'
  return left === 0 ? 'soldOut' : 'open'
}

function limitsOf(shop: Shop, tierId: string) {
  const { ledger, head } = shop
  const cap = capOf(shop, tierId)
  const sold = soldOf(ledger, tierId)
  // A supply below what is sold shows what is sold.
  const own = supplyOf(ledger.sale, tierId, head, null)
  const shown = own !== null && own < sold ? sold : own
  const supply = shown === null ? cap : cap === null ? shown : Math.min(shown, cap)
  const remaining = supply === null ? null : supply > sold ? supply - sold : 0
  const by = supply === null ? 'none' : supply === cap ? 'contract' : 'operator'
  return { supply, sold, remaining, by }
}

/** What limits a decision made now, whichever block the payment was in: the latest version's supply and the contract's cap. Null: nothing. */
export function supplyLeft(shop: Shop, tierId: string): number | null {
  const latest = { number: Number.MAX_SAFE_INTEGER, time: Number.MAX_SAFE_INTEGER }
  return supplyOf(shop.ledger.sale, tierId, latest, capOf(shop, tierId))
}

/** What a node is credited at a rate, by the last terms that are in force at the head. Nothing while payouts are off. */
function creditOf({ terms, head }: Shop, payoutBps: number) {
  const inForce = terms.findLast(({ fromTime }) => fromTime <= head.time)
  if (!inForce?.payouts) return null
  const [minWei, maxWei] = [inForce.minWei, inForce.maxWei].map((wei) => String((wei * BigInt(payoutBps)) / 10_000n))
  return { minWei, maxWei, intervalSec: inForce.intervalSec }
}

/** A tier as people and checks see it: by its latest version, with the contract's cap beside the ledger's own limit. */
export function tierNow(shop: Shop, tierId: string) {
  const { onSale, supply } = latestOf(shop, tierId)
  const { state, sold, reserved } = tierOf(shop, tierId)
  return { tierId, onSale, state, sold, reserved, supply, cap: capOf(shop, tierId) }
}

/** Whether a decision made now may take another place of the tier. */
export function hasRoom(shop: Shop, tierId: string): boolean {
  const most = supplyLeft(shop, tierId)
  return most === null || soldOf(shop.ledger, tierId) < most
}

export function tierOf(shop: Shop, tierId: string) {
  const latest = latestOf(shop, tierId)
  const { label, payoutBps, holdingToken, holdingSymbol, holdingDecimals } = faceOf(shop, tierId)
  const { supply, sold, remaining, by } = limitsOf(shop, tierId)
  return {
    ...{ id: tierId, label, priceWei: String(latest.priceWei), maxPerWallet: latest.maxPerWallet },
    ...{ holdingWei: String(latest.holdingWei), holdingToken, holdingSymbol, holdingDecimals, payoutBps },
    ...{
      credit: creditOf(shop, payoutBps),
      onSale: latest.onSale,
      soldOut: shop.budget === 0,
      state: stateOf(shop, latest, remaining),
    },
    ...{ supply, sold, remaining, reserved: reservationsOf(shop.ledger, tierId).length },
    ...{ opensAt: iso(latest.opensAt), closesAt: iso(latest.closesAt), opensAfter: latest.opensAfter },
    allowlistRoot: latest.allowlist,
    planned: [],
    openTo: latest.allowlist !== null ? 'list' : latest.holdingWei === 0n ? 'everyone' : 'holders',
    enforcedBy: {
      ...{ price: 'operator', maxPerWallet: 'operator' },
      ...{ holding: latest.holdingWei === 0n ? 'none' : 'operator', supply: by },
    },
  }
}

function modeAt({ modes }: Shop, block: number): string {
  let [mode, since] = ['hold', -1]
  for (const one of modes)
    if (one.fromBlock <= block && one.fromBlock > since) [mode, since] = [one.mode, one.fromBlock]
  return mode
}

export type Quote =
  | { status: 200; priceWei: string; tierId: string; contractWallets: string }
  | { status: 400 | 503; awaits?: string }

/** The tier that must be sold out before this one opens; null if none must. Its time may wait as well. */
function awaitedBy({ ledger, head }: Shop, tierId: string): string | null {
  const latest = latestOf({ ledger } as Shop, tierId)
  return hasOpened(ledger.sale, { ...latest, opensAt: null }, head) ? null : latest.opensAfter
}

/** What a quote says of the tier that a caller names, or of the default one. */
export function quoteOf(shop: Shop, named: string | null): Quote {
  if (!shop.hasWallet || shop.terms.length === 0) return { status: 503 }
  const tiers = tierIdsOf(shop).map((tierId) => tierOf(shop, tierId))
  const wanted = named ?? shop.quoteTier
  const first = tiers.find(({ state }) => state === 'open') ?? tiers.find(({ state }) => state !== 'closed')
  const tier = wanted === null ? first : tiers.find(({ id }) => id === wanted)
  if (tier === undefined || tier.state === 'closed') return { status: named === null ? 503 : 400 }
  const awaits = tier.state === 'upcoming' ? awaitedBy(shop, tier.id) : null
  if (awaits !== null) return { status: 503, awaits }
  if (tier.state !== 'open' || tier.soldOut) return { status: 503 }
  const contractWallets = modeAt(shop, shop.head.number + 1)
  return { status: 200, priceWei: tier.priceWei, tierId: tier.id, contractWallets }
}
