// The model's blocks: a row of them with the state after each, a pool of what waits, and the acts with which a test plays
// the network. Going back is dropping blocks. It must never answer anything: rpc.ts does.
import { createHash } from 'node:crypto'
import { type Hex, hexToBytes, keccak256 } from 'viem'
import { type Address, type Hash, ZERO_HASH } from '../../../src/domain/units.ts'
import {
  balanceOf,
  type Call,
  copyState,
  execute,
  type Log,
  newState,
  nonceOf,
  type Result,
  type State,
} from './state.ts'
import type { Transaction } from './transactions.ts'

export interface MinedTransaction extends Transaction {
  index: number
  succeeded: boolean
  gasUsed: bigint
  price: bigint
  created: Address | null
  logs: (Log & { index: number })[]
  trace: Call
}

export interface ModelBlock {
  number: number
  hash: Hash
  parentHash: Hash
  time: number
  mixHash: Hash
  baseFee: bigint
  gasUsed: bigint
  bloom: Hex
  transactions: MinedTransaction[]
  /** After it. */
  state: State
}

const GENESIS_TIME = 1_760_000_000
const FIRST_BASE_FEE = 1_000_000_000n
export const GAS_LIMIT = 30_000_000n
/** EIP-1559. */
const ELASTICITY = 2n
const CHANGE_DENOMINATOR = 8n
/** Depth to which the factory sees hashes: that of the chain's own history of them (EIP-2935). */
const HASHES_REACH = 8_191n

/** A refusal of a transaction by the pool. */
export class Refused extends Error {}

export class ModelChain {
  blocks: ModelBlock[]
  pool: Transaction[] = []
  /** Tells apart what would else be the same block: two of one height with the same transactions are two blocks. */
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

  /** The head's state, which acts of a test may change as they like. */
  get state(): State {
    return this.head.state
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

  /** Mines a block of what waits, as far as it may go in. */
  mine(intervalSec = 1): ModelBlock {
    const time = this.nextTime ?? this.head.time + this.skippedSec + intervalSec
    this.nextTime = null
    this.skippedSec = 0
    return this.append(time, this.pool)
  }

  /** Replaces the last `depth` blocks by as many, with these transactions in them. The pool is left as it is. */
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

  /** Takes a transaction into the pool. Throws what anvil says where it does not. */
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

  /** The nonce after what the account has mined and waiting. */
  nextNonce(from: Address): number {
    const waiting = this.pool.filter((transaction) => transaction.from === from).map(({ nonce }) => nonce)
    let nonce = nonceOf(this.state, from)
    while (waiting.includes(nonce)) nonce++
    return nonce
  }

  /** Runs a call on the state after a block, as eth_call does. */
  call(block: ModelBlock, message: { from: Address; to: Address | null; value: bigint; data: `0x${string}` }): Result {
    return execute(block.state, this.environment(block), { ...message, nonce: nonceOf(block.state, message.from) })
  }

  snapshot(): { blocks: ModelBlock[]; pool: Transaction[] } {
    const taken = { blocks: [...this.blocks], pool: [...this.pool] }
    this.revert(taken)
    return taken
  }
  revert({ blocks, pool }: { blocks: ModelBlock[]; pool: Transaction[] }): void {
    this.blocks = [...blocks]
    // Settings of a test from here on must not reach the snapshot.
    this.blocks[this.blocks.length - 1] = { ...this.head, state: copyState(this.head.state) }
    this.pool = [...pool]
    this.nextTime = null
    this.nextBaseFee = null
    this.skippedSec = 0
  }

  private environment({ number, time }: { number: number; time: number }) {
    const blockHash = (wanted: bigint): Hash => {
      const reachable = wanted < BigInt(number) && wanted + HASHES_REACH >= BigInt(number)
      return (reachable ? this.blocks[Number(wanted)]?.hash : undefined) ?? ZERO_HASH
    }
    return { number, time, blockHash }
  }

  /** A block on the head with as many of these transactions as can be in it. */
  private append(time: number, candidates: readonly Transaction[]): ModelBlock {
    const baseFee = this.nextBaseFee ?? baseFeeAfter(this.head)
    this.nextBaseFee = null
    const environment = this.environment({ number: this.head.number + 1, time })
    const mined: MinedTransaction[] = []
    let state = copyState(this.head.state)
    let logIndex = 0
    const waiting = candidates.toSorted((a, b) => (a.maxFee < b.maxFee ? 1 : a.maxFee > b.maxFee ? -1 : 0))
    for (;;) {
      const at = waiting.findIndex((transaction) => fits(state, transaction, baseFee))
      const [transaction] = at < 0 ? [] : waiting.splice(at, 1)
      if (!transaction) break
      const result = include(state, environment, transaction, baseFee)
      state = result.state
      mined.push({
        ...transaction,
        ...{ index: mined.length, succeeded: result.succeeded, gasUsed: result.gas, price: result.price },
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
    const digest = (...parts: unknown[]) => `0x${createHash('sha256').update(parts.join('/')).digest('hex')}` as Hash
    const number = parent ? parent.number + 1 : 0
    const made = this.made++
    return {
      ...{ number, time, baseFee, transactions: mined, state },
      hash: digest(parent?.hash, number, time, made, ...mined.map((transaction) => transaction.hash)),
      parentHash: parent?.hash ?? ZERO_HASH,
      mixHash: digest('randomness', parent?.hash, number, made),
      gasUsed: mined.reduce((gas, transaction) => gas + transaction.gasUsed, 0n),
      bloom: bloomOf(mined),
    }
  }
}

function fits(state: State, { from, nonce, maxFee, gas, value }: Transaction, baseFee: bigint): boolean {
  return nonceOf(state, from) === nonce && maxFee >= baseFee && balanceOf(state, from) >= value + gas * maxFee
}

/** Runs a transaction and takes its fee; a refused one costs its gas and its nonce all the same. */
function include(state: State, environment: Parameters<typeof execute>[1], transaction: Transaction, baseFee: bigint) {
  const { from, gas, maxFee, tip } = transaction
  const price = maxFee < baseFee + tip ? maxFee : baseFee + tip
  const before = copyState(state)
  before.nonces.set(from, transaction.nonce + 1)
  const run = execute(before, environment, transaction)
  const outOfGas = run.gas > gas
  const trace = outOfGas ? { ...run.trace, failed: true } : run.trace
  const result = outOfGas ? { ...run, state: before, succeeded: false, logs: [], created: null, gas, trace } : run
  result.state.balances.set(from, balanceOf(result.state, from) - result.gas * price)
  return { ...result, price }
}

function baseFeeAfter({ baseFee, gasUsed }: ModelBlock): bigint {
  const target = GAS_LIMIT / ELASTICITY
  if (gasUsed === target) return baseFee
  const delta = (baseFee * (gasUsed > target ? gasUsed - target : target - gasUsed)) / target / CHANGE_DENOMINATOR
  return gasUsed > target ? baseFee + (delta || 1n) : baseFee - delta
}

const bitsKnown = new Map<string, number[]>()

/** Bits that an address or topic sets in the bloom (yellow paper, M3:2048). */
function bitsOf(value: Hex): number[] {
  let bits = bitsKnown.get(value)
  if (!bits) {
    const digest = keccak256(hexToBytes(value), 'bytes')
    bits = [0, 2, 4].map((at) => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047)
    if (bitsKnown.size > 50_000) bitsKnown.clear()
    bitsKnown.set(value, bits)
  }
  return bits
}

const EMPTY_BLOOM = `0x${'0'.repeat(512)}` as Hex

function bloomOf(mined: readonly MinedTransaction[]): Hex {
  const logs = mined.flatMap((transaction) => transaction.logs)
  if (logs.length === 0) return EMPTY_BLOOM
  const bytes = Buffer.alloc(256)
  for (const log of logs)
    for (const value of [log.address, ...log.topics])
      for (const bit of bitsOf(value)) {
        const at = 255 - (bit >> 3)
        bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7))
      }
  return `0x${bytes.toString('hex')}`
}
