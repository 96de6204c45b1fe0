// Turns wallets' errors into a sentence. They wrap their words in many layers; people need the innermost one.
import { LedgerError } from '@node-ledger/client'
import { WalletError } from '@node-ledger/client/viem'
import { BaseError, InsufficientFundsError, UserRejectedRequestError } from 'viem'

/** An error whose message is for people. */
export function saidByWallet(error: unknown): Error {
  if (error instanceof WalletError || error instanceof LedgerError) return error
  if (!(error instanceof BaseError)) return error instanceof Error ? error : new Error('The wallet did not answer.')
  if (error.walk((cause) => cause instanceof UserRejectedRequestError))
    return new Error('The wallet refused. Nothing was sent.')
  if (error.walk((cause) => cause instanceof InsufficientFundsError))
    return new Error('The wallet does not hold enough ether for the amount and the fee.')
  return new Error(error.shortMessage)
}
