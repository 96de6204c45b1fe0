// Grants: nodes without a payment that are meant to be. A cohort that holds a node with neither is not credited, since it may come
// from a stolen key; a grant says that it does not.
import { inTransaction } from '../db/core/sql.ts'
import { deleteGrant, insertGrant, listUnpaidNodes, lockNode } from '../db/nodes/grants.ts'
import { worthOfGrant } from '../db/operator/sums.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Fields, type OperatorRefusal, recordAct, refuseAct } from './act.ts'
import { defineAct, defineGuardedAct } from './define-act.ts'
import { type FieldReader, readFields } from './input.ts'
import { cachedResponseOf, type PageOf, readPageFields } from './page.ts'
import { ANY_SUM } from './second-person/guard.ts'

/** GET nodes/unpaid: nodes without a payment, newest first, each with its grant or null; `open=true` only those without; `cursor`, `limit`. */
export async function listUnpaid(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  const open = fields.flagOrNull('open') ?? false
  if (fields.refusal) return fields.refusal
  const rows = await listUnpaidNodes(deps.pool, { open, before, limit: limit + 1 })
  const page = cachedResponseOf('nodes', rows, limit)
  return { ...page, nodes: rows.slice(0, limit).map(({ id: _, ...node }) => node) }
}

const readGrant = (fields: FieldReader) => ({
  nodeId: fields.whole('nodeId', 1, Number.MAX_SAFE_INTEGER),
  reason: fields.text('reason'),
})

/** POST nodes/:nodeId/grant `{reason}`: the node is meant to be; its cohort is credited again from the next pass on. */
export const grantNode = defineGuardedAct({
  name: 'grantNode',
  scope: 'decide',
  read: readGrant,
  sum: async (sql, { nodeId }) => (await worthOfGrant(sql, nodeId)) ?? ANY_SUM,
  run: ({ pool }: LedgerDb, actor, { nodeId, reason }) =>
    inTransaction(pool, async (sql) => {
      const node = await lockNode(sql, nodeId)
      if (!node) return noNode
      if (node.paid) return refuseAct('conflict', 'The node was paid for: it needs no grant.')
      const changed = await insertGrant(sql, node.ref, reason, actor.name)
      if (changed)
        await recordAct(sql, actor, { action: 'granted', subject: String(nodeId), after: { ref: node.ref }, reason })
      return { nodeId: String(nodeId), granted: true, changed }
    }),
})

const noNode = refuseAct('notFound', 'The ledger has no such node (yet).')

/** POST nodes/:nodeId/revoke `{reason}`: takes a grant back. The cohort waits again; what it was credited stays. */
export const revokeGrant = defineAct({
  read: readGrant,
  run: ({ pool }: LedgerDb, actor, { nodeId, reason }) =>
    inTransaction(pool, async (sql) => {
      const node = await lockNode(sql, nodeId)
      const before = node && (await deleteGrant(sql, node.ref))
      if (!before) return refuseAct('notFound', 'There is no grant for that node.')
      await recordAct(sql, actor, { action: 'grantRevoked', subject: String(nodeId), before, reason })
      return { nodeId: String(nodeId), granted: false, changed: true }
    }),
})
