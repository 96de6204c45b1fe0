// Locates the blocks in which a payments wallet's balance and the books part, by bisection: each block in which the difference between
// them changes. Value that came and went by internal calls to the same wei between two readings is not seen.
import { ChainFault } from '../chain/faults.ts'
import { readBlock } from '../db/blocks/blocks.ts'
import * as wallet from '../db/payments/wallet.ts'
import type { Block } from '../domain/observed.ts'
import type { Address } from '../domain/units.ts'
import type { ChainRead, LedgerDb, RunLimits } from '../passes/context.ts'

/** A wallet whose balance differs, and the last block up to which it agreed. */
export interface Question {
  address: Address
  checked: number
  upTo: number
  expectedWei: bigint
  balanceWei: bigint
}

/** Value that moved in a block and that the books do not know; negative where it left. */
export interface Difference {
  residueWei: bigint
  block: Block
  /** It arose in the blocks `fromBlock` to `block`: one and the same, unless the states between are gone. */
  fromBlock: number
  balanceBeforeWei: bigint | null
  balanceAfterWei: bigint
}

interface Reading {
  block: Block
  balanceWei: bigint
  /** Balance less books. */
  aheadWei: bigint
}

/** The end of a stretch of blocks below which all is known. */
interface Low {
  number: number
  /** The block whose balance is known: an earlier one where the states since are gone. */
  knownAt: number
  balanceWei: bigint
  aheadWei: bigint
}

/** The differences, oldest first; those found so far where the run's time is up. Where states are gone, a difference is of the oldest block that has one. */
export async function locateDifferences(
  ctx: LedgerDb & ChainRead,
  asked: Question,
  run: RunLimits,
): Promise<Difference[]> {
  const { address, upTo, checked } = asked
  const booksAt = async (block: number) =>
    asked.expectedWei - (await wallet.netFlow(ctx.pool, address, { block, upTo }))
  const found: Difference[] = []
  const first = { number: checked, knownAt: checked, balanceWei: await booksAt(checked), aheadWei: 0n }
  const last = {
    block: await blockAt(ctx, upTo),
    balanceWei: asked.balanceWei,
    aheadWei: asked.balanceWei - asked.expectedWei,
  }
  const waiting: { low: Low; high: Reading }[] = [{ low: first, high: last }]
  // Each turn halves a stretch or ends one. A stretch at whose ends the difference is the same is not looked into.
  for (let next = waiting.pop(); next && !run.outOfTime(); next = waiting.pop()) {
    const { low, high } = next
    if (low.aheadWei === high.aheadWei) continue
    if (high.block.number - low.number <= 1) {
      found.push({
        residueWei: high.aheadWei - low.aheadWei,
        block: high.block,
        fromBlock: low.knownAt + 1,
        balanceBeforeWei: low.knownAt === low.number ? low.balanceWei : null,
        balanceAfterWei: high.balanceWei,
      })
      continue
    }
    const block = await blockAt(ctx, Math.floor((low.number + high.block.number) / 2))
    const balanceWei = await ctx.chain.balanceAt(address, block)
    if (balanceWei === null) {
      waiting.push({ low: { ...low, number: block.number }, high })
      continue
    }
    const middle = { block, balanceWei, aheadWei: balanceWei - (await booksAt(block.number)) }
    waiting.push({ low: { ...middle, number: block.number, knownAt: block.number }, high }, { low, high: middle })
  }
  return found
}

/** A block that was followed, or else the provider's. */
export async function blockAt(ctx: LedgerDb & ChainRead, number: number): Promise<Block> {
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (!block) throw new ChainFault(`the provider has no block ${number}`, { retryable: true })
  return block
}
