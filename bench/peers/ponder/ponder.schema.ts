// The part of the ledger that follows from blocks alone: transfers received, nodes, their holders, rounds, withdrawals.
import { index, onchainTable, primaryKey } from 'ponder'

export const payment = onchainTable('payment', (t) => ({
  txHash: t.hex().primaryKey(),
  from: t.hex().notNull(),
  valueWei: t.bigint().notNull(),
  blockNumber: t.bigint().notNull(),
  at: t.bigint().notNull(),
}))

export const cohort = onchainTable('cohort', (t) => ({
  id: t.integer().primaryKey(),
  tierNo: t.integer().notNull(),
  intervalSec: t.bigint().notNull(),
  nextDue: t.bigint().notNull(),
  size: t.integer().notNull(),
  perNodeWei: t.bigint().notNull(),
  turnCount: t.integer().notNull(),
  lastTurnAt: t.bigint(),
}))

export const node = onchainTable(
  'node',
  (t) => ({
    id: t.bigint().primaryKey(),
    owner: t.hex().notNull(),
    cohort: t.integer().notNull(),
    ref: t.hex().notNull(),
    mintTxHash: t.hex().notNull(),
    mintedAt: t.bigint().notNull(),
    perNodeAtMintWei: t.bigint().notNull(),
    turnsAtMint: t.integer().notNull(),
    withdrawnWei: t.bigint().notNull(),
  }),
  (table) => ({ owners: index().on(table.owner) }),
)

export const nodeTransfer = onchainTable('node_transfer', (t) => ({
  id: t.text().primaryKey(),
  nodeId: t.bigint().notNull(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  txHash: t.hex().notNull(),
}))

export const turn = onchainTable(
  'turn',
  (t) => ({
    round: t.bigint().notNull(),
    cohort: t.integer().notNull(),
    turnNo: t.integer().notNull(),
    amountWei: t.bigint().notNull(),
    nodeCount: t.bigint().notNull(),
    txHash: t.hex().notNull(),
    at: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.round, table.cohort] }),
    ofCohort: index().on(table.cohort, table.turnNo),
  }),
)

export const withdrawal = onchainTable(
  'withdrawal',
  (t) => ({
    /** Ponder's id of the event. Sorts in the chain's order. */
    id: t.text().primaryKey(),
    nodeId: t.bigint().notNull(),
    amountWei: t.bigint().notNull(),
    toAddress: t.hex().notNull(),
    txHash: t.hex().notNull(),
    at: t.bigint().notNull(),
  }),
  (table) => ({ ofNode: index().on(table.nodeId, table.id) }),
)
