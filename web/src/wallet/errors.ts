// Turns wallets' errors into a sentence. Wallets wrap the message in many layers; people need the innermost message.
import { LedgerError } from '@node-ledger/client'
import { WalletError } from '@node-ledger/client/viem'
import { BaseError, InsufficientFundsError, UserRejectedRequestError } from 'viem'
import { words } from '../words/wallet.ts'

/** An error with a message for people. */
export function readableError(error: unknown): Error {
  if (error instanceof WalletError || error instanceof LedgerError) return error
  if (!(error instanceof BaseError)) return error instanceof Error ? error : new Error(words.errors.noAnswer)
  if (error.walk((cause) => cause instanceof UserRejectedRequestError)) return new Error(words.errors.refused)
  if (error.walk((cause) => cause instanceof InsufficientFundsError)) return new Error(words.errors.tooLittle)
  return new Error(error.shortMessage)
}

/** A wallet's error as a sentence. */
export const sentenceOfWallet = (error: unknown): string => readableError(error).message

/** An error in the wallet's own words, if it has any. */
export const wordsOfWallet = (error: unknown): string =>
  (error instanceof BaseError && error.details) || sentenceOfWallet(error)
