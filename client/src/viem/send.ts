// Makes a wallet send a call, or several in one transaction. For a contract account (a Safe, a smart account) it uses EIP-5792 if the wallet supports
// that. The wallet then builds the transaction, and reports its hash once it is in a block.
import type { Account, Chain, Client, Transport } from 'viem'
import {
  AtomicityNotSupportedError,
  AtomicReadyWalletRejectedUpgradeError,
  BaseError,
  BundleTooLargeError,
  InvalidParamsRpcError,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  numberToHex,
  UnsupportedNonOptionalCapabilityError,
  UnsupportedProviderMethodError,
} from 'viem'
import { getChainId, getCode, waitForCallsStatus } from 'viem/actions'
import { getTransactionError } from 'viem/utils'
import type { Hex } from '../types.ts'
import { type WalletCall, WalletError } from './errors.ts'

/** A viem wallet client with an account, or any similar client. Its transport also answers reads, like a browser wallet's. */
export type OwnWallet = Client<Transport, Chain | undefined, Account>

/** How long a contract wallet's call may take, in milliseconds. It is long, because other signers may have to agree first. */
const CALLS_MS_MAX = 24 * 60 * 60 * 1000
const CALLS_POLL_MS = 2_000

export interface Asking {
  /** Called just before the wallet prompts; the prompt waits for it. If it throws, the wallet does not prompt. */
  onAsk?: (() => unknown) | undefined
  /** Called once a contract wallet has accepted the call, with the wallet's own id for it. */
  onProposed?: ((callsId: string) => void) | undefined
}

/** The code prefix of an ordinary account that delegates (EIP-7702). It pays by plain transfers. */
const DELEGATED = '0xef0100'

/** True if the account has a contract's code. */
export async function isContract(wallet: OwnWallet): Promise<boolean> {
  const code = (await getCode(wallet, { address: wallet.account.address })) ?? '0x'
  return code !== '0x' && !code.startsWith(DELEGATED)
}

/**
 * Sends a call.
 * @returns the transaction's hash, for a contract wallet once it is in a block. Throws what the wallet throws. After
 * the prompt, an error does not show whether the wallet has sent, unless it is a WalletError or the owner's refusal.
 */
export async function sendCall(wallet: OwnWallet, call: WalletCall, { onAsk, onProposed }: Asking = {}): Promise<Hex> {
  const isOfContract = await isContract(wallet)
  await onAsk?.()
  if (!isOfContract) return sendPlain(wallet, call)
  const id = await startCalls(wallet, [call]).catch((error: unknown) => {
    if (isOneOf(NOT_OFFERED, error)) return null
    throw error
  })
  return id === null ? sendPlain(wallet, call) : carriedOut(wallet, id, onProposed)
}

/**
 * Sends several calls of an account in one transaction.
 * @returns the transaction's hash once it is in a block; null if the wallet does not support this, and has sent nothing. Throws like {@link
 * sendCall}.
 */
export async function sendTogether(
  wallet: OwnWallet,
  calls: readonly WalletCall[],
  { onAsk, onProposed }: Asking = {},
): Promise<Hex | null> {
  await onAsk?.()
  const id = await startCalls(wallet, calls).catch((error: unknown) => {
    if (isOneOf(NOT_TOGETHER, error)) return null
    throw error
  })
  return id === null ? null : carriedOut(wallet, id, onProposed)
}

/** Throws if the wallet is on another chain. */
export async function requireChain(wallet: OwnWallet, chainId: number): Promise<void> {
  const at = await getChainId(wallet)
  if (at === chainId) return
  const message = `The wallet is on chain ${at}; this ledger is on chain ${chainId}. Switch, then try again.`
  throw new WalletError('wrongChain', message)
}

/** The hash of the transaction that executed the calls. We report that nothing moved only if the wallet reports a failure (4xx, 5xx) and no success. */
async function carriedOut(wallet: OwnWallet, id: string, onProposed: Asking['onProposed']): Promise<Hex> {
  onProposed?.(id)
  const limits = { timeout: CALLS_MS_MAX, pollingInterval: CALLS_POLL_MS }
  const isOver = ({ statusCode }: { statusCode: number }) => statusCode >= 200
  const { receipts = [], statusCode } = await waitForCallsStatus(wallet, { id, ...limits, status: isOver }).catch(
    (cause: BaseError) => {
      // The wallet may send it, so this must not look like its refusal to send.
      throw new Error(cause.details || cause.shortMessage || cause.message, { cause })
    },
  )
  const successes = receipts.filter(({ status }) => status === 'success')
  const txHash = [...receipts, ...successes].filter((one) => one.transactionHash).at(-1)?.transactionHash
  if (statusCode >= 400 && statusCode < 600 && successes.length === 0)
    throw new WalletError('reverted', 'The contract wallet did not execute the call. Nothing moved.', {
      ...(txHash && { txHash }),
    })
  return hashIn(statusCode < 300 ? txHash : undefined)
}

// We call the wallet's own methods, because viem's functions also support other accounts and would double the page's code for this.

async function startCalls(wallet: OwnWallet, calls: readonly WalletCall[]): Promise<string> {
  const whole = {
    version: '2.0.0',
    chainId: numberToHex(calls[0]?.chainId ?? 0),
    from: wallet.account.address,
    atomicRequired: calls.length > 1,
    calls: calls.map(({ to, valueWei, data }) => ({ to, value: numberToHex(valueWei), ...(data && { data }) })),
  }
  type Answer = { id: string } | string
  const answer = (await wallet.request({ method: 'wallet_sendCalls', params: [whole] }, ONCE)) as Answer
  // Some wallets implement the draft, which returned only the id.
  return typeof answer === 'string' ? answer : answer.id
}

/** No retry, because a wallet that gets the request twice may send twice. */
const ONCE = { retryCount: 0 }

async function sendPlain(wallet: OwnWallet, call: WalletCall): Promise<Hex> {
  try {
    return hashIn(await (wallet.account.type === 'json-rpc' ? askToSend(wallet, call) : signAndSend(wallet, call)))
  } catch (error) {
    if (!isOneOf(NOT_OFFERED, error)) throw error
    const message = 'The wallet sends nothing for this page. Make the call in the wallet itself.'
    throw new WalletError('notOffered', message, { call, cause: error })
  }
}

/** The transaction's hash in a wallet's answer. Some wallets return nothing, or something else, after they have sent. */
function hashIn(answer: unknown): Hex {
  if (/^0x[0-9a-f]{64}$/i.test(String(answer))) return answer as Hex
  throw new Error('The wallet did not answer with the hash of a transaction.')
}

/** Asks the wallet to sign and send. The wallet chooses nonce and fee. */
async function askToSend(wallet: OwnWallet, { to, valueWei, data }: WalletCall): Promise<Hex> {
  const { account } = wallet
  const transaction = { from: account.address, to, value: numberToHex(valueWei), ...(data && { data }) }
  try {
    return await wallet.request({ method: 'eth_sendTransaction', params: [transaction] }, ONCE)
  } catch (error) {
    throw getTransactionError(error as BaseError, { account, to, value: valueWei, ...(data && { data }) })
  }
}

/** Signs and sends, for an account whose key the program itself holds. */
async function signAndSend(wallet: OwnWallet, { to, valueWei, data }: WalletCall): Promise<Hex> {
  const { sendTransaction } = await import('./send-signed.ts')
  return sendTransaction(wallet, { account: wallet.account, chain: null, to, value: valueWei, ...(data && { data }) })
}

const NOT_OFFERED = [MethodNotFoundRpcError, MethodNotSupportedRpcError, UnsupportedProviderMethodError]
/** Errors with which a wallet reports that it does not send such a transaction (EIP-5792). */
const NOT_TOGETHER = [
  ...NOT_OFFERED,
  AtomicityNotSupportedError,
  AtomicReadyWalletRejectedUpgradeError,
  BundleTooLargeError,
  UnsupportedNonOptionalCapabilityError,
]

const isOneOf = (kinds: readonly (new (...args: never[]) => BaseError)[], error: unknown): boolean =>
  error instanceof BaseError && kinds.some((kind) => error.walk((cause) => cause instanceof kind) !== null)

/** True if the wallet reports that it does not send such a transaction at all. */
export const isInvalid = (error: unknown): boolean => isOneOf([InvalidParamsRpcError], error)
