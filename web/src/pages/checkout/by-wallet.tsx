// Pays with the wallet connected here. Pays only at the price shown, and only if every check that could run passes.
import type { BuyerCheck, Quote, Tier } from '@node-ledger/client'
import { WalletError } from '@node-ledger/client/viem'
import { useEffect, useId, useState } from 'react'
import { ether } from '../../format.ts'
import { Amount } from '../../ui/facts.tsx'
import { Facts } from '../../ui/page.tsx'
import { Failed } from '../../ui/states.tsx'
import { Connect, WrongChain } from '../../wallet/connect.tsx'
import { ContractNotice, LeftByHand, Proposed, useIsContract } from '../../wallet/contract.tsx'
import { readableError, sentenceOfWallet } from '../../wallet/errors.ts'
import type { ConnectedWallet } from '../../wallet/use-wallet.ts'
import { fill } from '../../words/message.ts'
import { words } from '../../words/paying.ts'
import { type Intent, isPrompting } from '../payment/intent.ts'
import { isUnchecked, usePreflight } from './can-buy.ts'
import { Recipient } from './offered.tsx'
import { Checks, sentenceOf } from './preflight.tsx'
import { Referred, useReferred } from './referred.tsx'
import { obstaclesIn, usePay } from './use-pay.ts'

const t = words.wallet

export interface ByWalletProps {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  /** How many transfers to make. */
  quantity: number
  onSent: (hashes: readonly string[]) => void
  /** Called if this browser has no wallet, and the buyer pays without. */
  payByHand: () => void
}

/** The button that pays, with the obstacles that disable it. */
export function ByWallet({ tier, quote, wallet, quantity, onSent, payByHand }: ByWalletProps) {
  const isContract = useIsContract(wallet)
  const preflight = usePreflight(wallet?.address, tier.id, quantity)
  const [hasAgreed, setAgreed] = useState(false)
  const [hasPressed, setPressed] = useState(false)
  const why = useId()
  const checks = preflight.data?.checks ?? []
  const mayGoTogether = quantity > 1 && preflight.data?.inner === true
  const referral = useReferred({ quote, wallet, mayGoTogether })
  const choices = { quantity, hasAgreed, hasPressed, setPressed, isContract, referral: referral?.sent }
  const { pay, isBusy, isProposed, intent } = usePay({ tier, quote, wallet, onSent, ...choices })
  const { blocking, isReviewed, isTaken } = obstaclesIn(checks)
  // An earlier refusal by the wallet does not apply to a new request.
  const requestKey = [wallet?.address, wallet?.chainId, quantity, ...blocking.map(({ check }) => check)].join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: only if who pays changes, or what keeps them from it
  useEffect(() => {
    if (!pay.isPending) pay.reset()
  }, [requestKey])
  useEffect(() => {
    if (!isTaken) setPressed(false)
  }, [isTaken])
  if (!wallet) return <Connect payByHand={payByHand} />
  const isHeldBack = blocking.length > 0 || (isReviewed && !hasAgreed)
  const price = ether(quote.priceWei)
  const amount = mayGoTogether ? ether(quote.priceWei * BigInt(quantity)) : eachInWords(quantity, price)
  return (
    <div className="stack">
      <Connect isInert={isBusy} balanceWei={checks.find(isOfEther)?.balanceWei} />
      <WrongChain />
      {isContract && <ContractNotice mode={quote.contractWallets} />}
      <div id={why} className="stack" role="status">
        <Obstacles {...{ blocking, tier, quantity }} />
        {isReviewed && blocking.length === 0 && <Agreement hasAgreed={hasAgreed} setAgreed={setAgreed} />}
      </div>
      <Costs {...{ checks, tier, quote, quantity }} />
      <Checks address={wallet.address} tier={tier} quantity={quantity} />
      <Referred referral={referral} />
      {quantity > 1 && (
        <p className="note">{transfersInWords(intent, mayGoTogether, { n: quantity, amount: price })}</p>
      )}
      <button
        type="button"
        className="button main wide big"
        aria-describedby={why}
        aria-busy={isBusy}
        disabled={pay.isPending || isBusy || wallet.chainId !== quote.chainId || isHeldBack}
        onClick={() => pay.mutate(wallet)}
      >
        {isBusy
          ? confirming(intent)
          : pay.isPending
            ? t.checking
            : fill(isTaken && hasPressed ? t.payAnyway : t.pay, { amount })}
      </button>
      {checks.some(isUnchecked) && <p className="note">{t.unchecked}</p>}
      {isProposed && <Proposed />}
      {pay.error && <Refused error={pay.error} />}
    </div>
  )
}

/** What the buyer pays in one transfer, or in each of several. */
const eachInWords = (n: number, amount: string) => (n > 1 ? fill(t.several, { n, amount }) : amount)

const isOfEther = (check: BuyerCheck) => check.check === 'ether'

interface CostsProps {
  checks: readonly BuyerCheck[]
  tier: Tier
  quote: Quote
  quantity: number
}

/** What the wallet will spend: the price, gas, and the sum; and to whom. */
function Costs({ checks, tier, quote, quantity }: CostsProps) {
  const funds = checks.find(isOfEther)
  const priceWei = quote.priceWei * BigInt(quantity)
  return (
    <>
      {funds && (
        <Facts
          className="facts costs"
          of={{
            [fill(t.several, { n: quantity, amount: tier.label })]: <Amount wei={priceWei} plain />,
            [t.fee]: <Amount wei={funds.requiredWei && funds.requiredWei - priceWei} plain />,
            [t.total]: <Amount wei={funds.requiredWei} plain />,
          }}
        />
      )}
      <Recipient quote={quote} />
    </>
  )
}

/** What the wallet asks the buyer to confirm. */
function confirming(intent: Intent | null): string {
  if (!intent?.isOpen || !isPrompting(intent)) return t.checking
  if (intent.quantity === 1 || intent.asks > 1) return t.confirm
  return fill(t.confirmOf, { number: intent.paid + 1, quantity: intent.quantity })
}

/** What several transfers ask of the buyer; once the first is sent, how many are. */
function transfersInWords(intent: Intent | null, mayGoTogether: boolean, of: { n: number; amount: string }): string {
  if (intent && isPrompting(intent) && intent.paid > 0) return fill(t.partly, { ...of, paid: intent.paid })
  return fill(mayGoTogether ? t.together : t.each, of)
}

interface ObstaclesProps {
  blocking: readonly BuyerCheck[]
  tier: Tier
  quantity: number
}

function Obstacles({ blocking, tier, quantity }: ObstaclesProps) {
  if (blocking.length === 0) return null
  return (
    <div className="notice bad">
      <p>
        <strong>{blocking.every(({ check }) => check === 'ether') ? t.notEnough : t.notOffered}</strong>
      </p>
      <ul>
        {blocking.map((check) => (
          <li key={check.check}>{sentenceOf(check, tier, quantity)}</li>
        ))}
      </ul>
    </div>
  )
}

function Agreement({ hasAgreed, setAgreed }: { hasAgreed: boolean; setAgreed: (hasAgreed: boolean) => void }) {
  return (
    <label className="notice warn agree">
      <input type="checkbox" checked={hasAgreed} onChange={(event) => setAgreed(event.target.checked)} />
      <span>{t.agree}</span>
    </label>
  )
}

/** Why the wallet did not pay, and what to do next. */
function Refused({ error }: { error: Error }) {
  if (!(error instanceof WalletError)) return <Failed error={readableError(error)} />
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
  return <Failed error={readableError(error)} />
}
