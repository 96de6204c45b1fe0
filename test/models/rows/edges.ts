// A period's edges by docs/BOOKS.md (Periods): the set of its blocks, found by asking each followed block whether it belongs to it.
//
// Choices in what the document leaves open:
// - An account's books are those of the period's blocks in which it was watched. They open with the block before the first of these.
// - A period without a block has no edges to speak of: it is refused, or its statement is of no block.

export interface Block {
  number: number
  time: number
}
/** A block number, or a time in unix seconds. */
export type Moment = { block: number } | { time: number }
export interface Followed {
  /** Every block of the chain, from 0 on. */
  blocks: Block[]
  startBlock: number
  cursor: number
}
export interface Watched {
  watchedFrom: number
  closedBlock: number | null
}

const isFrom = (one: Block, from: Moment | null) =>
  from === null || ('block' in from ? one.number >= from.block : one.time >= from.time)
const isUpTo = (one: Block, to: Moment | null) =>
  to === null || ('block' in to ? one.number <= to.block : one.time < to.time)

/** The followed blocks of a period. */
export const blocksOf = ({ blocks, startBlock, cursor }: Followed, from: Moment | null, to: Moment | null): Block[] =>
  blocks.filter((one) => one.number >= startBlock && one.number <= cursor && isFrom(one, from) && isUpTo(one, to))

/** Whether nothing that may still come belongs to the period. A later block may have the cursor's time. */
export function isComplete({ blocks, cursor }: Followed, to: Moment | null): boolean {
  if (to === null) return false
  return 'block' in to ? to.block <= cursor : (blocks[cursor] as Block).time >= to.time
}

/** The blocks of a period in which an account was watched. */
export const watchedOf = (blocks: Block[], { watchedFrom, closedBlock }: Watched): Block[] =>
  blocks.filter(({ number }) => number >= watchedFrom && (closedBlock === null || number <= closedBlock))
