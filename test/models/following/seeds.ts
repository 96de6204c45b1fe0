// The seeds and terms of turns, as a second reading of docs/ARCHITECTURE.md (Amounts; Evidence) and docs/DATA-MODEL.md: a turn has the seed of the first block at its time, and
// the terms of that time. What one provider says alone is replaced by what two agree on, and pays nothing until then.
//
// Choices in what the documents leave open:
// - Terms that came after a turn count for it if the ledger had none; for a credit that is paid already, only if they yield what it paid.
// - With one provider, a believed seed of a followed block is looked up again once headers must be proven.
import type { Block } from './follow.ts'

export type Proof = 'proven' | 'agreed' | 'believed'
export interface Kept {
  number: number
  time: number
  parentTime: number | null
  seed: string
  proof: Proof
}
export interface Ledger {
  headers: Block[]
  seeds: Kept[]
  cursor: number
  /** The first block whose header had to be proven; null: none had. */
  provenFrom: number | null
}
/** Blocks that are being stored. */
export interface Fresh {
  blocks: Block[]
  proof: Proof
}
export interface Chain {
  blocks: Block[]
  providers: number
  /** What the providers agree on: the chain's block, another one, none; or one of them does not answer. */
  agree: 'chain' | 'other' | 'none' | 'fault'
  /** Whether the first of them answers. */
  answers: boolean
  /** The seed of a block after its parent. */
  seedOf(block: Block, parent: Block | null): string
}
export interface Seed {
  seedBlock: number
  seed: string
  proof: Proof
  lookedUp?: Kept
}
export class NoAnswer extends Error {}

/** The first block at a time, if the block that is asked up to is not before it. */
export function firstAt(
  { blocks }: Pick<Chain, 'blocks'>,
  due: number,
  upTo: number,
): { block: Block; parent: Block | null } | null {
  const block = blocks.find(({ time, number }) => time >= due && number <= upTo)
  return block ? { block, parent: blocks[block.number - 1] ?? null } : null
}
export const other = (block: Block): Block => ({
  ...block,
  hash: `${block.hash.slice(0, -1)}f`,
  prevrandao: block.hash,
})
/** What the providers agree on for a time. */
export function agreedAt(chain: Chain, due: number, upTo: number): { block: Block; parent: Block | null } | null {
  if (chain.agree === 'fault') throw new NoAnswer()
  const first = chain.agree === 'none' ? null : firstAt(chain, due, upTo)
  return first && chain.agree === 'other' ? { ...first, block: other(first.block) } : first
}
const agreedOrNone = (chain: Chain, due: number, upTo: number) =>
  chain.agree === 'fault' ? null : agreedAt(chain, due, upTo)

function keptAt({ seeds }: Ledger, due: number): Kept | null {
  const firstOf = (some: Kept[]) => {
    const [first] = some.filter(({ time }) => time >= due).toSorted((a, b) => a.time - b.time || a.number - b.number)
    return first && (first.parentTime === null || first.parentTime < due) ? first : null
  }
  return firstOf(seeds.filter(({ proof }) => proof !== 'believed')) ?? firstOf(seeds)
}

const put = (ledger: Ledger, one: Kept) => {
  ledger.seeds = [...ledger.seeds.filter(({ number }) => number !== one.number), one]
}

/** The seed, or a better backed one in its place. */
function confirm(ledger: Ledger, chain: Chain, seed: Seed, due: number, upTo: number): Seed {
  if (seed.proof !== 'believed') return seed
  const isAlone = chain.providers < 2
  const ownOf = (at: number) => ledger.headers.find(({ number }) => number === at)
  if (isAlone && (ledger.provenFrom === null || !ownOf(seed.seedBlock))) return seed
  const better = agreedOrNone(chain, due, seed.seedBlock) ?? agreedOrNone(chain, due, upTo)
  if (better === null) return seed
  const own = ownOf(better.block.number)
  if (own ? own.hash !== better.block.hash : isAlone) return seed
  const { number, time } = better.block
  const proof = ledger.provenFrom === null ? 'agreed' : 'proven'
  const of = chain.seedOf(better.block, better.parent)
  if (number <= ledger.cursor) put(ledger, { number, time, parentTime: better.parent?.time ?? null, seed: of, proof })
  return { seedBlock: number, seed: of, proof }
}

/** The seed of a turn by the blocks that are being stored, the kept ones or the headers; null if none of them is sure. */
function known(ledger: Ledger, chain: Chain, due: number, fresh: Fresh): Seed | null {
  const by = (blocks: Block[], proofOf: (parent: Block) => Proof): Seed | null => {
    const first = blocks.find(({ time }) => time >= due)
    const parent = blocks.find(({ number }) => number === (first?.number ?? 0) - 1)
    if (!first || !parent) return null
    return { seedBlock: first.number, seed: chain.seedOf(first, parent), proof: proofOf(parent) }
  }
  const kept = keptAt(ledger, due)
  const { provenFrom, headers } = ledger
  return (
    by(fresh.blocks, () => fresh.proof) ??
    (kept && { seedBlock: kept.number, seed: kept.seed, proof: kept.proof }) ??
    // The header before it has to be proven, too.
    by(headers, (parent) => (provenFrom !== null && parent.number >= provenFrom ? 'proven' : 'believed'))
  )
}

/** The seed of a turn, among blocks up to a height; null if there is no such block. */
export function seedAt(ledger: Ledger, chain: Chain, due: number, upTo: number, fresh: Fresh): Seed | null {
  const own = known(ledger, chain, due, fresh)
  if (own !== null) return own.seedBlock > upTo ? null : confirm(ledger, chain, own, due, upTo)
  if (!chain.answers) throw new NoAnswer()
  const old = firstAt(chain, due, upTo)
  if (old === null) return null
  const { number, time } = old.block
  const seed = { seedBlock: number, seed: chain.seedOf(old.block, old.parent), proof: 'believed' } as const
  const sound = confirm(ledger, chain, seed, due, upTo)
  const lookedUp = { number, time, parentTime: old.parent?.time ?? null, seed: sound.seed, proof: sound.proof }
  const isOld = ledger.headers.length > 0 && number < (ledger.headers[0]?.number ?? 0)
  if (isOld && !ledger.seeds.some((one) => one.number === number)) put(ledger, lookedUp)
  return { ...sound, lookedUp }
}

/** Why a turn is not paid by this seed; null if it may be. */
export function doubt({ proof }: Seed, chain: Chain, rules: { mode: 'proven' | 'agreed'; trustsProvider: boolean }) {
  if (proof !== 'believed') return null
  if (chain.providers >= 2) return 'differ'
  return rules.mode === 'agreed' && rules.trustsProvider ? null : 'alone'
}

export interface Terms {
  credit: { fromTime: number; minWei: bigint; maxWei: bigint }[]
  tiers: { tierId: string; tierNo: number; fromTime: number; payoutBps: number }[]
}
export interface Rates {
  tierId: string | null
  minWei: bigint | null
  maxWei: bigint | null
  payoutBps: number | null
}

/** What was in force at a time, the last of what had begun. */
export function inForce({ credit, tiers }: Terms, tierNo: number, at: number): Rates {
  const last = <T extends { fromTime: number }>(all: T[]) =>
    all
      .filter(({ fromTime }) => fromTime <= at)
      .toSorted((a, b) => a.fromTime - b.fromTime)
      .at(-1)
  const own = tiers.filter((one) => one.tierNo === tierNo)
  const { minWei = null, maxWei = null } = last(credit) ?? {}
  return { tierId: own[0]?.tierId ?? null, minWei, maxWei, payoutBps: last(own)?.payoutBps ?? null }
}

/** The same, and the ledger's first terms before it had any. */
export function owed(terms: Terms, tierNo: number, at: number): Rates {
  const first = (all: { fromTime: number }[]) =>
    Math.min(...all.map(({ fromTime }) => fromTime), Number.MAX_SAFE_INTEGER)
  const own = terms.tiers.filter((one) => one.tierNo === tierNo)
  const by = inForce(terms, tierNo, Math.max(at, first(own)))
  const { minWei, maxWei } = inForce(terms, tierNo, Math.max(at, first(terms.credit)))
  return { ...by, minWei, maxWei }
}

/** The weakest of some proofs; null if one is unknown. */
export function weakestOf(proofs: (Proof | null)[]): Proof | null {
  if (proofs.includes(null)) return null
  return proofs.includes('believed') ? 'believed' : proofs.includes('agreed') ? 'agreed' : 'proven'
}
