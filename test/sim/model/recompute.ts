// Checks whether a block, as a node answers it, matches its hash: the hash by the header's fields, the roots by
// transactions and receipts, the senders by the signatures. Uses encoders that the service does not use, and the second
// reading of the same rules.
import assert from 'node:assert/strict'
import {
  type AccessList,
  type Authorization,
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem'
import type { Hash } from '../../../src/domain/units.ts'
import { unprovenParts } from '../../models/proofs/whole.ts'
import type { Hex } from '../../support/anvil.ts'
import { bloomOf, encodeReceipt, fromHex, type Header, headerHash, type PlainLog } from './encode.ts'
import { listRoot } from './trie.ts'

export interface WireTransaction {
  type: Hex
  hash: Hash
  from: Hex
  to: Hex | null
  chainId?: Hex
  nonce: Hex
  gas: Hex
  gasPrice?: Hex
  maxFeePerGas?: Hex
  maxPriorityFeePerGas?: Hex
  maxFeePerBlobGas?: Hex
  blobVersionedHashes?: Hex[]
  value: Hex
  input: Hex
  accessList?: AccessList
  authorizationList?: { chainId: Hex; address: Hex; nonce: Hex; r: Hex; s: Hex; yParity: Hex }[]
  r: Hex
  s: Hex
  v: Hex
}

export interface WireBlock extends Header {
  hash: Hash
  transactions: WireTransaction[]
}

interface WireReceipt {
  type: Hex
  status: Hex
  cumulativeGasUsed: Hex
  logsBloom: Hex
  logs: PlainLog[]
}

interface Asked {
  rpc<T>(method: string, params: readonly unknown[]): Promise<T>
}

const TYPES = ['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702'] as const

/** Asserts that all blocks from this one on are valid, and each one the next one's parent; returns them. */
export async function soundBlocks(chain: Asked, from = 0): Promise<WireBlock[]> {
  const blocks: WireBlock[] = []
  const head = Number(await chain.rpc('eth_blockNumber', []))
  for (let number = from; number <= head; number++) {
    assert.deepEqual([number, await unsound(chain, number)], [number, []])
    const block = await chain.rpc<WireBlock>('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
    assert.equal(block.parentHash, blocks.at(-1)?.hash ?? block.parentHash)
    blocks.push(block)
  }
  return blocks
}

/** The parts of a block that contradict its hash, in words; none if it is valid. */
export async function unsound({ rpc }: Asked, number: number): Promise<string[]> {
  const tag = `0x${number.toString(16)}`
  const [block, receipts] = await Promise.all([
    rpc<WireBlock>('eth_getBlockByNumber', [tag, true]),
    rpc<WireReceipt[]>('eth_getBlockReceipts', [tag]),
  ])
  const raws = block.transactions.map(encode)
  const encoded = receipts.map((receipt) =>
    encodeReceipt({
      ...receipt,
      type: Number(receipt.type),
      succeeded: receipt.status === '0x1',
      cumulativeGas: BigInt(receipt.cumulativeGasUsed),
      bloom: receipt.logsBloom,
    }),
  )
  const pairs: [what: string, said: unknown, found: unknown][] = [
    ['hash', block.hash, headerHash(block)],
    ['transactionsRoot', block.transactionsRoot, listRoot(raws.map(fromHex))],
    ['receiptsRoot', block.receiptsRoot, listRoot(encoded)],
    ['logsBloom', block.logsBloom, bloomOf(receipts.flatMap(({ logs }) => logs))],
    ['gasUsed', block.gasUsed, receipts.at(-1)?.cumulativeGasUsed ?? '0x0'],
  ]
  for (const [index, { hash, from }] of block.transactions.entries()) {
    const raw = raws[index] as Hex
    const sender = await recoverTransactionAddress({ serializedTransaction: raw as never }).catch(() => 'nobody')
    pairs.push([`hash of transaction ${index}`, hash, keccak256(raw)])
    pairs.push([`sender of transaction ${index}`, from, sender.toLowerCase()])
  }
  for (const [index, { logsBloom, logs }] of receipts.entries())
    pairs.push([`bloom of receipt ${index}`, logsBloom, bloomOf(logs)])
  const wrong = pairs.filter(([, said, found]) => said !== found)
  return [
    ...wrong.map(([what, said, found]) => `${what}: ${said}, not ${found}`),
    ...(await unprovenParts({ ...block }, receipts)),
  ]
}

function encode(wire: WireTransaction): Hex {
  const type = TYPES[Number(wire.type)]
  const number = (value: Hex | undefined) => (value === undefined ? undefined : BigInt(value))
  const fields = {
    type,
    to: wire.to,
    data: wire.input,
    nonce: Number(wire.nonce),
    value: BigInt(wire.value),
    gas: BigInt(wire.gas),
    ...(wire.chainId && { chainId: Number(wire.chainId) }),
    ...(Number(wire.type) < 2
      ? { gasPrice: number(wire.gasPrice) }
      : {
          maxFeePerGas: number(wire.maxFeePerGas),
          maxPriorityFeePerGas: number(wire.maxPriorityFeePerGas),
        }),
    ...(wire.accessList && { accessList: wire.accessList }),
    ...(wire.maxFeePerBlobGas && { maxFeePerBlobGas: BigInt(wire.maxFeePerBlobGas) }),
    ...(wire.blobVersionedHashes && { blobVersionedHashes: wire.blobVersionedHashes }),
    ...(wire.authorizationList && { authorizationList: wire.authorizationList.map(authorization) }),
  }
  const v = BigInt(wire.v)
  const signature = { r: word(wire.r), s: word(wire.s), ...(type === 'legacy' ? { v } : { yParity: Number(v) }) }
  return serializeTransaction(fields as unknown as TransactionSerializable, signature as never)
}

const word = (value: Hex): Hex => `0x${value.slice(2).padStart(64, '0')}`

type WireAuthorization = NonNullable<WireTransaction['authorizationList']>[number]

function authorization({ chainId, address, nonce, r, s, yParity }: WireAuthorization): Authorization<number, true> {
  return {
    address,
    chainId: Number(chainId),
    nonce: Number(nonce),
    r: word(r),
    s: word(s),
    yParity: Number(yParity),
  }
}
