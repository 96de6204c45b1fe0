// Chains for tests: a real EVM node for one test that mines only on demand, and the means to play the network: time,
// balances, reorganisations. Ends with the test's process.
import { startAnvil } from '../../packages/embed/anvil.ts'
import { callRpc } from '../../packages/embed/rpc.ts'
import { DEVELOPMENT_ACCOUNTS, type DevelopmentAccount } from '../../src/domain/development.ts'
import { silentLog } from '../../src/lib/log.ts'
import { temporaryDirectory } from './temporary.ts'

export type Hex = `0x${string}`

/** A transaction that anvil sends from one of its own accounts. Anvil has the keys, and signs it. */
export interface TestTransaction {
  readonly from: string
  readonly to?: string
  readonly value?: Hex
  readonly data?: Hex
  readonly gas?: Hex
  readonly nonce?: Hex
}

export interface TestBlock {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly transactions: readonly Hex[]
}

export interface TestChain {
  readonly rpcUrl: string
  readonly chainId: number
  readonly accounts: readonly DevelopmentAccount[]
  /** The lowest block whose hash contracts see correctly. */
  readonly firstTrustedBlock: number
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /**
   * Mines `count` blocks, `intervalSec` apart (default: by the clock, so blocks mined within one second have the same
   * time). Pending transactions go into the first. Resolves with the head.
   */
  mine(count?: number, intervalSec?: number): Promise<TestBlock>
  /** `latest` by default. */
  block(number?: number): Promise<TestBlock>
  /** Moves the clock forward for the next blocks. */
  increaseTime(seconds: number): Promise<void>
  /** Time of the next block, in seconds since 1970; must be later than the head's. */
  setNextTime(timestampSec: number): Promise<void>
  snapshot(): Promise<Hex>
  /** Goes back to a snapshot, which can be used only once. */
  revert(snapshot: Hex): Promise<void>
  /** After this the head has a state that its header does not prove; the next block does. */
  setBalance(address: string, wei: bigint): Promise<void>
  /** Sends a transaction to the pool; resolves with its hash. It is in no block until `mine`. */
  send(transaction: TestTransaction): Promise<Hex>
  /**
   * Replaces the last `depth` blocks by as many others. Drops their transactions, which do not return to the pool,
   * except those given here: `[transaction, index of its block among the new ones]`.
   */
  reorg(depth: number, transactions?: readonly (readonly [TestTransaction | Hex, number])[]): Promise<void>
  stop(): Promise<void>
}

export interface TestChainOptions {
  /** A block is final when two of these are on top of it; default 32. */
  slotsInEpoch?: number
}

/** Starts a new chain at block 0 on a free port; about 0.1 s. */
export async function startTestChain(options: TestChainOptions = {}): Promise<TestChain> {
  const anvil = await startAnvil({
    dataDir: temporaryDirectory(),
    port: 0,
    blockTimeSec: 0,
    persist: false,
    log: silentLog,
    ...options,
  })
  anvil.unref()
  const rpc = <T = unknown>(method: string, params: readonly unknown[] = []) => callRpc<T>(anvil.rpcUrl, method, params)
  const block = (number?: number) =>
    rpc<TestBlock>('eth_getBlockByNumber', [number === undefined ? 'latest' : hex(number), false])
  return {
    rpcUrl: anvil.rpcUrl,
    chainId: Number(await rpc<string>('eth_chainId')),
    accounts: DEVELOPMENT_ACCOUNTS,
    firstTrustedBlock: anvil.firstTrustedBlock,
    rpc,
    block,
    mine: async (count = 1, intervalSec) => {
      await rpc('anvil_mine', [hex(count), ...(intervalSec === undefined ? [] : [hex(intervalSec)])])
      return block()
    },
    increaseTime: async (seconds) => void (await rpc('evm_increaseTime', [seconds])),
    setNextTime: async (timestampSec) => void (await rpc('evm_setNextBlockTimestamp', [timestampSec])),
    snapshot: () => rpc<Hex>('evm_snapshot'),
    revert: async (snapshot) => {
      if (!(await rpc<boolean>('evm_revert', [snapshot]))) throw new Error(`There is no snapshot ${snapshot}.`)
    },
    setBalance: async (address, wei) => void (await rpc('anvil_setBalance', [address, hex(wei)])),
    send: (transaction) => rpc<Hex>('eth_sendTransaction', [transaction]),
    reorg: async (depth, transactions = []) => void (await rpc('anvil_reorg', [depth, transactions])),
    stop: anvil.stop,
  }
}

/** Starts another node of the same chain. It has the same blocks up to the head, and diverges from there. */
export async function startSibling(chain: TestChain): Promise<TestChain> {
  const [state, sibling] = await Promise.all([chain.rpc('anvil_dumpState'), startTestChain()])
  await sibling.rpc('anvil_loadState', [state])
  return sibling
}

function hex(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}

/** Mines blocks while something runs that waits for them. When it resolves, no block is pending: the test mines the next one. */
export async function whileMining<T>(chain: Pick<TestChain, 'mine'>, act: () => Promise<T>, everyMs = 50): Promise<T> {
  let done = false
  const mining = (async () => {
    while (!done) {
      await chain.mine()
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  })()
  try {
    return await act()
  } finally {
    done = true
    await mining
  }
}
