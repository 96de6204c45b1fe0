// GET /api/node/:id: one node by either of its ids, with its credits and withdrawals, and what the contract reports about it. The contract is read at
// exactly the followed block, so that a difference is drift and not lag. To add a field: CONTRIBUTING.md, "A field of an answer" (api/openapi.yaml
// first, then NODE_COLUMNS in db/reads/public-api.ts).

import { type AskedNode, NODES_AT_ONCE, type NodePage, readNodes } from '../../db/reads/public-api.ts'
import { inBatches } from '../../lib/batches.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import { toJson } from '../../lib/json.ts'
import type { Readings } from '../../ports/chain.ts'
import { parseId, parseLimit } from '../edge/guards.ts'
import { isRefusal, orRefuse } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** How long we wait for the chain, which must never slow the answer down. After that the chain's reading is null. */
const CHAIN_MS_MAX = 300

/** How many statements run at once. With eight pages in each, they keep one process busy even if the database is some milliseconds away. */
const STATEMENTS_MAX = 4

const BEFORE_WITHDRAWALS = Buffer.from(',"withdrawals":')
const END = Buffer.from('}')

type ReadPage = (asked: AskedNode) => Promise<NodePage | null>

export const node = ({ deps, queryReplica, cached }: Tools): Route => {
  const readPage = inBatches({
    concurrencyMax: STATEMENTS_MAX,
    sizes: NODES_AT_ONCE,
    ask: (nodes: readonly AskedNode[]) => queryReplica((sql) => readNodes(sql, nodes)),
  })
  return {
    path: '/api/node/:id',
    methods: ['GET'],
    limitPerMinute: 60,
    cache: 'public, max-age=0, s-maxage=5, stale-while-revalidate=15',
    cors: true,
    deadlineMs: READ_DEADLINE_MS,
    handle: ({ params, query }) => {
      const id = parseId(params.id)
      if (isRefusal(id)) return id
      const limit = parseLimit(query)
      if (isRefusal(limit)) return limit
      const response = cached(`node ${id} ${limit}`, 5, () => nodeJson(deps.readings, readPage, { id, limit }))
      return orRefuse(response, 'unknownNode')
    },
  }
}

async function nodeJson(readings: Readings | null, readPage: ReadPage, asked: AskedNode): Promise<Buffer | null> {
  const found = await readPage(asked)
  if (found === null) return null
  const { node: fields, matchedBy, credits, withdrawals } = found
  const chain = toJson(await chainWord(readings, found))
  // The pieces are JSON already. We cut the closing brace of the node's own fields and append the rest.
  const words = Buffer.from(`,"matchedBy":"${matchedBy}","chain":${chain},"credits":`)
  return Buffer.concat([fields.subarray(0, -1), words, credits, BEFORE_WITHDRAWALS, withdrawals, END])
}

async function chainWord(readings: Readings | null, ledger: NodePage): Promise<object | null> {
  const { followedTo } = ledger
  if (readings === null || followedTo === null) return null
  const chain = await inTimeOrNull(CHAIN_MS_MAX, () => readings.node(BigInt(ledger.nodeId), followedTo))
  if (chain === null) return null
  const { owner, balanceWei, creditedWei, withdrawnWei, blockNumber } = chain
  const matchesLedger =
    owner === ledger.owner &&
    balanceWei.toString() === ledger.balanceWei &&
    creditedWei.toString() === ledger.creditedWei &&
    withdrawnWei.toString() === ledger.withdrawnWei
  return { owner, balanceWei, creditedWei, withdrawnWei, blockNumber, matchesLedger }
}
