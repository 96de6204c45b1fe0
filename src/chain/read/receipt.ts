// Reads the receipt of a transaction that a caller names, up to a maximum size, because a stranger decides what is in it.
import type { Hash } from '../../domain/units.ts'
import { ChainFault, RpcFault } from '../faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { receipt, type WireReceipt } from '../rpc/wire.ts'

/** A full mint's receipt is 300 KB; that of a thousand batched refunds is under 1 MB. Parsing 2 MB takes about 20 ms. */
const RECEIPT_BYTES_MAX = 2 * 1024 * 1024

/** The parsed receipt with the provider's raw answer; null while the provider has none. */
export async function readReceipt(
  rpc: RpcReads,
  txHash: Hash,
): Promise<{ found: WireReceipt; answer: unknown } | 'tooLarge' | null> {
  try {
    const accept = (given: unknown) => given !== null
    const answer = await rpc.request('eth_getTransactionReceipt', [txHash], { accept, bytesMax: RECEIPT_BYTES_MAX })
    if (answer == null) return null
    const found = receipt(answer)
    if (found.txHash === txHash) return { found, answer }
  } catch (error) {
    if (error instanceof RpcFault && error.trouble === 'tooLarge') return 'tooLarge'
    throw error
  }
  throw new ChainFault(`asked for the receipt of ${txHash}, got another`, { retryable: true })
}
