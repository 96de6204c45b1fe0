import { allTotals, newestRound } from '../../../db/queries'

export const dynamic = 'force-dynamic'

export async function GET() {
  const [[totals], [newest]] = await Promise.all([allTotals.execute(), newestRound.execute()])
  if (!totals) return Response.json({ error: 'no totals' }, { status: 500 })
  return Response.json({
    totalNodes: totals.nodes,
    totalOwners: totals.owners,
    totalDistributions: totals.rounds,
    totalDistributedWei: totals.distributedWei,
    totalWithdrawnWei: totals.withdrawnWei,
    outstandingWei: String(BigInt(totals.distributedWei) - BigInt(totals.withdrawnWei)),
    totalSalesWei: totals.salesWei,
    lastDistributionAt: newest?.createdAt ?? null,
  })
}
