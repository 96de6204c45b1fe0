// What the last comparisons of ledger and chain found, for the operator.
import type { Sql } from '../core/sql.ts'

/**
 * One object with the last runs of the passes and of the reconciler, the recorded drift, the last check of the payments wallets' balances, and any
 * halt.
 */
export async function readReconciliation(sql: Sql): Promise<object> {
  const [row] = await sql<{ report: object }[]>`
    SELECT jsonb_build_object(
      'passes', (SELECT jsonb_object_agg(name, jsonb_build_object('startedAt', iso(started_at), 'finishedAt', iso(finished_at),
        'outcome', outcome, 'error', error)) FROM passes),
      'drift', CASE WHEN l.drift IS NOT NULL THEN jsonb_build_object('since', iso(l.drift_at), 'by', l.drift_by, 'count', jsonb_array_length(l.drift),
        'drifts', jsonb_path_query_array(l.drift, '$[0 to 99]')) END,
      'nextNodeId', l.reconcile_next,
      'followed', (SELECT jsonb_build_object('blockNumber', block_number, 'blockHash', block_hash, 'blockTime',
        iso(to_timestamp(block_time))) FROM cursors WHERE name = 'follow'),
      'wallets', (SELECT coalesce(jsonb_agg(jsonb_build_object('address', b.wallet, 'auditedBlock', b.audited_block, 'baseBlock', b.base_block,
        'bookedWei', (b.base_wei + b.in_wei - b.out_wei)::text, 'closedBlock', w.closed_block) ORDER BY w.id), '[]')
        FROM wallet_books b JOIN payment_wallets w USING (wallet)),
      'budget', l.budget,
      'halted', (SELECT value FROM troubles WHERE name = 'halted')) AS report FROM ledger_state l`
  return row?.report ?? {}
}
