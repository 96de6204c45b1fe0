// POST /api/nodes/sync: "my node is on chain, record it". We read the owner from the chain: first from the mint's log, then from the contract's
// current state. What the caller claims about ownership does not count. It writes only through the follower.
import { readNodesById } from '../../db/reads/public-api.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { toJson } from '../../lib/json.ts'
import type { FoundNode } from '../../ports/outcomes.ts'
import type { DatabaseRead } from '../database-read.ts'
import type { JsonObject } from '../edge/body.ts'
import { parseHash, parseNodeId } from '../edge/guards.ts'
import { isRefusal, type Refusal, refuse } from '../refusals.ts'
import type { Outcome, Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** How long an answer may take; after that, 503. Like a claim, a sync takes at most 12 s once it starts; the other time is for its wait in the queue. */
const DEADLINE_MS = 20_000

export const sync = (tools: Tools): Route => ({
  path: '/api/nodes/sync',
  methods: ['POST'],
  limitPerMinute: 20,
  cache: 'private, no-store',
  cors: false,
  session: true,
  takesJson: true,
  deadlineMs: DEADLINE_MS,
  handle: async ({ body, wallet, client }) => {
    const target = parseWanted(body)
    if (isRefusal(target)) return target
    const key = `sync ${wallet} ${target.txHash ?? ''} ${target.nodeId ?? ''}`
    return (await tools.chainLine.run(key, client, () => synced(tools, target, wallet))) ?? refuse('busy')
  },
})

async function synced({ deps, queryPrimary }: Tools, target: SyncTarget, wallet: Address): Promise<Outcome> {
  const outcome = await (target.txHash === null
    ? deps.syncer.byNodeId(target.nodeId)
    : deps.syncer.byTransaction(target.txHash, wallet))
  if (outcome.kind !== 'followed')
    return refuse(REFUSED[outcome.kind][target.txHash === null ? 'byNodeId' : 'byTransaction'])
  const candidates = outcome.nodes.filter((node) => target.nodeId === null || node.nodeId === target.nodeId)
  if (candidates.length === 0) return refuse('syncMismatch')
  const mine = candidates.filter((node) => node.ownerNow === wallet)
  if (mine.length === 0)
    return refuse(candidates.some((node) => node.mintedTo === wallet) ? 'noLongerYours' : 'notYours')
  return recorded(queryPrimary, mine, wallet)
}

type SyncTarget = { txHash: Hash; nodeId: bigint | null } | { txHash: null; nodeId: bigint }

function parseWanted(body: JsonObject): SyncTarget | Refusal {
  const txHash = body.txHash === undefined ? null : parseHash(body.txHash)
  if (isRefusal(txHash)) return txHash
  const nodeId = body.nodeId === undefined ? null : parseNodeId(body.nodeId)
  if (isRefusal(nodeId)) return nodeId
  if (txHash !== null) return { txHash, nodeId }
  return nodeId === null ? refuse('nothingToSync') : { txHash: null, nodeId }
}

/** The answer if no node was found, by the kind of request. */
const REFUSED = {
  following: { byTransaction: 'stillFollowing', byNodeId: 'stillFollowing' },
  notFound: { byTransaction: 'mintNotConfirmed', byNodeId: 'nodeNotMinted' },
  failed: { byTransaction: 'mintFailed', byNodeId: 'mintFailed' },
  noMint: { byTransaction: 'noMint', byNodeId: 'nodeNotMinted' },
} as const

/** The nodes as the ledger has them now. If it does not show a node as the wallet's yet, it will with the next block. */
async function recorded(queryPrimary: DatabaseRead, mine: readonly FoundNode[], wallet: Address): Promise<Outcome> {
  const ids = mine.map((node) => node.nodeId)
  const rows = await queryPrimary((sql) => readNodesById(sql, ids, wallet))
  const nodes = ids.flatMap((id) => rows.find(({ nodeId }) => nodeId === id.toString()) ?? [])
  if (nodes.length < mine.length) return refuse('stillFollowing')
  const isNew = mine.some((node) => node.created)
  return { json: toJson({ node: nodes[0], created: isNew, nodes }) }
}
