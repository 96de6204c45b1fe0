// Compares a block's transactions and receipts with the roots in its header. A root commits to the complete list and its order, so nothing can be
// missing or added. The header itself must be proven first (header.ts).
import { breath } from './breath.ts'
import { settlesOthers } from './header.ts'
import type { Fields } from './items.ts'
import { listRoot } from './list-root.ts'
import { type BloomBits, encodeReceipt } from './receipt.ts'
import { encodeTransaction, isUnsigned } from './transaction.ts'
import { compared, type Encoded, type Part, unprovable, type Verdict } from './verdict.ts'

/** A verdict on a list, and how many of its leading items the root commits to. */
export interface ListVerdict {
  readonly verdict: Verdict
  readonly count: number
}

/** Whether a block's complete list of `transactions` matches its `transactionsRoot`. */
export async function proveTransactions(block: Fields): Promise<ListVerdict> {
  const { transactions, transactionsRoot } = block
  if (!Array.isArray(transactions)) return noList('transactions')
  return proveList('transactions', transactionsRoot, withoutStateSync(transactions), encodeTransaction)
}

/** Whether the receipts of all transactions of a block, in their order, match its `receiptsRoot`. */
export async function proveReceipts(block: Fields, receipts: unknown): Promise<ListVerdict> {
  if (!Array.isArray(receipts)) return noList('receipts')
  if (settlesOthers(block))
    return { verdict: unprovable('receipts', 'the header’s receipts root belongs to other blocks'), count: 0 }
  const bits: BloomBits = new Map()
  const own = withoutStateSync(receipts)
  return proveList('receipts', block.receiptsRoot, own, (receipt) => encodeReceipt(receipt, bits))
}

const noList = (part: Part): ListVerdict => ({ verdict: unprovable(part, `${part}: no list`), count: 0 })

async function proveList(
  part: Part,
  root: unknown,
  items: readonly unknown[],
  encode: (item: unknown) => Encoded,
): Promise<ListVerdict> {
  const pause = breath()
  const leaves: Uint8Array[] = []
  for (const [index, item] of items.entries()) {
    const leaf = encode(item)
    if ('why' in leaf) return { verdict: unprovable(part, `number ${index}: ${leaf.why}`), count: 0 }
    leaves.push(leaf.bytes)
    await pause()
  }
  const verdict = compared(part, root, await listRoot(leaves, pause))
  return { verdict, count: verdict.kind === 'proven' ? leaves.length : 0 }
}

const NOBODY = /^0x0{40}$/

/**
 * Polygon's nodes append a state-sync transaction and its receipt to a block: from and to the zero address, without gas. Neither root covers them, so
 * we drop them, unproven.
 */
function withoutStateSync(items: readonly unknown[]): readonly unknown[] {
  const last = items.at(-1) as Fields | undefined
  const isStateSync =
    [last?.from, last?.to].every((account) => NOBODY.test(String(account))) &&
    /^0x0+$/.test(String(last?.gas ?? last?.gasUsed)) &&
    (last?.r === undefined || isUnsigned(last))
  return isStateSync ? items.slice(0, -1) : items
}
