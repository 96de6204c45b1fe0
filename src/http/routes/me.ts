// GET /api/me: the signed-in wallet, its nodes and totals, and the nodes that it owns on the chain but the ledger lacks. The chain reading has its
// own time limit, like all `Readings`; after that it is null.
import { readWallet } from '../../db/reads/public-api.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const me = ({ deps, queryReplica }: Tools): Route => ({
  path: '/api/me',
  methods: ['GET'],
  limitPerMinute: 120,
  cache: 'private, no-store',
  cors: false,
  session: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: async ({ wallet }) => {
    const { readings } = deps
    const [{ nodes, totals, nodeIds }, onChain] = await Promise.all([
      queryReplica((sql) => readWallet(sql, wallet)),
      readings?.nodesOf(wallet) ?? null,
    ])
    const recorded = new Set(nodeIds)
    const unrecorded = onChain === null ? null : onChain.map(String).filter((id) => !recorded.has(id))
    const address = JSON.stringify(wallet)
    return {
      json: `{"address":${address},"nodes":${nodes},"totals":${totals},"unrecordedNodeIds":${JSON.stringify(unrecorded)}}`,
    }
  },
})
