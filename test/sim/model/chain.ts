// The model's blocks: a list of them with the state after each, a pool of pending transactions, and the acts with which
// a test plays the network. A rewind drops blocks. It must never answer anything: rpc.ts does.
import { hash as digest } from 'node:crypto'
import { type Address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { bloomOf, encodeReceipt, fromHex, type Header, hashOf, headerHash, rlp } from './encode.ts'
import type { Log } from './logs.ts'
import { stateTrie } from './proofs.ts'
import { ETHEREUM, type Shape } from './shapes.ts'
import { balanceOf, type Call, copyState, execute, newState, nonceOf, type Result, type State } from './state.ts'
import { type Transaction, TYPE } from './transactions.ts'
import { EMPTY_ROOT, listRoot, type StateTrie } from './trie.ts'

export interface MinedTransaction extends Transaction {
  index: number
  succeeded: boolean
  gasUsed: bigint
  /** Gas of the block up to here. */
  cumulativeGas: bigint
  price: bigint
  bloom: Hex
  created: Address | null
  logs: (Log & { index: number })[]
  trace: Call
}

export interface ModelBlock {
  shape: Shape
  number: number
  hash: Hash
  header: Header
  time: number
  baseFee: bigint
  gasUsed: bigint
  transactions: MinedTransaction[]
  /** The state after it, to which its header commits. */
  state: State
  trie: StateTrie
  /** The same with a test's changes since; the next block begins with it. */
  next: State
}

const GENESIS_TIME = 1_760_000_000
const FIRST_BASE_FEE = 1_000_000_000n
const GAS_LIMIT = 30_000_000n
/** EIP-1559. */
const ELASTICITY = 2n
const CHANGE_DENOMINATOR = 8n
const sha256 = (text: string) => `0x${digest('sha256', text)}` as Hash
const NO_UNCLES = hashOf(rlp([]))
const NO_NONCE: Hex = '0x0000000000000000'
/** SHA-256 of nothing (EIP-7685). */
const NO_REQUESTS: Hash = sha256('')
const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`
/** Depth to which the factory sees hashes: that of the chain's own history of them (EIP-2935). */
const HASHES_REACH = 8_191n

/** A refusal of a transaction by the pool. */
export class Refused extends Error {}

export class ModelChain {
  blocks: ModelBlock[]
  pool: Transaction[] = []
  /** The shape of the next blocks. */
  shape: Shape = ETHEREUM
  /** Distinguishes blocks that would otherwise be equal: two of one height with the same transactions. */
  private made = 0
  private nextTime: number | null = null
  private skippedSec = 0
  private nextBaseFee: bigint | null = null

  constructor(balances: ReadonlyMap<Address, bigint>) {
    const state = newState()
    for (const [of, wei] of balances) state.balances.set(of, wei)
    this.blocks = [this.seal(null, GENESIS_TIME, FIRST_BASE_FEE, [], state)]
  }

  get head(): ModelBlock {
    return this.blocks.at(-1) as ModelBlock
  }

  /** The state with which the next block begins. */
  get state(): State {
    return this.head.next
  }

  /** That state, for a test to change as it likes; the head itself still matches its header. */
  amend(): State {
    const { head } = this
    if (head.next === head.state) head.next = copyState(head.state)
    return head.next
  }

  setNextTime(time: number): void {
    if (time <= this.head.time) throw new Refused(`Timestamp error: ${time} is lower than the last block's`)
    this.nextTime = time
  }
  increaseTime(seconds: number): void {
    this.skippedSec += seconds
  }
  setNextBaseFee(wei: bigint): void {
    this.nextBaseFee = wei
  }

  /** Mines a block of pending transactions, as many as may go in. */
  mine(intervalSec = 1): ModelBlock {
    const time = this.nextTime ?? this.head.time + this.skippedSec + intervalSec
    this.nextTime = null
    this.skippedSec = 0
    return this.append(time, this.pool)
  }

  /** Replaces the last `depth` blocks by as many, with these transactions in them. Does not change the pool. */
  reorganise(depth: number, entries: readonly (readonly [Transaction, number])[]): void {
    if (depth < 1 || depth >= this.blocks.length) throw new Refused('Reorg depth must not exceed current chain height')
    this.blocks.length -= depth
    const { time } = this.head
    for (let place = 0; place < depth; place++) {
      const given = entries.filter(([, at]) => at === place).map(([transaction]) => transaction)
      this.append(time, given)
    }
    this.skippedSec = 0
    this.pool = this.pool.filter((waiting) => nonceOf(this.state, waiting.from) <= waiting.nonce)
  }

  /** Adds a transaction to the pool. Throws anvil's error if it cannot. */
  add(transaction: Transaction): void {
    const { hash, from, nonce, value, gas, maxFee } = transaction
    if (this.pool.some((waiting) => waiting.hash === hash)) throw new Refused('transaction already imported')
    if (nonce < nonceOf(this.state, from)) throw new Refused('nonce too low')
    if (balanceOf(this.state, from) < value + gas * maxFee)
      throw new Refused('Insufficient funds for gas * price + value')
    const rival = this.pool.find((waiting) => waiting.from === from && waiting.nonce === nonce)
    if (rival && maxFee <= rival.maxFee) throw new Refused('replacement transaction underpriced')
    this.pool = this.pool.filter((waiting) => waiting !== rival)
    this.pool.push(transaction)
  }

  /** The nonce after the account's mined and pending transactions. */
  nextNonce(from: Address): number {
    const waiting = this.pool.filter((transaction) => transaction.from === from).map(({ nonce }) => nonce)
    let nonce = nonceOf(this.state, from)
    while (waiting.includes(nonce)) nonce++
    return nonce
  }

  /** Runs a call on a state of a block, as eth_call does. */
  call(
    block: ModelBlock,
    state: State,
    message: { from: Address; to: Address | null; value: bigint; data: Hex },
  ): Result {
    return execute(state, this.environment(block), { ...message, nonce: nonceOf(state, message.from) })
  }

  snapshot(): { blocks: ModelBlock[]; pool: Transaction[] } {
    const taken = { blocks: [...this.blocks], pool: [...this.pool] }
    this.revert(taken)
    return taken
  }
  revert({ blocks, pool }: { blocks: ModelBlock[]; pool: Transaction[] }): void {
    this.blocks = [...blocks]
    // A test's later changes must not reach the snapshot.
    const { state, next } = this.head
    this.blocks[this.blocks.length - 1] = { ...this.head, next: next === state ? state : copyState(next) }
    this.pool = [...pool]
    this.nextTime = null
    this.nextBaseFee = null
    this.skippedSec = 0
  }

  /** A chain that forks from this one `depth` blocks below the head. Its blocks differ, whatever is in them. */
  fork(depth: number): ModelChain {
    const other = new ModelChain(new Map())
    other.shape = this.shape
    other.blocks = this.blocks.slice(0, this.blocks.length - depth)
    const { head } = other
    other.blocks[other.blocks.length - 1] = { ...head, next: head.state }
    // The distinguishing counter runs elsewhere.
    other.made = -this.made - 1
    return other
  }

  private environment({ number, time }: { number: number; time: number }) {
    const blockHash = (wanted: bigint): Hash => {
      const reachable = wanted < BigInt(number) && wanted + HASHES_REACH >= BigInt(number)
      return (reachable ? this.blocks[Number(wanted)]?.hash : undefined) ?? ZERO_HASH
    }
    return { number, time, blockHash }
  }

  /** A block on the head with as many of these transactions as fit. */
  private append(time: number, candidates: readonly Transaction[]): ModelBlock {
    const baseFee = this.nextBaseFee ?? baseFeeAfter(this.head)
    this.nextBaseFee = null
    const environment = this.environment({ number: this.head.number + 1, time })
    const mined: MinedTransaction[] = []
    let state = copyState(this.head.next)
    const { shape } = this
    const first = shape.system ? 1 : 0
    let logIndex = 0
    let cumulativeGas = 0n
    const waiting = candidates.toSorted((a, b) => (a.maxFee < b.maxFee ? 1 : a.maxFee > b.maxFee ? -1 : 0))
    for (;;) {
      const at = waiting.findIndex((transaction) => fits(state, transaction, { baseFee, shape }))
      const [transaction] = at < 0 ? [] : waiting.splice(at, 1)
      if (!transaction) break
      const result = include(state, environment, transaction, { baseFee, shape })
      state = result.state
      cumulativeGas += result.gas
      mined.push({
        ...transaction,
        index: first + mined.length,
        succeeded: result.succeeded,
        gasUsed: result.gas,
        cumulativeGas,
        price: result.price,
        bloom: bloomOf(result.logs),
        created: result.created,
        trace: result.trace,
        logs: result.logs.map((log) => ({ ...log, index: logIndex++ })),
      })
    }
    this.blocks.push(this.seal(this.head, time, baseFee, mined, state))
    this.pool = this.pool.filter((transaction) => nonceOf(state, transaction.from) <= transaction.nonce)
    return this.head
  }

  private seal(
    parent: ModelBlock | null,
    time: number,
    baseFee: bigint,
    mined: MinedTransaction[],
    state: State,
  ): ModelBlock {
    const number = parent ? parent.number + 1 : 0
    const trie = stateTrie(state, parent)
    const gasUsed = mined.at(-1)?.cumulativeGas ?? 0n
    const { shape } = this
    const system = shape.system?.(number)
    const header: Header = {
      parentHash: parent?.hash ?? ZERO_HASH,
      sha3Uncles: NO_UNCLES,
      miner: ZERO_ADDRESS,
      stateRoot: trie.root,
      transactionsRoot: listRoot([...(system ? [system.raw] : []), ...mined.map(({ raw }) => fromHex(raw))]),
      receiptsRoot: listRoot([
        ...(system ? [system.receiptRaw] : []),
        ...mined.map((transaction) => encodeReceipt({ ...transaction, type: TYPE })),
      ]),
      logsBloom: bloomOf(mined.flatMap(({ logs }) => logs)),
      difficulty: '0x0',
      number: hex(number),
      gasLimit: hex(GAS_LIMIT),
      gasUsed: hex(gasUsed),
      timestamp: hex(time),
      extraData: '0x',
      mixHash: ZERO_HASH,
      nonce: NO_NONCE,
      baseFeePerGas: hex(baseFee),
      withdrawalsRoot: EMPTY_ROOT,
      blobGasUsed: '0x0',
      excessBlobGas: '0x0',
      parentBeaconBlockRoot: ZERO_HASH,
      requestsHash: NO_REQUESTS,
      ...shape.header(sha256(`${parent?.hash}/${this.made++}`), time),
    }
    const hash = headerHash(header)
    return { shape, number, hash, header, time, baseFee, gasUsed, transactions: mined, state, trie, next: state }
  }
}

function fits(
  state: State,
  { from, nonce, maxFee, gas, value }: Transaction,
  { baseFee, shape }: { baseFee: bigint; shape: Shape },
): boolean {
  return (
    nonceOf(state, from) === nonce && maxFee >= baseFee && balanceOf(state, from) >= value + gas * maxFee + shape.feeWei
  )
}

/** Runs a transaction and takes its fee; a failed one still costs its gas and its nonce. */
function include(
  state: State,
  environment: Parameters<typeof execute>[1],
  transaction: Transaction,
  { baseFee, shape }: { baseFee: bigint; shape: Shape },
) {
  const { from, gas, maxFee, tip } = transaction
  const price = maxFee < baseFee + tip ? maxFee : baseFee + tip
  const before = copyState(state)
  before.nonces.set(from, transaction.nonce + 1)
  const run = execute(before, environment, transaction)
  const outOfGas = run.gas > gas
  const trace = outOfGas ? { ...run.trace, failed: true } : run.trace
  const result = outOfGas ? { ...run, state: before, succeeded: false, logs: [], created: null, gas, trace } : run
  result.state.balances.set(from, balanceOf(result.state, from) - result.gas * price - shape.feeWei)
  return { ...result, price, logs: [...result.logs, ...shape.logsOf(from)] }
}

function baseFeeAfter({ baseFee, gasUsed }: ModelBlock): bigint {
  const target = GAS_LIMIT / ELASTICITY
  if (gasUsed === target) return baseFee
  const delta = (baseFee * (gasUsed > target ? gasUsed - target : target - gasUsed)) / target / CHANGE_DENOMINATOR
  return gasUsed > target ? baseFee + (delta || 1n) : baseFee - delta
}
