// Locates by bisection the blocks in which a payments wallet's balance and the books part: each block in which the difference between them changes.
// It misses value that came and left by inner calls to the same wei between two readings.
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
  /** What backs the reading at `checked`. */
  checkedProof: Proof
}

/** Value that moved in a block and that the books do not know; negative if it left. */
export interface Difference {
  residueWei: bigint
  /** What backs the readings at both its ends; the weaker of them. */
  proof: Proof
  block: Block
  /** It arose in the blocks `fromBlock` to `block`, which are the same unless the states between are gone. */
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

/** The end of a stretch of blocks below which everything is known. */
interface Low {
  number: number
  /** The block whose balance is known; an earlier one if the states since are gone. */
  knownAt: number
  balanceWei: bigint
  proof: Proof
  aheadWei: bigint
}

/** The differences so far, oldest first; all of them unless the run's time is up. If states are gone, a difference belongs to its oldest block. */
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
    number: checked,
    knownAt: checked,
    balanceWei: await booksAt(checked),
    proof: asked.checkedProof,
    aheadWei: 0n,
  }
  const { wei, proof } = asked.balance
  const last = { block: await blockAt(ctx, upTo), balanceWei: wei, proof, aheadWei: wei - asked.expectedWei }
  const waiting: { low: Low; high: Reading }[] = [{ low: first, high: last }]
  // Each round halves a stretch or finishes one. We do not look into a stretch with the same difference at both ends.
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

/** How many blocks on either side of a stretch's middle we try if no provider proves the state of the middle one. */
const NEAR = 2

/**
 * Reads a balance in the middle of a stretch, or near it. The balance is null if that state is gone, or, at the stretch's last but one block, if no
 * block of it is proven; then the difference covers all of them. Throws a ChainFault if we have to ask again for one of a longer stretch.
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

/** The followed block, or else the provider's. */
export async function blockAt(ctx: LedgerDb & ChainRead, number: number): Promise<Block> {
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (!block) throw new ChainFault(`the provider has no block ${number}`, { retryable: true })
  return block
}
