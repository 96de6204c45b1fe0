// Sync: an owner points at a mint that he misses in the ledger. The mint is looked up on chain and the ledger follows to
// it under the same rules as any pass; a node that following cannot bring any more is inserted as the reconciler does.
import { readCursor } from '../db/blocks.ts'
import { readMintedTo } from '../db/nodes.ts'
import type { Hash } from '../domain/units.ts'
import type { PassContext } from './context.ts'
import type { FoundNode, PaymentsOutcome, Syncer, SyncOutcome } from './outcomes.ts'
import { reachBlock } from './steps/reach.ts'
import { insertMissingNode } from './steps/reconcile.ts'

/** Nodes of one mint transaction that are looked up at most: as many as a mint carries. */
const NODES_MAX = 100

/** Builds the lookup (POST /api/nodes/sync) on the payments pass it nudges. */
export function createSyncer(ctx: PassContext, runPayments: () => Promise<PaymentsOutcome>): Syncer {
  return {
    async byTransaction(txHash) {
      const tx = await ctx.chain.transaction(txHash)
      if (!tx) return { kind: 'notFound' }
      if (tx.blockNumber === null) return { kind: 'pending' }
      if (tx.succeeded === false) return { kind: 'failed' }
      const nodeIds = await mintedIn(ctx, txHash, tx.blockNumber)
      if (nodeIds.length === 0) return { kind: 'noMint' }
      // To the head, not just to the mint: what counts in the end is whose the node is now.
      return find(ctx, runPayments, nodeIds, Math.max(tx.blockNumber, (await ctx.chain.head()).number))
    },
    async byNodeId(nodeId) {
      const head = await ctx.chain.head()
      const [onChain] = await ctx.contract.nodes(nodeId, 1, head.number)
      return onChain ? find(ctx, runPayments, [nodeId], head.number) : { kind: 'notFound' }
    },
  }
}

async function mintedIn(ctx: PassContext, txHash: Hash, blockNumber: number): Promise<bigint[]> {
  const { events } = await ctx.chain.observe(blockNumber, blockNumber, null)
  return events
    .flatMap((event) => (event.kind === 'nodeMinted' && event.txHash === txHash ? [event.nodeId] : []))
    .slice(0, NODES_MAX)
}

/** Has the ledger follow to the block, then tells of each node whom the log names and whom the contract names now. */
async function find(
  ctx: PassContext,
  runPayments: () => Promise<PaymentsOutcome>,
  nodeIds: readonly bigint[],
  blockNumber: number,
): Promise<SyncOutcome> {
  const before = await readMintedTo(ctx.pool, nodeIds)
  if (!(await reachBlock(ctx, blockNumber, runPayments))) return { kind: 'following' }
  const cursor = await readCursor(ctx.pool)
  if (!cursor) return { kind: 'following' }
  const nodes: FoundNode[] = []
  for (const nodeId of nodeIds) {
    const [onChain] = await ctx.contract.nodes(nodeId, 1, cursor.number)
    if (!onChain) return { kind: 'following' }
    let mintedTo = (await readMintedTo(ctx.pool, [nodeId])).get(nodeId)
    if (!mintedTo && (await insertMissingNode(ctx, cursor, nodeId))) {
      mintedTo = (await readMintedTo(ctx.pool, [nodeId])).get(nodeId)
    }
    if (!mintedTo) return { kind: 'following' }
    nodes.push({ nodeId, mintedTo, ownerNow: onChain.owner, created: !before.has(nodeId) })
  }
  return { kind: 'followed', nodes }
}
