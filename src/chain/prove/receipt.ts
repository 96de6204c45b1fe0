// Encodes a JSON-RPC receipt, by its type, to the bytes from which its block's receipts root is computed. It computes the bloom from the logs, and
// ignores the provider's bloom. Sources: yellow paper, 4.4.1; EIPs 658 and 2718; OP stack specification, "Deposit Receipt" (Regolith, Canyon);
// celo-org/op-geth, core/types/receipt.go. Of Arbitrum's receipts we encode only the usual fields, because no root covers their L1 gas.
import { bloomBits } from './bloom.ts'
import {
  addressOf,
  bytesOf,
  digestOf,
  encoded,
  type Fields,
  fieldsOf,
  type Item,
  integerOf,
  listOf,
  quantityOf,
  refuse,
  rlp,
  typed,
} from './items.ts'
import { TYPE_MAX } from './transaction.ts'
import type { Encoded } from './verdict.ts'

const BLOOM_BYTES = 256
const DEPOSIT_TYPE = 0x7e
const CELO_TYPE = 0x7b
/** The legacy type, and Arbitrum's type from before Nitro, whose receipts look the same. */
const LEGACY_TYPES: readonly number[] = [0, 0x78]

/** Bloom bits by address or topic. The logs of a block have few different addresses and topics, and each costs a hash. */
export type BloomBits = Map<string, readonly number[]>

/** A receipt's leaf in the receipts trie of its block, or why there is none. All receipts of a block may share `bits`. */
export function encodeReceipt(receipt: unknown, bits: BloomBits = new Map()): Encoded {
  return encoded(() => {
    const fields = fieldsOf(receipt, 'receipt')
    const type = fields.type == null ? 0 : Number(integerOf(fields.type, 'type'))
    if (type > TYPE_MAX) return refuse('type is not one byte')
    const before = [outcomeOf(fields), quantityOf(fields.cumulativeGasUsed, 'cumulativeGasUsed')]
    const logs = listOf(fields.logs ?? [], 'logs').map(logOf)
    const usual = [...before, bloomOf(logs, bits), logs]
    return LEGACY_TYPES.includes(type) ? rlp(usual) : typed(type, [...usual, ...ownFields(type, fields)])
  })
}

/** The fields that a type has in addition to the usual ones. Types that we do not know most likely have none; the root decides. */
function ownFields(type: number, receipt: Fields): Item[] {
  if (type === CELO_TYPE) return receipt.baseFee == null ? [] : [quantityOf(receipt.baseFee, 'baseFee')]
  // From Regolith to Canyon the root did not cover a deposit's nonce, although receipts had one.
  if (type !== DEPOSIT_TYPE || receipt.depositReceiptVersion == null) return []
  return ['depositNonce', 'depositReceiptVersion'].map((name) => quantityOf(receipt[name], name))
}

/** The status; before Byzantium it was the state root. */
const outcomeOf = ({ status, root }: Fields): Item =>
  status == null ? digestOf(root, 'root') : quantityOf(status, 'status')

type Log = readonly [address: Buffer, topics: readonly Buffer[], data: Buffer]

function logOf(log: unknown): Log {
  const { address, topics, data } = fieldsOf(log, 'logs')
  const topicList = listOf(topics, 'logs').map((topic) => digestOf(topic, 'logs'))
  return [addressOf(address, 'logs'), topicList, bytesOf(data, 'logs')]
}

function bloomOf(logs: readonly Log[], knownBits: BloomBits): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const [address, topics] of logs) {
    for (const value of [address, ...topics]) {
      const key = value.toString('latin1')
      const bits = knownBits.get(key) ?? bloomBits(value)
      knownBits.set(key, bits)
      for (const bit of bits) {
        const at = BLOOM_BYTES - 1 - (bit >> 3)
        bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
      }
    }
  }
  return bloom
}
