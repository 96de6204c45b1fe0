// GET /api/me: the signed-in wallet, its nodes and totals, and which of its nodes on chain the ledger lacks.
import { readWallet } from '../../db/reads/public.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** The chain's list may take a little longer than a public read's: it is why one asks. Later than this it is null. */
const CHAIN_MS_MAX = 1_000

export const me = ({ deps, read }: Tools): Route => ({
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
      read((sql) => readWallet(sql, wallet)),
      readings === null ? null : inTimeOrNull(CHAIN_MS_MAX, () => readings.nodesOf(wallet)),
    ])
    const recorded = new Set(nodeIds)
    const unrecorded = onChain === null ? null : onChain.map(String).filter((id) => !recorded.has(id))
    const address = JSON.stringify(wallet)
    return {
      json: `{"address":${address},"nodes":${nodes},"totals":${totals},"unrecordedNodeIds":${JSON.stringify(unrecorded)}}`,
    }
  },
})
