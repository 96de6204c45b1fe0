// What the ledger has stored of a range of blocks, as plain keys, for holding it against the same blocks read anew.
import type { ObservedRange } from '../domain/observed.ts'
import type { Hash } from '../domain/units.ts'
import type { Sql } from './sql.ts'

/** Something that happened in a block, named so that ledger and chain name it alike. */
export interface Happening {
  blockNumber: number
  key: string
}

/** What the ledger has of the blocks `from` to `to`. Failed withdrawals are left out: which are kept depends on who owned the node. */
export async function readHappenings(sql: Sql, from: number, to: number): Promise<Happening[]> {
  return await sql<Happening[]>`
    SELECT number AS "blockNumber", 'block ' || hash AS key FROM blocks WHERE number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'payment ' || tx_hash FROM payments
      WHERE block_number BETWEEN ${from} AND ${to} AND tx_hash IS NOT NULL AND inner_index = 0
    UNION ALL
    SELECT block_number, 'outflow ' || tx_hash FROM wallet_outflows
      WHERE block_number BETWEEN ${from} AND ${to} AND tx_hash IS NOT NULL
    UNION ALL
    SELECT block_number, 'node ' || node_id FROM nodes WHERE block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'transfer ' || log_index FROM node_transfers WHERE block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT r.block_number, 'turn ' || r.round || ' ' || t.cohort FROM rounds r JOIN turns t USING (round)
      WHERE r.block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'withdrawal ' || log_index FROM withdrawals
      WHERE block_number BETWEEN ${from} AND ${to} AND status = 'sent'`
}

/** The same of blocks that were read anew. */
export function happeningsOf({ blocks, transfers, outflows, events }: ObservedRange): Happening[] {
  const named = (blockNumber: number, kind: string, id: Hash | number | bigint | string) => ({
    blockNumber,
    key: `${kind} ${id}`,
  })
  return [
    ...blocks.map((block) => named(block.number, 'block', block.hash)),
    ...transfers.map((transfer) => named(transfer.blockNumber, 'payment', transfer.txHash)),
    ...outflows.map((outflow) => named(outflow.blockNumber, 'outflow', outflow.txHash)),
    ...events.flatMap((event) => {
      switch (event.kind) {
        case 'nodeMinted':
          return [named(event.blockNumber, 'node', event.nodeId)]
        case 'transfer':
          return [named(event.blockNumber, 'transfer', event.logIndex)]
        case 'credited':
          return [named(event.blockNumber, 'turn', `${event.round} ${event.cohort}`)]
        case 'withdrawn':
          return [named(event.blockNumber, 'withdrawal', event.logIndex)]
        default:
          return []
      }
    }),
  ]
}
