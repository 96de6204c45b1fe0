// Transactions as they come to the model: bytes that were signed, or transactions that the model writes for an account on request. The latter
// carry no signature, since nothing here needs one: they cost a hundredth of the time.
import { bytesToHex, type Hex, hexToString, keccak256, parseTransaction, recoverTransactionAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { DEVELOPMENT_ACCOUNTS } from '../../../src/domain/development.ts'
import { type Address, address, type Hash } from '../../../src/domain/units.ts'

export interface Transaction {
  hash: Hash
  raw: Hex
  from: Address
  to: Address | null
  value: bigint
  data: Hex
  nonce: number
  gas: bigint
  maxFee: bigint
  tip: bigint
}

/** A type byte that no network knows. */
const UNSIGNED = '0x7e'

/** Bytes of a transaction that the model sends itself. */
export function unsigned(transaction: Omit<Transaction, 'hash' | 'raw'>): Transaction {
  const text = JSON.stringify(transaction, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value))
  const raw = `${UNSIGNED}${bytesToHex(Buffer.from(text)).slice(2)}` as Hex
  return { ...transaction, raw, hash: keccak256(raw) }
}

/** The same bytes come again and again, and to find out who signed them is the dearest sum of all. */
const known = new Map<Hex, Transaction>()
const KNOWN_MAX = 10_000

/** Reads bytes of either sort. Throws where they are neither. */
export async function readRaw(raw: Hex): Promise<Transaction> {
  const before = known.get(raw)
  if (before) return before
  if (known.size >= KNOWN_MAX) known.clear()
  const transaction = await parse(raw)
  known.set(raw, transaction)
  return transaction
}

async function parse(raw: Hex): Promise<Transaction> {
  if (raw.startsWith(UNSIGNED)) {
    const revive = (_key: string, value: unknown) =>
      typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value
    return { ...JSON.parse(hexToString(`0x${raw.slice(4)}`), revive), raw, hash: keccak256(raw) }
  }
  const tx = parseTransaction(raw)
  const from = await signerOf(raw, tx)
  return {
    ...{ hash: keccak256(raw), raw, from },
    to: tx.to ? address(tx.to) : null,
    value: tx.value ?? 0n,
    data: tx.data ?? '0x',
    nonce: tx.nonce ?? 0,
    gas: tx.gas ?? 0n,
    maxFee: tx.maxFeePerGas ?? tx.gasPrice ?? 0n,
    tip: tx.maxPriorityFeePerGas ?? tx.gasPrice ?? 0n,
  }
}

/** Minter and distributor, who sign nearly all there is to read. */
const SENDERS = DEVELOPMENT_ACCOUNTS.slice(1, 3).map(({ privateKey }) => privateKeyToAccount(privateKey))

/**
 * The signer of these bytes. Signatures are deterministic, so a sender who would write the very same bytes did; signing takes a quarter of the
 * time of recovering.
 */
async function signerOf(raw: Hex, tx: ReturnType<typeof parseTransaction>): Promise<Address> {
  const { r: _r, s: _s, v: _v, yParity: _yParity, ...unsigned } = tx as Record<string, unknown>
  for (const sender of SENDERS)
    if ((await sender.signTransaction(unsigned as never)) === raw) return address(sender.address)
  return address(await recoverTransactionAddress({ serializedTransaction: raw as never }))
}
