// Reads the receipt of a transaction that a caller names. It reads only up to a limit, because a stranger decides how much is in the receipt.
import type { Hash } from '../../domain/units.ts'
import { ChainFault, RpcFault } from '../../ports/faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { receipt, type WireReceipt } from '../rpc/wire.ts'

/**
 * The most bytes of a receipt. That of a full mint has 300 KB, that of a thousand refunds in one batch less than 1 MB. It takes about 20 ms to parse
 * 2 MB.
 */
const RECEIPT_BYTES_MAX = 2 * 1024 * 1024

/** The receipt: parsed, and as the provider sent it. Null while the provider has none. */
export async function readReceipt(
  rpc: RpcReads,
  txHash: Hash,
): Promise<{ receipt: WireReceipt; answer: unknown } | 'tooLarge' | null> {
  try {
    const answer = await rpc.request('eth_getTransactionReceipt', [txHash], { bytesMax: RECEIPT_BYTES_MAX })
    if (answer == null) return null
    const wireReceipt = receipt(answer)
    if (wireReceipt.txHash === txHash) return { receipt: wireReceipt, answer }
  } catch (error) {
    if (error instanceof RpcFault && error.trouble === 'tooLarge') return 'tooLarge'
    throw error
  }
  throw new ChainFault(`asked for the receipt of ${txHash}, got another`)
}
