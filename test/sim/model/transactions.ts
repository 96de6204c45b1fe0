// Transactions as the model receives them: signed bytes of type 2, or requests of accounts whose keys it has, which it
// signs itself, as a development chain does. Nothing unsigned gets into a block.
import { secp256k1 } from '@noble/curves/secp256k1'
import { parseTransaction, recoverTransactionAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { DEVELOPMENT_ACCOUNTS } from '../../../src/domain/development.ts'
import { type Address, address, type Hash } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { fromHex, hashOf, keccak, quantity, rlp, toHex } from './encode.ts'

export const MODEL_CHAIN_ID = 31_337
/** EIP-1559. */
export const TYPE = 2

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
  signature: { r: Hex; s: Hex; yParity: number }
}

const KEYS = new Map(DEVELOPMENT_ACCOUNTS.map(({ address: of, privateKey }) => [address(of), privateKey.slice(2)]))

/** Signs a transaction of one of the model's accounts; null for any other. */
export function sign(transaction: Omit<Transaction, 'hash' | 'raw' | 'signature'>): Transaction | null {
  const key = KEYS.get(transaction.from)
  if (key === undefined) return null
  const { to, value, data, nonce, gas, maxFee, tip } = transaction
  const fields = [
    ...[MODEL_CHAIN_ID, nonce, tip, maxFee, gas].map(quantity),
    ...[fromHex(to ?? '0x'), quantity(value), fromHex(data), []],
  ]
  const bytes = (items: typeof fields) => Buffer.concat([Buffer.of(TYPE), rlp(items)])
  const { r, s, recovery } = secp256k1.sign(keccak(bytes(fields)), key)
  const raw = bytes([...fields, ...[recovery, r, s].map(quantity)])
  const signature = { r: `0x${r.toString(16)}`, s: `0x${s.toString(16)}`, yParity: recovery } as const
  return remember({ ...transaction, signature, raw: toHex(raw), hash: hashOf(raw) })
}

/** The same bytes come repeatedly, and recovering their signer is the most expensive computation. */
const known = new Map<Hex, Transaction>()
const KNOWN_MAX = 10_000

function remember(transaction: Transaction): Transaction {
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(transaction.raw, transaction)
  return transaction
}

/** Parses signed bytes. Throws if they are of another type, or malformed. */
export async function readRaw(raw: Hex): Promise<Transaction> {
  return known.get(raw) ?? remember(await parse(raw))
}

async function parse(raw: Hex): Promise<Transaction> {
  const tx = parseTransaction(raw)
  if (tx.type !== 'eip1559') throw new Error(`the model chain knows no transactions of type ${tx.type}`)
  const from = await signerOf(raw, tx)
  return {
    hash: hashOf(fromHex(raw)),
    raw,
    from,
    to: tx.to ? address(tx.to) : null,
    value: tx.value ?? 0n,
    data: tx.data ?? '0x',
    nonce: tx.nonce ?? 0,
    gas: tx.gas ?? 0n,
    maxFee: tx.maxFeePerGas ?? 0n,
    tip: tx.maxPriorityFeePerGas ?? 0n,
    signature: { r: short(tx.r), s: short(tx.s), yParity: tx.yParity ?? 0 },
  }
}

/** A number in JSON-RPC's form. */
const short = (word: Hex | undefined): Hex => `0x${BigInt(word ?? 0).toString(16)}`

/** Minter and distributor, who sign nearly all transactions. */
const SENDERS = DEVELOPMENT_ACCOUNTS.slice(1, 3).map(({ privateKey }) => privateKeyToAccount(privateKey))

/**
 * The signer of these bytes. Signatures are deterministic, so if a sender would write the very same bytes, they did;
 * signing takes a quarter of the time of recovering.
 */
async function signerOf(raw: Hex, tx: ReturnType<typeof parseTransaction>): Promise<Address> {
  const { r: _r, s: _s, v: _v, yParity: _yParity, ...unsigned } = tx as Record<string, unknown>
  for (const sender of SENDERS)
    if ((await sender.signTransaction(unsigned as never)) === raw) return address(sender.address)
  return address(await recoverTransactionAddress({ serializedTransaction: raw as never }))
}
