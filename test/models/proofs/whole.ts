// A whole block of a chain of the tests: its header, both lists, and each transaction's hash, by the second reading.
import { provenHeader } from './header.ts'
import type { Wire } from './items.ts'
import { isTransactionProven, provenReceipts, provenTransactions } from './lists.ts'

/** The parts of a block that are not proven, in words. Both lists are complete. */
export async function unprovenParts(block: Wire, receipts: readonly unknown[]): Promise<string[]> {
  const transactions = block.transactions as readonly unknown[]
  const { length } = transactions
  const parts: [part: string, isProven: boolean][] = [
    ['header', provenHeader(block)?.added.length === 0],
    ['transactions', (await provenTransactions(block, () => null)) === length],
    ['hashes of transactions', transactions.every(isTransactionProven)],
    ['receipts', receipts.length === length && (await provenReceipts(block, receipts)) === length],
  ]
  return parts.filter(([, isProven]) => !isProven).map(([part]) => `${part} not proven by the second reading`)
}
