// Links the headers of old blocks to those that we have followed, each by the hash that its successor names as its parent. An only provider can invent
// an old block that matches its own hash, and so choose a turn's seed, but not one from which the followed blocks descend. Of linked blocks we store
// the seeds that turns still need.

import { oldestBlockNumber, readBlock, readCursor } from '../db/blocks/blocks.ts'
import { headersProvenFrom } from '../db/blocks/evidence.ts'
import { inTransaction, type Pool } from '../db/core/sql.ts'
import { readCohorts } from '../db/nodes/cohorts.ts'
import { keepAgreedSeedBlock } from '../db/nodes/seed-blocks.ts'
import { readLinked, type SeedWait, writeLinked } from '../db/nodes/seed-waits.ts'
import type { Block } from '../domain/observed.ts'
import { mapBounded } from '../lib/parallel.ts'
import type { ChainRead, LedgerDb, Logging, RunLimits } from '../ports/contexts.ts'
import { ChainFault, ProofFault } from '../ports/faults.ts'
import { tellFault } from './proofs.ts'
import { seedBlocksOf } from './seeds.ts'

/** How many headers we store at a time, and how often a run does so. A day of a chain with a block every two seconds then takes 43 runs. */
const BATCH = 64
const BATCHES_MAX = 16
/** Few requests at a time, so that a provider with a limit still serves the passes. */
const IN_FLIGHT = 4

/**
 * Links headers down to the one before a turn, as many as one run may read; the next run continues. Does nothing if headers cannot be proven here.
 * @returns what the turn waits for; `linked` if its seed is stored now; null if linking cannot help.
 */
export async function linkSeeds(
  ctx: LedgerDb & ChainRead & Logging,
  run: RunLimits,
  due: number,
): Promise<SeedWait | 'linked' | null> {
  const { pool, log } = ctx
  let low = await whereToGoOn(pool, due)
  if (low === null) return null
  try {
    for (let i = 0; i < BATCHES_MAX && low.time >= due && !run.outOfTime(); i++) low = await linkBatch(ctx, low)
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    await tellFault(ctx, error)
    return { due, says: `the headers before block ${low.number} cannot be linked to it: ${error.message}` }
  }
  if (low.time < due || low.number === 0) return 'linked'
  const says = `headers are linked down to block ${low.number}; ${low.time - due} seconds of block time are left`
  log.info({ due, block: low.number }, says)
  return { due, says }
}

/** The header below which the next ones are to be linked; null if there is none that we have proven. */
async function whereToGoOn(pool: Pool, due: number): Promise<Block | null> {
  const [lowestLinked, oldest, provenFrom] = [
    await readLinked(pool),
    await oldestBlockNumber(pool),
    await headersProvenFrom(pool),
  ]
  if (oldest === null || provenFrom === null) return null
  if (lowestLinked && lowestLinked.time >= due) {
    // A reorganisation may have replaced it, if the ledger still has headers from that height.
    const ownBlock = await readBlock(pool, lowestLinked.number)
    if (ownBlock ? ownBlock.hash === lowestLinked.hash : lowestLinked.number < oldest) return lowestLinked
  }
  return await readBlock(pool, Math.max(oldest, provenFrom + 1))
}

/** Links the headers right below `top`. @returns the lowest of them. */
async function linkBatch({ pool, chain }: LedgerDb & ChainRead, top: Block): Promise<Block> {
  const first = Math.max(0, top.number - BATCH)
  const numbers = Array.from({ length: top.number - first }, (_, index) => first + index)
  const headers = await mapBounded(numbers, IN_FLIGHT, (number) => chain.block(number))
  const blocks = [top]
  let low = top
  for (const block of headers.toReversed()) {
    const number = low.number - 1
    if (!block) throw new ChainFault(`the provider has no block ${number}`)
    if (block.hash !== low.parentHash)
      throw new ProofFault('header', number, `block ${low.number} has another block as its parent`)
    blocks.unshift(block)
    low = block
  }
  const seedBlocks = seedBlocksOf(blocks, null, await readCohorts(pool))
  await inTransaction(pool, async (sql) => {
    await readCursor(sql, { lock: true })
    const ownBlock = await readBlock(sql, top.number)
    if (ownBlock && ownBlock.hash !== top.hash) throw new ChainFault(`block ${top.number} was replaced`)
    for (const block of seedBlocks) await keepAgreedSeedBlock(sql, { ...block, proof: 'proven' })
    await writeLinked(sql, low)
  })
  return low
}
