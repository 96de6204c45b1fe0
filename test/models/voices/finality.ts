// How far the followed chain is final, and who has a say about a halt, as a second reading of docs/ARCHITECTURE.md (Finality; Halting): the oldest block that one
// calls final counts, unless a provider has another block there. One voice alone counts late, and two must have what money rests on.
//
// Choices in what the documents leave open:
// - While a difference of histories that stops is on record, nothing above its last common block is final, even if no provider contradicts any longer.
// - A provider that does not answer says nothing about a halt.

export interface Block {
  number: number
  hash: string
  time: number
}
/** What a provider has at the height it is asked for. */
export type Said = 'same' | 'other' | 'none' | 'silent' | 'false'

export interface Ledger {
  /** Stored headers, oldest first. The last one is the followed block. */
  blocks: Block[]
  /** The embedded chain's own node counts as two voices. */
  isEmbedded: boolean
  /** The last common block of histories that differ and stop; null if none do. */
  common: number | null
}
export interface Asked {
  /** What is called final, and by how many; `otherwise`: it is not the ledger's block of that height. */
  word: { number: number; otherwise: boolean; voices: number } | null
  /** How far below the followed block counts if nothing is called final; null: nothing does. */
  depth: number | null
  providers: Said[]
}
export type Found =
  | { kind: 'nothing' }
  | { kind: 'contradiction'; number: number; host: number | null }
  | { kind: 'parted'; number: number }
  | { kind: 'final'; block: Block | null; hosts: number[]; isNamed: boolean; isSettled: boolean }

/** The newest block that one voice may make final: 64 blocks and a quarter of an hour below the followed one. */
function agedOf(blocks: Block[]): Block | null {
  const last = blocks.at(-1) as Block
  return blocks.findLast(({ number, time }) => last.number - number >= 64 && last.time - time >= 15 * 60) ?? null
}

export function look({ blocks, isEmbedded, common }: Ledger, { word, depth, providers }: Asked): Found {
  const last = (blocks.at(-1) as Block).number
  const named = word ?? (depth === null ? null : { number: last - depth, otherwise: false, voices: 2 })
  if (named === null) return { kind: 'nothing' }
  const aged = agedOf(blocks)
  const reach = (voices: number) => (isEmbedded || voices >= 2 ? last : (aged?.number ?? -1))
  const height = Math.min(named.number, reach(named.voices))
  if (height < 0) return { kind: 'nothing' }
  const have = providers.flatMap((said, n) => (said === 'same' || said === 'other' ? [{ said, n }] : []))
  if (have.length === 0) return { kind: 'nothing' }
  const stored = blocks.find(({ number }) => number === height)
  // Without a header of its own, the ledger can only compare the providers.
  const other = have.find(({ said }) => said !== (stored ? 'same' : have[0]?.said))
  if (other) return { kind: 'contradiction', number: height, host: other.n }
  if (named.otherwise && blocks.some(({ number }) => number === named.number))
    return { kind: 'contradiction', number: named.number, host: null }
  const firm = Math.min(height, reach(have.length))
  if (common !== null && firm > common) return { kind: 'parted', number: common + 1 }
  const hosts = have.map(({ n }) => n)
  const block = firm < 0 ? null : (blocks.find(({ number }) => number === firm) ?? { number: firm, hash: '', time: 0 })
  const isNamed = isEmbedded || hosts.length >= 2
  return {
    kind: 'final',
    block,
    hosts,
    isNamed,
    isSettled: block !== null && hosts.length >= Math.min(2, providers.length),
  }
}

/** What a person reads about it: the difference, or how many providers have the block; null if there is nothing to tell. */
export type Words =
  | { kind: 'difference'; number: number }
  | { kind: 'only one'; number: number }
  | { kind: 'others silent'; host: number; asked: number }

export function words(found: Found, { providers }: Asked): Words | null {
  if (found.kind === 'contradiction' || found.kind === 'parted') return { kind: 'difference', number: found.number }
  if (found.kind !== 'final' || found.isNamed) return null
  const { block, hosts, isSettled } = found
  if (block !== null && isSettled) return { kind: 'only one', number: block.number }
  return providers.length < 2 ? null : { kind: 'others silent', host: hosts[0] as number, asked: providers.length }
}

/** What is on record: below this nothing is taken back, and up to `named` two providers had the block. */
export interface Noted {
  number: number
  named: number | null
}
/** What a run leaves on record. Neither height ever sinks, and only stored blocks count. */
export function note(before: Noted | null, found: Found, { blocks, isEmbedded }: Ledger): Noted | null {
  if (isEmbedded || found.kind !== 'final' || found.block === null) return before
  const { number } = found.block
  if (!blocks.some((one) => one.number === number)) return before
  const named = found.isNamed ? Math.max(number, before?.named ?? number) : (before?.named ?? null)
  return { number: Math.max(number, before?.number ?? number), named }
}

/** What a provider says when it is asked whether the chain is the ledger's. */
export type Word = 'ours' | 'elsewhere' | 'silent' | 'broken'
export type Heard =
  | { kind: 'goesOn'; by: number; distrusts: number[] }
  | { kind: 'halts'; reportedBy: number[]; isConfirmed: boolean }
  | { kind: 'asBefore' }
  | { kind: 'breaks' }

/** Whether a run halts that one provider would halt. A run goes on with the first that has the ledger's chain. */
export function ask(words: Word[], isNoted: boolean): Heard {
  if (isNoted || words.length < 2) return { kind: 'asBefore' }
  const reportedBy: number[] = []
  for (const [n, word] of words.entries()) {
    if (word === 'broken') return { kind: 'breaks' }
    if (word === 'ours') return { kind: 'goesOn', by: n, distrusts: reportedBy }
    if (word === 'elsewhere') reportedBy.push(n)
  }
  return { kind: 'halts', reportedBy, isConfirmed: reportedBy.length >= 2 }
}
