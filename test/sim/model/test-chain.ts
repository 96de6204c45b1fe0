// The model as a test's chain: the same interface as a real EVM node's (test/support/anvil.ts), without a process or a
// socket.
import { DEVELOPMENT_ACCOUNTS } from '../../../src/domain/development.ts'
import { address } from '../../../src/domain/units.ts'
import type { Hex, TestBlock, TestChain } from '../../support/anvil.ts'
import { ModelChain } from './chain.ts'
import { answer, ModelError } from './rpc.ts'
import { MODEL_CHAIN_ID } from './transactions.ts'

const FUNDS = 10_000n * 10n ** 18n

/** A chain at block 0, its 20 accounts with 10,000 ether each. */
export const newModelChain = () =>
  new ModelChain(new Map(DEVELOPMENT_ACCOUNTS.map((account) => [address(account.address), FUNDS])))

/** Starts one. */
export function startModelChain(chain = newModelChain()): TestChain {
  const snapshots: ReturnType<ModelChain['snapshot']>[] = []
  const rpc = async <T>(method: string, params: readonly unknown[] = []) => {
    try {
      return (await answer(chain, method, params)) as T
    } catch (error) {
      // In the words of a real chain's client.
      if (error instanceof ModelError) throw new ModelError(error.code, `${method}: ${error.message}`, error.data)
      throw error
    }
  }
  const block = (number?: number) =>
    rpc<TestBlock>('eth_getBlockByNumber', [number === undefined ? 'latest' : hex(number), false])
  return {
    rpcUrl: 'http://model.invalid',
    chainId: MODEL_CHAIN_ID,
    accounts: DEVELOPMENT_ACCOUNTS,
    firstTrustedBlock: 0,
    rpc,
    block,
    async mine(count = 1, intervalSec) {
      await rpc('anvil_mine', [hex(count), ...(intervalSec === undefined ? [] : [hex(intervalSec)])])
      return block()
    },
    increaseTime: (seconds) => rpc('evm_increaseTime', [seconds]),
    setNextTime: (timestampSec) => rpc('evm_setNextBlockTimestamp', [timestampSec]),
    async snapshot() {
      return hex(snapshots.push(chain.snapshot()) - 1)
    },
    async revert(id) {
      const snapshot = snapshots[Number(id)]
      if (!snapshot) throw new Error(`There is no snapshot ${id}.`)
      chain.revert(snapshot)
    },
    setBalance: (of, wei) => rpc('anvil_setBalance', [of, hex(wei)]),
    send: (transaction) => rpc<Hex>('eth_sendTransaction', [transaction]),
    reorg: (depth, transactions = []) => rpc('anvil_reorg', [depth, transactions]),
    stop: async () => {},
  }
}

function hex(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}
