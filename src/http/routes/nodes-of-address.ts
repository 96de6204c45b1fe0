// GET /api/nodes/:address: the nodes a wallet owns, `[]` for none.
import { readNodesOf } from '../../db/reads/public-api.ts'
import { parseAddress } from '../edge/guards.ts'
import { isRefusal } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const nodesOfAddress = ({ deps, queryReplica, cached }: Tools): Route => ({
  path: '/api/nodes/:address',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=5, stale-while-revalidate=15',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: ({ params }) => {
    const address = parseAddress(params.address, deps.checksum)
    if (isRefusal(address)) return address
    return cached(`nodes ${address}`, 5, () => queryReplica((sql) => readNodesOf(sql, address)))
  },
})
