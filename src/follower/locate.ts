// Locates the blocks in which a payments wallet's balance and the books part, by bisection: each block in which the difference between
// them changes. Value that came and went by internal calls to the same wei between two readings is not seen.
import { ChainFault, ProofFault } from '../chain/faults.ts'
import { readBlock } from '../db/blocks/blocks.ts'
import * as wallet from '../db/payments/wallet.ts'
import { weakest } from '../domain/finality.ts'
import type { BalanceReading, Block, Proof } from '../domain/observed.ts'
import type { Address } from '../domain/units.ts'
import type { ChainRead, LedgerDb, RunLimits } from '../passes/context.ts'

/** A wallet whose balance differs, and the last block up to which it agreed. */
export interface Question {
  address: Address
  checked: number
  upTo: number
  expectedWei: bigint
  balance: BalanceReading
  /** What the reading at `checked` rests on. */
  checkedProof: Proof
}

/** Value that moved in a block and that the books do not know; negative where it left. */
export interface Difference {
  residueWei: bigint
  /** What the readings at both its ends rest on, the weaker of them. */
  proof: Proof
  block: Block
  /** It arose in the blocks `fromBlock` to `block`: one and the same, unless the states between are gone. */
  fromBlock: number
  balanceBeforeWei: bigint | null
  balanceAfterWei: bigint
}

interface Reading {
  block: Block
  balanceWei: bigint
  proof: Proof
  /** Balance less books. */
  aheadWei: bigint
}

/** The end of a stretch of blocks below which all is known. */
interface Low {
  number: number
  /** The block whose balance is known: an earlier one where the states since are gone. */
  knownAt: number
  balanceWei: bigint
  proof: Proof
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
  const first = {
    ...{ number: checked, knownAt: checked, balanceWei: await booksAt(checked) },
    ...{ proof: asked.checkedProof, aheadWei: 0n },
  }
  const { wei, proof } = asked.balance
  const last = { block: await blockAt(ctx, upTo), balanceWei: wei, proof, aheadWei: wei - asked.expectedWei }
  const waiting: { low: Low; high: Reading }[] = [{ low: first, high: last }]
  // Each turn halves a stretch or ends one. A stretch at whose ends the difference is the same is not looked into.
  for (let next = waiting.pop(); next && !run.outOfTime(); next = waiting.pop()) {
    const { low, high } = next
    if (low.aheadWei === high.aheadWei) continue
    if (high.block.number - low.number <= 1) {
      found.push({
        residueWei: high.aheadWei - low.aheadWei,
        proof: weakest([low.proof, high.proof]),
        block: high.block,
        fromBlock: low.knownAt + 1,
        balanceBeforeWei: low.knownAt === low.number ? low.balanceWei : null,
        balanceAfterWei: high.balanceWei,
      })
      continue
    }
    const { block, balance } = await readBetween(ctx, address, low.number, high.block.number)
    if (balance === null) {
      waiting.push({ low: { ...low, number: block.number }, high })
      continue
    }
    const aheadWei = balance.wei - (await booksAt(block.number))
    const middle = { block, balanceWei: balance.wei, proof: balance.proof, aheadWei }
    waiting.push({ low: { ...middle, number: block.number, knownAt: block.number }, high }, { low, high: middle })
  }
  return found
}

/** Blocks on either side of the middle of a stretch that are tried if no provider proves the state of the middle one. */
const NEAR = 2

/**
 * Reads a balance in the middle of a stretch, or near it. The balance is null if that state is gone, and at the stretch's last but one block if it has
 * no block that is proven: then a difference is of all of them. Throws a ChainFault if one of a longer stretch has to be asked for again.
 */
async function readBetween(
  ctx: LedgerDb & ChainRead,
  address: Address,
  low: number,
  high: number,
): Promise<{ block: Block; balance: BalanceReading | null }> {
  const middle = Math.floor((low + high) / 2)
  const near = Array.from({ length: 2 * NEAR + 1 }, (_, at) => middle + (at % 2 === 0 ? at : -at - 1) / 2)
  let fault: unknown
  for (const number of near.filter((candidate) => candidate > low && candidate < high)) {
    const block = await blockAt(ctx, number)
    try {
      return { block, balance: await ctx.chain.balanceAt(address, block) }
    } catch (error) {
      if (!(error instanceof ProofFault)) throw error
      fault = error
    }
  }
  if (high - low - 1 > 2 * NEAR + 1) throw fault
  return { block: await blockAt(ctx, high - 1), balance: null }
}

/** A block that was followed, or else the provider's. */
export async function blockAt(ctx: LedgerDb & ChainRead, number: number): Promise<Block> {
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (!block) throw new ChainFault(`the provider has no block ${number}`, { retryable: true })
  return block
}
