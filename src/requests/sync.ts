// Sync: an owner points at a mint that is missing in the ledger. The mint is looked up on chain and the ledger follows to
// it under the same rules as any pass; a node that following cannot bring any more is inserted as the reconciler does.
import { readCursor } from '../db/blocks/blocks.ts'
import { readMintedTo } from '../db/nodes/nodes.ts'
import { MINT_BATCH_MAX } from '../domain/send.ts'
import type { Hash } from '../domain/units.ts'
import { insertMissingNode } from '../follower/reconcile.ts'
import type {
  ChainRead,
  FactoryRead,
  FollowRules,
  LedgerDb,
  Logging,
  NodeHistoryRead,
  Polling,
  RuledBy,
} from '../passes/context.ts'
import type { FoundNode, PaymentsOutcome, Syncer, SyncOutcome } from '../passes/outcomes.ts'
import { reachBlock } from './reach.ts'

type FindContext = LedgerDb & ChainRead & FactoryRead & NodeHistoryRead & Polling & RuledBy<FollowRules> & Logging

/** Builds the lookup (POST /api/nodes/sync) on the payments pass it triggers. */
export function createSyncer(ctx: FindContext, runPayments: () => Promise<PaymentsOutcome>): Syncer {
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

async function mintedIn(ctx: ChainRead, txHash: Hash, blockNumber: number): Promise<bigint[]> {
  const { events } = await ctx.chain.observe(blockNumber, blockNumber, null)
  return events
    .flatMap((event) => (event.kind === 'nodeMinted' && event.txHash === txHash ? [event.nodeId] : []))
    .slice(0, MINT_BATCH_MAX)
}

/** Has the ledger follow to the block, then returns each node's owner by the log and by the contract now. */
async function find(
  ctx: FindContext,
  runPayments: () => Promise<PaymentsOutcome>,
  nodeIds: readonly bigint[],
  blockNumber: number,
): Promise<SyncOutcome> {
  const before = await readMintedTo(ctx.pool, nodeIds)
  if (!(await reachBlock(ctx, blockNumber, runPayments))) return { kind: 'following' }
  const cursor = await readCursor(ctx.pool)
  if (!cursor) return { kind: 'following' }
  const nodes: FoundNode[] = []
  // The nodes of one transaction have ids without gaps: one question for all of them.
  const onChain = await ctx.contract.nodes(nodeIds[0] ?? 0n, nodeIds.length, cursor.number)
  const owners = new Map(onChain.map((node) => [node.nodeId, node.owner]))
  const recorded = await readMintedTo(ctx.pool, nodeIds)
  for (const nodeId of nodeIds) {
    const ownerNow = owners.get(nodeId)
    if (!ownerNow) return { kind: 'following' }
    let mintedTo = recorded.get(nodeId)
    if (!mintedTo && (await insertMissingNode(ctx, cursor, nodeId))) {
      mintedTo = (await readMintedTo(ctx.pool, [nodeId])).get(nodeId)
    }
    if (!mintedTo) return { kind: 'following' }
    nodes.push({ nodeId, mintedTo, ownerNow, created: !before.has(nodeId) })
  }
  return { kind: 'followed', nodes }
}
