// GET /api/nodes/:address: the nodes a wallet owns, `[]` for none.
import { readNodesOf } from '../../db/reads/public-api.ts'
import { parseAddress } from '../edge/guards.ts'
import { oncePerTarget } from '../edge/router.ts'
import { isRefusal } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const nodesOfAddress = ({ deps, queryReplica, cached }: Tools): Route => {
  const asked = oncePerTarget(({ params }) => {
    const address = parseAddress(params.address, deps.checksum)
    return isRefusal(address) ? address : { address, key: `nodes ${address}` }
  })
  return {
    path: '/api/nodes/:address',
    methods: ['GET'],
    limitPerMinute: 60,
    cache: 'public, max-age=0, s-maxage=5, stale-while-revalidate=15',
    cors: true,
    deadlineMs: READ_DEADLINE_MS,
    handle: (call) => {
      const read = asked(call)
      if (isRefusal(read)) return read
      return cached(read.key, 5, () => queryReplica((sql) => readNodesOf(sql, read.address)))
    },
  }
}
