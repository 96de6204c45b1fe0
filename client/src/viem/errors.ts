// A refusal by a wallet or the contract, in words, and how to make it from what viem throws.
import { BaseError, ContractFunctionRevertedError, UserRejectedRequestError } from 'viem'
import type { BuyerCheck } from '../types.ts'
import { inWords } from './factory.ts'

export type WalletErrorCode =
  /** The wallet's owner declined. Nothing was sent. */
  | 'rejected'
  /** The wallet is on another chain. Nothing was sent. */
  | 'wrongChain'
  /** The price has changed since the buyer agreed to it. Nothing was sent. */
  | 'priceChanged'
  /** More nodes of the tier than the wallet can buy now. Nothing was sent. */
  | 'tooMany'
  /** The ledger would hold the payment; `checks` has the rules that it fails. Nothing was sent. */
  | 'wouldBeHeld'
  /** A contract wallet, while the ledger holds payments from contracts. Nothing was sent. */
  | 'contractWallet'
  /** The contract would revert, or has reverted; the message has the reason. */
  | 'reverted'
  /** The service has no contract address, so the call has no target. */
  | 'notDeployed'
  /**
   * The wallet sends no transactions for a web page. The owner can make `call` in the wallet itself. Nothing was sent.
   */
  | 'notOffered'

/** A call for a wallet to make. */
export interface WalletCall {
  chainId: number
  to: `0x${string}`
  valueWei: bigint
  /** Default: no data. */
  data?: `0x${string}`
}

export class WalletError extends Error {
  override readonly name = 'WalletError'
  readonly code: WalletErrorCode
  /** The transaction, if one was sent. */
  readonly txHash: `0x${string}` | null
  /** The call to make by hand, if the wallet has no way to send it. */
  readonly call: WalletCall | null
  /** The checks that a payment would fail. */
  readonly checks: readonly BuyerCheck[]

  constructor(
    code: WalletErrorCode,
    message: string,
    more: { txHash?: `0x${string}`; call?: WalletCall; checks?: readonly BuyerCheck[]; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.txHash = more.txHash ?? null
    this.call = more.call ?? null
    this.checks = more.checks ?? []
  }
}

/**
 * Runs a call to the wallet or the contract. Throws a refusal by either as a WalletError, and other errors unchanged.
 */
export async function explained<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw explain(error)
  }
}

function explain(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error
  if (error.walk((cause) => cause instanceof UserRejectedRequestError))
    return new WalletError('rejected', 'The wallet declined. Nothing was sent.', { cause: error })
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  if (!(revert instanceof ContractFunctionRevertedError)) return error
  const name = revert.data?.errorName ?? revert.signature ?? 'without a reason'
  return new WalletError('reverted', inWords(name) ?? `The contract rejects this (${name}).`, { cause: error })
}
