// Random histories of a sale: versions of tiers, openings of ladders, and payments at the edges of every time in them. They keep the rule that no two
// tiers on sale share a price, by the model's own reading of it.
import fc from 'fast-check'
import type { TierVersion } from '../../src/domain/tiers.ts'
import { type Block, type Opening, priceOwner, type Sale, type Version } from './sale.ts'

export interface History {
  sale: Sale
  payments: { valueWei: bigint; block: Block }[]
}

const PRICES = [10n, 20n, 30n]
const GRACES = [0, 120, 900]
const ROOTS = ['0xaa', '0xbb', '0xcc']

/** A change of a tier, as the operator enters it: what is undefined stays as it was. */
const change = fc.record({
  tier: fc.nat(2),
  /** Seconds since the change before. 0: in the same block, if the tier differs or not. */
  gap: fc.constantFrom(0, 1, 119, 120, 121, 500, 899, 900, 901, 2_000),
  priceWei: fc.constantFrom(...PRICES),
  onSale: fc.constantFrom(true, true, true, false),
  graceSec: fc.constantFrom(...GRACES),
  supply: fc.constantFrom(null, null, 1, 2, 5),
  opensIn: fc.constantFrom(null, null, null, -50, 0, 60, 700),
  closesIn: fc.constantFrom(null, null, null, 1, 100, 800),
  opensAfter: fc.constantFrom(null, null, null, 0, 1, 2),
  allowlist: fc.constantFrom(null, null, ...ROOTS),
  maxPerWallet: fc.constantFrom(1, 2, 3),
  holdingWei: fc.constantFrom(0n, 0n, 5n, 10n),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

function versionOf(one: Change, place: { version: number; fromBlock: number; fromTime: number }): Version {
  const opensAt = one.opensIn === null ? null : place.fromTime + one.opensIn
  const closesAt = one.closesIn === null ? null : (opensAt ?? place.fromTime) + one.closesIn
  const { priceWei, onSale, graceSec, supply, allowlist, maxPerWallet, holdingWei } = one
  const opensAfter = one.opensAfter === null || one.opensAfter === one.tier ? null : `t${one.opensAfter}`
  const terms = {
    priceWei,
    onSale,
    graceSec,
    supply,
    allowlist,
    maxPerWallet,
    holdingWei,
    opensAt,
    closesAt,
    opensAfter,
  }
  return { tierId: `t${one.tier}`, ...place, ...terms }
}

/** The sale of some changes, and the blocks in which they begin: no block before them is of their time. */
function saleOf(changes: Change[], openAt: (number | null)[]): { sale: Sale; begins: Block[] } {
  const sale: Sale = { versions: [], openings: [] }
  const begins: Block[] = []
  let [height, fromTime] = [10, 1_000]
  for (const one of changes) {
    fromTime += one.gap
    if (one.gap > 0) height += 10
    const tierId = `t${one.tier}`
    if (priceOwner(sale, { tierId, priceWei: one.priceWei, onSale: one.onSale }, fromTime) !== null) continue
    const version = 1 + sale.versions.filter((other) => other.tierId === tierId).length
    sale.versions.push(versionOf(one, { version, fromBlock: height, fromTime }))
    begins.push({ number: height, time: fromTime })
  }
  for (const { tierId, opensAfter } of sale.versions) {
    const fromBlock = openAt[Number(opensAfter?.slice(1))]
    if (opensAfter === null || fromBlock === null || fromBlock === undefined) continue
    const opening: Opening = { tierId, opensAfter, fromBlock, txIndex: 0, innerIndex: 0 }
    if (!sale.openings.some((other) => other.tierId === tierId && other.opensAfter === opensAfter))
      sale.openings.push(opening)
  }
  return { sale, begins }
}

/** The blocks just before, at and just after every time that a history names. */
function blocksAt({ sale, begins }: { sale: Sale; begins: Block[] }): Block[] {
  const times = new Set<number>()
  const note = (time: number) => {
    for (const one of [time - 1, time, time + 1]) times.add(one)
  }
  for (const one of sale.versions) {
    for (const graceSec of GRACES) note(one.fromTime + graceSec)
    if (one.opensAt !== null) note(one.opensAt)
    if (one.closesAt !== null) for (const graceSec of [0, one.graceSec]) note(one.closesAt + graceSec)
  }
  const found: Block[] = []
  for (const time of times) {
    let [least, most] = [0, Number.MAX_SAFE_INTEGER]
    for (const one of begins) {
      if (one.time <= time) least = Math.max(least, one.number)
      else most = Math.min(most, one.number - 1)
    }
    found.push({ number: least, time })
    if (most - least >= 5) found.push({ number: least + 5, time })
  }
  return found
}

/** Histories with payments in up to a dozen of their blocks, at every price and at one that no tier ever had. */
export function histories(): fc.Arbitrary<History> {
  const openings = fc.array(fc.constantFrom(null, 5, 10, 20, 25, 35), { minLength: 3, maxLength: 3 })
  return fc
    .tuple(
      fc.array(change, { minLength: 1, maxLength: 6 }),
      openings,
      fc.array(fc.nat(999), { minLength: 6, maxLength: 6 }),
    )
    .map(([changes, openAt, picks]) => {
      const made = saleOf(changes, openAt)
      const blocks = blocksAt(made)
      const picked = picks.map((pick) => blocks[pick % Math.max(1, blocks.length)]).filter((one) => one !== undefined)
      const payments = picked.flatMap((block) => [...PRICES, 11n].map((valueWei) => ({ valueWei, block })))
      return { sale: made.sale, payments }
    })
}

/** A version as the code takes it. */
export function toCode(one: Version, openings: Opening[]): TierVersion {
  const opened = openings.find((step) => step.tierId === one.tierId && step.opensAfter === one.opensAfter)
  return {
    ...one,
    priceWei: one.priceWei as TierVersion['priceWei'],
    holdingWei: one.holdingWei as TierVersion['holdingWei'],
    tierNo: 1 + Number(one.tierId.slice(1)),
    label: one.tierId,
    holdingToken: one.holdingWei === 0n ? null : '0x00000000000000000000000000000000000000aa',
    payoutBps: 10_000,
    holdingRetrySec: 3_600,
    opened: opened ? { blockNumber: opened.fromBlock, txIndex: opened.txIndex, innerIndex: opened.innerIndex } : null,
    allowlist: one.allowlist as TierVersion['allowlist'],
  }
}
