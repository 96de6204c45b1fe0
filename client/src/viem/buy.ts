// Buys nodes with a wallet: one exact transfer for each. Several transfers go in one transaction if the ledger accepts that from this wallet and the
// wallet supports it, else one after the other. Nothing here ever repeats a transfer.
import { formatEther } from 'viem'
import type { LedgerClient } from '../client.ts'
import { type FollowedPayment, type FollowOptions, followPayment, followPayments } from '../follow.ts'
import { mostOf } from '../most.ts'
import type { CanBuy, Hex, Quote } from '../types.ts'
import { explained, type WalletCall, WalletError } from './errors.ts'
import { carries } from './referral.ts'
import { isContract, isInvalid, type OwnWallet, requireChain, sendCall, sendTogether } from './send.ts'

/** Several nodes of a tier. */
export interface Order {
  tier: string
  quantity: number
}

/** Which transfer of an order a callback is about. */
export interface Transfer {
  /** The transfer's number, from 1; always 1 if all go in one transaction. */
  number: number
  of: number
  /** True if all transfers go in one transaction. */
  together: boolean
}

export interface PayOptions {
  /** The price to which the buyer agreed. If a quote differs, nothing more is sent. */
  priceWei?: bigint
  /** Called with the quote before the wallet prompts. */
  onQuote?: (quote: Quote) => void
  /**
   * Called just before the wallet prompts; the prompt waits for it. If it throws, the wallet does not prompt. Once it has returned, an error does not
   * show whether the wallet has sent, unless it is a WalletError.
   */
  onAsk?: (transfer: Transfer) => unknown
  /** Called with the hash once a transfer is sent. Store it. */
  onSent?: (txHash: Hex, transfer: Transfer) => void
  /** Called once a contract wallet has accepted the call. Its other signers, if any, must agree before it is sent. */
  onProposed?: (callsId: string) => void
  /** A referral code. It goes into the transfer's calldata if that does no harm (see `carries`). */
  referral?: string
  /** Pays even if the ledger will hold the payment for review. Default: throws, and sends nothing. */
  acceptHold?: boolean
  /** Pays even while other payments hold every place that is left. One may come free; otherwise the ledger holds the payment. Default: throws. */
  acceptTaken?: boolean
  signal?: AbortSignal
}

export interface BuyOptions extends PayOptions, FollowOptions {
  signal?: AbortSignal
}

/** The first transfer of an order that was not sent, or possibly not: its number from 1, and why. */
export interface Stopped {
  number: number
  error: unknown
}

/** The transfers of an order that were sent. */
export interface Paid {
  /** The hashes, in order; a single hash if all went in one transaction. */
  txHashes: Hex[]
  together: boolean
  /** Null if all were sent. */
  stopped: Stopped | null
}

export interface Purchase extends FollowedPayment {
  txHash: Hex
}

/** The outcome of an order: the outcome of each transfer that was sent, in order. */
export interface Purchases {
  bought: Purchase[]
  /** Null if all were sent. */
  stopped: Stopped | null
}

/**
 * Buys a node: gets a quote, sends the transfer, reports it to the service and follows it to the node. Throws a WalletError if nothing was sent. Any
 * other error after `onAsk` does not show whether the wallet has sent, so check the wallet's payments before it pays again. After `onSent`, the
 * payment proceeds even if this throws: call `followPayment` with its hash.
 */
export async function buy(
  ledger: LedgerClient,
  wallet: OwnWallet,
  tierId?: string,
  options?: BuyOptions,
): Promise<Purchase>
/**
 * Buys several nodes in the same way and returns the outcome of each. If a transfer is not sent, `stopped` has its index and the reason; earlier ones proceed.
 */
export async function buy(
  ledger: LedgerClient,
  wallet: OwnWallet,
  order: Order,
  options?: BuyOptions,
): Promise<Purchases>
export async function buy(
  ledger: LedgerClient,
  wallet: OwnWallet,
  what?: string | Order,
  options: BuyOptions = {},
): Promise<Purchase | Purchases> {
  const from = wallet.account.address.toLowerCase() as Hex
  if (typeof what !== 'object') {
    const call = await nextCall(ledger, wallet, what, options)
    await checkOrder(ledger, wallet, what, options)
    const txHash = await sendOne(wallet, call, { number: 1, of: 1, together: false }, options)
    return { txHash, ...(await followPayment(ledger, txHash, { from, ...options })) }
  }
  const { txHashes, stopped } = await sendPayments(ledger, wallet, what, options)
  // All payments share the service's limit of claims per minute.
  const pollMs = (options.pollMs ?? 4_000) * txHashes.length
  const follow = async (txHash: Hex) =>
    (await followPayments(ledger, txHash, { ...options, from, pollMs })).map((payment) => ({ txHash, ...payment }))
  return { bought: (await Promise.all(txHashes.map(follow))).flat(), stopped }
}

/**
 * Sends the transfers of an order and does not follow them. Before each it fetches a new quote and new checks. Throws if the first transfer was not
 * sent, or possibly not. If a later transfer fails, `stopped` describes it.
 */
export async function sendPayments(
  ledger: LedgerClient,
  wallet: OwnWallet,
  { tier, quantity }: Order,
  options: PayOptions = {},
): Promise<Paid> {
  const check = () => checkOrder(ledger, wallet, tier, options)
  const first = await check()
  if (quantity > 1) requireRoom(first, quantity)
  const call = await nextCall(ledger, wallet, tier, options)
  if (quantity > 1 && first.inner) {
    const txHash = await sendAll(wallet, call, quantity, options)
    if (txHash !== null) return { txHashes: [txHash], together: true, stopped: null }
  }
  const txHashes = [await sendOne(wallet, call, { number: 1, of: quantity, together: false }, options)]
  for (let number = 2; number <= quantity; number++) {
    try {
      options.signal?.throwIfAborted()
      const now = await check()
      // The ledger may not have all sent transfers yet.
      const seenCount = countedBy(now) - countedBy(first)
      requireRoom(now, 1 + Math.max(0, txHashes.length - seenCount))
      const next = await nextCall(ledger, wallet, tier, { priceWei: call.valueWei, ...options })
      txHashes.push(await sendOne(wallet, next, { number, of: quantity, together: false }, options))
    } catch (error) {
      return { txHashes, together: false, stopped: { number, error } }
    }
  }
  return { txHashes, together: false, stopped: null }
}

async function sendOne(
  wallet: OwnWallet,
  call: WalletCall,
  transfer: Transfer,
  { onAsk, onSent, onProposed, referral }: PayOptions,
): Promise<Hex> {
  const carrying = referral === undefined ? null : await carries(wallet, call, referral)
  const asking = { onAsk: () => onAsk?.(transfer), onProposed }
  const txHash = await explained(() => sendCall(wallet, carrying ?? call, asking)).catch((error: unknown) => {
    // The wallet reports that it does not accept calldata, so it has sent nothing.
    if (carrying && isInvalid(error)) return explained(() => sendCall(wallet, call, { onProposed }))
    throw error
  })
  onSent?.(txHash, transfer)
  return txHash
}

/** The hash of the single transaction with all transfers; null if the wallet does not support that, and has sent nothing. */
async function sendAll(
  wallet: OwnWallet,
  call: WalletCall,
  quantity: number,
  { onAsk, onSent, onProposed }: PayOptions,
): Promise<Hex | null> {
  const transfer = { number: 1, of: quantity, together: true }
  const calls = Array<WalletCall>(quantity).fill(call)
  const txHash = await explained(() => sendTogether(wallet, calls, { onAsk: () => onAsk?.(transfer), onProposed }))
  if (txHash !== null) onSent?.(txHash, transfer)
  return txHash
}

/** The next transfer of a purchase, at the current quote. */
async function nextCall(
  ledger: LedgerClient,
  wallet: OwnWallet,
  tierId: string | undefined,
  { priceWei, onQuote, acceptHold, signal }: PayOptions,
): Promise<WalletCall> {
  const quote = await ledger.getDeployQuote(tierId, { fresh: true, ...(signal && { signal }) })
  requirePrice(quote, priceWei)
  onQuote?.(quote)
  await requireChain(wallet, quote.chainId)
  if (!acceptHold) await refuseContractWallet(wallet, quote)
  return { chainId: quote.chainId, to: quote.paymentAddress, valueWei: quote.priceWei }
}

/** Runs the checks now. Throws if one fails, or if other payments hold every place that is left, unless the caller accepts that. */
async function checkOrder(
  ledger: LedgerClient,
  wallet: OwnWallet,
  tier: string | undefined,
  { acceptHold = false, acceptTaken = false, signal }: PayOptions,
): Promise<CanBuy> {
  const answer = await ledger.canBuy(wallet.account.address, tier, { fresh: true, ...(signal && { signal }) })
  const checks = answer.checks.filter(({ check, passes }) =>
    passes === null
      ? check === 'onSale' || (check === 'supply' && !acceptTaken)
      : !passes && !(acceptHold && check === 'review'),
  )
  if (checks.length === 0) return answer
  const names = checks.map(({ check }) => check).join(', ')
  throw new WalletError('wouldBeHeld', `The ledger would hold this payment (${names}). Nothing was sent.`, { checks })
}

/** The wallet's nodes of the tier, including purchases in progress, as the service counts them. */
const countedBy = ({ checks }: CanBuy) =>
  checks.reduce((sum, check) => (check.check === 'allowance' ? sum + check.owned + check.underWay : sum), 0)

function requireRoom(answer: CanBuy, quantity: number): void {
  const { most } = mostOf(answer)
  if (quantity <= most) return
  throw new WalletError('tooMany', `The wallet can buy at most ${most} of this tier now. Nothing was sent.`)
}

/** Throws if a quote's price is not the price to which the buyer agreed. */
function requirePrice({ priceWei }: Quote, agreedWei: bigint | undefined): void {
  if (agreedWei === undefined || priceWei === agreedWei) return
  throw new WalletError('priceChanged', `The price is ${formatEther(priceWei)} ETH now. Nothing was sent.`)
}

/** Throws for a contract wallet if the ledger would hold its payment for review. */
async function refuseContractWallet(wallet: OwnWallet, { contractWallets }: Quote): Promise<void> {
  if (contractWallets === 'all' || contractWallets === 'proven' || !(await isContract(wallet))) return
  const why =
    'This is a contract wallet. Its ether would arrive by an internal call, which the ledger holds for review.'
  throw new WalletError('contractWallet', `${why} Pay from an ordinary account.`)
}
