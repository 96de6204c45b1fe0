// Has a wallet send one call. An account that is a contract (a Safe, a smart account) is asked by EIP-5792 where it offers that: its call
// then comes in a transaction of its own making, whose hash the wallet names once it is in a block.
import type { Account, Chain, Client, Transport } from 'viem'
import { BaseError, MethodNotFoundRpcError, MethodNotSupportedRpcError, UnsupportedProviderMethodError } from 'viem'
import { getCode, sendCalls, sendTransaction, waitForCallsStatus } from 'viem/actions'
import type { Hex } from '../types.ts'
import { WalletError } from './errors.ts'

/** A viem wallet client with an account, or any client that has one. Its transport also answers reads, as that of every browser wallet does. */
export type OwnWallet = Client<Transport, Chain | undefined, Account>

export interface WalletCall {
  chainId: number
  to: Hex
  valueWei?: bigint
  data?: Hex
}

/** Limits of a contract wallet's call, in milliseconds: other signers may have to agree first. */
const CALLS_MS_MAX = 24 * 60 * 60 * 1000
const CALLS_POLL_MS = 2_000

/** EIP-7702: an ordinary account that delegates. It pays by plain transfers. */
const DELEGATED = '0xef0100'

/** True for an account whose code is a contract's. */
export async function isContract(wallet: OwnWallet): Promise<boolean> {
  const code = await getCode(wallet, { address: wallet.account.address })
  return code !== undefined && !code.startsWith(DELEGATED)
}

/** Sends a call. @returns the transaction's hash: of a contract wallet once it is in a block. Throws what the wallet throws. */
export async function sendCall(wallet: OwnWallet, call: WalletCall): Promise<Hex> {
  if (!(await isContract(wallet))) return sendPlain(wallet, call)
  let id: string
  try {
    id = await startCalls(wallet, call)
  } catch (error) {
    if (offersNoCalls(error)) return sendPlain(wallet, call)
    throw error
  }
  const limits = { timeout: CALLS_MS_MAX, pollingInterval: CALLS_POLL_MS }
  const { receipts, status } = await waitForCallsStatus(wallet, { id, ...limits })
  const txHash = receipts?.at(-1)?.transactionHash
  if (status === 'success' && txHash) return txHash
  throw new WalletError('reverted', 'The contract wallet did not carry the call out. Nothing moved.', {
    ...(txHash && { txHash }),
  })
}

async function startCalls(wallet: OwnWallet, { chainId, to, valueWei = 0n, data }: WalletCall): Promise<string> {
  const calls = [{ to, value: valueWei, ...(data && { data }) }]
  // Of the chain only its id is read.
  const chain = { id: chainId } as Chain
  const { id } = await sendCalls(wallet, { account: wallet.account, calls, chain })
  return id
}

function sendPlain(wallet: OwnWallet, { to, valueWei = 0n, data }: WalletCall): Promise<Hex> {
  return sendTransaction(wallet, { account: wallet.account, chain: null, to, value: valueWei, ...(data && { data }) })
}

const NOT_OFFERED = [MethodNotFoundRpcError, MethodNotSupportedRpcError, UnsupportedProviderMethodError]

function offersNoCalls(error: unknown): boolean {
  return error instanceof BaseError && NOT_OFFERED.some((kind) => error.walk((cause) => cause instanceof kind) !== null)
}
