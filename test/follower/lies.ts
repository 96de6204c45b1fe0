// Lies of a provider about the transactions of one block: consistent in the block itself and one by one, each with a matching receipt.
import type { Address } from '../../src/domain/units.ts'
import type { Rule } from '../chain/false-provider.ts'
import type { World } from '../support/world.ts'

/** A JSON-RPC object. */
export type Wire = Record<string, unknown>

export const walletOf = (of: World) => of.chain.accounts[3]?.address.toLowerCase() as Address

/** Another value, of the same length. */
export const other = (value: unknown) => String(value).replace(/[0-9a-f]$/, (digit) => (digit === '1' ? '2' : '1'))

/** The replacement for a block's transactions. */
export type Told = (transactions: readonly [Wire, ...Wire[]], wallet: Address) => Wire[]

/** Answers false transactions for one block. */
export function lieBody(of: World, number: number, told: Told): Rule {
  const tag = `0x${number.toString(16)}`
  const instead = async () => {
    const { transactions } = await of.chain.rpc<{ transactions: [Wire, ...Wire[]] }>('eth_getBlockByNumber', [
      tag,
      true,
    ])
    return { first: transactions[0], transactions: told(transactions, walletOf(of)) }
  }
  return async ({ method, params }, forward) => {
    const answer = await forward()
    if (!('result' in answer)) return answer
    if (method === 'eth_getBlockByNumber') {
      const block = answer.result as Wire | null
      if (Number(block?.number) !== number || params[1] !== true) return answer
      return { result: { ...block, transactions: (await instead()).transactions } }
    }
    if (method !== 'eth_getTransactionByHash' && method !== 'eth_getTransactionReceipt') return answer
    if (Number(await of.chain.rpc('eth_blockNumber')) < number) return answer
    const { first, transactions } = await instead()
    const one = transactions.find(({ hash }) => hash === params[0])
    if (!one) return answer
    if (method === 'eth_getTransactionByHash') return { result: one }
    const receipt = await of.chain.rpc<Wire>('eth_getTransactionReceipt', [first.hash])
    const { from, to, type, transactionIndex } = one
    return { result: { ...receipt, transactionHash: one.hash, from, to, type, transactionIndex } }
  }
}
