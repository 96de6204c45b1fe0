import { ponder } from 'ponder:registry'
import { cohort, node, nodeTransfer, payment, turn, withdrawal } from 'ponder:schema'
import { zeroAddress } from 'viem'

ponder.on('PaymentsWallet:transaction:to', async ({ event, context }) => {
  const { hash, from, value } = event.transaction
  const { number, timestamp } = event.block
  await context.db.insert(payment).values({ txHash: hash, from, valueWei: value, blockNumber: number, at: timestamp })
})

ponder.on('NodeFactory:CohortOpened', async ({ event, context }) => {
  const { tier, firstDue, interval } = event.args
  await context.db.insert(cohort).values({
    id: Number(event.args.cohort),
    tierNo: Number(tier),
    intervalSec: interval,
    nextDue: firstDue,
    size: 0,
    perNodeWei: 0n,
    turnCount: 0,
  })
})

ponder.on('NodeFactory:NodeMinted', async ({ event, context }) => {
  const { nodeId, owner, ref } = event.args
  const id = Number(event.args.cohort)
  const joined = await context.db.update(cohort, { id }).set((row) => ({ size: row.size + 1 }))
  await context.db.insert(node).values({
    id: nodeId,
    owner,
    cohort: id,
    ref,
    mintTxHash: event.transaction.hash,
    mintedAt: event.block.timestamp,
    perNodeAtMintWei: joined.perNodeWei,
    turnsAtMint: joined.turnCount,
    withdrawnWei: 0n,
  })
})

ponder.on('NodeFactory:Transfer', async ({ event, context }) => {
  const { from, to, id } = event.args
  await context.db.insert(nodeTransfer).values({ id: event.id, nodeId: id, from, to, txHash: event.transaction.hash })
  // A mint also has its own event, which comes after this one and contains more.
  if (from !== zeroAddress) await context.db.update(node, { id }).set({ owner: to })
})

ponder.on('NodeFactory:Credited', async ({ event, context }) => {
  const { round, due, turns, amountPerNode, nodeCount } = event.args
  const id = Number(event.args.cohort)
  const at = event.block.timestamp
  const credited = await context.db.update(cohort, { id }).set((row) => ({
    perNodeWei: row.perNodeWei + amountPerNode,
    turnCount: row.turnCount + 1,
    nextDue: due + turns * row.intervalSec,
    lastTurnAt: at,
  }))
  await context.db.insert(turn).values({
    round,
    cohort: id,
    turnNo: credited.turnCount,
    amountWei: amountPerNode,
    nodeCount,
    txHash: event.transaction.hash,
    at,
  })
})

ponder.on('NodeFactory:Withdrawn', async ({ event, context }) => {
  const { nodeId, to, amount, withdrawnTotal } = event.args
  await context.db.insert(withdrawal).values({
    id: event.id,
    nodeId,
    amountWei: amount,
    toAddress: to,
    txHash: event.transaction.hash,
    at: event.block.timestamp,
  })
  await context.db.update(node, { id: nodeId }).set({ withdrawnWei: withdrawnTotal })
})
