// Finds the first block at or after a time. It must never return a block and a parent from two forks.
import type { Block } from '../../../domain/observed.ts'
import { ChainFault } from '../../../ports/faults.ts'

/** The most steps of a search: twice the number of bits that a block number will ever have. */
const SEARCH_STEPS_MAX = 128

type BlockAt = (number: number) => Promise<Block>

/** The first block at or after `time`, and its parent. Null if block `notAfter` is older than `time`. */
export async function firstBlockAt(
  blockAt: BlockAt,
  time: number,
  notAfter: number,
): Promise<{ block: Block; parent: Block | null } | null> {
  const last = await blockAt(notAfter)
  if (last.time < time) return null
  const block = await searchByTime(blockAt, time, last)
  if (block.number === 0) return { block, parent: null }
  const parent = await blockAt(block.number - 1)
  // The chain was reorganised during the search, or two providers answered from two forks.
  if (parent.hash !== block.parentHash || parent.time >= time) {
    throw new ChainFault(`blocks ${parent.number} and ${block.number} are on two forks`)
  }
  return { block, parent }
}

/**
 * The first block at or after `time`, up to `last`. Most targets are recent, so it first steps backwards, further each time. Then it guesses a block
 * from the times at both ends, and bisects whenever a guess did not halve what remains. If blocks are evenly spaced, that takes a few steps; at most
 * it takes twice as many as the distance has bits.
 */
async function searchByTime(blockAt: BlockAt, time: number, last: Block): Promise<Block> {
  let late = last
  let early: { number: number; time: number | null } = { number: -1, time: null }
  let [stride, isGuessed] = [1, false]
  for (let step = 0; step < SEARCH_STEPS_MAX && late.number - early.number > 1; step++) {
    const rest = late.number - early.number
    const striding = early.number < 0 && late.number - stride > 0
    isGuessed = !striding && !isGuessed && early.time !== null
    const number = striding
      ? late.number - stride
      : early.number + (isGuessed ? guess(time, early, late) : Math.floor(rest / 2))
    const block = await blockAt(number)
    if (block.time >= time) late = block
    else early = block
    // If a guess was good, we guess again.
    if (isGuessed && (late.number - early.number) * 2 <= rest) isGuessed = false
    stride *= 4
  }
  return late
}

/**
 * How many blocks after `early` the first block at or after `time` would be, if the blocks in between were evenly spaced. Never the number of either
 * end.
 */
function guess(time: number, early: { number: number; time: number | null }, late: Block): number {
  const [rest, from] = [late.number - early.number, early.time ?? 0]
  const share = late.time > from ? (time - from) / (late.time - from) : 0
  return Math.min(rest - 1, Math.max(1, Math.ceil(rest * share)))
}
