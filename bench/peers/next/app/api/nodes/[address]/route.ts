import { nodesOfOwner } from '../../../../db/queries'
import { shownNode } from '../../../../db/shown'

export const dynamic = 'force-dynamic'

export async function GET(_request: Request, { params }: { params: Promise<{ address: string }> }) {
  const { address } = await params
  if (!/^0x[0-9a-f]{40}$/i.test(address)) return Response.json({ error: 'not an address' }, { status: 400 })
  const rows = await nodesOfOwner.execute({ owner: address.toLowerCase() })
  return Response.json(rows.map(shownNode))
}
