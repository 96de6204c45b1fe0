// Encodes a JSON-RPC transaction, by its type, to the bytes from which its hash and its block's root are computed, and recovers the signer. It
// ignores the sender that a provider names, except for types without a signature: their bytes include the sender. We have our own encoders, because
// viem's serializeTransaction rejects transactions that chains have accepted (fees above 2^256, a type 4 without authorizations) and lacks the
// rollups' types. Sources: EIPs 155, 2718, 2930, 1559, 4844, 7702; OP stack specification, "Deposits"; OffchainLabs/go-ethereum,
// core/types/arb_types.go; celo-org/op-geth, core/types/celo_dynamic_fee_tx_v2.go.
import { recoverAddress } from 'viem/utils'
import type { Address } from '../../domain/units.ts'
import {
  addressOf,
  attempted,
  bytesOf,
  digestOf,
  EMPTY,
  encoded,
  type Fields,
  fieldsOf,
  hashOf,
  type Item,
  integerOf,
  isZeros,
  listOf,
  minimal,
  quantityOf,
  recipientOf,
  refuse,
  rlp,
  typed,
} from './items.ts'
import { compared, type Encoded, shortened, unprovable, type Verdict } from './verdict.ts'

/** Half the order of secp256k1. Chains reject a signature whose s is larger (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/** Values of v in a legacy transaction: 27 and 28 mean that it has no chain id; from 35 on, v includes the chain id (EIP-155). */
const V_PLAIN = 27n
const V_CHAIN = 35n

const number = (tx: Fields, name: string) => quantityOf(tx[name], name)
const numbers = (tx: Fields, ...names: string[]) => names.map((name) => number(tx, name))
const to = (tx: Fields) => recipientOf(tx.to, 'to')
const input = (tx: Fields) => bytesOf(tx.input ?? tx.data ?? '0x', 'input')

function accessList(tx: Fields): Item {
  return listOf(tx.accessList ?? [], 'accessList').map((entry) => {
    const { address: of, storageKeys } = fieldsOf(entry, 'accessList')
    return [addressOf(of, 'accessList'), listOf(storageKeys, 'accessList').map((key) => digestOf(key, 'accessList'))]
  })
}

function authorizations(tx: Fields): Item {
  return listOf(tx.authorizationList, 'authorizationList').map((entry) => {
    const { chainId, address: of, nonce, yParity, v, r, s } = fieldsOf(entry, 'authorizationList')
    const [chain, ...others] = [chainId, nonce, yParity ?? v, r, s].map((each) => quantityOf(each, 'authorizationList'))
    return [chain as Item, addressOf(of, 'authorizationList'), ...others]
  })
}

/** The signed fields of a transaction, by its type. In the transaction, parity, r and s follow them. */
const SIGNED: Readonly<Record<number, (tx: Fields) => Item[]>> = {
  1: (tx) => [...numbers(tx, 'chainId', 'nonce', 'gasPrice', 'gas'), ...called(tx), accessList(tx)],
  2: (tx) => [...feeMarket(tx), ...called(tx), accessList(tx)],
  // Without blob sidecars, which are not in blocks.
  3: (tx) => [
    ...[...feeMarket(tx), ...called(tx), accessList(tx), number(tx, 'maxFeePerBlobGas')],
    listOf(tx.blobVersionedHashes, 'blobVersionedHashes').map((each) => digestOf(each, 'blobVersionedHashes')),
  ],
  4: (tx) => [...feeMarket(tx), ...called(tx), accessList(tx), authorizations(tx)],
  // Celo's CIP-64, which pays fees in a token.
  123: (tx) => [...feeMarket(tx), ...called(tx), accessList(tx), recipientOf(tx.feeCurrency, 'feeCurrency')],
}

const called = (tx: Fields): Item[] => [to(tx), number(tx, 'value'), input(tx)]
const feeMarket = (tx: Fields): Item[] => numbers(tx, 'chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas')

/** The cap on the gas price. Arbitrum returns it only if it differs from the gas price. */
const gasCap = (tx: Fields) => quantityOf(tx.maxFeePerGas ?? tx.gasPrice, 'maxFeePerGas')
const from = (tx: Fields) => addressOf(tx.from, 'from')

/** Types without a signature: a chain creates such transactions itself, some of them from events on its parent chain. */
const UNSIGNED: Readonly<Record<number, (tx: Fields) => Item[]>> = {
  // The OP stack's deposits.
  126: (tx) => [
    ...[digestOf(tx.sourceHash, 'sourceHash'), from(tx), to(tx), tx.mint == null ? EMPTY : number(tx, 'mint')],
    ...[...numbers(tx, 'value', 'gas'), tx.isSystemTx === true ? Uint8Array.of(1) : EMPTY, input(tx)],
  ],
  // Arbitrum: ether deposits, unsigned and contract calls, retries, their submission, and internal transactions.
  100: (tx) => [number(tx, 'chainId'), digestOf(tx.requestId, 'requestId'), from(tx), to(tx), number(tx, 'value')],
  101: (tx) => [number(tx, 'chainId'), from(tx), number(tx, 'nonce'), gasCap(tx), number(tx, 'gas'), ...called(tx)],
  102: (tx) => [
    ...[number(tx, 'chainId'), digestOf(tx.requestId, 'requestId'), from(tx), gasCap(tx), number(tx, 'gas')],
    ...called(tx),
  ],
  104: (tx) => [
    ...[...numbers(tx, 'chainId', 'nonce'), from(tx), gasCap(tx), number(tx, 'gas'), ...called(tx)],
    ...[digestOf(tx.ticketId, 'ticketId'), addressOf(tx.refundTo, 'refundTo')],
    ...numbers(tx, 'maxRefund', 'submissionFeeRefund'),
  ],
  105: (tx) => [
    ...[
      number(tx, 'chainId'),
      digestOf(tx.requestId, 'requestId'),
      from(tx),
      ...numbers(tx, 'l1BaseFee', 'depositValue'),
    ],
    ...[gasCap(tx), number(tx, 'gas'), recipientOf(tx.retryTo, 'retryTo'), number(tx, 'retryValue')],
    ...[addressOf(tx.beneficiary, 'beneficiary'), number(tx, 'maxSubmissionFee'), addressOf(tx.refundTo, 'refundTo')],
    bytesOf(tx.retryData, 'retryData'),
  ],
  106: (tx) => [number(tx, 'chainId'), input(tx)],
}

/** The number of the type. 0 for a legacy transaction; some providers omit the type there. Throws if the type is invalid. */
const typeOf = (tx: Fields): number => (tx.type == null ? 0 : Number(integerOf(tx.type, 'type')))

/**
 * True if the transaction has no signature: a deposit or a chain's own transaction, which we recognise by its type or by a signature of zeros
 * (Polygon's state sync). False for types with a signature that we do not know.
 */
export function isUnsigned(transaction: unknown): boolean {
  const tx = transaction as Fields
  return Number(tx.type ?? 0) in UNSIGNED || [tx.r, tx.s].every(isZeros)
}

/** True if the bytes of the transaction include the sender, because its type has no signature. */
export const namesSender = (transaction: unknown): boolean => Number((transaction as Fields).type ?? 0) in UNSIGNED

/** True if the bytes of a transaction begin with the number of a type that we do not know. */
export const isOfUnknownType = ([type = 0]: Uint8Array): boolean =>
  type > 0 && type <= TYPE_MAX && !(type in SIGNED) && !(type in UNSIGNED)

/** The highest number of a type (EIP-2718). The bytes of a legacy transaction begin with a higher one. */
export const TYPE_MAX = 0x7f

/**
 * The encoding of a transaction, or why there is none. Its keccak256 is the transaction's hash. In the block's transactions trie, the encoding is the
 * leaf.
 */
export function encodeTransaction(transaction: unknown): Encoded {
  return encoded(() => {
    const tx = fieldsOf(transaction, 'transaction')
    const type = typeOf(tx)
    if (type === 0) return rlp([...legacy(tx), ...signatureOf(tx, legacyV(tx))])
    const unsignedItems = UNSIGNED[type]
    if (unsignedItems) return typed(type, unsignedItems(tx))
    const signedItems = SIGNED[type] ?? refuse(`type 0x${type.toString(16)} is not known`)
    return typed(type, [...signedItems(tx), ...signatureOf(tx, parityOf(tx))])
  })
}

const legacy = (tx: Fields): Item[] => [...numbers(tx, 'nonce', 'gasPrice', 'gas'), ...called(tx)]
const signatureOf = (tx: Fields, v: bigint): Item[] => [minimal(v), ...numbers(tx, 'r', 's')]

/** The parity of a typed transaction. Some nodes return it as 27 or 28. */
function parityOf(tx: Fields): bigint {
  const value = integerOf(tx.yParity ?? tx.v, 'yParity')
  const parity = value >= V_PLAIN ? value - V_PLAIN : value
  return parity <= 1n ? parity : refuse('yParity is neither 0 nor 1')
}

/** The v that was signed. Some nodes return the parity instead, with the chain id in a field of its own. */
function legacyV(tx: Fields): bigint {
  const v = integerOf(tx.v, 'v')
  if (v > 1n || isUnsigned(tx)) return v
  return tx.chainId == null ? v + V_PLAIN : integerOf(tx.chainId, 'chainId') * 2n + V_CHAIN + v
}

/** Whether a transaction's hash matches its fields. */
export function proveTransaction(transaction: unknown): Verdict {
  const bytes = encodeTransaction(transaction)
  if ('why' in bytes) return unprovable('transaction', bytes.why)
  return compared('transaction', (transaction as Fields).hash, hashOf(bytes.bytes))
}

/** The digest that was signed, and the signature. `parity` is 0 or 1. */
interface Signing {
  readonly digest: Uint8Array
  readonly parity: bigint
  readonly r: bigint
  readonly s: bigint
}

function signingOf(tx: Fields): Signing {
  const type = typeOf(tx)
  const [r, s] = [integerOf(tx.r, 'r'), integerOf(tx.s, 's')]
  if (r === 0n || r >= ORDER || s === 0n || s > S_MAX) return refuse('a signature that no chain accepts')
  if (type !== 0) {
    const signedItems = SIGNED[type] ?? refuse(`type 0x${type.toString(16)} has no signature, or is unknown`)
    return { digest: typed(type, signedItems(tx)), parity: parityOf(tx), r, s }
  }
  const v = legacyV(tx)
  if (v < V_CHAIN) {
    if (v !== V_PLAIN && v !== V_PLAIN + 1n) return refuse('v belongs to no signature')
    return { digest: rlp(legacy(tx)), parity: v - V_PLAIN, r, s }
  }
  const chain = minimal((v - V_CHAIN) / 2n)
  return { digest: rlp([...legacy(tx), chain, EMPTY, EMPTY]), parity: 1n - (v % 2n), r, s }
}

/**
 * Whether `from` signed the transaction. Takes about a millisecond. The verdict is `unprovable` if there is no signature, or if we do not know the
 * type.
 */
export async function proveSender(transaction: unknown): Promise<Verdict> {
  const signing = attempted(() => signingOf(fieldsOf(transaction, 'transaction')))
  if ('why' in signing) return unprovable('sender', signing.why)
  const { digest, parity, r, s } = signing
  const signer = await recovered({ hash: hashOf(digest), r, s, yParity: Number(parity) })
  // If no point of the curve has r as its x, no key can have made this signature. So the sender that the provider names is wrong.
  if (signer === null)
    return { kind: 'contradicted', part: 'sender', given: shortened((transaction as Fields).from), computed: 'nobody' }
  return compared('sender', (transaction as Fields).from, signer)
}

async function recovered(of: { hash: `0x${string}`; r: bigint; s: bigint; yParity: number }): Promise<Address | null> {
  const hex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const
  try {
    const signature = { r: hex(of.r), s: hex(of.s), yParity: of.yParity }
    return (await recoverAddress({ hash: of.hash, signature })).toLowerCase() as Address
  } catch {
    return null
  }
}
