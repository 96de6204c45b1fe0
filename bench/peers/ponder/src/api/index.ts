// A node's page in the ledger's shape, as far as the index has it.

import { db } from 'ponder:api'
import { cohort, node, turn, withdrawal } from 'ponder:schema'
import { Hono } from 'hono'
import { and, desc, eq, gt } from 'ponder'

const ENTRIES = 50
const iso = (sec: bigint) => new Date(Number(sec) * 1000)
const app = new Hono()

app.get('/api/node/:id', async (c) => {
  const id = c.req.param('id')
  if (!/^[1-9]\d{0,14}$/.test(id)) return c.json({ error: 'not an id' }, 400)
  const nodeId = BigInt(id)
  const [found] = await db.select().from(node).innerJoin(cohort, eq(cohort.id, node.cohort)).where(eq(node.id, nodeId))
  if (!found) return c.json({ error: 'no such node' }, 404)
  const [credits, withdrawals] = await Promise.all([
    db
      .select()
      .from(turn)
      .where(and(eq(turn.cohort, found.cohort.id), gt(turn.turnNo, found.node.turnsAtMint)))
      .orderBy(desc(turn.turnNo))
      .limit(ENTRIES),
    db.select().from(withdrawal).where(eq(withdrawal.nodeId, nodeId)).orderBy(desc(withdrawal.id)).limit(ENTRIES),
  ])
  const { owner, mintTxHash, mintedAt, perNodeAtMintWei, turnsAtMint, withdrawnWei } = found.node
  const { perNodeWei, turnCount, lastTurnAt, nextDue } = found.cohort
  const creditedWei = perNodeWei - perNodeAtMintWei
  return c.json({
    nodeId: id,
    owner,
    creditedWei: String(creditedWei),
    withdrawnWei: String(withdrawnWei),
    balanceWei: String(creditedWei - withdrawnWei),
    mintTxHash,
    mintedAt: iso(mintedAt),
    lastCreditedAt: turnCount > turnsAtMint && lastTurnAt !== null ? iso(lastTurnAt) : null,
    nextCreditAt: iso(nextDue),
    credits: credits.map(({ round, amountWei, at }) => ({
      id: Number(round),
      distributionId: Number(round),
      amountWei: String(amountWei),
      createdAt: iso(at),
    })),
    withdrawals: withdrawals.map(({ amountWei, toAddress, txHash, at }) => ({
      amountWei: String(amountWei),
      toAddress,
      txHash,
      createdAt: iso(at),
    })),
  })
})

export default app
