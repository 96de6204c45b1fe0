// The ledger's contents of a range of blocks, as plain keys, for comparison with the same blocks read again.
import type { SortedTransfers } from '../../domain/junk.ts'
import type { Incoming, ObservedRange, Transfer } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** One event of a block. */
export interface Happening {
  blockNumber: number
  /** The part of the block that it comes from. */
  part: 'header' | 'transactions' | 'receipts'
  /** The transaction of a payment; null for all else. */
  paidBy: Hash | null
  /** All of its fields. Written the same way for ledger and chain. */
  key: string
}

/**
 * The ledger's contents of the blocks `from` to `to`. Leaves out failed withdrawals: the ledger keeps only those by the node's owner, so it may lack
 * some that the chain has. Leaves out fees, because no hash covers them (books/own-fees.ts).
 */
export async function readHappenings(sql: Sql, from: number, to: number): Promise<Happening[]> {
  return await sql<Happening[]>`
    SELECT number AS "blockNumber", 'header' AS part, NULL AS "paidBy", 'block ' || hash AS key FROM blocks WHERE number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'transactions', tx_hash,
        concat_ws(' ', 'payment', tx_hash, wallet, from_address, value_wei, CASE WHEN NOT succeeded THEN 'failed' END, codes) FROM payments
      WHERE block_number BETWEEN ${from} AND ${to} AND tx_hash IS NOT NULL AND inner_index = 0
    UNION ALL
    SELECT d.block_number, 'transactions', '0x' || encode(d.tx_hash, 'hex'),
        concat_ws(' ', 'payment', '0x' || encode(d.tx_hash, 'hex'), w.wallet, '0x' || encode(d.from_address, 'hex'), d.value_wei)
      FROM dust d JOIN payment_wallets w ON w.id = d.wallet_id WHERE d.block_number BETWEEN ${from} AND ${to}
        AND d.inner_index = 0
    UNION ALL
    SELECT z.block_number, 'transactions', NULL, concat_ws(' ', 'zeroTransfers', w.wallet, z.transfers)
      FROM zero_transfers z JOIN payment_wallets w ON w.id = z.wallet_id WHERE z.block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'transactions', NULL, concat_ws(' ', 'outflow', tx_hash, wallet, to_address, value_wei) FROM wallet_outflows
      WHERE block_number BETWEEN ${from} AND ${to} AND tx_hash IS NOT NULL AND inner_index = 0
    UNION ALL
    SELECT n.block_number, 'receipts', NULL, concat_ws(' ', 'node', n.node_id, n.ref, coalesce(n.cohort, e.cohort))
      FROM nodes n LEFT JOIN expulsions e USING (node_id) WHERE n.block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'receipts', NULL, concat_ws(' ', 'expulsion', node_id, cohort) FROM expulsions WHERE block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'receipts', NULL, concat_ws(' ', 'ownerAct', log_index, name) FROM owner_acts WHERE block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'receipts', NULL, concat_ws(' ', 'transfer', log_index, node_id, from_address, to_address) FROM node_transfers
      WHERE block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT r.block_number, 'receipts', NULL, concat_ws(' ', 'turn', r.round, t.cohort, t.due, t.turns, t.amount_wei, t.node_count)
      FROM rounds r JOIN turns t USING (round) WHERE r.block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT r.block_number, 'receipts', NULL, concat_ws(' ', 'skip', r.round, s.cohort, s.due, s.turns)
      FROM rounds r JOIN skips s USING (round) WHERE r.block_number BETWEEN ${from} AND ${to}
    UNION ALL
    SELECT block_number, 'receipts', NULL, concat_ws(' ', 'withdrawal', log_index, node_id, to_address, amount_wei) FROM withdrawals
      WHERE block_number BETWEEN ${from} AND ${to} AND status = 'sent'`
}

/** The contents of blocks that we read again, in the same form as `readHappenings`, with their transfers sorted as the ledger would store them. */
export function happeningsOf(
  { blocks, outflows, events }: Pick<ObservedRange, 'blocks' | 'outflows' | 'events'>,
  { payments, dust, zero }: SortedTransfers<Transfer>,
): Happening[] {
  const incoming = [...payments, ...dust.map((one) => ({ ...one, codes: null }))] // The ledger stores no codes for dust.
  return [
    ...blocks.map(({ number, hash }) => happening(number, 'header', ['block', hash])),
    ...incoming.map(({ blockNumber, txHash, wallet, from, valueWei, succeeded, codes }) => ({
      ...happening(blockNumber, 'transactions', [
        'payment',
        txHash,
        wallet,
        from,
        valueWei,
        succeeded ? null : 'failed',
        codes,
      ]),
      paidBy: txHash,
    })),
    ...countGroups(zero).map(([{ blockNumber, wallet }, count]) =>
      happening(blockNumber, 'transactions', ['zeroTransfers', wallet, count]),
    ),
    ...outflows.map(({ blockNumber, txHash, wallet, to, succeeded, valueWei }) =>
      happening(blockNumber, 'transactions', ['outflow', txHash, wallet, to, succeeded ? valueWei : 0n]),
    ),
    ...events.flatMap((event) => {
      const fields = fieldsOf(event)
      return fields ? [happening(event.blockNumber, 'receipts', fields)] : []
    }),
  ]
}

type Fields = readonly (string | number | bigint | null)[]

const happening = (blockNumber: number, part: Happening['part'], fields: Fields): Happening => ({
  blockNumber,
  part,
  paidBy: null,
  key: fields.filter((field) => field !== null).join(' '),
})

/** The fields of an event of the factory; null if the ledger stores nothing of it. */
function fieldsOf(event: ObservedRange['events'][number]): Fields | null {
  switch (event.kind) {
    case 'nodeMinted':
      return ['node', event.nodeId, event.ref, event.cohort]
    case 'transfer':
      return ['transfer', event.logIndex, event.nodeId, event.from, event.to]
    case 'credited':
      return ['turn', event.round, event.cohort, event.due, event.turns, event.amountPerNodeWei, event.nodeCount]
    case 'turnsSkipped':
      return ['skip', event.round, event.cohort, event.due, event.turns]
    case 'nodeExpelled':
      return ['expulsion', event.nodeId, event.cohort]
    case 'ownerAct':
      return ['ownerAct', event.logIndex, event.name]
    case 'withdrawn':
      return ['withdrawal', event.logIndex, event.nodeId, event.to, event.amountWei]
    default:
      return null
  }
}

/** Transfers of zero ether, grouped by block and wallet: the first of each group, and how many. */
function countGroups(zero: readonly Incoming[]): [Incoming, number][] {
  const groups = Map.groupBy(zero, ({ blockNumber, wallet }) => `${blockNumber} ${wallet}`)
  return [...groups.values()].flatMap((group): [Incoming, number][] => (group[0] ? [[group[0], group.length]] : []))
}
