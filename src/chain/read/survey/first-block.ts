// Finds the first block at or after a time. It must never return a block and a parent from two forks.
import type { Block } from '../../../domain/observed.ts'
import { ChainFault } from '../../faults.ts'

/** The most steps of a search: twice the bits of any block number there will ever be. */
const SEARCH_STEPS_MAX = 128

type BlockAt = (number: number) => Promise<Block>

/** The block and its parent; null if `notAfter` is older. */
export async function firstBlockAt(
  blockAt: BlockAt,
  time: number,
  notAfter: number,
): Promise<{ block: Block; parent: Block | null } | null> {
  const last = await blockAt(notAfter)
  if (last.time < time) return null
  const found = await searchByTime(blockAt, time, last)
  if (found.number === 0) return { block: found, parent: null }
  const parent = await blockAt(found.number - 1)
  // There was a reorganisation during the search, or two providers answered from two forks.
  if (parent.hash !== found.parentHash || parent.time >= time) {
    throw new ChainFault(`blocks ${parent.number} and ${found.number} are of two forks`, { retryable: true })
  }
  return { block: found, parent }
}

/**
 * The first block at or after `time`, up to `last`. It first strides backwards, each stride longer, because most targets are recent. Then it
 * interpolates between the times at both ends, and bisects whenever a guess did not halve the rest. Evenly spaced blocks take a few steps; the most
 * is twice the bits of the distance.
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
    // After a good guess we try another one.
    if (isGuessed && (late.number - early.number) * 2 <= rest) isGuessed = false
    stride *= 4
  }
  return late
}

/** How far from `early` the first block at or after `time` would be if all blocks in between were evenly spaced; never either end. */
function guess(time: number, early: { number: number; time: number | null }, late: Block): number {
  const [rest, from] = [late.number - early.number, early.time ?? 0]
  const share = late.time > from ? (time - from) / (late.time - from) : 0
  return Math.min(rest - 1, Math.max(1, Math.ceil(rest * share)))
}
