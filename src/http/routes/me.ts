// GET /api/me: the signed-in wallet, its nodes and totals, and the nodes that it owns on the chain but the ledger lacks. The chain reading has its
// own time limit, like all `Readings`; after that it is null.
import { type NodeRow, readNodesOf } from '../../db/reads/public-api.ts'
import { toJson } from '../../lib/json.ts'
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
    const [nodes, onChain] = await Promise.all([
      queryReplica((sql) => readNodesOf(sql, wallet)),
      readings.nodesOf(wallet),
    ])
    const recordedIds = new Set(nodes.map(({ nodeId }) => nodeId))
    const unrecordedNodeIds = onChain === null ? null : onChain.map(String).filter((id) => !recordedIds.has(id))
    return { json: toJson({ address: wallet, nodes, totals: totalsOf(nodes), unrecordedNodeIds }) }
  },
})

function totalsOf(nodes: readonly NodeRow[]): object {
  const sum = (amount: (node: NodeRow) => string) => nodes.reduce((wei, node) => wei + BigInt(amount(node)), 0n)
  return {
    nodeCount: nodes.length,
    creditedWei: sum(({ creditedWei }) => creditedWei),
    withdrawnWei: sum(({ withdrawnWei }) => withdrawnWei),
    balanceWei: sum(({ balanceWei }) => balanceWei),
  }
}
