// What a header's two roots commit to, and what a transaction's hash and signature say: a second reading of the yellow paper (4.3, 4.4.1, appendix D),
// of EIPs 2, 155, 658, 1559, 2718, 2930, 4844 and 7702, of the OP stack's specification (deposits and their receipts), of arb_types.go
// (OffchainLabs/go-ethereum), of CIP-64, of PIP-74, and of docs/THREATS.md (Providers that lie).
import { createMPT } from '@ethereumjs/mpt'
import { recoverAddress, Signature } from 'ethers'
import {
  type Hex,
  hashOf,
  isObject,
  itemsOf,
  numberBytes,
  numberOf,
  orName,
  orNothing,
  rlp,
  sameHex,
  type Told,
  toldOf,
  Unread,
  type Wire,
} from './items.ts'

// Choices in what the documents leave open:
// - A transaction without a type is a legacy one.
// - Some nodes say 27 and 28 for a parity, and others a parity for a legacy v. Then the field of the chain's id says whether it was signed with one.
// - A receipt's status is any number (yellow paper, 4.4.1), although EIP-658 has two of them. The root decides.
// - Bytes that a provider gives for a transaction of a type that is not known must be of a type that is not known, too.

const CALL = 'to:maybe20 value:number input:bytes'
const MARKET = 'chainId:number nonce:number maxPriorityFeePerGas:number maxFeePerGas:number gas:number'
/** What is signed, by type. Parity, r and s follow. */
const SIGNED: Record<number, string> = {
  1: `chainId:number nonce:number gasPrice:number gas:number ${CALL} accessList:accesses`,
  2: `${MARKET} ${CALL} accessList:accesses`,
  3: `${MARKET} ${CALL} accessList:accesses maxFeePerBlobGas:number blobVersionedHashes:hashes`,
  4: `${MARKET} ${CALL} accessList:accesses authorizationList:authorizations`,
  123: `${MARKET} ${CALL} accessList:accesses feeCurrency:maybe20`,
}
/** What chains make themselves, without a signature. */
const UNSIGNED: Record<number, string> = {
  100: 'chainId:number requestId:32 from:20 to:maybe20 value:number',
  101: `chainId:number from:20 nonce:number maxFeePerGas:number gas:number ${CALL}`,
  102: `chainId:number requestId:32 from:20 maxFeePerGas:number gas:number ${CALL}`,
  104: `chainId:number nonce:number from:20 maxFeePerGas:number gas:number ${CALL} ticketId:32 refundTo:20 maxRefund:number submissionFeeRefund:number`,
  105:
    'chainId:number requestId:32 from:20 l1BaseFee:number depositValue:number maxFeePerGas:number gas:number retryTo:maybe20 retryValue:number ' +
    'beneficiary:20 maxSubmissionFee:number refundTo:20 retryData:bytes',
  106: 'chainId:number input:bytes',
  126: 'sourceHash:32 from:20 to:maybe20 mint:maybeNumber value:number gas:number isSystemTx:flag input:bytes',
}
const LEGACY = `nonce:number gasPrice:number gas:number ${CALL}`
/** The fields of a transaction of a type, by a form. */
export const formOf = (type: number): string =>
  UNSIGNED[type] ?? `${SIGNED[type] ?? LEGACY} ${type === 0 ? 'v' : 'yParity'}:number r:number s:number`
export const TYPES = [0, ...Object.keys({ ...SIGNED, ...UNSIGNED }).map(Number)]

const typed = (type: number, body: Uint8Array) => Uint8Array.from([type, ...body])
const typeOf = (one: Wire) => (one.type == null ? 0n : numberOf(one.type, 'type'))
const isZero = (value: unknown) => typeof value === 'string' && /^0x0*$/.test(value)

/** The fields under the names of the forms: some nodes call the input data. */
const named = (tx: Wire): Wire => ({ ...tx, input: tx.input ?? tx.data ?? '0x' })

function parityOf(tx: Wire): bigint {
  const said = numberOf(tx.yParity ?? tx.v, 'yParity')
  for (const parity of [0n, 1n]) if (said === parity || said === 27n + parity) return parity
  throw new Unread('yParity')
}

/** The v of a legacy transaction, as it was signed. */
function vOf(tx: Wire): bigint {
  const said = numberOf(tx.v, 'v')
  if (said > 1n || (isZero(tx.r) && isZero(tx.s))) return said
  return tx.chainId == null ? 27n + said : 35n + 2n * numberOf(tx.chainId, 'chainId') + said
}

/** The bytes of a transaction, of which its hash is the hash. */
function readTransaction(tx: unknown): Uint8Array {
  if (!isObject(tx)) throw new Unread('transaction')
  const [fields, type] = [named(tx), Number(typeOf(tx))]
  if (type === 0) {
    const items = itemsOf(LEGACY, fields)
    return rlp([...items, numberBytes(vOf(tx)), ...itemsOf('r:number s:number', tx)])
  }
  // Arbitrum leaves the cap out if it is the price.
  if (UNSIGNED[type])
    return typed(type, rlp(itemsOf(UNSIGNED[type], { ...fields, maxFeePerGas: tx.maxFeePerGas ?? tx.gasPrice })))
  if (!SIGNED[type]) throw new Unread('type')
  const items = itemsOf(SIGNED[type], fields)
  return typed(type, rlp([...items, numberBytes(parityOf(tx)), ...itemsOf('r:number s:number', tx)]))
}

/** Null if a transaction has no bytes that we know. */
export const transactionBytes = (tx: unknown): Uint8Array | null => orNothing(() => readTransaction(tx))

export const toldOfTransaction = (tx: unknown): Told =>
  toldOf(
    Object(tx).hash,
    orName(() => hashOf(readTransaction(tx))),
  )
export const isTransactionProven = (tx: unknown): boolean => toldOfTransaction(tx).kind === 'proven'

/** Whether a type has no signature, so that its bytes name the sender; or a signature of zeros, as what Polygon appends. */
export const isOfUnsignedType = (tx: Wire): boolean => Number(tx.type ?? 0) in UNSIGNED
export const isUnsigned = (tx: Wire): boolean => isOfUnsignedType(tx) || (isZero(tx.r) && isZero(tx.s))

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Who signed a transaction, if a key can have made the signature at all. Chains take none with a large s (EIP-2). */
function readSigner(tx: unknown): string {
  if (!isObject(tx)) throw new Unread('transaction')
  const [fields, type] = [named(tx), Number(typeOf(tx))]
  const [r, s] = [numberOf(tx.r, 'r'), numberOf(tx.s, 's')]
  if (r === 0n || r >= ORDER || s === 0n || s > ORDER / 2n) throw new Unread('a signature')
  if (type !== 0) {
    if (!SIGNED[type]) throw new Unread('type')
    return signerOf(typed(type, rlp(itemsOf(SIGNED[type], fields))), { r, s, parity: parityOf(tx) })
  }
  const v = vOf(tx)
  if (v < 35n && v !== 27n && v !== 28n) throw new Unread('v')
  const items = itemsOf(LEGACY, fields)
  if (v < 35n) return signerOf(rlp(items), { r, s, parity: v - 27n })
  const [chainId, nothing] = [numberBytes((v - 35n) / 2n), new Uint8Array()]
  return signerOf(rlp([...items, chainId, nothing, nothing]), { r, s, parity: (v - 35n) % 2n })
}

function signerOf(bytes: Uint8Array, { r, s, parity }: { r: bigint; s: bigint; parity: bigint }): string {
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  try {
    const signature = Signature.from({ r: word(r), s: word(s), yParity: parity === 0n ? 0 : 1 })
    return recoverAddress(hashOf(bytes), signature).toLowerCase()
  } catch {
    return 'nobody'
  }
}

export function toldOfSender(tx: unknown): Told {
  const signer = orName(() => readSigner(tx))
  const { from } = Object(tx)
  const isNobody = 'read' in signer && signer.read === 'nobody'
  return isNobody
    ? { kind: 'contradicted', given: String(from).slice(0, 66), computed: 'nobody' }
    : toldOf(from, signer)
}

/** A bloom of logs: three bits for each address and topic, by the first three pairs of bytes of its hash. */
function bloomOf(logs: unknown): Uint8Array {
  const bits = new Set<number>()
  for (const [address, topics] of itemsOf('logs:logs', { logs })[0] as [Uint8Array, Uint8Array[]][])
    for (const value of [address, ...topics]) {
      const hash = hashOf(value).slice(2)
      for (const at of [0, 4, 8]) bits.add(Number.parseInt(hash.slice(at, at + 4), 16) % 2048)
    }
  const bytes = Array.from({ length: 256 }, (_, index) =>
    [0, 1, 2, 3, 4, 5, 6, 7].reduce((byte, bit) => byte + (bits.has((255 - index) * 8 + bit) ? 2 ** bit : 0), 0),
  )
  return Uint8Array.from(bytes)
}

/** A receipt's bytes under the root. The bloom is that of its logs, whatever it says. */
function readReceipt(receipt: unknown): Uint8Array {
  if (!isObject(receipt)) throw new Unread('receipt')
  const type = Number(typeOf(receipt))
  if (type > 127) throw new Unread('type')
  const usual = [
    ...itemsOf(receipt.status == null ? 'root:32' : 'status:number', receipt),
    ...itemsOf('cumulativeGasUsed:number', receipt),
    bloomOf(receipt.logs),
    ...itemsOf('logs:logs', receipt),
  ]
  // Before Nitro, Arbitrum's own type had receipts like legacy ones.
  if (type === 0 || type === 120) return rlp(usual)
  const own = (form: string, isThere: boolean) => (isThere ? itemsOf(form, receipt) : [])
  if (type === 123) return typed(type, rlp([...usual, ...own('baseFee:number', receipt.baseFee != null)]))
  if (type !== 126) return typed(type, rlp(usual))
  const form = 'depositNonce:number depositReceiptVersion:number'
  return typed(type, rlp([...usual, ...own(form, receipt.depositReceiptVersion != null)]))
}

/** Null if a receipt has no bytes that we know. */
export const receiptBytes = (receipt: unknown): Uint8Array | null => orNothing(() => readReceipt(receipt))

/** The root of a list. */
export async function rootOf(leaves: readonly Uint8Array[]): Promise<Hex> {
  const trie = await createMPT()
  for (const [index, leaf] of leaves.entries()) await trie.put(rlp(numberBytes(BigInt(index))), leaf)
  return `0x${Buffer.from(trie.root()).toString('hex')}`
}

/** What Polygon's nodes append to a block: from and to the zero address, without gas and without a signature. The roots cover it since Madhugiri. */
function isStateSync(item: unknown): boolean {
  if (!isObject(item)) return false
  const isNobody = (account: unknown) => typeof account === 'string' && /^0x0{40}$/.test(account)
  const gas = item.gas ?? item.gasUsed
  const isUnsigned = [item.r, item.s].every((value) => value == null || isZero(value))
  return isNobody(item.from) && isNobody(item.to) && isZero(gas) && gas !== '0x' && isUnsigned
}

export type ToldList = Told & { count: number }
type Leaf = { read: Uint8Array } | { name: string }

/** Of how many leading items the root is. Only the chain's own last item may be outside. */
async function toldOfList(root: unknown, items: readonly unknown[], leaves: readonly Leaf[]): Promise<ToldList> {
  const isLastOwn = isStateSync(items.at(-1))
  const none = leaves.findIndex((leaf, index) => 'name' in leaf && !(isLastOwn && index === items.length - 1))
  if (none >= 0)
    return { kind: 'unprovable', name: `number ${none}: ${(leaves[none] as { name: string }).name}`, count: 0 }
  const known = leaves.flatMap((leaf) => ('read' in leaf ? [leaf.read] : []))
  const told = toldOf(root, { read: await rootOf(known) })
  if (told.kind === 'proven') return { ...told, count: known.length }
  if (isLastOwn && known.length === items.length) {
    const without = known.slice(0, -1)
    if (sameHex(root, await rootOf(without))) return { kind: 'proven', count: without.length }
  }
  return { ...told, count: 0 }
}

const noList = (part: string): ToldList => ({ kind: 'unprovable', name: `${part}: no list`, count: 0 })
const countIn = ({ kind, count }: ToldList) => (kind === 'proven' ? count : null)

/** For how many transactions we ask a provider for the bytes. */
const RAW_MAX = 16

/** `raw`: the bytes that a provider gives for an item that we cannot encode. */
export async function toldOfTransactions(block: Wire, raw: (index: number) => Uint8Array | null): Promise<ToldList> {
  const { transactions, transactionsRoot } = block
  if (!Array.isArray(transactions)) return noList('transactions')
  let asked = 0
  const leaves = transactions.map((tx, index): Leaf => {
    const leaf = orName(() => readTransaction(tx))
    if ('read' in leaf || asked === RAW_MAX) return leaf
    asked += 1
    const bytes = ofUnknownType(raw(index))
    return bytes ? { read: bytes } : leaf
  })
  return toldOfList(transactionsRoot, transactions, leaves)
}

function ofUnknownType(bytes: Uint8Array | null): Uint8Array | null {
  const first = bytes?.[0]
  return bytes && first !== undefined && first > 0 && first < 128 && !TYPES.includes(first) ? bytes : null
}

export async function toldOfReceipts(block: Wire, receipts: unknown): Promise<ToldList> {
  if (!Array.isArray(receipts)) return noList('receipts')
  return toldOfList(
    block.receiptsRoot,
    receipts,
    receipts.map((receipt) => orName(() => readReceipt(receipt))),
  )
}

/** How many items are proven; null if the list is not. */
export const provenTransactions = async (block: Wire, raw: (index: number) => Uint8Array | null) =>
  countIn(await toldOfTransactions(block, raw))
export const provenReceipts = async (block: Wire, receipts: unknown) => countIn(await toldOfReceipts(block, receipts))
