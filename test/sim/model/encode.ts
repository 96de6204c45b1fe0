// Ethereum's encodings, as far as the model's blocks need them: RLP, the hash of a header, receipts and blooms. A
// second implementation beside the service's own: neither may import the other.
import { hash } from 'node:crypto'
import type { Hash } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'

/** A header in JSON-RPC's names. Forks since London added the last ones. */
export interface Header {
  parentHash: Hash
  sha3Uncles: Hash
  miner: Hex
  stateRoot: Hash
  transactionsRoot: Hash
  receiptsRoot: Hash
  logsBloom: Hex
  difficulty: Hex
  number: Hex
  gasLimit: Hex
  gasUsed: Hex
  timestamp: Hex
  extraData: Hex
  mixHash: Hash
  nonce: Hex
  /** Avalanche's. */
  extDataHash?: Hash
  baseFeePerGas?: Hex
  extDataGasUsed?: Hex
  blockGasCost?: Hex
  withdrawalsRoot?: Hash | undefined
  blobGasUsed?: Hex
  excessBlobGas?: Hex
  parentBeaconBlockRoot?: Hash
  requestsHash?: Hash | undefined
}

export interface PlainLog {
  address: Hex
  topics: readonly Hex[]
  data: Hex
}

export type Rlp = Uint8Array | readonly Rlp[]

const BLOOM_BYTES = 256
const BLOOM_BITS_MASK = 2047

/** By OpenSSL, because a header takes 4 µs, and 40 in JavaScript. */
export const keccak = (bytes: Uint8Array): Buffer => hash('keccak-256', bytes, 'buffer')

export const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
export const hashOf = (bytes: Uint8Array): Hash => toHex(keccak(bytes)) as Hash
export const fromHex = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')

/** A number without leading zeros; zero has no bytes. */
export function quantity(value: Hex | number | bigint): Buffer {
  const digits = BigInt(value).toString(16)
  return digits === '0' ? Buffer.alloc(0) : Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

export function rlp(item: Rlp): Uint8Array {
  if (!(item instanceof Uint8Array)) {
    const body = Buffer.concat(item.map(rlp))
    return Buffer.concat([prefix(0xc0, body.length), body])
  }
  if (item.length === 1 && (item[0] as number) < 0x80) return item
  return Buffer.concat([prefix(0x80, item.length), item])
}

function prefix(from: number, length: number): Buffer {
  if (length < 56) return Buffer.of(from + length)
  const size = quantity(length)
  return Buffer.concat([Buffer.of(from + 55 + size.length), size])
}

export const headerHash = (header: Header): Hash => hashOf(rlp(fieldsOf(header)))

function fieldsOf(header: Header): Uint8Array[] {
  const { parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom } = header
  const { difficulty, number, gasLimit, gasUsed, timestamp, extraData, mixHash, nonce } = header
  const { baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash } = header
  const later = (value: Hex | undefined, encode: (value: Hex) => Buffer) => (value === undefined ? [] : [encode(value)])
  return [
    ...[parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom].map(fromHex),
    ...[difficulty, number, gasLimit, gasUsed, timestamp].map(quantity),
    ...[extraData, mixHash, nonce].map(fromHex),
    ...later(header.extDataHash, fromHex),
    ...later(baseFeePerGas, quantity),
    ...later(header.extDataGasUsed, quantity),
    ...later(header.blockGasCost, quantity),
    ...later(withdrawalsRoot, fromHex),
    ...later(blobGasUsed, quantity),
    ...later(excessBlobGas, quantity),
    ...later(parentBeaconBlockRoot, fromHex),
    ...later(requestsHash, fromHex),
  ]
}

export interface PlainReceipt {
  type: number
  succeeded: boolean
  /** Gas of the block up to here. */
  cumulativeGas: bigint
  bloom: Hex
  logs: readonly PlainLog[]
}

export function encodeReceipt({ type, succeeded, cumulativeGas, bloom, logs }: PlainReceipt): Uint8Array {
  const body = rlp([
    ...[quantity(succeeded ? 1 : 0), quantity(cumulativeGas), fromHex(bloom)],
    logs.map(({ address, topics, data }) => [fromHex(address), topics.map(fromHex), fromHex(data)]),
  ])
  return type === 0 ? body : Buffer.concat([Buffer.of(type), body])
}

/** The bloom of these logs (yellow paper, M3:2048). */
export function bloomOf(logs: readonly PlainLog[]): Hex {
  const bloom = Buffer.alloc(BLOOM_BYTES)
  for (const { address, topics } of logs)
    for (const value of [address, ...topics])
      for (const bit of bitsOf(value)) {
        const at = BLOOM_BYTES - 1 - (bit >> 3)
        bloom[at] = (bloom[at] as number) | (1 << (bit & 7))
      }
  return toHex(bloom)
}

function bitsOf(value: Hex): number[] {
  const digest = keccak(fromHex(value))
  return [0, 2, 4].map((at) => digest.readUInt16BE(at) & BLOOM_BITS_MASK)
}
