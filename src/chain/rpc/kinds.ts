// Says of what kind a method's result is. A result of another kind, such as null, tells nothing, so another provider is asked. If none knows better,
// the caller gets the first answer, and decides what it means.

const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/

const isQuantity = (result: unknown) => typeof result === 'string' && QUANTITY.test(result)
const isBytes = (result: unknown) => typeof result === 'string' && BYTES.test(result)
const isObject = (result: unknown) => typeof result === 'object' && result !== null && !Array.isArray(result)

const KINDS: Readonly<Record<string, (result: unknown) => boolean>> = {
  eth_blockNumber: isQuantity,
  eth_call: isBytes,
  eth_chainId: isQuantity,
  eth_estimateGas: isQuantity,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  eth_getBlockByHash: isObject,
  eth_getBlockByNumber: isObject,
  eth_getBlockReceipts: Array.isArray,
  eth_getCode: isBytes,
  eth_getLogs: Array.isArray,
  eth_getProof: isObject,
  eth_getTransactionByHash: isObject,
  eth_getTransactionCount: isQuantity,
  eth_getTransactionReceipt: isObject,
  eth_maxPriorityFeePerGas: isQuantity,
  debug_traceBlockByHash: Array.isArray,
  debug_traceTransaction: isObject,
}

/** True if the result is of the kind that the method returns. Of other methods, anything but null is. */
export const isOfKind = (method: string, result: unknown): boolean => KINDS[method]?.(result) ?? result !== null
