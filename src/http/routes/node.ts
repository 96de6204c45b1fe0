// GET /api/node/:id: one node by either of its ids, with its credits and withdrawals, and what the contract reports about it. The contract is read at
// exactly the followed block, so that a difference is drift and not lag. To add a field: CONTRIBUTING.md, "A field of an answer" (api/openapi.yaml
// first, then NODE_COLUMNS in db/reads/public-api.ts).

import { type NodePage, readNode } from '../../db/reads/public-api.ts'
import type { Readings } from '../../ports/contract.ts'
import { parseId, parseLimit } from '../edge/guards.ts'
import { isRefusal, refuse } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const node = ({ deps, queryReplica, cached }: Tools): Route => ({
  path: '/api/node/:id',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=5, stale-while-revalidate=15',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: async ({ params, query }) => {
    const id = parseId(params.id)
    if (isRefusal(id)) return id
    const limit = parseLimit(query)
    if (isRefusal(limit)) return limit
    const response = await cached(`node ${id} ${limit}`, 5, async () => {
      const page = await queryReplica((sql) => readNode(sql, id, limit))
      return page && fieldsOf(page, await readChain(deps.readings, page))
    })
    return response ?? refuse('unknownNode')
  },
})

const fieldsOf = ({ node: fields, matchedBy, credits, withdrawals }: NodePage, chain: object | null) => ({
  ...fields,
  matchedBy,
  chain,
  credits,
  withdrawals,
})

async function readChain(readings: Readings, { node: ledger, followedTo }: NodePage): Promise<object | null> {
  if (followedTo === null) return null
  const chain = await readings.node(BigInt(ledger.nodeId), followedTo)
  if (chain === null) return null
  const { owner, balanceWei, creditedWei, withdrawnWei, blockNumber } = chain
  const matchesLedger =
    owner === ledger.owner &&
    balanceWei.toString() === ledger.balanceWei &&
    creditedWei.toString() === ledger.creditedWei &&
    withdrawnWei.toString() === ledger.withdrawnWei
  return { owner, balanceWei, creditedWei, withdrawnWei, blockNumber, matchesLedger }
}
