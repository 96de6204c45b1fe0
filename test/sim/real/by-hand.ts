// Changes that a seed makes to accounts by hand, on anvil. Anvil changes the state of the head itself, so the head's header no longer proves it.
// No real chain has such a block, and the service rightly believes nothing about it: neither what it began with nor what is in it. The model
// changes only the state with which the next block begins.
import type { Hex, TestChain } from '../../support/anvil.ts'

/** Transactions in the pool, by sender and nonce. */
type Pooled = Record<string, Record<string, { hash: Hex }>>

/**
 * The same chain, but a change of a balance or a code stands between two empty blocks. The blocks around those are proven, so the service can tell
 * in which block value moved. A change that changes nothing mines nothing.
 */
export function changedInEmptyBlocks(chain: TestChain): TestChain {
  async function mineEmpty(): Promise<void> {
    const { timestamp } = await chain.block()
    await chain.setNextTime(Number(timestamp) + 1)
    await chain.mine()
  }

  async function betweenEmptyBlocks(make: () => Promise<unknown>): Promise<void> {
    const waiting = await pooled(chain)
    await chain.rpc('anvil_dropAllTransactions')
    await mineEmpty()
    await make()
    await mineEmpty()
    // Anvil takes back none that can no longer pay, as a pool that evicts it.
    for (const raw of waiting) await chain.rpc('eth_sendRawTransaction', [raw]).catch(() => {})
  }

  return {
    ...chain,
    async setBalance(of, wei) {
      const now = await chain.rpc<Hex>('eth_getBalance', [of, 'latest'])
      if (BigInt(now) !== wei) await betweenEmptyBlocks(() => chain.setBalance(of, wei))
    },
    async rpc<T>(method: string, params: readonly unknown[] = []) {
      if (method !== 'anvil_setCode') return chain.rpc<T>(method, params)
      const [of, code] = params
      const now = await chain.rpc('eth_getCode', [of, 'latest'])
      if (now !== code) await betweenEmptyBlocks(() => chain.rpc(method, params))
      return null as T
    },
  }
}

/** The signed bytes of what is in the pool, each sender's in the order of their nonces. */
async function pooled(chain: TestChain): Promise<Hex[]> {
  const { pending, queued } = await chain.rpc<{ pending: Pooled; queued: Pooled }>('txpool_content')
  const all = [pending, queued].flatMap((part) => Object.values(part).flatMap((byNonce) => Object.entries(byNonce)))
  const hashes = all.sort(([a], [b]) => Number(a) - Number(b)).map(([, { hash }]) => hash)
  return Promise.all(hashes.map((hash) => chain.rpc<Hex>('eth_getRawTransactionByHash', [hash])))
}
