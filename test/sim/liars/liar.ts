// A provider that lies about the chain: all of its answers tell the same lie. It draws nothing, so two liars with the
// same lie answer alike. It must never change the chain itself.
import { toFunctionSelector } from 'viem/utils'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Wire } from '../../follower/lies.ts'
import type { TestChain } from '../../support/anvil.ts'
import type { Dice } from '../../support/faults/dice.ts'
import type { Answer, Call } from '../../support/faults/names.ts'
import { ask } from '../provider.ts'
import { hex, type Lie, type Log, type OtherLie, type Pair, PLUS, type Receipt, type Scene } from './lies.ts'

export interface Around {
  chain: TestChain
  /** Builds a chain that forks from this one so many blocks below its head; null if that is impossible. */
  fork: ((depth: number) => TestChain) | null
  /** Blocks that a fork replaces at its start. */
  depth: number
  at: (account: number) => Address
  factory: Address
  lastNode(): Promise<bigint>
}

export interface Liar {
  /** Tells the lie from this block on, if a block has something to lie about; null: tells the truth. */
  lieFrom(block: number | null): void
  /** Number of false answers so far that the service uses. */
  spoken(): number
  /** An answer in place of the truth; null for the truth. */
  answer(call: Call): Promise<Answer | null>
}

export const VOICES = ['the only one', 'the first of two', 'both alike'] as const

/** The lie of a seed, and who tells it. */
export interface Lying {
  name: string
  voices: (typeof VOICES)[number]
  liar: Liar
  dice: Dice
  /** The liar's answers already in the tally. */
  counted: number
}

/** Answers a call about blocks from `first` on; null for the truth. */
type Tell = (call: Call, first: number) => Promise<Answer | null>

const [MINTER, WALLET, STRANGER, THIEF] = [1, 3, 11, 14]
const MADE_UP_WEI = 7n * 10n ** 15n

/** Creates one. It tells the truth at first. */
export function createLiar(lie: Lie, around: Around): Liar {
  const { chain } = around
  let from: number | null = null
  let spoken = 0
  let tell = tellerOf(lie, around)
  // A lie about a block's contents does not show in its header.
  const isSeen = ({ method, params }: Call) => !('body' in lie && /^eth_getBlockBy/.test(method) && params[1] !== true)
  return {
    lieFrom(block) {
      from = block
      tell = tellerOf(lie, around)
    },
    spoken: () => spoken,
    async answer(call) {
      if (from === null || call.method === 'eth_sendRawTransaction') return null
      const truth = await ask(chain, call)
      // Errors of the chain keep their own text; a fork has its own.
      const told = 'result' in truth || isFork(lie) ? await tell(call, from) : null
      if (told === null || JSON.stringify(told) === JSON.stringify(truth)) return null
      if (isSeen(call)) spoken++
      return told
    },
  }
}

const isFork = (lie: Lie) => 'other' in lie && lie.other === 'a fork of its own'

function tellerOf(lie: Lie, around: Around): Tell {
  if ('other' in lie) return OTHERS[lie.other](around)
  return 'header' in lie ? tellHeaders(around, lie.header) : tellBodies(around, lie.body)
}

const OTHERS: Record<OtherLie, (around: Around) => Tell> = {
  'balances of another block':
    ({ chain, at }) =>
    async ({ method, params }, first) => {
      if (params[0] !== at(WALLET) || !['eth_getBalance', 'eth_getProof'].includes(method)) return null
      const tag = params.at(-1)
      const number = Number((await blockAt(chain, typeof tag === 'object' ? (tag as Filter).blockHash : tag))?.number)
      return number < first ? null : ask(chain, { method, params: [...params.slice(0, -1), hex(first - 1)] })
    },
  'balances made up':
    ({ chain, at }) =>
    async (call) => {
      if (call.params[0] !== at(WALLET)) return null
      if (call.method === 'eth_getProof') return { error: { code: -32601, message: 'the method is not there' } }
      if (call.method !== 'eth_getBalance') return null
      return { result: hex(BigInt(await chain.rpc<string>(call.method, call.params)) + MADE_UP_WEI) }
    },
  'finalized too high':
    ({ chain }) =>
    async ({ method, params }) =>
      params[0] === 'finalized' ? ask(chain, { method, params: ['latest', params[1]] }) : null,
  'no block known to the contract': () => async (call) =>
    call.method === 'eth_call' && isOfHash(call) ? { result: `0x${'0'.repeat(64)}` } : null,
  'a fork of its own': (around) => {
    let fork: Promise<TestChain> | null = null
    return async (call) => {
      fork ??= makeFork(around)
      const own = await fork
      await overtake(own, around.chain)
      return await ask(own, call)
    }
  },
}

const HASH_OF = toFunctionSelector('hashOf(uint256)')

function isOfHash({ params }: Call): boolean {
  const { data, input = data } = params[0] as { data?: string; input?: string }
  return input?.startsWith(HASH_OF) ?? false
}

/** A chain that has forked from the true one, on which the thief has paid. */
async function makeFork({ fork, depth, at }: Around): Promise<TestChain> {
  if (!fork) throw new Error('only the model can be forked')
  const own = fork(depth)
  const fees = { maxFeePerGas: hex(2_000n * 10n ** 9n), maxPriorityFeePerGas: hex(10n ** 9n), gas: hex(21_000) }
  await own.send({ from: at(THIEF), to: at(WALLET), value: hex(PLUS), ...fees } as never)
  await own.mine()
  return own
}

/** Mines on a fork until it is one block higher than the true chain. */
async function overtake(own: TestChain, chain: TestChain): Promise<void> {
  const goal = Number((await chain.block()).number) + 1
  for (;;) {
    const { number, timestamp } = await own.block()
    if (Number(number) >= goal) return
    const peer = await chain.block(Number(number) + 1)
    if (peer) await own.setNextTime(Math.max(Number(peer.timestamp), Number(timestamp) + 1))
    await own.mine()
  }
}

type Block = Wire & { hash: Hash; transactions: Wire[] }

/** The block of a number, a hash or a tag, in full. */
const blockAt = (chain: TestChain, id: unknown) =>
  chain.rpc<Block | null>(String(id).length === 66 ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', [id, true])

/** The requested block, and whether in full; null if the call is for something else. */
const shownBy = ({ method, params }: Call) =>
  method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash' ? { id: params[0], isFull: params[1] } : null

const shown = (block: Block, isFull: unknown): Answer => ({
  result: isFull ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) },
})

const tellHeaders =
  ({ chain }: Around, change: (header: Wire) => Wire): Tell =>
  async (call, first) => {
    const asked = shownBy(call)
    const block = asked && (await blockAt(chain, asked.id))
    return block && Number(block.number) >= first ? shown({ ...block, ...change(block) }, asked.isFull) : null
  }

/** The false version of a block. */
interface Told {
  block: Block
  receipts: Receipt[]
}

/** Answers blocks, transactions, receipts and logs by a lie about them. */
function tellBodies(around: Around, change: (pairs: readonly Pair[], scene: Scene) => Pair[] | null): Tell {
  const { chain, at, factory } = around
  const views = new Map<Hash, Promise<Told | null>>()

  async function makeView(block: Block, first: number): Promise<Told | null> {
    const receipts = await chain.rpc<Receipt[]>('eth_getBlockReceipts', [block.hash])
    const scene: Scene = {
      ...{ blockHash: block.hash, wallet: at(WALLET), factory, minter: at(MINTER), thief: at(THIEF) },
      ...{ stranger: at(STRANGER), nextNode: (await around.lastNode()) + 1n, isFirst: Number(block.number) === first },
    }
    const pairs = block.transactions.map((tx, index): Pair => ({ tx, receipt: receipts[index] as Receipt }))
    const told = change(pairs, scene)
    return told && fit(block, told)
  }

  async function viewOf(id: unknown, first: number): Promise<Told | null> {
    const block = await blockAt(chain, id)
    if (!block || Number(block.number) < first) return null
    const view = views.get(block.hash) ?? makeView(block, first)
    views.set(block.hash, view)
    return await view
  }

  /** The false block around a transaction. If the transaction does not exist, the lie may have made it up. */
  async function viewAround(hash: unknown, first: number): Promise<Told | null> {
    const truth = await chain.rpc<Wire | null>('eth_getTransactionByHash', [hash])
    if (truth) return truth.blockHash ? await viewOf(truth.blockHash, first) : null
    for (const view of views.values()) {
      const told = await view
      const isThere = told?.block.transactions.some((tx) => tx.hash === hash)
      if (isThere && (await blockAt(chain, told?.block.number))?.hash === told?.block.hash) return told
    }
    return null
  }

  const result = (told: unknown): Answer => ({ result: told })
  return async (call, first) => {
    const { method, params } = call
    const [id] = params
    const asked = shownBy(call)
    if (asked) {
      const view = await viewOf(asked.id, first)
      return view && shown(view.block, asked.isFull)
    }
    if (method === 'eth_getBlockReceipts') {
      const view = await viewOf(id, first)
      return view && result(view.receipts)
    }
    if (method === 'eth_getLogs')
      return result(await logsToldIn(chain, id as Filter, first, (number) => viewOf(number, first)))
    if (method !== 'eth_getTransactionByHash' && method !== 'eth_getTransactionReceipt') return null
    const view = await viewAround(id, first)
    if (!view) return null
    const isReceipt = method === 'eth_getTransactionReceipt'
    const [entries, name] = isReceipt ? [view.receipts, 'transactionHash'] : [view.block.transactions, 'hash']
    return result(entries.find((entry: Wire) => entry[name] === id) ?? null)
  }
}

/** The false logs of a range, from block `first` on. */
async function logsToldIn(
  chain: TestChain,
  filter: Filter,
  first: number,
  viewOf: (id: unknown) => Promise<Told | null>,
): Promise<Log[]> {
  const ends = filter.blockHash ? [filter.blockHash, filter.blockHash] : [filter.fromBlock, filter.toBlock]
  const [low = Number.NaN, high = Number.NaN] = await Promise.all(
    ends.map(async (id) => Number((await blockAt(chain, id))?.number)),
  )
  let told = await chain.rpc<Log[]>('eth_getLogs', [filter])
  for (let number = Math.max(low, first); number <= high; number++) {
    const view = await viewOf(hex(number))
    if (!view) continue
    const own = view.receipts.flatMap((receipt) => receipt.logs).filter((log) => fits(log, filter))
    told = [...told.filter((log) => Number(log.blockNumber) !== number), ...own]
  }
  return told.sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex))
}

interface Filter {
  address?: string
  topics?: readonly (null | string | readonly string[])[]
  fromBlock?: string
  toBlock?: string
  blockHash?: Hash
}

function fits({ address, topics }: Log, filter: Filter): boolean {
  if (filter.address && filter.address.toLowerCase() !== address.toLowerCase()) return false
  return (filter.topics ?? []).every(
    (wanted, index) => wanted === null || [wanted].flat().includes(topics[index] as string),
  )
}

/** A block with these transactions: each has its index, and each receipt and log names its transaction. */
function fit(block: Block, pairs: readonly Pair[]): Told {
  let logIndex = 0
  const here = { blockHash: block.hash, blockNumber: block.number }
  const transactions = pairs.map(({ tx }, index): Wire => ({ ...tx, ...here, transactionIndex: hex(index) }))
  const receipts = pairs.map(({ receipt }, index): Receipt => {
    const { hash, transactionIndex, from, to, type } = transactions[index] as Wire
    const place = { ...here, transactionHash: hash, transactionIndex }
    const logs = receipt.logs.map((log): Log => ({ ...log, ...place, logIndex: hex(logIndex++) }))
    return { ...receipt, ...place, from, to, type, logs }
  })
  return { block: { ...block, transactions }, receipts }
}
