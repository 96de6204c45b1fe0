// A transaction that the operator names, as it is on the chain. It counts only if it succeeded and is in a canonical block. Once the ledger has
// followed that height, the block must also be the ledger's own.

import { readHashes } from '../../db/blocks/blocks.ts'
import type { Sql } from '../../db/core/sql.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { MinedView } from '../../ports/chain.ts'
import type { ChainRead } from '../../ports/contexts.ts'
import { type OperatorRefusal, refuseAct } from '../act.ts'

/** A successful transfer or call in a canonical block. */
export interface MinedTransaction extends MinedView {
  to: Address
}

const whoSaw = ({ chain }: ChainRead) =>
  chain.providers.length > 1 ? 'two providers agree on' : 'the provider has seen'

/** Reads a mined transaction; `what` is what the operator calls it. Throws a ChainFault if we cannot reach the chain. */
export async function readMined(
  deps: ChainRead,
  what: string,
  txHash: Hash,
): Promise<MinedTransaction | OperatorRefusal> {
  const tx = await deps.chain.minedTransaction(txHash)
  if (!tx) return refuseAct('notYet', `The ${what} is in no block that ${whoSaw(deps)} yet: try again shortly.`)
  const { to } = tx
  if ((await deps.chain.block(tx.blockNumber))?.hash !== tx.blockHash) return refuseReorg(what)
  if (!tx.succeeded) return refuseAct('invalid', `The ${what} failed on chain: it paid nothing.`)
  if (to === null) return refuseAct('invalid', `The ${what} creates a contract, so it is no transfer.`)
  return { ...tx, to }
}

/**
 * True if the ledger has exactly that block; null if it has no header at that height. Behind a load balancer, the node that answered may be on
 * another fork. So call this after all reads, in the act's transaction.
 */
export async function isOwnBlock(sql: Sql, { blockNumber, blockHash }: MinedTransaction): Promise<boolean | null> {
  const own = (await readHashes(sql, [blockNumber])).get(blockNumber)
  return own === undefined ? null : own === blockHash
}

/** Refuses a transaction whose block is not the chain's, or not the ledger's. */
export const refuseReorg = (what: string) =>
  refuseAct('notYet', `The block of the ${what} is being reorganised: try again shortly.`)
