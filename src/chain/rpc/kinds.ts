// Decides of what kind a method's result is. A result of another kind, such as null, is no answer, so we go to another provider. If none knows better,
// the caller gets the first answer, and decides what it means.
import { ChainFault } from '../../ports/faults.ts'
import type { RpcCall } from './provider.ts'
import { bytes, count, header, list, log, quantity, receipt, transaction } from './wire.ts'

type Kind = (result: unknown) => boolean

/** True for what the reader of such answers takes. For any other answer we go to another provider. */
const readBy =
  (read: (result: unknown) => unknown): Kind =>
  (result) => {
    try {
      read(result)
      return true
    } catch (error) {
      if (error instanceof ChainFault) return false
      throw error
    }
  }
const isQuantity = readBy((result) => quantity(result, 'quantity'))
const isCount = readBy((result) => count(result, 'count'))
const isBytes = readBy((result) => bytes(result, 'bytes'))
const isBlock = readBy(header)
const isObject = (result: unknown) => typeof result === 'object' && result !== null && !Array.isArray(result)

const KINDS: Readonly<Record<string, Kind>> = {
  eth_blockNumber: isCount,
  eth_call: isBytes,
  eth_chainId: isCount,
  eth_estimateGas: isCount,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  eth_getBlockByHash: isBlock,
  eth_getBlockByNumber: isBlock,
  eth_getBlockReceipts: Array.isArray,
  eth_getCode: isBytes,
  eth_getLogs: readBy((result) => list(result, 'list of logs').map(log)),
  eth_getProof: isObject,
  eth_getTransactionByHash: readBy(transaction),
  eth_getTransactionCount: isCount,
  eth_getTransactionReceipt: readBy((result) => receipt(result)),
  eth_maxPriorityFeePerGas: isQuantity,
  debug_traceBlockByHash: Array.isArray,
  debug_traceTransaction: isObject,
}

/** True if the result is of the kind that the method returns. Of other methods, anything but null is. */
export const isOfKind = (method: string, result: unknown): boolean => KINDS[method]?.(result) ?? result !== null

/** True if the result is of the kind that the call's method returns, and the call finds it plausible. */
export const isPossible = (
  { method, isPlausible }: Pick<RpcCall, 'method' | 'isPlausible'>,
  result: unknown,
): boolean => isOfKind(method, result) && (isPlausible?.(result) ?? true)
