// Finds by bisection the blocks in which a payments wallet's balance diverges from the books: each block in which the gap between them changes. It
// misses value that inner calls brought and took away again, to the wei, between two readings.

import { readBlock } from '../db/blocks/blocks.ts'
import * as wallet from '../db/payments/wallet.ts'
import { weakest } from '../domain/finality.ts'
import type { BalanceReading, Block, Proof } from '../domain/observed.ts'
import type { Address } from '../domain/units.ts'
import type { ChainRead, LedgerDb, RunLimits } from '../ports/contexts.ts'
import { ChainFault, ProofFault } from '../ports/faults.ts'

/** A wallet whose balance differs from the books at block `upTo`. At block `checkedBlock` they still agreed. */
export interface Question {
  address: Address
  checkedBlock: number
  upTo: number
  expectedWei: bigint
  balance: BalanceReading
  /** What backs the balance at `checkedBlock`. */
  checkedProof: Proof
}

/** Value that moved in a block and is not in the books; negative if it left. */
export interface Difference {
  residueWei: bigint
  /** What backs the balances before and after it: the weaker of the two proofs. */
  proof: Proof
  block: Block
  /** The difference arose in blocks `fromBlock` to `block`. That is one block unless the states in between are pruned. */
  fromBlock: number
  balanceBeforeWei: bigint | null
  balanceAfterWei: bigint
}

interface Reading {
  block: Block
  balanceWei: bigint
  proof: Proof
  /** The balance minus what it should be by the books. */
  aheadWei: bigint
}

/** The lower end of a stretch of blocks. All differences up to it have been found. */
interface Low {
  number: number
  /** The last block whose balance we know. It is below `number` if the states after it are pruned. */
  knownAt: number
  balanceWei: bigint
  proof: Proof
  aheadWei: bigint
}

/** The differences, oldest first. Some are missing if the run runs out of time. If states are pruned, a difference spans several blocks. */
export async function locateDifferences(
  ctx: LedgerDb & ChainRead,
  question: Question,
  run: RunLimits,
): Promise<Difference[]> {
  const { address, upTo, checkedBlock } = question
  const booksAt = async (block: number) =>
    question.expectedWei - (await wallet.netFlow(ctx.pool, address, { block, upTo }))
  const differences: Difference[] = []
  const first = {
    number: checkedBlock,
    knownAt: checkedBlock,
    balanceWei: await booksAt(checkedBlock),
    proof: question.checkedProof,
    aheadWei: 0n,
  }
  const { wei, proof } = question.balance
  const last = { block: await blockAt(ctx, upTo), balanceWei: wei, proof, aheadWei: wei - question.expectedWei }
  const waiting: { low: Low; high: Reading }[] = [{ low: first, high: last }]
  // Each round halves a stretch or finishes it. If both ends of a stretch are off by the same amount, nothing happened in it.
  for (let next = waiting.pop(); next && !run.outOfTime(); next = waiting.pop()) {
    const { low, high } = next
    if (low.aheadWei === high.aheadWei) continue
    if (high.block.number - low.number <= 1) {
      differences.push({
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
  return differences
}

/** How many blocks on either side we try if no provider proves the state of the middle block. */
const NEAR = 2

/**
 * Reads the balance at a block in the middle of a stretch, or near the middle. The balance is null if that state is pruned. If no block can be
 * proven, the length of the stretch decides: in a short one the balance is null too, so that one difference spans the stretch; in a longer one this
 * throws a ChainFault, and a later run tries again.
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

/** A block as the ledger stored it, or else from the provider. */
export async function blockAt(ctx: LedgerDb & ChainRead, number: number): Promise<Block> {
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (!block) throw new ChainFault(`the provider has no block ${number}`)
  return block
}
