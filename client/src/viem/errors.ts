// What a wallet or the contract throws through viem, as a refusal in words.
import { BaseError, ContractFunctionRevertedError, UserRejectedRequestError } from 'viem'
import { WalletError } from '../purchase.ts'
import { inWords } from './factory.ts'

/** Runs a call to the wallet or the contract. Throws a refusal by either as a WalletError, everything else as it came. */
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
    return new WalletError('rejected', 'The wallet refused. Nothing was sent.', { cause: error })
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
  if (!(revert instanceof ContractFunctionRevertedError)) return error
  const name = revert.data?.errorName ?? revert.signature ?? 'without a reason'
  return new WalletError('reverted', inWords(name) ?? `The contract refuses (${name}).`, { cause: error })
}
