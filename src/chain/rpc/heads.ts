// Reads blocks by height: the provider's head, and the canonical block of a number. It must never serve a block from memory, with one exception: a
// head just read is passed on once, within seconds, to the range that ends with it.
import type { Block } from '../../domain/observed.ts'
import { ChainFault } from '../faults.ts'
import { assertSound, type Soundness } from '../prove/sound.ts'
import type { RpcReads } from './rpc.ts'
import { header, toBlock, toQuantity } from './wire.ts'

/** How long we may use a head as if we had requested it by its number. */
const HEAD_MS = 5_000

const askBlock = (rpc: RpcReads, position: string, inFull: boolean) =>
  rpc.request('eth_getBlockByNumber', [position, inFull], { accept: (block) => block !== null })

/** The canonical block of that height; null if the provider has none. */
export async function readBlockAt(rpc: RpcReads, soundness: Soundness, number: number): Promise<Block | null> {
  const answer = await askBlock(rpc, toQuantity(number), false)
  if (answer == null) return null
  assertSound(soundness, answer, number)
  const block = toBlock(header(answer))
  if (block.number !== number) {
    throw new ChainFault(`asked for block ${number}, got ${block.number}`, { retryable: true })
  }
  return block
}

function blockOf(answer: unknown, soundness: Soundness): Block {
  if (answer == null) throw new ChainFault('the provider has no latest block', { retryable: true })
  const block = toBlock(header(answer))
  assertSound(soundness, answer, block.number)
  return block
}

export type Heads = ReturnType<typeof createHeads>

/**
 * The provider's head. If the follower used the last one, we read the next one in full: it will also be the last block of the next range, which takes
 * it instead of requesting it again. A head that no range took is dropped, and we request the next one without its transactions.
 */
export function createHeads(rpc: RpcReads, soundness: Soundness) {
  let inFull = false
  let newest = -1
  let kept: { number: number; answer: unknown; readAt: number } | null = null
  return {
    async read({ toFollow }: { toFollow: boolean }): Promise<Block> {
      // Other callers neither read it in full nor take it from the follower.
      if (!toFollow) return blockOf(await askBlock(rpc, 'latest', false), soundness)
      if (kept) inFull = false
      kept = null
      const answer = await askBlock(rpc, 'latest', inFull)
      const block = blockOf(answer, soundness)
      newest = block.number
      if (inFull) kept = { number: newest, answer, readAt: performance.now() }
      return block
    },
    /** Hands out the head that was just read, once, to the range that ends with it. */
    take(to: number): unknown {
      if (to !== newest) return undefined
      inFull = true
      const given = kept && performance.now() - kept.readAt < HEAD_MS ? kept.answer : undefined
      kept = null
      return given
    },
  }
}
