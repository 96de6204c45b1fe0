// A chain of millions of blocks in memory, a few of which hold something: the model's blocks, each moved to its own
// height, with other people's blocks between. It answers in the model's own words, so the model's conformance covers
// it; proofs are of the model's states. It must never answer what it did not keep.
import { hash } from 'node:crypto'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Hex, TestChain, TestTransaction } from '../../support/anvil.ts'
import type { ModelBlock, ModelChain } from '../model/chain.ts'
import { type Header, headerHash } from '../model/encode.ts'
import { proofOf } from '../model/proofs.ts'
import { ModelError } from '../model/rpc.ts'
import { newModelChain, startModelChain } from '../model/test-chain.ts'
import { EMPTY_ROOT } from '../model/trie.ts'

/** Seconds from one block to the next. */
export const BLOCK_SEC = 2
/** The longest range of logs in one answer, as at many providers. */
const LOG_RANGE_MAX = 10_000
/** On a busy chain the bloom of every block says "perhaps" to everything. */
const FULL_BLOOM: Hex = `0x${'f'.repeat(512)}`
const HASH_BYTES = 32
/** Distance in blocks from the head to the final block. */
export const FINAL_AFTER = 64

type Json = Record<string, unknown>

/** A block of the model at its height. */
interface Placed {
  number: number
  hash: Hash
  header: Header
  /** In JSON-RPC's form. */
  short: Json
  full: Json
  logs: Json[]
  proofs: Map<Address, Json>
}

export class StretchedChain {
  /** The model as it is, for reads of its present. */
  readonly model: TestChain
  readonly #inner: ModelChain
  readonly #head: number
  readonly #placed: Placed[] = []
  /** The hashes of all blocks so far, in order, because each header contains the one before it. */
  readonly #hashes: Buffer
  #hashed = 0
  /** Numbers of blocks whose hash was answered. */
  readonly #told = new Map<Hash, number>()
  readonly #receipts = new Map<string, Json>()
  readonly #transactions = new Map<string, Json>()
  #accounts: readonly Address[] = []

  private constructor(head: number) {
    this.#head = head
    this.#hashes = Buffer.alloc((head + 1) * HASH_BYTES)
    this.#inner = newModelChain()
    this.model = startModelChain(this.#inner)
  }

  /** Creates one with blocks up to `head`; those that `begin` makes keep their height. Keeps states of the accounts that it names. */
  static async begin(head: number, begin: (model: TestChain) => Promise<readonly Address[]>): Promise<StretchedChain> {
    const chain = new StretchedChain(head)
    chain.#accounts = await begin(chain.model)
    for (let number = 0; number <= chain.#inner.head.number; number++) await chain.#keep(number, number)
    return chain
  }

  /** Sends these and mines them at a height above all before. @returns their hashes. */
  async mineAt(number: number, sent: readonly TestTransaction[]): Promise<Hash[]> {
    const hashes: Hash[] = []
    for (const transaction of sent) hashes.push(await this.model.send(transaction))
    await this.model.setNextTime(this.timeOf(number))
    await this.model.mine()
    await this.#keep(this.#inner.head.number, number)
    return hashes
  }

  timeOf(number: number): number {
    const [first] = this.#placed as [Placed]
    return Number(first.header.timestamp) + number * BLOCK_SEC
  }

  /** Answers as a provider that has all blocks. */
  rpc = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const answer = this.#methods[method]
    if (!answer) throw new ModelError(-32601, `the method ${method} does not exist`)
    return answer(params)
  }

  readonly #methods: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_getBlockByNumber: ([tag, full]) => this.#blockAt(this.#numberOf(tag), full === true),
    eth_getLogs: ([filter]) => this.#logsOf(filter as Json),
    eth_getProof: ([account, , tag]) => this.#proofAt(account, tag),
    eth_getBalance: ([account, tag]) => this.#proofAt(account, tag).balance,
    eth_getTransactionByHash: ([txHash]) => this.#transactions.get(String(txHash)) ?? null,
    eth_getTransactionReceipt: ([txHash]) => this.#receipts.get(String(txHash)) ?? null,
    eth_getBlockReceipts: ([tag]) => this.#receiptsAt(this.#numberOf(tag)),
    // At the last block that holds something.
    eth_call: ([request]) => this.model.rpc('eth_call', [request, 'latest']),
    eth_chainId: () => hex(this.model.chainId),
    eth_blockNumber: () => hex(this.#head),
  }

  /** Keeps every possible answer about the model's block `at` under a height. */
  async #keep(at: number, number: number): Promise<void> {
    const full = await this.model.rpc<Json>('eth_getBlockByNumber', [hex(at), true])
    const block = this.#inner.blocks[at] as ModelBlock
    const parentHash = number === 0 ? block.header.parentHash : this.#hashAt(number - 1)
    const header = { ...block.header, number: hex(number), parentHash, logsBloom: FULL_BLOOM }
    const moved = { blockHash: headerHash(header), blockNumber: hex(number) }
    const mined = (full.transactions as Json[]).map((one): Json => ({ ...one, ...moved }))
    const logs: Json[] = []
    for (const one of mined) {
      this.#transactions.set(String(one.hash), one)
      const receipt = await this.model.rpc<Json>('eth_getTransactionReceipt', [one.hash])
      const own = (receipt.logs as Json[]).map((entry) => ({ ...entry, ...moved }))
      logs.push(...own)
      this.#receipts.set(String(one.hash), { ...receipt, ...moved, logs: own })
    }
    const proofs = new Map(this.#accounts.map((of) => [of, proofOf(block, of, []) as Json]))
    const shown = { ...full, ...header, hash: moved.blockHash }
    const short = { ...shown, transactions: mined.map((one) => one.hash) }
    this.#placed.push({
      number,
      hash: moved.blockHash,
      header,
      logs,
      proofs,
      short,
      full: { ...shown, transactions: mined },
    })
    forgetStates(this.#inner)
  }

  /** The last block of the model at or below a height. */
  #lastAt(number: number): Placed {
    let [low, high] = [0, this.#placed.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#placed[middle] as Placed).number <= number) low = middle
      else high = middle - 1
    }
    return this.#placed[low] as Placed
  }

  #hashAt(number: number): Hash {
    for (; this.#hashed <= number; this.#hashed++) {
      const last = this.#lastAt(this.#hashed)
      const own = last.number === this.#hashed ? last.hash : headerHash(this.#quietHeader(this.#hashed, last))
      this.#hashes.write(own.slice(2), this.#hashed * HASH_BYTES, 'hex')
    }
    return `0x${this.#hashes.toString('hex', number * HASH_BYTES, (number + 1) * HASH_BYTES)}` as Hash
  }

  /** The header of a block without any of the model's business. */
  #quietHeader(number: number, last: Placed): Header {
    return {
      ...last.header,
      transactionsRoot: EMPTY_ROOT,
      receiptsRoot: EMPTY_ROOT,
      gasUsed: '0x0',
      number: hex(number),
      timestamp: hex(this.timeOf(number)),
      mixHash: randomnessOf(number),
      parentHash: this.#hashAt(number - 1),
    }
  }

  #blockAt(number: number, full: boolean): Json | null {
    if (number > this.#head) return null
    const hash = this.#hashAt(number)
    this.#told.set(hash, number)
    const last = this.#lastAt(number)
    if (last.number === number) return full ? last.full : last.short
    return { hash, ...this.#quietHeader(number, last), uncles: [], withdrawals: [], transactions: [] }
  }

  #receiptsAt(number: number): Json[] | null {
    const block = this.#blockAt(number, false)
    return block && (block.transactions as string[]).map((txHash) => this.#receipts.get(txHash) as Json)
  }

  #byHash(blockHash: unknown): Placed | undefined {
    return this.#placed.find((placed) => placed.hash === blockHash)
  }

  #numberOf(tag: unknown): number {
    if (tag === 'latest') return this.#head
    if (tag === 'finalized') return this.#head - FINAL_AFTER
    const isHash = typeof tag === 'string' && tag.length === 66
    if (!isHash && (typeof tag !== 'object' || tag === null)) return Number(tag)
    const number = this.#told.get(isHash ? (tag as Hash) : (tag as { blockHash: Hash }).blockHash)
    if (number === undefined) throw new ModelError(-32001, 'Resource not found')
    return number
  }

  #proofAt(account: unknown, tag: unknown): Json {
    const proof = this.#lastAt(this.#numberOf(tag)).proofs.get(String(account).toLowerCase() as Address)
    if (!proof) throw new ModelError(-32000, 'missing trie node')
    return proof
  }

  #logsOf({ address, fromBlock, toBlock, blockHash, topics }: Json): Json[] {
    const [wanted] = topics as [Hash[]]
    const fits = (entry: Json) => entry.address === address && wanted.includes((entry.topics as [Hash])[0])
    if (blockHash !== undefined) return (this.#byHash(blockHash)?.logs ?? []).filter(fits)
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    if (to - from >= LOG_RANGE_MAX) throw new ModelError(-32602, `ranges are limited to ${LOG_RANGE_MAX} blocks`)
    const within = this.#placed.filter(({ number }) => number >= from && number <= to)
    return within.flatMap(({ logs }) => logs.filter(fits))
  }
}

/** Forgets the states of all blocks but the last, because their answers are kept apart. */
function forgetStates({ blocks, head }: ModelChain): void {
  const before = blocks.at(-2)
  if (before) Object.assign(before, { state: head.state, next: head.next })
}

const hex = (value: number): Hex => `0x${value.toString(16)}`
const randomnessOf = (number: number) => `0x${hash('sha256', `randomness/${number}`)}` as Hash
