// Ledger compared with chain: the passes' last findings, and a full comparison on demand.
import { inTransaction } from '../../../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit, writeDrift } from '../../../db/core/state.ts'
import { readReconciliation } from '../../../db/reads/reconciliation.ts'
import type { ChainRead, FactoryRead, LedgerDb } from '../../../ports/contexts.ts'
import { isOperatorRefusal, type ReplicaDb, recordAct } from '../../act.ts'
import { defineAct, defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { verifyLedger } from './verify.ts'

/** How many drifts of a comparison we store; we count all. */
const KEPT_MAX = 100

/** The reconciler compares counters each time, and a window of nodes. `nextNodeId` is the node at which it continues. */
export const showReconciliation = defineReading({
  path: 'reconciliation',
  summary: 'what the last comparisons with the chain found',
  fields: {},
  run: ({ pool }: LedgerDb): Promise<object> => readReconciliation(pool),
})

/**
 * Compares at one block, and repairs nothing. If the ledger lacks a node, the next payments pass inserts it; anything else is for the operator to
 * judge.
 */
export const runReconciliation = defineAct({
  path: 'reconciliation/run',
  scope: 'operate',
  summary: 'compare every node and cohort with the contract, and record the differences',
  fields: { reason: field.REASON },
  run: async (deps: LedgerDb & ReplicaDb & ChainRead & FactoryRead, actor, { reason }) => {
    const result = await verifyLedger(deps)
    if (isOperatorRefusal(result)) return result
    const drifts = result.drifts.slice(0, KEPT_MAX)
    const driftCount = result.drifts.length
    const { blockNumber, blockHash, nodes, cohorts } = result
    await inTransaction(deps.pool, async (sql) => {
      const hasChanged = await writeDrift(sql, drifts, actor.name)
      const outcome = { actor: actor.name, requestId: actor.requestId, detail: { count: driftCount, drifts } }
      if (hasChanged && driftCount > 0) await writeAudit(sql, { action: 'drift', ...outcome })
      await recordAct(sql, actor, {
        action: 'reconciled',
        after: { blockNumber, blockHash, nodes, cohorts, driftCount, drifts: drifts.slice(0, 20) },
        reason,
      })
      await notifyLedgerChanged(sql)
    })
    return { ...result, drifts, driftCount, equal: driftCount === 0 }
  },
  says: ({ nodes, cohorts, driftCount }) =>
    `${nodes} nodes and ${cohorts} cohorts compared: ${driftCount === 0 ? 'no difference' : `${driftCount} differences`}.`,
})
