// Reads the published blocks of chains (blocks/README.md).
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { keccak256, toRlp } from 'viem/utils'
import type { Fields } from '../../../src/chain/prove/items.ts'

/** A block as its provider answered it, with its source, and its receipts if they were available. */
export interface Published {
  chain: string
  fork: string
  source: string
  block: Fields & { transactions?: Fields[] }
  receipts?: Fields[]
}

const at = (name: string) => readFileSync(new URL(`blocks/${name}`, import.meta.url))

export const read = <T>(name: string): T =>
  JSON.parse((name.endsWith('.br') ? brotliDecompressSync(at(name)) : at(name)).toString('utf8')) as T

const FILES = [
  ...['ethereum-1000000.json', 'ethereum-14151203.json', 'ethereum-15571241.json', 'ethereum-18500000.json.br'],
  ...['ethereum-21925176.json.br', 'ethereum-24476005.json.br', 'goerli-10536893.json', 'sepolia-7265502.json.br'],
  ...['arbitrum-150000000.json', 'polygon-50000000.json.br', 'hyperliquid-50000.json', 'avalanche-test-9.json'],
]
/** Blocks whose hash and roots recompute. */
export const blocks = (): Published[] => FILES.map((file) => read<Published>(file))
export const headers = (): Published[] => read<Published[]>('headers.json')
/** Examples of blocks' randomness fields. Too little else was published to recompute these blocks' hashes. */
export const randomness = (): Published[] => read<Published[]>('randomness.json')
/** A block by the name of its file, up to the first dot. */
export const block = (name: string): Published => read<Published>(`${name}.json`)

/** The block with the hash of its header, in Prague's form and with these fields behind it. */
export const hashed = (block: Fields, added: readonly string[]): Fields => {
  const known = [
    'baseFeePerGas',
    'withdrawalsRoot',
    'blobGasUsed',
    'excessBlobGas',
    'parentBeaconBlockRoot',
    'requestsHash',
  ]
  const seal = [
    'logsBloom',
    'difficulty',
    'number',
    'gasLimit',
    'gasUsed',
    'timestamp',
    'extraData',
    'mixHash',
    'nonce',
  ]
  const first = ['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot']
  const items = [...first, ...seal, ...known, ...added].map((name) => {
    const value = String(block[name])
    return (value === '0x0' ? '0x' : value.length % 2 ? value.replace('0x', '0x0') : value) as `0x${string}`
  })
  return { ...block, hash: keccak256(toRlp(items)) }
}
