// Validates a provider's answers before we use them: hex quantities, hashes, headers, transactions, receipts and logs. It must never repair an answer
// that is malformed, or make up one that is missing. In both cases it throws a retryable ChainFault.
import type { Block, Position } from '../../domain/observed.ts'
import { type Address, type Hash, UINT256_MAX, type Wei, wei, ZERO_HASH } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'

/** An object of which we read only these fields. Their values are not validated yet. */
type Fields<Key extends string> = { readonly [key in Key]?: unknown }

/** A block header, with additional fields that the follower checks. */
export type WireHeader = ReturnType<typeof header>
export type WireTransaction = ReturnType<typeof transaction>
export type WireLog = ReturnType<typeof log>
export type WireReceipt = ReturnType<typeof receipt>

/** Throws a retryable ChainFault: the answer is malformed. */
export function malformed(what: string): never {
  throw new ChainFault(`provider answered a malformed ${what}`)
}

export function fields<Key extends string>(value: unknown, what: string): Fields<Key> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) malformed(what)
  return value as Fields<Key>
}

export function list(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : malformed(what)
}

/** A hex quantity up to 2^256 - 1. */
export function quantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) malformed(what)
  return BigInt(value)
}

/** An amount that we computed from a provider's quantities. Together they may exceed what an amount can be. */
function amount(value: bigint, what: string): Wei {
  return value <= UINT256_MAX ? wei(value) : malformed(what)
}

/** A hex quantity that is a safe integer. */
export function count(value: unknown, what: string): number {
  const number = Number(quantity(value, what))
  return Number.isSafeInteger(number) ? number : malformed(what)
}

/** A bigint from the chain as a number. Throws if it is not a safe integer. */
export function safeNumber(value: bigint, what: string): number {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : malformed(what)
}

export function hash32(value: unknown, what: string): Hash {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) malformed(what)
  return value.toLowerCase() as Hash
}

export function address20(value: unknown, what: string): Address {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) malformed(what)
  return value.toLowerCase() as Address
}

export function bytes(value: unknown, what: string): `0x${string}` {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) malformed(what)
  return value as `0x${string}`
}

/** A block number in the form that JSON-RPC uses. */
export function toQuantity(number: number | bigint): `0x${string}` {
  return `0x${number.toString(16)}`
}

/** A block by its hash, in the form that calls accept (EIP-1898). A provider that lacks the block, or has it on another fork, returns an error. */
export const byHash = (blockHash: Hash) => ({ blockHash, requireCanonical: true }) as const

/** The bloom of a block without logs. */
export const NO_BLOOM = `0x${'0'.repeat(512)}`

/** Reads a header. A pending block counts as malformed, because its hash or number is null. */
export function header(value: unknown) {
  const block = fields<keyof Block | 'timestamp' | 'mixHash' | 'logsBloom' | 'baseFeePerGas'>(value, 'block')
  // Without a bloom, we treat the chain as one that does not fill blooms.
  const logsBloom = bytes(block.logsBloom ?? NO_BLOOM, 'logs bloom')
  if (logsBloom.length !== NO_BLOOM.length) malformed('logs bloom')
  return {
    number: count(block.number, 'block number'),
    hash: hash32(block.hash, 'block hash'),
    parentHash: hash32(block.parentHash, 'parent hash'),
    time: count(block.timestamp, 'block timestamp'),
    // Some rollups omit mixHash. For the draw, zero means "there is no randomness here".
    prevrandao: block.mixHash == null ? ZERO_HASH : hash32(block.mixHash, 'mixHash'),
    /** Hex of 256 bytes; all zero on chains that do not fill blooms. */
    logsBloom: logsBloom as string,
    /** Null on chains without EIP-1559. */
    baseFeeWei: block.baseFeePerGas == null ? null : quantity(block.baseFeePerGas, 'base fee'),
  }
}

/** The position of a transaction in a block. */
export function positionOf({ number, hash, time }: WireHeader, txHash: Hash, txIndex: number): Position {
  return { blockNumber: number, blockHash: hash, blockTime: time, txHash, txIndex }
}

/** A header's fields that the ledger stores. */
export function toBlock({ number, hash, parentHash, time, prevrandao }: WireHeader): Block {
  return { number, hash, parentHash, time, prevrandao }
}

export function transaction(value: unknown) {
  const tx = fields<
    | ('hash' | 'transactionIndex' | 'blockHash' | 'blockNumber' | 'from' | 'to' | 'value' | 'nonce' | 'input' | 'data')
    | ('type' | 'gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'r')
  >(value, 'transaction')
  return {
    hash: hash32(tx.hash, 'transaction hash'),
    index: tx.transactionIndex == null ? -1 : count(tx.transactionIndex, 'transaction index'),
    blockHash: tx.blockHash == null ? null : hash32(tx.blockHash, 'block hash'),
    blockNumber: tx.blockNumber == null ? null : count(tx.blockNumber, 'block number'),
    from: address20(tx.from, 'sender'),
    /** Null if the transaction creates a contract. */
    to: tx.to == null ? null : address20(tx.to, 'recipient'),
    valueWei: wei(quantity(tx.value, 'value')),
    // The nonce is exact for every account of ours. Other accounts may count in steps of 2^64 (zkSync's keyed nonces), but nothing reads their
    // nonces.
    // A chain's own transactions, which have no signature, need not have one.
    nonce: Number(quantity(tx.nonce ?? (tx.r == null ? '0x0' : tx.nonce), 'nonce')),
    /** Some nodes call it `data`, as a call does. */
    input: bytes(tx.input ?? tx.data ?? '0x', 'input').toLowerCase() as `0x${string}`,
    /** In a block, the price that was paid, not the price that was offered. */
    gasPrice: tx.gasPrice,
    /** The most that the sender would pay for gas, and as a tip; null for transactions that name one price. */
    caps:
      tx.maxFeePerGas == null || tx.maxPriorityFeePerGas == null
        ? null
        : { mostWei: quantity(tx.maxFeePerGas, 'fee cap'), tipWei: quantity(tx.maxPriorityFeePerGas, 'tip') },
    /** 0 for a legacy transaction; some providers omit the type there. */
    type: tx.type == null ? 0 : count(tx.type, 'transaction type'),
  }
}

export function log(value: unknown) {
  const entry = fields<
    | 'blockHash'
    | 'blockNumber'
    | 'transactionHash'
    | 'transactionIndex'
    | 'logIndex'
    | 'address'
    | 'topics'
    | 'data'
    | 'removed'
  >(value, 'log')
  if (entry.removed === true) {
    throw new ChainFault('provider answered a log that a reorganisation removed')
  }
  return {
    blockHash: hash32(entry.blockHash, 'log block hash'),
    blockNumber: count(entry.blockNumber, 'log block number'),
    txHash: hash32(entry.transactionHash, 'log transaction hash'),
    txIndex: count(entry.transactionIndex, 'log transaction index'),
    // If the chain does not number logs, we number them ourselves.
    logIndex: count(entry.logIndex ?? '0x0', 'log index'),
    address: address20(entry.address, 'log address'),
    topics: list(entry.topics, 'log topics').map((topic) => hash32(topic, 'log topic')),
    data: bytes(entry.data, 'log data'),
  }
}

const BLOB_TYPE = 3

/** What rollups (OP stack) and blob transactions charge in addition to gas used times gas price. */
function feeBesideGas(receipt: Fields<FeeField>, gasUsed: bigint): bigint {
  let fee = operatorFee(receipt, gasUsed)
  if (receipt.l1Fee != null) fee += quantity(receipt.l1Fee, 'L1 fee')
  // Only for blob transactions: rollups use the same field for something else.
  if (Number(receipt.type) === BLOB_TYPE && receipt.blobGasUsed != null && receipt.blobGasPrice != null) {
    fee += quantity(receipt.blobGasUsed, 'blob gas') * quantity(receipt.blobGasPrice, 'blob gas price')
  }
  return fee
}

type OperatorFeeField = 'operatorFeeScalar' | 'operatorFeeConstant' | 'daFootprintGasScalar'
type FeeField = OperatorFeeField | 'type' | 'l1Fee' | 'blobGasUsed' | 'blobGasPrice'

/**
 * What the operator of an OP stack chain charges for a transaction: a constant, and an amount per gas. The scalar counts millionths of a wei before
 * the Jovian upgrade, and hundreds of wei since. Only receipts since Jovian have a footprint scalar (OP stack specification, execution engine,
 * "Operator Fee", of Isthmus and of Jovian).
 */
function operatorFee(receipt: Fields<OperatorFeeField>, gasUsed: bigint): bigint {
  if (receipt.operatorFeeScalar == null || receipt.operatorFeeConstant == null) return 0n
  const byScalar = gasUsed * quantity(receipt.operatorFeeScalar, 'operator fee scalar')
  const byGas = receipt.daFootprintGasScalar == null ? byScalar / 1_000_000n : byScalar * 100n
  return byGas + quantity(receipt.operatorFeeConstant, 'operator fee constant')
}

/** Reads a receipt. `gasPrice` is that of its transaction in a block, for nodes whose receipts have no price. */
export function receipt(value: unknown, gasPrice?: unknown) {
  const entry = fields<
    | 'transactionHash'
    | 'blockHash'
    | 'blockNumber'
    | 'from'
    | 'to'
    | 'status'
    | 'gasUsed'
    | 'effectiveGasPrice'
    | 'contractAddress'
    | FeeField
  >(value, 'receipt')
  const status = quantity(entry.status, 'receipt status')
  if (status > 1n) malformed('receipt status')
  const gasUsed = quantity(entry.gasUsed, 'gas used')
  const price = entry.effectiveGasPrice ?? gasPrice
  const besideWei = feeBesideGas(entry, gasUsed)
  return {
    txHash: hash32(entry.transactionHash, 'receipt transaction hash'),
    blockHash: hash32(entry.blockHash, 'receipt block hash'),
    blockNumber: count(entry.blockNumber, 'receipt block number'),
    /** Null if the receipt does not have it. */
    from: entry.from == null ? null : address20(entry.from, 'receipt sender'),
    to: entry.to == null ? null : address20(entry.to, 'receipt recipient'),
    succeeded: status === 1n,
    gasUsed,
    /** All fees of the transaction: for gas, and the extra charges of rollups and for blobs. Null if the receipt does not have it. */
    feeWei: price == null ? null : amount(gasUsed * quantity(price, 'effective gas price') + besideWei, 'fee'),
    /** What of it is not for gas. */
    besideWei,
    contractAddress: entry.contractAddress == null ? null : address20(entry.contractAddress, 'contract address'),
  }
}

/**
 * The logs of one contract in a receipt. We ignore the logs of other contracts: anyone can put any log into the receipt of their transaction, and
 * some chains add logs of their own, even if the transaction failed (Polygon's fee log of 0x…1010).
 */
export function receiptLogs(value: unknown, contract: Address): WireLog[] {
  const { logs, ...place } = fields<'logs'>(value, 'receipt')
  return list(logs === null ? [] : logs, 'receipt logs').flatMap((entry, index) => {
    const ownFields = Object.entries(fields<'address'>(entry, 'log')).filter(([, part]) => part != null)
    // What a log lacks of its place, its receipt has.
    const one: Record<string, unknown> = { ...place, logIndex: toQuantity(index), ...Object.fromEntries(ownFields) }
    return String(one.address).toLowerCase() === contract ? [log(one)] : []
  })
}
