// What blocks that were read show of an account, as a second reading of docs/ARCHITECTURE.md (Surveying): a nonce for each transaction that it sent, and
// what payments and its own transactions did to its balance. A transaction that failed moves nothing, and its fee is paid all the same.

export type List = 'transfers' | 'outflows' | 'sent' | 'failedWithdrawals' | 'events'
export interface Entry {
  list: List
  id: number
  blockNumber: number
  txIndex: number
  /** Only of events. */
  logIndex?: number
  /** The payer's wallet, or who sent it. */
  account: string
  valueWei: bigint
  feeWei: bigint
  succeeded: boolean
}

/** How blocks after one, up to another, changed an account. Wallets' own transactions are their outflows. */
export function effect(entries: Entry[], wallets: string[], account: string, low: number, high: number) {
  let [nonces, balanceWei] = [0, 0n]
  for (const one of entries) {
    if (one.account !== account || one.blockNumber <= low || one.blockNumber > high) continue
    if (one.list === 'outflows' || (one.list === 'sent' && !wallets.includes(account))) nonces++
    if (one.list === 'outflows') balanceWei -= one.feeWei
    if (one.list === 'outflows' && one.succeeded) balanceWei -= one.valueWei
    if (one.list === 'transfers' && one.succeeded) balanceWei += one.valueWei
  }
  return { nonces, balanceWei }
}

/** Entries of one list up to a block, in chain order. Those of one place stay in the order in which they were read. */
export function inOrder(entries: Entry[], list: List, last: number): number[] {
  const left = entries.filter((one) => one.list === list && one.blockNumber <= last)
  const ids: number[] = []
  const isBefore = (a: Entry, b: Entry) => {
    if (a.blockNumber !== b.blockNumber) return a.blockNumber < b.blockNumber
    return list === 'events' ? Number(a.logIndex) < Number(b.logIndex) : a.txIndex < b.txIndex
  }
  while (left.length > 0) {
    const first = left.reduce((least, one) => (isBefore(one, least) ? one : least))
    ids.push(first.id)
    left.splice(left.indexOf(first), 1)
  }
  return ids
}
