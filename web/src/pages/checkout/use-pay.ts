// Pays from the connected wallet, at the price shown: one transfer for each node. We store each step in the intent before we take it. So no retry,
// reload or unclear answer from a wallet ever makes a transfer twice.
import type { BuyerCheck, Quote, Tier } from '@node-ledger/client'
import { sendPayments, WalletError } from '@node-ledger/client/viem'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ledger, queries } from '../../ledger.ts'
import { usePaymentsOf } from '../../live.ts'
import { sentenceOfWallet, wordsOfWallet } from '../../wallet/errors.ts'
import { type ConnectedWallet, nonceOf } from '../../wallet/use-wallet.ts'
import { words } from '../../words/paying.ts'
import {
  type Intent,
  intentNow,
  isPrompting,
  readIntent,
  restOf,
  sentSince,
  useIntent,
  withoutLast,
  withSent,
  writeIntent,
} from '../payment/intent.ts'
import { checkNow, isTaken } from './can-buy.ts'
import { textOf } from './preflight.tsx'

export interface PayOptions {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  quantity: number
  /** Called with the hashes once all transfers are sent. */
  onSent: (hashes: readonly string[]) => void
  /** True if the buyer knows that the operator reviews the payment first. */
  hasAgreed: boolean
  /** True if the buyer has pressed although other payments hold every place that is left. */
  hasPressed: boolean
  setPressed: (hasPressed: boolean) => void
  isContract: boolean | null
  /** The referral code to include, as the page shows. */
  referral: string | undefined
}

/** What keeps a wallet from buying. A review by the operator is separate, because it only costs time, and the buyer may accept it. */
export function obstaclesIn(checks: readonly BuyerCheck[]): {
  blocking: BuyerCheck[]
  isReviewed: boolean
  isTaken: boolean
} {
  const failures = checks.filter(({ check, passes }) => passes === false || (check === 'onSale' && passes === null))
  return {
    blocking: failures.filter(({ check }) => check !== 'review'),
    isReviewed: failures.some(({ check }) => check === 'review'),
    isTaken: checks.some(isTaken),
  }
}

/** Thrown before a prompt if another page has continued the same purchase. */
class Overtaken extends Error {}

/**
 * Pays. The page moves on when the wallet answers, or when it sees the wallet's first new payment, because not every wallet answers. `isProposed`: a
 * contract wallet has accepted the call, but its other signers have yet to agree.
 */
export function usePay(options: PayOptions) {
  const { tier, wallet, onSent, hasAgreed, hasPressed, setPressed } = options
  const [isProposed, setProposed] = useState(false)
  const intent = useIntent()
  const isBusy = isPrompting(intent)
  const { data: payments } = usePaymentsOf(wallet?.address)
  const sentHash = isBusy && intent?.isOpen ? sentSince(payments, intent) : undefined
  const pay = useMutation({
    mutationFn: async (payer: ConnectedWallet) => {
      // The checks on the page may be some seconds old. If they have changed, the page shows that.
      const { blocking, isReviewed, isTaken } = obstaclesIn((await checkNow(payer.address, tier.id))?.checks ?? [])
      if (blocking.length > 0 || (isReviewed && !hasAgreed)) return
      if (isTaken && !hasPressed) return setPressed(true)
      await send(payer, options, setProposed)
    },
    onSettled: () => setProposed(false),
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each payment
  useEffect(() => {
    const current = readIntent()
    if (!sentHash || !current?.isOpen) return
    // The wallet may never answer. We then offer the others, as after a reload.
    const now = { ...withSent(current, sentHash), page: null }
    writeIntent(now)
    pay.reset()
    if (restOf(now) === 0) onSent(now.sent)
  }, [sentHash])
  return { pay, isBusy, isProposed, intent }
}

async function send(
  payer: ConnectedWallet,
  { tier, quote: { priceWei }, quantity, onSent, hasPressed, isContract, referral }: PayOptions,
  setProposed: (isProposed: boolean) => void,
): Promise<void> {
  const own = await payer.open()
  const before = readIntent()
  const by = { payer: payer.address, tierId: tier.id, priceWei: priceWei.toString() }
  let last = before?.at ?? null
  /** The intent, as long as it belongs to this run. */
  const ours = () => {
    const intent = readIntent()
    return intent && intent.at === last && isPrompting(intent) ? intent : null
  }
  const settle = (error: unknown) => {
    const intent = ours()
    if (intent) writeIntent(afterwards(intent, error, tier))
    if (error instanceof WalletError && error.code === 'priceChanged')
      void queries.invalidateQueries({ queryKey: ['quote'] })
  }
  const order = { tier: tier.id, quantity }
  try {
    const { stopped } = await sendPayments(ledger, own, order, {
      priceWei,
      // The notice above the button warns that the payment will be held.
      acceptHold: true,
      acceptTaken: hasPressed,
      ...(referral && { referral }),
      onAsk: async ({ number, together }) => {
        // A contract's nonce does not count the transactions that it sends. Nor does an account's nonce, if others send its calls.
        const nonce = isContract === false && !together ? await nonceOf(own).catch(() => null) : null
        const so = readIntent()
        if ((so?.at ?? null) !== last || (number > 1 && !isPrompting(so))) throw new Overtaken()
        const { paid = 0, sent: hashes = [] } = so ?? {}
        const remaining = quantity - number + 1
        const amounts = { quantity: paid + remaining, paid, asks: together ? remaining : 1, sent: hashes }
        const nextIntent = intentNow({ ...by, ...amounts, nonce }, queries.getQueryData(['payments', payer.address]))
        last = nextIntent.at
        writeIntent(nextIntent)
      },
      onProposed: () => setProposed(true),
      // After the last transfer, the page that follows the transfers takes over.
      onSent: (hash) => {
        const intent = ours()
        if (!intent) return
        const now = withSent(intent, hash)
        writeIntent(now)
        if (restOf(now) === 0) onSent(now.sent)
      },
    })
    if (stopped) settle(stopped.error)
  } catch (error) {
    if (error instanceof Overtaken) return
    settle(error)
    throw error
  }
}

/** The intent after a transfer that was not sent, or possibly not. A wallet that has prompted may have sent, whatever it reports. */
function afterwards(intent: Intent, error: unknown, tier: Tier): Intent | null {
  const isCertain = error instanceof WalletError || !intent.isOpen
  if (!isCertain) return { ...intent, page: null, said: wordsOfWallet(error) }
  const isRefused = error instanceof WalletError && error.code === 'rejected'
  return withoutLast(intent, { said: isRefused ? words.rest.refused : whyNot(error, tier), isRefused })
}

function whyNot(error: unknown, tier: Tier): string {
  if (!(error instanceof WalletError)) return sentenceOfWallet(error)
  if (error.code === 'tooMany') return words.rest.noRoom
  if (error.code === 'wouldBeHeld') return error.checks.map((check) => textOf(check, tier)).join(' ')
  return error.message
}
