// The ledger's tables (migrations/0001_schema.sql), as far as the three routes read them.
import { bigint, integer, numeric, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

/** Whole numbers beyond 2^53, which the driver returns as text. */
const wei = () => numeric({ precision: 78, scale: 0 }).notNull()
const int8 = () => bigint({ mode: 'number' })
const time = () => timestamp({ withTimezone: true })

export const nodes = pgTable('nodes', {
  nodeId: int8().primaryKey(),
  id: int8().notNull(),
  owner: text().notNull(),
  cohort: integer().notNull(),
  paymentId: int8(),
  perNodeAtMintWei: wei(),
  turnsAtMint: integer().notNull(),
  withdrawnWei: wei(),
  mintTxHash: text().notNull(),
  mintedAt: time().notNull(),
})

export const cohorts = pgTable('cohorts', {
  cohort: integer().primaryKey(),
  nextDue: int8().notNull(),
  perNodeWei: wei(),
  turnCount: integer().notNull(),
  lastTurnAt: time(),
})

export const payments = pgTable('payments', {
  id: int8().primaryKey(),
  tierId: text(),
  valueWei: wei(),
  txHash: text(),
})

export const rounds = pgTable('rounds', {
  round: int8().primaryKey(),
  createdAt: time().notNull(),
})

export const turns = pgTable('turns', {
  round: int8().notNull(),
  cohort: integer().notNull(),
  turnNo: integer().notNull(),
  amountWei: wei(),
})

export const withdrawals = pgTable('withdrawals', {
  id: int8().primaryKey(),
  nodeId: int8().notNull(),
  amountWei: wei(),
  toAddress: text(),
  txHash: text().notNull(),
  status: text().notNull(),
  createdAt: time().notNull(),
  confirmedAt: time(),
})

export const totals = pgTable('totals', {
  nodes: int8().notNull(),
  owners: int8().notNull(),
  rounds: int8().notNull(),
  distributedWei: wei(),
  withdrawnWei: wei(),
  salesWei: wei(),
})
