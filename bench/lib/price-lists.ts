// What hosted providers charge per call, in their own units or in dollars, according to their documentation. We guess
// no price: if theirs lacks one, so does ours.

export interface PriceList {
  name: string
  unit: string
  /** URL of the list, and the day on which we read it. */
  source: string
  /** By method, or one number for all methods. */
  units: Readonly<Record<string, number>> | number
}

export const PRICE_LISTS: readonly PriceList[] = [
  {
    name: 'Alchemy’s list',
    unit: 'CU',
    source: 'https://www.alchemy.com/docs/reference/compute-unit-costs, 2026-11-23',
    units: {
      eth_chainId: 0,
      eth_blockNumber: 10,
      eth_feeHistory: 10,
      eth_maxPriorityFeePerGas: 10,
      eth_getProof: 20,
      eth_getBlockByNumber: 20,
      eth_getBlockByHash: 20,
      eth_getBalance: 20,
      eth_getTransactionCount: 20,
      eth_getTransactionReceipt: 20,
      eth_getBlockReceipts: 20,
      eth_getCode: 20,
      eth_getStorageAt: 20,
      eth_call: 26,
      eth_getLogs: 60,
      eth_estimateGas: 20,
      eth_gasPrice: 20,
      eth_sendRawTransaction: 40,
      eth_newFilter: 20,
      eth_getFilterChanges: 20,
      eth_uninstallFilter: 10,
    },
  },
  {
    name: 'Moralis’ list',
    unit: 'CU',
    source: 'https://docs.moralis.com/rpc-nodes/pricing, 2026-11-23',
    units: {
      eth_chainId: 3,
      eth_blockNumber: 3,
      eth_feeHistory: 3,
      eth_maxPriorityFeePerGas: 3,
      eth_getProof: 3,
      eth_getBlockByNumber: 3,
      eth_getBlockByHash: 12,
      eth_getBalance: 3,
      eth_getTransactionCount: 2,
      eth_getTransactionReceipt: 8,
      eth_getBlockReceipts: 3,
      eth_getCode: 3,
      eth_getStorageAt: 3,
      eth_call: 3,
      eth_getLogs: 12,
      eth_estimateGas: 5,
      eth_gasPrice: 3,
    },
  },
  {
    name: 'Ankr’s list',
    unit: '$',
    source: 'https://www.ankr.com/docs/rpc-service/pricing, 2026-11-24',
    units: 0.00002,
  },
]

/** Units for this many calls of each method; null if the list has no price for one of them. */
export function unitsOf({ units }: PriceList, calls: Readonly<Record<string, number>>): number | null {
  const priceOf = (method: string) => (typeof units === 'number' ? units : (units[method] ?? Number.NaN))
  const parts = Object.entries(calls).map(([method, count]) => priceOf(method) * count)
  const sum = parts.reduce((total, part) => total + part, 0)
  return Number.isNaN(sum) ? null : sum
}
