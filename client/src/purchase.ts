// What a purchase and a wallet's refusal are, whichever way the wallet is asked: by viem, or by the buy button's plain requests.
import type { BuyerCheck, Quote } from './types.ts'

export type WalletErrorCode =
  /** The wallet's owner said no. Nothing was sent. */
  | 'rejected'
  /** The wallet is on another chain. Nothing was sent. */
  | 'wrongChain'
  /** The price is no longer the one that the buyer agreed to. Nothing was sent. */
  | 'priceChanged'
  /** A contract wallet, and the ledger holds what contracts pay. Nothing was sent. */
  | 'contractWallet'
  /** The contract would refuse, or has refused; the message says why. */
  | 'reverted'
  /** The service names no contract, or no address of what is needed. */
  | 'notDeployed'
  /** The wallet sends nothing for a page: make `call` by hand in the wallet itself. Nothing was sent. */
  | 'notOffered'

/** A call as a wallet makes it. */
export interface WalletCall {
  chainId: number
  to: `0x${string}`
  valueWei: bigint
  /** Left out: none. */
  data?: `0x${string}`
}

export class WalletError extends Error {
  override readonly name = 'WalletError'
  readonly code: WalletErrorCode
  /** The transaction, where one was sent. */
  readonly txHash: `0x${string}` | null
  /** The call that is left to be made by hand, where the wallet offers no way to send it. */
  readonly call: WalletCall | null

  constructor(
    code: WalletErrorCode,
    message: string,
    more: { txHash?: `0x${string}`; call?: WalletCall; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.txHash = more.txHash ?? null
    this.call = more.call ?? null
  }
}

const DECIMALS = 18

/** An amount in ether, exact: "0.01". */
export function inEther(wei: bigint): string {
  const digits = wei.toString().padStart(DECIMALS + 1, '0')
  const decimals = digits.slice(-DECIMALS).replace(/0+$/, '')
  return `${digits.slice(0, -DECIMALS)}${decimals && `.${decimals}`}`
}

/** Throws where a quote is not at the price that the buyer agreed to. */
export function requirePrice({ priceWei }: Quote, agreedWei: bigint | undefined): void {
  if (agreedWei === undefined || priceWei === agreedWei) return
  throw new WalletError('priceChanged', `The price is ${inEther(priceWei)} ETH now. Nothing was sent.`)
}

/** What keeps a wallet from buying. The operator's look is apart: it costs time, and the buyer may agree to it. */
export function obstaclesIn(checks: readonly BuyerCheck[]): { blocking: BuyerCheck[]; isReviewed: boolean } {
  const failed = checks.filter(({ passes }) => passes === false)
  return {
    blocking: failed.filter(({ check }) => check !== 'review'),
    isReviewed: failed.some(({ check }) => check === 'review'),
  }
}

/** EIP-7702: an ordinary account that delegates. It pays by plain transfers. */
const DELEGATED = '0xef0100'

/** True for code that is a contract's own. */
export const isContractCode = (code: string | undefined): boolean =>
  code !== undefined && code !== '0x' && !code.startsWith(DELEGATED)
