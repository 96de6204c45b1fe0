// Compares a block's transactions and receipts with the roots in its header. A root commits to the complete list and its order, so nothing can be
// missing or added. The header itself must be proven first (header.ts).
import { breath } from './breath.ts'
import { type Fields, isZeros } from './items.ts'
import { listRoot } from './list-root.ts'
import { type BloomBits, encodeReceipt } from './receipt.ts'
import { encodeTransaction, isOfUnknownType } from './transaction.ts'
import { compared, type Encoded, type Part, unprovable, type Verdict } from './verdict.ts'

/** A verdict on a list, and how many of its leading items the root commits to. */
export interface ListVerdict {
  readonly verdict: Verdict
  readonly count: number
}

/** Reads the bytes of a block's transaction by its index; null if the provider does not give them. */
export type ReadRaw = (index: number) => Promise<Uint8Array | null>

/** How many transactions of a block may be of types that we do not know. */
const RAW_MAX = 16

/**
 * Whether a block's complete list of `transactions` matches its `transactionsRoot`. Of a transaction whose type we do not know, `readRaw` gives the
 * bytes. They must be of such a type, too: else a provider could hide a payment under a type of its own.
 */
export async function proveTransactions(block: Fields, readRaw: ReadRaw): Promise<ListVerdict> {
  const { transactions, transactionsRoot } = block
  if (!Array.isArray(transactions)) return noList('transactions')
  let rawReads = 0
  return proveList('transactions', transactionsRoot, transactions, async (item, index) => {
    const own = encodeTransaction(item)
    const bytes = 'why' in own && rawReads++ < RAW_MAX ? await readRaw(index) : null
    return bytes && isOfUnknownType(bytes) ? { bytes } : own
  })
}

/** Whether the receipts of all transactions of a block, in their order, match its `receiptsRoot`. */
export async function proveReceipts(block: Fields, receipts: unknown): Promise<ListVerdict> {
  if (!Array.isArray(receipts)) return noList('receipts')
  const bits: BloomBits = new Map()
  return proveList('receipts', block.receiptsRoot, receipts, (receipt) => encodeReceipt(receipt, bits))
}

/** The block with the chain's id in each transaction that has a type and lacks it. Its bytes have it in any case, so the root decides. */
export function withChainId(block: Fields, chainId: string | null): Fields {
  if (chainId === null || !Array.isArray(block.transactions)) return block
  const lacks = (tx: unknown) => (Object(tx) as Fields).chainId == null && Number(Object(tx).type ?? 0) > 0
  const transactions = block.transactions.map((tx) => (lacks(tx) ? { ...Object(tx), chainId } : tx))
  return { ...block, transactions }
}

const noList = (part: Part): ListVerdict => ({ verdict: unprovable(part, `${part}: no list`), count: 0 })

async function proveList(
  part: Part,
  root: unknown,
  items: readonly unknown[],
  encode: (item: unknown, index: number) => Encoded | Promise<Encoded>,
): Promise<ListVerdict> {
  const pause = breath()
  const leaves: Uint8Array[] = []
  for (const [index, item] of items.entries()) {
    const leaf = await encode(item, index)
    if ('why' in leaf) {
      // Nothing but the chain's own last item can be outside of the root.
      if (index === items.length - 1 && isStateSync(item)) break
      return { verdict: unprovable(part, `number ${index}: ${leaf.why}`), count: 0 }
    }
    leaves.push(leaf.bytes)
    await pause()
  }
  const verdict = compared(part, root, await listRoot(leaves, pause))
  if (verdict.kind === 'proven') return { verdict, count: leaves.length }
  if (leaves.length < items.length || !isStateSync(items.at(-1))) return { verdict, count: 0 }
  const without = compared(part, root, await listRoot(leaves.slice(0, -1), pause))
  return without.kind === 'proven' ? { verdict: without, count: leaves.length - 1 } : { verdict, count: 0 }
}

/** The length of an address in hex. */
const ADDRESS_CHARACTERS = 42

/**
 * True for the state-sync transaction that Polygon's nodes append to a block, and for its receipt: from and to the zero address, without gas. The roots
 * cover them since Madhugiri (PIP-74), and did not before.
 */
function isStateSync(item: unknown): boolean {
  const { from, to, gas, gasUsed, r, s } = Object(item) as Fields
  const isNobody = (account: unknown) => isZeros(account) && account.length === ADDRESS_CHARACTERS
  const gasAmount = gas ?? gasUsed
  return (
    [from, to].every(isNobody) &&
    isZeros(gasAmount) &&
    gasAmount !== '0x' &&
    [r, s].every((each) => each == null || isZeros(each))
  )
}
