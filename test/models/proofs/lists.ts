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
  orNothing,
  rlp,
  sameHex,
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
  101: `chainId:number from:20 nonce:number cap:number gas:number ${CALL}`,
  102: `chainId:number requestId:32 from:20 cap:number gas:number ${CALL}`,
  104: `chainId:number nonce:number from:20 cap:number gas:number ${CALL} ticketId:32 refundTo:20 maxRefund:number submissionFeeRefund:number`,
  105:
    'chainId:number requestId:32 from:20 l1BaseFee:number depositValue:number cap:number gas:number retryTo:maybe20 retryValue:number ' +
    'beneficiary:20 maxSubmissionFee:number refundTo:20 retryData:bytes',
  106: 'chainId:number input:bytes',
  126: 'sourceHash:32 from:20 to:maybe20 mint:maybeNumber value:number gas:number isSystemTx:flag input:bytes',
}
const LEGACY = `nonce:number gasPrice:number gas:number ${CALL}`
export const TYPES = [0, ...Object.keys({ ...SIGNED, ...UNSIGNED }).map(Number)]

const typed = (type: number, body: Uint8Array) => Uint8Array.from([type, ...body])
const typeOf = (one: Wire) => (one.type == null ? 0n : numberOf(one.type))
const isZero = (value: unknown) => typeof value === 'string' && /^0x0*$/.test(value)

/** The fields under the names of the forms: some nodes call the input data, and Arbitrum's cap is left out if it is the price. */
const named = (tx: Wire): Wire => ({ ...tx, input: tx.input ?? tx.data ?? '0x', cap: tx.maxFeePerGas ?? tx.gasPrice })

function parityOf(tx: Wire): bigint {
  const said = numberOf(tx.yParity ?? tx.v)
  for (const parity of [0n, 1n]) if (said === parity || said === 27n + parity) return parity
  throw new Unread('no parity')
}

/** The v of a legacy transaction, as it was signed. */
function vOf(tx: Wire): bigint {
  const said = numberOf(tx.v)
  if (said > 1n || (isZero(tx.r) && isZero(tx.s))) return said
  return tx.chainId == null ? 27n + said : 35n + 2n * numberOf(tx.chainId) + said
}

/** The bytes of a transaction, of which its hash is the hash; null if it has none that we know. */
export function transactionBytes(tx: unknown): Uint8Array | null {
  return orNothing(() => {
    if (!isObject(tx)) throw new Unread('no object')
    const [fields, type] = [named(tx), Number(typeOf(tx))]
    const tail = (v: bigint) => [numberBytes(v), ...itemsOf('r:number s:number', tx)]
    if (type === 0) return rlp([...itemsOf(LEGACY, fields), ...tail(vOf(tx))])
    if (UNSIGNED[type]) return typed(type, rlp(itemsOf(UNSIGNED[type], fields)))
    if (SIGNED[type]) return typed(type, rlp([...itemsOf(SIGNED[type], fields), ...tail(parityOf(tx))]))
    throw new Unread('a type that is not known')
  })
}

export function isTransactionProven(tx: unknown): boolean {
  const bytes = transactionBytes(tx)
  return bytes !== null && sameHex((tx as Wire).hash, hashOf(bytes))
}

/** Who signed a transaction; null if there is no signature, or if no chain takes the signature (EIP-2). */
function signerOf(tx: unknown): Hex | null {
  const signed = orNothing(() => {
    if (!isObject(tx)) throw new Unread('no object')
    const [fields, type] = [named(tx), Number(typeOf(tx))]
    if (type !== 0 && !SIGNED[type]) throw new Unread('nobody signs this type')
    if (type !== 0) return { bytes: typed(type, rlp(itemsOf(SIGNED[type] as string, fields))), parity: parityOf(tx) }
    const v = vOf(tx)
    const items = itemsOf(LEGACY, fields)
    if (v === 27n || v === 28n) return { bytes: rlp(items), parity: v - 27n }
    if (v < 35n) throw new Unread('a v of no signature')
    const [chainId, nothing] = [numberBytes((v - 35n) / 2n), new Uint8Array()]
    return { bytes: rlp([...items, chainId, nothing, nothing]), parity: (v - 35n) % 2n }
  })
  const [r, s] = [orNothing(() => numberOf((tx as Wire).r)), orNothing(() => numberOf((tx as Wire).s))]
  if (!signed || r === null || s === null) return null
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  try {
    const signature = Signature.from({ r: word(r), s: word(s), yParity: signed.parity === 0n ? 0 : 1 })
    return recoverAddress(hashOf(signed.bytes), signature).toLowerCase() as Hex
  } catch {
    return null
  }
}

export function isSenderProven(tx: unknown): boolean {
  const signer = signerOf(tx)
  return signer !== null && sameHex((tx as Wire).from, signer)
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

/** A receipt's bytes under the root; null if it has none. The bloom is that of its logs, whatever it says. */
export function receiptBytes(receipt: unknown): Uint8Array | null {
  return orNothing(() => {
    if (!isObject(receipt)) throw new Unread('no object')
    const type = Number(typeOf(receipt))
    if (type > 127) throw new Unread('no type (EIP-2718)')
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
  })
}

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

/** How many leading items of a list its root commits to; null if it is not proven. Only the chain's own last item may be outside. */
async function provenItems(root: unknown, items: unknown, leaves: (Uint8Array | null)[]): Promise<number | null> {
  const lists = [leaves, ...(isStateSync((items as unknown[]).at(-1)) ? [leaves.slice(0, -1)] : [])]
  for (const list of lists) {
    if (list.includes(null)) continue
    if (sameHex(root, await rootOf(list as Uint8Array[]))) return list.length
  }
  return null
}

/** `raw`: the bytes that a provider gives for an item that we cannot encode. */
export async function provenTransactions(
  block: Wire,
  raw: (index: number) => Uint8Array | null,
): Promise<number | null> {
  const { transactions, transactionsRoot } = block
  if (!Array.isArray(transactions)) return null
  const leaves = transactions.map((tx, index) => transactionBytes(tx) ?? ofUnknownType(raw(index)))
  return await provenItems(transactionsRoot, transactions, leaves)
}

function ofUnknownType(bytes: Uint8Array | null): Uint8Array | null {
  const first = bytes?.[0]
  return bytes && first !== undefined && first > 0 && first < 128 && !TYPES.includes(first) ? bytes : null
}

export async function provenReceipts(block: Wire, receipts: unknown): Promise<number | null> {
  if (!Array.isArray(receipts)) return null
  return await provenItems(block.receiptsRoot, receipts, receipts.map(receiptBytes))
}
