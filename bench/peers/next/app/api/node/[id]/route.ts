import type { NextRequest } from 'next/server'
import { creditsOfNode, nodeByEitherId, withdrawalsOfNode } from '../../../../db/queries'
import { shownNode } from '../../../../db/shown'

export const dynamic = 'force-dynamic'

const LIMIT_MAX = 200
const LIMIT_DEFAULT = 50

export async function GET(request: NextRequest, { params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const limit = Number(request.nextUrl.searchParams.get('limit') ?? LIMIT_DEFAULT)
  if (!/^[1-9]\d{0,14}$/.test(id)) return Response.json({ error: 'not an id' }, { status: 400 })
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    return Response.json({ error: 'not a limit' }, { status: 400 })
  const [found] = await nodeByEitherId.execute({ id: Number(id) })
  if (!found) return Response.json({ error: 'no such node' }, { status: 404 })
  const { nodeId, cohort, turnsAtMint } = found.node
  const [credits, withdrawals] = await Promise.all([
    creditsOfNode.execute({ cohort, turnsAtMint, limit }),
    withdrawalsOfNode.execute({ nodeId, limit }),
  ])
  return Response.json({
    ...shownNode(found),
    matchedBy: nodeId === Number(id) ? 'nodeId' : 'id',
    chain: null,
    credits: credits.map(({ round, amountWei, createdAt }) => ({
      id: round,
      distributionId: round,
      amountWei,
      createdAt,
    })),
    withdrawals: withdrawals.map(({ nodeId: _, ...withdrawal }) => ({
      ...withdrawal,
      cumulativeSignedWei: '0',
      deadline: 0,
    })),
  })
}
