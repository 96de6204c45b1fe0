// Checks that a provider's answers about old blocks are about the ledger's own blocks. Behind a load balancer, the server that answers may have a
// different block at the same height. Call it after all reads: `areOlderCanonical` before the transaction that stores the results, `areOwnBlocks`
// within that transaction.
import { oldestBlockNumber, readHashes } from '../db/blocks/blocks.ts'
import type { Sql } from '../db/core/sql.ts'
import type { Position } from '../domain/observed.ts'
import type { ChainRead, LedgerDb } from '../passes/context.ts'

type Place = Pick<Position, 'blockNumber' | 'blockHash'>

/**
 * True if the provider still has each of these blocks at its height. Checks only blocks older than the stored headers; no reorganisation that we
 * follow goes that deep.
 */
export async function areOlderCanonical({ pool, chain }: LedgerDb & ChainRead, places: readonly Place[]) {
  const oldest = (await oldestBlockNumber(pool)) ?? 0
  const older = new Map(places.filter(({ blockNumber }) => blockNumber < oldest).map((at) => [at.blockNumber, at]))
  const blocks = await Promise.all([...older.keys()].map((number) => chain.block(number)))
  const canonical = new Map(blocks.map((block) => [block?.number, block?.hash]))
  return places.every(({ blockNumber, blockHash }) => blockNumber >= oldest || canonical.get(blockNumber) === blockHash)
}

/** True if each block that is not older than the stored headers is the ledger's own. Call it under the cursor's lock. */
export async function areOwnBlocks(sql: Sql, places: readonly Place[]): Promise<boolean> {
  const oldest = (await oldestBlockNumber(sql)) ?? 0
  const own = await readHashes(sql, [...new Set(places.map(({ blockNumber }) => blockNumber))])
  return places.every(({ blockNumber, blockHash }) => blockNumber < oldest || own.get(blockNumber) === blockHash)
}
