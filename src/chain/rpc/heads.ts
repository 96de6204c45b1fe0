// Reads blocks by height: the provider's head, and the canonical block with a number. It must never serve a block from memory, with one exception: a
// head that was just read is handed, once and within seconds, to the range that ends with it.
import type { Block } from '../../domain/observed.ts'
import { ChainFault } from '../../ports/faults.ts'
import { assertSound, type Soundness } from '../prove/sound.ts'
import type { RpcReads } from './rpc.ts'
import { header, toBlock, toQuantity } from './wire.ts'

/** For how long we use a head instead of reading its block again. */
const HEAD_MS = 5_000

const askBlock = (rpc: RpcReads, position: string, inFull: boolean) =>
  rpc.request('eth_getBlockByNumber', [position, inFull])

/** The canonical block with that number; null if the provider has none. */
export async function readBlockAt(rpc: RpcReads, soundness: Soundness, number: number): Promise<Block | null> {
  const answer = await askBlock(rpc, toQuantity(number), false)
  if (answer == null) return null
  assertSound(soundness, answer, number)
  const block = toBlock(header(answer))
  if (block.number !== number) {
    throw new ChainFault(`asked for block ${number}, got ${block.number}`)
  }
  return block
}

function blockOf(answer: unknown, soundness: Soundness): Block {
  if (answer == null) throw new ChainFault('the provider has no latest block')
  const block = toBlock(header(answer))
  assertSound(soundness, answer, block.number)
  return block
}

export type Heads = ReturnType<typeof createHeads>

/**
 * Reads the provider's head. If a range used the last head, the next head is read with its transactions. It will be the last block of the next range,
 * which then need not request it again. If no range used a head, we drop it, and read the next one without its transactions.
 */
export function createHeads(rpc: RpcReads, soundness: Soundness) {
  let inFull = false
  let newest = -1
  let keptHead: { number: number; answer: unknown; readAt: number } | null = null
  return {
    async read({ toFollow }: { toFollow: boolean }): Promise<Block> {
      // Other callers read the head without its transactions, and leave the kept one for the follower.
      if (!toFollow) return blockOf(await askBlock(rpc, 'latest', false), soundness)
      if (keptHead) inFull = false
      keptHead = null
      const answer = await askBlock(rpc, 'latest', inFull)
      const block = blockOf(answer, soundness)
      newest = block.number
      if (inFull) keptHead = { number: newest, answer, readAt: performance.now() }
      return block
    },
    /** The head that was just read, if block `to` is that head; otherwise undefined. It is handed out once. */
    take(to: number): unknown {
      if (to !== newest) return undefined
      inFull = true
      const answer = keptHead && performance.now() - keptHead.readAt < HEAD_MS ? keptHead.answer : undefined
      keptHead = null
      return answer
    },
  }
}
