// Has a wallet send one call. For a contract account (a Safe, a smart account) it uses EIP-5792 if the wallet offers
// it: the wallet then makes the transaction, and names its hash once it is in a block.
import type { Account, Chain, Client, Transport } from 'viem'
import {
  BaseError,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  numberToHex,
  UnsupportedProviderMethodError,
} from 'viem'
import { getCode, waitForCallsStatus } from 'viem/actions'
import { getTransactionError } from 'viem/utils'
import type { Hex } from '../types.ts'
import { type WalletCall, WalletError } from './errors.ts'

/** A viem wallet client with an account, or any such client. Its transport also answers reads, like a browser wallet's. */
export type OwnWallet = Client<Transport, Chain | undefined, Account>

/** Limits of a contract wallet's call, in milliseconds. Long, because other signers may have to agree first. */
const CALLS_MS_MAX = 24 * 60 * 60 * 1000
const CALLS_POLL_MS = 2_000

export interface Asking {
  /** Called just before the wallet prompts. */
  onAsk?: (() => void) | undefined
  /** Called once a contract wallet has accepted the call, with the wallet's own id for it. */
  onProposed?: ((callsId: string) => void) | undefined
}

/** EIP-7702: an ordinary account that delegates. It pays by plain transfers. */
const DELEGATED = '0xef0100'

/** True if the account has a contract's code. */
export async function isContract(wallet: OwnWallet): Promise<boolean> {
  const code = (await getCode(wallet, { address: wallet.account.address })) ?? '0x'
  return code !== '0x' && !code.startsWith(DELEGATED)
}

/**
 * Sends a call.
 * @returns the transaction's hash, for a contract wallet once it is in a block. Throws what the wallet throws. After
 * the prompt, an error does not say whether the wallet has sent, unless it is a WalletError or the owner's refusal.
 */
export async function sendCall(wallet: OwnWallet, call: WalletCall, { onAsk, onProposed }: Asking = {}): Promise<Hex> {
  const isOfContract = await isContract(wallet)
  onAsk?.()
  if (!isOfContract) return sendPlain(wallet, call)
  let id: string
  try {
    id = await startCalls(wallet, call)
  } catch (error) {
    if (isNotOffered(error)) return sendPlain(wallet, call)
    throw error
  }
  onProposed?.(id)
  const limits = { timeout: CALLS_MS_MAX, pollingInterval: CALLS_POLL_MS }
  const { receipts, status } = await waitForCallsStatus(wallet, { id, ...limits })
  const txHash = receipts?.at(-1)?.transactionHash
  if (status === 'success' && txHash) return hashIn(txHash)
  throw new WalletError('reverted', 'The contract wallet did not carry the call out. Nothing moved.', {
    ...(txHash && { txHash }),
  })
}

// We call the wallet's own methods, because viem's functions support other accounts too and would double the page's
// code for this.

async function startCalls(wallet: OwnWallet, { chainId, to, valueWei, data }: WalletCall): Promise<string> {
  const call = { to, value: numberToHex(valueWei), ...(data && { data }) }
  const whole = { version: '2.0.0', chainId: numberToHex(chainId), from: wallet.account.address, atomicRequired: false }
  type Answer = { id: string } | string
  const answer = (await wallet.request(
    { method: 'wallet_sendCalls', params: [{ ...whole, calls: [call] }] },
    ONCE,
  )) as Answer
  // Some wallets follow the draft, which answered with the id alone.
  return typeof answer === 'string' ? answer : answer.id
}

/** A wallet that gets the request twice may send twice. */
const ONCE = { retryCount: 0 }

async function sendPlain(wallet: OwnWallet, call: WalletCall): Promise<Hex> {
  try {
    return hashIn(await (wallet.account.type === 'json-rpc' ? askToSend(wallet, call) : signAndSend(wallet, call)))
  } catch (error) {
    if (!isNotOffered(error)) throw error
    const message = 'The wallet sends nothing for this page. Make the call in the wallet itself.'
    throw new WalletError('notOffered', message, { call, cause: error })
  }
}

/** Some wallets return nothing, or something else, after they have sent. */
function hashIn(answer: unknown): Hex {
  if (/^0x[0-9a-f]{64}$/i.test(String(answer))) return answer as Hex
  throw new Error('The wallet did not answer with the hash of a transaction.')
}

/** Has the wallet sign and send. The wallet chooses nonce and fee. */
async function askToSend(wallet: OwnWallet, { to, valueWei, data }: WalletCall): Promise<Hex> {
  const { account } = wallet
  const transaction = { from: account.address, to, value: numberToHex(valueWei), ...(data && { data }) }
  try {
    return await wallet.request({ method: 'eth_sendTransaction', params: [transaction] }, ONCE)
  } catch (error) {
    throw getTransactionError(error as BaseError, { account, to, value: valueWei, ...(data && { data }) })
  }
}

/** For an account whose key the program itself holds. */
async function signAndSend(wallet: OwnWallet, { to, valueWei, data }: WalletCall): Promise<Hex> {
  const { sendTransaction } = await import('./send-signed.ts')
  return sendTransaction(wallet, { account: wallet.account, chain: null, to, value: valueWei, ...(data && { data }) })
}

const NOT_OFFERED = [MethodNotFoundRpcError, MethodNotSupportedRpcError, UnsupportedProviderMethodError]

function isNotOffered(error: unknown): boolean {
  return error instanceof BaseError && NOT_OFFERED.some((kind) => error.walk((cause) => cause instanceof kind) !== null)
}
