// A purchase by plain requests, by the rules of the pages: what is checked for this wallet comes first, the price that was shown is what is
// paid, and the intent is written down before the wallet is asked.
import type { LedgerClient } from '../client.ts'
import { type Intent, writeIntent } from '../intent.ts'
import { obstaclesIn, requirePrice, WalletError } from '../purchase.ts'
import type { BuyerCheck, Hex } from '../types.ts'
import { isContractAccount, moveTo, type Provider, sendTransfer } from './wallets.ts'

/** What the ledger would make of this wallet's payment. */
export interface Checked {
  /** Failed checks that keep it from being a sale. */
  blocking: readonly BuyerCheck[]
  /** True if the operator would look at it first, which the buyer may agree to. */
  isReviewed: boolean
  /** True if something could not be checked: neither a yes nor a no. */
  isPartlyUnknown: boolean
}

/** Checks as of now. A service that cannot be asked has checked nothing. */
export async function check(ledger: LedgerClient, payer: Hex, tierId: string): Promise<Checked> {
  const found = await ledger.canBuy(payer, tierId, { fresh: true, attempts: 1 }).catch(() => null)
  if (!found) return { blocking: [], isReviewed: false, isPartlyUnknown: true }
  return { ...obstaclesIn(found.checks), isPartlyUnknown: found.checks.some(({ passes }) => passes === null) }
}

export interface Purchase {
  ledger: LedgerClient
  provider: Provider
  payer: Hex
  tierId: string
  /** The price that the buyer was shown. */
  agreedWei: bigint
  /** Where the intent is kept. */
  key: string
  /** Called when the wallet is about to ask its owner. */
  onAsked: () => void
}

/**
 * Pays. Throws a WalletError where nothing was sent. On any other error of the wallet what became of it is not known, and the intent stays
 * written down.
 */
export async function pay({ ledger, provider, payer, tierId, agreedWei, key, onAsked }: Purchase): Promise<Hex> {
  const deployment = await ledger.getWellKnown()
  const quote = await ledger.getDeployQuote(tierId, { fresh: true })
  requirePrice(quote, agreedWei)
  if (quote.chainId !== deployment.chainId)
    throw new WalletError('wrongChain', 'The service names two chains. Nothing was sent.')
  await moveTo(provider, deployment)
  if (await isContractAccount(provider, payer))
    throw new WalletError(
      'contractWallet',
      'This is a contract wallet: pay on the ledger’s own page. Nothing was sent.',
    )
  const intent: Intent = { payer, tierId, priceWei: quote.priceWei.toString(), at: Date.now(), txHash: null }
  writeIntent(key, intent)
  onAsked()
  try {
    const txHash = await sendTransfer(provider, payer, quote)
    writeIntent(key, { ...intent, txHash })
    return txHash
  } catch (error) {
    if (error instanceof WalletError) writeIntent(key, null)
    throw error
  }
}
