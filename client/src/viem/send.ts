// Has a wallet send one call. An account that is a contract (a Safe, a smart account) is asked by EIP-5792 where it offers that: its call
// then comes in a transaction of its own making, whose hash the wallet names once it is in a block.
import type { Account, Chain, Client, Transport } from 'viem'
import { BaseError, MethodNotFoundRpcError, MethodNotSupportedRpcError, UnsupportedProviderMethodError } from 'viem'
import { getCode, sendCalls, sendTransaction, waitForCallsStatus } from 'viem/actions'
import { isContractCode, type WalletCall, WalletError } from '../purchase.ts'
import type { Hex } from '../types.ts'

/** A viem wallet client with an account, or any client that has one. Its transport also answers reads, as that of every browser wallet does. */
export type OwnWallet = Client<Transport, Chain | undefined, Account>

/** Limits of a contract wallet's call, in milliseconds: other signers may have to agree first. */
const CALLS_MS_MAX = 24 * 60 * 60 * 1000
const CALLS_POLL_MS = 2_000

/** True for an account whose code is a contract's. */
export async function isContract(wallet: OwnWallet): Promise<boolean> {
  return isContractCode(await getCode(wallet, { address: wallet.account.address }))
}

/**
 * Sends a call. `onProposed` is called once a contract wallet has taken it, with the wallet's own id of it.
 * @returns the transaction's hash: of a contract wallet once it is in a block. Throws what the wallet throws.
 */
export async function sendCall(
  wallet: OwnWallet,
  call: WalletCall,
  onProposed: (callsId: string) => void = () => undefined,
): Promise<Hex> {
  if (!(await isContract(wallet))) return sendPlain(wallet, call)
  let id: string
  try {
    id = await startCalls(wallet, call)
  } catch (error) {
    if (isNotOffered(error)) return sendPlain(wallet, call)
    throw error
  }
  onProposed(id)
  const limits = { timeout: CALLS_MS_MAX, pollingInterval: CALLS_POLL_MS }
  const { receipts, status } = await waitForCallsStatus(wallet, { id, ...limits })
  const txHash = receipts?.at(-1)?.transactionHash
  if (status === 'success' && txHash) return txHash
  throw new WalletError('reverted', 'The contract wallet did not carry the call out. Nothing moved.', {
    ...(txHash && { txHash }),
  })
}

async function startCalls(wallet: OwnWallet, { chainId, to, valueWei, data }: WalletCall): Promise<string> {
  const calls = [{ to, value: valueWei, ...(data && { data }) }]
  // Of the chain only its id is read.
  const chain = { id: chainId } as Chain
  const { id } = await sendCalls(wallet, { account: wallet.account, calls, chain })
  return id
}

async function sendPlain(wallet: OwnWallet, call: WalletCall): Promise<Hex> {
  const { to, valueWei, data } = call
  const transaction = { account: wallet.account, chain: null, to, value: valueWei, ...(data && { data }) }
  try {
    return await sendTransaction(wallet, transaction)
  } catch (error) {
    if (!isNotOffered(error)) throw error
    const message = 'The wallet sends nothing for this page. Make the call in the wallet itself.'
    throw new WalletError('notOffered', message, { call, cause: error })
  }
}

const NOT_OFFERED = [MethodNotFoundRpcError, MethodNotSupportedRpcError, UnsupportedProviderMethodError]

function isNotOffered(error: unknown): boolean {
  return error instanceof BaseError && NOT_OFFERED.some((kind) => error.walk((cause) => cause instanceof kind) !== null)
}
