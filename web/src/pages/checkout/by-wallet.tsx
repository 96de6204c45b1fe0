// Paying with the wallet that is connected here: only if every check that could run passes, and at the price shown.
import type { BuyerCheck, Quote, Tier } from '@node-ledger/client'
import { buy, WalletError } from '@node-ledger/client/viem'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { ether } from '../../format.ts'
import { ledger, queries } from '../../ledger.ts'
import { usePaymentsOf } from '../../live.ts'
import { Failed } from '../../ui/states.tsx'
import { Connect, WrongChain } from '../../wallet/connect.tsx'
import { ContractNotice, LeftByHand, Proposed, useIsContract } from '../../wallet/contract.tsx'
import { saidByWallet, sentenceOfWallet, wordsOfWallet } from '../../wallet/errors.ts'
import { type ConnectedWallet, nonceOf } from '../../wallet/use-wallet.ts'
import { words } from '../../words/checkout.ts'
import { fill } from '../../words/message.ts'
import { intentNow, isAsking, readIntent, sentSince, useIntent, writeIntent } from '../payment/intent.ts'
import { checkNow, sentenceOf, usePreflight } from './preflight.tsx'

const t = words.wallet

export interface ByWalletProps {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  sent: (hash: string) => void
}

/** The button that pays, and the obstacles that disable it. */
export function ByWallet({ tier, quote, wallet, sent }: ByWalletProps) {
  const isContract = useIsContract(wallet)
  const preflight = usePreflight(wallet?.address, tier.id)
  const [agreed, setAgreed] = useState(false)
  const why = useId()
  const { pay, isAsked, proposed } = usePay({ tier, quote, wallet, sent, agreed, isContract })
  const { blocking, isReviewed } = obstaclesIn(preflight.data?.checks ?? [])
  // An earlier refusal by the wallet does not apply to a new request.
  const asked = [wallet?.address, wallet?.chainId, ...blocking.map(({ check }) => check)].join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of who pays, and of what keeps them from it
  useEffect(() => {
    if (!pay.isPending) pay.reset()
  }, [asked])
  if (!wallet) return <Connect />
  const isHeldBack = blocking.length > 0 || (isReviewed && !agreed)
  return (
    <div className="stack">
      <Connect />
      <WrongChain />
      {isContract && <ContractNotice mode={quote.contractWallets} />}
      <div id={why} className="stack" role="status">
        <Obstacles blocking={blocking} tier={tier} />
        {isReviewed && blocking.length === 0 && <Agreement agreed={agreed} setAgreed={setAgreed} />}
      </div>
      <button
        type="button"
        className="button main wide"
        aria-describedby={why}
        disabled={pay.isPending || isAsked || wallet.chainId !== quote.chainId || isHeldBack}
        onClick={() => pay.mutate(wallet)}
      >
        {isAsked ? t.confirm : pay.isPending ? t.checking : fill(t.pay, { amount: ether(quote.priceWei) })}
      </button>
      {preflight.data?.canBuy === null && <p className="note">{t.unchecked}</p>}
      {proposed && <Proposed />}
      {pay.error && <Refused error={pay.error} />}
    </div>
  )
}

/** Obstacles that keep a wallet from buying. The operator's review is apart, because it only costs time, and the buyer may agree to it. */
function obstaclesIn(checks: readonly BuyerCheck[]): { blocking: BuyerCheck[]; isReviewed: boolean } {
  const failed = checks.filter(({ passes }) => passes === false)
  return {
    blocking: failed.filter(({ check }) => check !== 'review'),
    isReviewed: failed.some(({ check }) => check === 'review'),
  }
}

function Obstacles({ blocking, tier }: { blocking: readonly BuyerCheck[]; tier: Tier }) {
  if (blocking.length === 0) return null
  return (
    <div className="notice bad">
      <div>
        <p>
          <strong>{blocking.every(({ check }) => check === 'ether') ? t.notEnough : t.notOffered}</strong>
        </p>
        <ul>
          {blocking.map((check) => (
            <li key={check.check}>{sentenceOf(check, tier)}</li>
          ))}
        </ul>
      </div>
    </div>
  )
}

function Agreement({ agreed, setAgreed }: { agreed: boolean; setAgreed: (agreed: boolean) => void }) {
  return (
    <label className="notice warn agree">
      <input type="checkbox" checked={agreed} onChange={(event) => setAgreed(event.target.checked)} />
      <span>{t.agree}</span>
    </label>
  )
}

interface PayOptions extends ByWalletProps {
  /** The buyer knows that the operator reviews the payment first. */
  agreed: boolean
  isContract: boolean | null
}

/**
 * Pays from a wallet, at the price shown. The page moves on with the wallet's answer, or with the wallet's first new payment,
 * because not every wallet answers. `proposed`: a contract wallet has accepted the call, and others have yet to agree.
 */
function usePay({ tier, quote: { priceWei }, wallet, sent, agreed, isContract }: PayOptions) {
  const [proposed, setProposed] = useState(false)
  const intent = useIntent()
  const isAsked = isAsking(intent)
  const { data: paid } = usePaymentsOf(wallet?.address)
  const found = isAsked && intent ? sentSince(paid, intent) : undefined
  const arrived = (hash: string) => {
    const asked = readIntent()
    if (asked && isAsking(asked)) writeIntent({ ...asked, txHash: hash, page: null })
    sent(hash)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each payment
  useEffect(() => {
    if (found) arrived(found)
  }, [found])
  const pay = useMutation({
    mutationFn: async (payer: ConnectedWallet) => {
      // The checks on the page may be some seconds old. If they differ now, the page shows it.
      const { blocking, isReviewed } = obstaclesIn((await checkNow(payer.address, tier.id))?.checks ?? [])
      if (blocking.length > 0 || (isReviewed && !agreed)) return
      const stop = new AbortController()
      const own = await payer.open()
      // A contract's nonce does not count the transactions that it sends.
      const nonce = isContract === false ? await nonceOf(own).catch(() => null) : null
      const by = { payer: payer.address, tierId: tier.id, priceWei: priceWei.toString(), nonce }
      /** When the wallet prompted. */
      let at = 0
      const waits = () => isAsking(readIntent()) && readIntent()?.at === at
      await buy(ledger, own, tier.id, {
        signal: stop.signal,
        priceWei,
        // The notice above the button says so.
        acceptHold: true,
        onAsk: () => {
          const asked = intentNow(by, paid)
          at = asked.at
          writeIntent(asked)
        },
        onProposed: () => setProposed(true),
        // From the transfer on, the page that follows it takes over.
        onSent: (hash) => {
          stop.abort()
          if (waits()) arrived(hash)
        },
      }).catch((error: unknown) => {
        if (stop.signal.aborted) return
        // Once it has prompted, a wallet may have sent, whatever it says.
        const asked = waits() ? readIntent() : null
        const isCertain = error instanceof WalletError
        if (asked) writeIntent(isCertain ? null : { ...asked, page: null, said: wordsOfWallet(error) })
        if (error instanceof WalletError && error.code === 'priceChanged')
          void queries.invalidateQueries({ queryKey: ['quote'] })
        throw error
      })
    },
    onSettled: () => setProposed(false),
  })
  return { pay, isAsked, proposed }
}

/** Why the wallet did not pay, and what to do next. */
function Refused({ error }: { error: Error }) {
  if (!(error instanceof WalletError)) return <Failed error={saidByWallet(error)} />
  if (error.call)
    return (
      <LeftByHand call={error.call}>
        {sentenceOfWallet(error)} {t.thenHash}
      </LeftByHand>
    )
  if (error.code === 'rejected')
    return (
      <p className="notice" role="alert">
        {t.rejected}
      </p>
    )
  return <Failed error={saidByWallet(error)} />
}
