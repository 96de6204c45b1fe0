// Sync: an owner reports a mint that the ledger lacks. We look the mint up on chain, and the ledger follows to it under the same rules as in any
// pass. If the ledger has already followed past the mint and still lacks the node, the next run compares the mint's block. Sync reads the ledger first,
// then single values from the chain. It never reads whole blocks, and stores nothing that a provider reports. Once it starts, it takes at most 12 s, like a
// claim.

import { type Cursor, oldestBlockNumber, readBlock, readCursor, readHashes } from '../db/blocks/blocks.ts'
import { noteClaimedBlock } from '../db/blocks/claimed.ts'
import { readMintedBy, readMintedTo } from '../db/nodes/nodes.ts'
import { MINT_BATCH_MAX } from '../domain/send.ts'
import { within } from '../lib/deadline.ts'
import type { RepairContext } from '../mending/seek.ts'
import type { LedgerDb, Polling } from '../ports/contexts.ts'
import type { MintReceipt } from '../ports/contract.ts'
import { ChainFault } from '../ports/faults.ts'
import type { FoundNode, PaymentsOutcome, Syncer, SyncOutcome } from '../ports/outcomes.ts'
import { type Looks, reachBlock } from './reach.ts'

type FindContext = RepairContext & Polling

/** Waits for a value from the chain. All values that one sync reads together may take at most `readMs`. */
type Ask = <T>(reading: Promise<T>) => Promise<T>

/** Waits until the ledger has followed to the block, and `isDone` returns true. False if that takes too long. */
type Reach = (isDone?: () => Promise<boolean>) => Promise<boolean>

/** Which nodes we look for. */
interface Search {
  ask: Ask
  /** The ids are consecutive, because a transaction mints its nodes one after the other. */
  nodeIds: readonly bigint[]
  /** The receipt that lists the nodes; null if the ledger lists them. */
  receipt: MintReceipt | null
  compareMint: (search: Search, cursor: Cursor) => Promise<boolean>
}

/** Creates the functions behind POST /api/nodes/sync. They start the payments pass. */
export function createSyncer(ctx: FindContext, runPayments: () => Promise<PaymentsOutcome>): Syncer {
  // Callers that sync at the same time share one lookup.
  const looks: Looks = { lookedAt: null }
  const reaching =
    (blockNumber: number): Reach =>
    (isDone) =>
      reachBlock(ctx, blockNumber, runPayments, { looks, ...(isDone && { isDone }) })
  /** Has the next run compare the block of a mint that the ledger lacks. @returns false if none is compared now. */
  async function compareMint({ ask, nodeIds: [nodeId = 0n], receipt }: Search, cursor: Cursor): Promise<boolean> {
    const from = (await oldestBlockNumber(ctx.pool)) ?? cursor.number
    const [first] = receipt ? [] : (await ask(ctx.history.logsOfNode(nodeId, from, cursor.number))).flat()
    const number = receipt?.block?.number ?? first?.blockNumber
    const own = number === undefined || number > cursor.number ? null : await readBlock(ctx.pool, number)
    if (own === null || own.hash !== (receipt?.block?.hash ?? first?.blockHash)) return false
    if (!(await noteClaimedBlock(ctx.pool, own.number))) return false
    looks.lookedAt = null
    return true
  }
  return {
    async byTransaction(txHash, wallet) {
      const ask = askWithin(ctx)
      const ledgerNodes = await readMintedBy(ctx.pool, txHash)
      // If none of the nodes that the ledger knows is the caller's, the ledger may lack the caller's node.
      const isCallers = ledgerNodes.some(({ owner, mintedTo }) => owner === wallet || mintedTo === wallet)
      const receipt = isCallers ? null : await ask(ctx.history.mintReceipt(txHash))
      const minted = isCallers ? ledgerNodes : (receipt?.nodes ?? [])
      const refusal = isCallers ? null : await refuse(ctx, receipt)
      if (refusal) return refusal
      // We follow to the head, not just to the mint, because what matters in the end is who owns the node now.
      const head = await ask(ctx.chain.head())
      const nodeIds = minted.map(({ nodeId }) => nodeId).slice(0, MINT_BATCH_MAX)
      const reach = reaching(Math.max(receipt?.block?.number ?? 0, head.number))
      return find(ctx, reach, { ask, nodeIds, receipt, compareMint })
    },
    async byNodeId(nodeId) {
      const ask = askWithin(ctx)
      const head = await ask(ctx.chain.head())
      const [onChain] = await ask(ctx.contract.nodes(nodeId, 1, head))
      if (!onChain) return { kind: 'notFound' }
      return find(ctx, reaching(head.number), { ask, nodeIds: [nodeId], receipt: null, compareMint })
    },
  }
}

function askWithin({ pollPolicy: { readMs } }: Polling): Ask {
  const end = performance.now() + readMs
  return (reading) =>
    within(Math.max(0, end - performance.now()), reading, (): never => {
      throw new ChainFault(`the chain did not answer within ${readMs} ms`)
    })
}

/** Why we refuse a transaction, by its receipt; null if the transaction minted nodes. */
async function refuse(ctx: FindContext, receipt: MintReceipt | null): Promise<SyncOutcome | null> {
  if (receipt === null || !(await mayBeOwn(ctx, receipt))) return { kind: 'notFound' }
  if (!receipt.succeeded) return { kind: 'failed' }
  const isBeforeSale = receipt.block !== null && receipt.block.number < ctx.rules.startBlock
  return receipt.nodes.length === 0 || isBeforeSale ? { kind: 'noMint' } : null
}

/** False if the receipt's block is not the ledger's: then the provider that returned it is on another fork. */
async function mayBeOwn({ pool }: LedgerDb, { block }: MintReceipt): Promise<boolean> {
  if (block === null) return true
  const own = (await readHashes(pool, [block.number])).get(block.number)
  return own === undefined || own === block.hash
}

/** Follows to the head, then returns two owners for each node: the one in the log, and the one that the contract has now. */
async function find(ctx: FindContext, reach: Reach, search: Search): Promise<SyncOutcome> {
  const { ask, nodeIds, compareMint } = search
  const before = await readMintedTo(ctx.pool, nodeIds)
  if (!(await reach())) return { kind: 'following' }
  let cursor = await readCursor(ctx.pool)
  let recipients = await readMintedTo(ctx.pool, nodeIds)
  const isComplete = async () => {
    recipients = await readMintedTo(ctx.pool, nodeIds)
    return recipients.size === nodeIds.length
  }
  if (cursor && recipients.size < nodeIds.length && (await compareMint(search, cursor)) && (await reach(isComplete)))
    cursor = await readCursor(ctx.pool)
  if (!cursor) return { kind: 'following' }
  const [first = 1n, last = first] = [nodeIds[0], nodeIds.at(-1)]
  const onChain = await ask(ctx.contract.nodes(first, Number(last - first) + 1, cursor))
  const owners = new Map(onChain.map((node) => [node.nodeId, node.owner]))
  const nodes: FoundNode[] = []
  for (const nodeId of nodeIds) {
    const [mintedTo, ownerNow] = [recipients.get(nodeId), owners.get(nodeId)]
    if (!mintedTo || !ownerNow) return { kind: 'following' }
    nodes.push({ nodeId, mintedTo, ownerNow, created: !before.has(nodeId) })
  }
  return { kind: 'followed', nodes }
}
