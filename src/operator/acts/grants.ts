// Grants: the operator confirms nodes without a payment. A cohort that has a node with neither payment nor grant is not credited, because the node
// may have been minted with a stolen key. A grant states that it was not.
import type { Sql } from '../../db/core/sql.ts'
import { deleteGrant, insertGrant, listUnpaidNodes, lockNode } from '../../db/nodes/grants.ts'
import { worthOfGrant } from '../../db/operator/sums.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { refuseAct } from '../act.ts'
import { defineAct, defineGuardedAct, defineReading } from '../define-act.ts'
import { ANY_SUM, refuseWhileMending } from '../guard.ts'
import * as field from '../input.ts'

/** Nodes without a payment, newest first, each with its grant or null. */
export const listUnpaid = defineReading({
  path: 'nodes/unpaid',
  command: 'nodes unpaid',
  summary: 'list nodes without a payment, each with its grant',
  details:
    'The service does not credit a cohort that holds a node with neither payment nor grant, because the node may come from a stolen key.',
  examples: ['nodes unpaid --open'],
  fields: { open: field.flag('only those without a grant'), ...field.PAGE },
  run: async ({ pool }: LedgerDb, { open, limit, cursor }) => {
    const rows = await listUnpaidNodes(pool, { open, before: cursor, limit: limit + 1 })
    const page = field.pageOf('nodes', rows, limit)
    return { ...page, nodes: rows.slice(0, limit).map(({ id: _, ...node }) => node) }
  },
  columns: ['nodeId', 'owner', 'cohort', 'tierNo', 'ref', 'mintTxHash', 'mintedAt', 'grant'],
})

const GRANT = {
  nodeId: { ...field.whole('its id on the contract', 1, Number.MAX_SAFE_INTEGER), schema: 'NodeId' },
  reason: field.REASON_WANTED,
}

export const grantNode = defineGuardedAct({
  path: 'nodes/:nodeId/grant',
  scope: 'decide',
  command: 'nodes grant',
  summary: 'grant a node without a payment, so its cohort is credited',
  examples: ['nodes grant <node> --reason "a gift of the house" --yes'],
  fields: GRANT,
  asks: 'Grant it?',
  proposedAs: 'grantNode',
  sum: async (sql, { nodeId }) => (await worthOfGrant(sql, nodeId)) ?? ANY_SUM,
  change: async ({ sql, actor, record }, { nodeId, reason }) => {
    const wait = await refuseWhileMending(sql)
    if (wait) return wait
    const node = await lockNode(sql, nodeId)
    if (!node) return noNode
    if (node.paid) return refuseAct('conflict', 'The node was paid for: it needs no grant.')
    const hasChanged = await insertGrant(sql, node.ref, reason, actor.name)
    if (hasChanged) record({ action: 'granted', subject: String(nodeId), after: { ref: node.ref } })
    return { nodeId: String(nodeId), granted: true, changed: hasChanged }
  },
  preview: async ({ nodeId, changed }, _request, sql) =>
    changed
      ? `Node ${nodeId} of ${await readOwner(sql, nodeId)} came without a payment. It is then credited like any other.`
      : `No change: node ${nodeId} was granted before.`,
  says: 'Granted: its cohort is credited again from the next pass on.',
})

async function readOwner(sql: Sql, nodeId: string): Promise<string> {
  const [node] = await listUnpaidNodes(sql, { open: false, before: Number(nodeId) + 1, limit: 1 })
  return node?.owner ?? 'an unknown owner'
}

const noNode = refuseAct('notFound', 'The ledger has no such node (yet).')

export const revokeGrant = defineAct({
  path: 'nodes/:nodeId/revoke',
  scope: 'decide',
  command: 'nodes revoke',
  summary: 'revoke a grant; earlier credits stay',
  examples: ['nodes revoke <node> --reason "a mistake" --yes'],
  fields: GRANT,
  asks: 'Revoke its grant?',
  change: async ({ sql, record }, { nodeId }) => {
    const node = await lockNode(sql, nodeId)
    const before = node && (await deleteGrant(sql, node.ref))
    if (!before) return refuseAct('notFound', 'That node has no grant.')
    record({ action: 'grantRevoked', subject: String(nodeId), before })
    return { nodeId: String(nodeId), granted: false, changed: true }
  },
  preview: async ({ nodeId }, _request, sql) =>
    `Node ${nodeId} of ${await readOwner(sql, nodeId)} loses its grant. The service then credits no node of its cohort.`,
  says: 'Revoked: its cohort is not credited from the next pass on.',
})
