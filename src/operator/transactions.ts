// The transactions of the minter and the distributor, and the rounds, as the operator pages through them.
import { readRounds, readTransactions, TRANSACTION_STATES } from '../db/transactions.ts'
import type { LedgerDb } from '../passes/context.ts'
import type { Fields, OperatorRefusal } from './act.ts'
import { readFields } from './input.ts'
import { type PageOf, pageOf, readPageFields } from './page.ts'

/** GET transactions: newest first; `sender`, `status` (pending, mined, reverted, displaced), `cursor`, `limit`. */
export async function listTransactions(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  const asked = {
    sender: fields.addressOrNull('sender'),
    status: fields.wordOrNull('status', TRANSACTION_STATES),
    before,
    limit: limit + 1,
  }
  if (fields.refusal) return fields.refusal
  return pageOf('transactions', await readTransactions(deps.pool, asked), limit)
}

/** GET rounds: newest first, each with its turns, gas and fee; `cursor`, `limit`. */
export async function listRounds(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  if (fields.refusal) return fields.refusal
  return pageOf('rounds', await readRounds(deps.pool, { before, limit: limit + 1 }), limit)
}
