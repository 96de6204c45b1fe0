// A signed-in wallet's own readings.
import type { Sql } from '../../db/core/sql.ts'
import { readDueCommissions } from '../../db/reads/commissions.ts'
import { type NodeRow, readNodesOf } from '../../db/reads/public-api.ts'
import { readReferralsOf } from '../../db/sale/referrals.ts'
import type { Address } from '../../domain/units.ts'
import { toJson } from '../../lib/json.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** GET /api/me: the wallet, its nodes and totals, and the nodes that it owns on the chain but the ledger lacks; null if we could not ask the chain. */
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

/** A code without any sale. */
const NOTHING = { count: 0, valueWei: 0n, earnedWei: 0n, reversedWei: 0n, paidWei: 0n, waitingWei: 0n, dueWei: 0n }

/** GET /api/me/referrals: the codes that pay the signed-in wallet, with what they sold, earned and were paid. It reveals nothing about buyers. */
export const meReferrals = ({ queryReplica }: Tools): Route => ({
  path: '/api/me/referrals',
  methods: ['GET'],
  limitPerMinute: 30,
  cache: 'private, no-store',
  cors: false,
  session: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: async ({ wallet }) => ({ json: toJson({ referrals: await queryReplica((sql) => readOwn(sql, wallet)) }) }),
})

/** Due is what is earned up to the followed block. The operator pays it once it is final. */
async function readOwn(sql: Sql, wallet: Address) {
  const codes = await readReferralsOf(sql, wallet)
  if (codes.length === 0) return []
  const lines = await readDueCommissions(sql, { final: Number.MAX_SAFE_INTEGER, trustsOne: true, payee: wallet })
  return codes.map((of) => {
    const line = lines.find(({ code }) => code === of.code) ?? NOTHING
    const { count, valueWei, earnedWei, reversedWei, paidWei, waitingWei, dueWei } = line
    return { ...of, count, valueWei, earnedWei, reversedWei, paidWei, waitingWei, dueWei }
  })
}
