// Signs transactions: with a key in this process, or through a remote signer that holds the key (Web3Signer, Clef, a node with the account unlocked).
// We accept a remote signer's answer only if it is the requested transaction, signed by the expected account. It must never send anything, never
// retry, and never log a key or a URL.
import type { TransactionSerializableEIP1559, TransactionSerialized } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { keccak256, parseTransaction, recoverAddress, serializeTransaction } from 'viem/utils'
import { type Address, address } from '../../domain/units.ts'
import { ChainFault, SignerFault } from '../../ports/faults.ts'
import { createProvider } from '../rpc/provider.ts'

/** A signer in the same network answers within milliseconds; one with a hardware module answers within seconds. */
const TIMEOUT_MS = 10_000
/** Our largest transaction has 100 kB of calldata, which takes twice as much in hex. */
const REPLY_BYTES_MAX = 1024 * 1024
/** Half the order of the curve. Chains reject a signature whose s is higher (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** A complete transaction that is not signed yet. */
export interface UnsignedTransaction {
  chainId: number
  nonce: number
  to: Address
  data: `0x${string}`
  valueWei: bigint
  gasLimit: bigint
  maxFeeWei: bigint
  maxPriorityFeeWei: bigint
}

/** The signer of one account. `sign` returns the serialized transaction. Throws a SignerFault if the signer cannot sign at the moment. */
export interface Signer {
  readonly address: Address
  sign(tx: UnsignedTransaction): Promise<`0x${string}`>
}

/** Signs with a key in this process. Throws a TypeError if the text is not a private key; the message does not repeat the text. */
export function localSigner(privateKey: `0x${string}`): Signer {
  const account = accountOf(privateKey)
  return { address: address(account.address), sign: (tx) => account.signTransaction(asViem(tx)) }
}

function accountOf(privateKey: `0x${string}`) {
  try {
    return privateKeyToAccount(privateKey)
  } catch {
    // We do not pass on viem's error, because it may quote the key.
    throw new TypeError('not a private key: it must be 0x and 64 hex digits')
  }
}

export interface RemoteSignerOptions {
  /** It may include a user and a password. */
  url: string
  /** The account for which it signs. */
  address: Address
  timeoutMs?: number
}

/** Signs with `eth_signTransaction` of a JSON-RPC signer. Throws a TypeError if the URL is not http(s). */
export function remoteSigner({ url, address: from, timeoutMs = TIMEOUT_MS }: RemoteSignerOptions): Signer {
  const provider = createProvider({ url, replyBytesMax: REPLY_BYTES_MAX })
  const { host } = provider
  return {
    address: from,
    async sign(tx) {
      const request = { method: 'eth_signTransaction', params: [asJsonRpc(from, tx)] }
      const reply = await provider.call(request, timeoutMs).catch((error: unknown) => {
        if (!(error instanceof ChainFault)) throw error
        throw new SignerFault(`the signer of ${from} does not answer: ${error.message}`, error)
      })
      if (!reply.ok) {
        const { code, message } = reply.error
        throw new SignerFault(`the signer of ${from} at ${host} refuses: ${message} (${code})`)
      }
      const raw = rawOf(reply.result)
      const wrong = raw === null ? 'no serialized transaction' : await whatIsWrong(raw, from, tx)
      if (raw === null || wrong !== null)
        throw new SignerFault(`the signer of ${from} at ${host} returned ${wrong}: rejected`)
      return raw
    },
  }
}

/**
 * The fields that signers expect. Web3Signer reads `data`, which geth accepts too. Web3Signer knows its chain id itself, and ignores fields that it
 * does not know.
 */
function asJsonRpc(from: Address, tx: UnsignedTransaction) {
  return {
    type: '0x2',
    chainId: hex(tx.chainId),
    from,
    to: tx.to,
    nonce: hex(tx.nonce),
    gas: hex(tx.gasLimit),
    maxFeePerGas: hex(tx.maxFeeWei),
    maxPriorityFeePerGas: hex(tx.maxPriorityFeeWei),
    value: hex(tx.valueWei),
    data: tx.data,
  }
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`

/** The signed bytes in an answer. Web3Signer and anvil return the bytes; geth and Clef return an object with the bytes in `raw`. */
function rawOf(result: unknown): `0x${string}` | null {
  const bytes = typeof result === 'object' && result !== null ? (result as { raw?: unknown }).raw : result
  return typeof bytes === 'string' && /^0x(?:[0-9a-fA-F]{2})+$/.test(bytes)
    ? (bytes.toLowerCase() as `0x${string}`)
    : null
}

/** What is wrong with an answer. Null if it is the requested transaction, byte for byte, signed by `from`. */
async function whatIsWrong(raw: `0x${string}`, from: Address, tx: UnsignedTransaction): Promise<string | null> {
  const expectedTx = asViem(tx)
  try {
    const { r, s, yParity, ...signedTx } = parseTransaction(raw as TransactionSerialized<'eip1559'>)
    if (r === undefined || s === undefined || yParity === undefined) return 'a transaction without a signature'
    // We serialize the requested transaction with this signature: the bytes must be the same. So this compares every field, and how it is encoded.
    if (serializeTransaction(expectedTx, { r, s, yParity: yParity as 0 | 1 }) !== raw)
      return difference(signedTx, expectedTx)
    if (BigInt(s) > S_MAX) return 'a signature with a high s, which chains reject'
    const signer = await recoverAddress({
      hash: keccak256(serializeTransaction(expectedTx)),
      signature: { r, s, yParity },
    })
    return address(signer) === from ? null : `a transaction signed by ${address(signer)}`
  } catch {
    return 'something that is not a signed transaction'
  }
}

function difference(signedTx: object, expectedTx: object): string {
  const [actual, reference] = [signedTx as Record<string, unknown>, expectedTx as Record<string, unknown>]
  const fields = Object.keys(reference).filter((name) => comparable(actual[name]) !== comparable(reference[name]))
  return `a transaction other than the requested one (${fields.join(', ') || 'in its encoding'})`
}

const comparable = (value: unknown) => (value === undefined ? '0' : String(value).toLowerCase())

export function asViem(tx: UnsignedTransaction): TransactionSerializableEIP1559 & { type: 'eip1559' } {
  return {
    type: 'eip1559',
    chainId: tx.chainId,
    nonce: tx.nonce,
    to: tx.to,
    data: tx.data,
    value: tx.valueWei,
    gas: tx.gasLimit,
    maxFeePerGas: tx.maxFeeWei,
    maxPriorityFeePerGas: tx.maxPriorityFeeWei,
  }
}
