// Pays for one tier: the exact amount, how many nodes, the wallet that pays and its checks. There are three ways to pay: a wallet
// here, another device, or a transfer made elsewhere, by its hash. The page keeps the hashes in its address, so it still follows the transfers after
// a reload.
import type { Payment as LedgerPayment, Quote, Tier } from '@node-ledger/client'
import { Suspense, useEffect, useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { ether } from '../../format.ts'
import { useQuote, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { later } from '../../ui/boundary.tsx'
import { Choice } from '../../ui/choice.tsx'
import { OutLink } from '../../ui/explorer.tsx'
import { Section } from '../../ui/page.tsx'
import { Shown, Waiting } from '../../ui/states.tsx'
import { AddToWallet } from '../../wallet/add.tsx'
import { WalletArea } from '../../wallet/area.tsx'
import { Connect } from '../../wallet/connect.tsx'
import { type ConnectedWallet, useWallet } from '../../wallet/use-wallet.ts'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { Claim, PaymentSteps } from '../payment/claim.tsx'
import { restOf, useIntent, writeIntent } from '../payment/intent.ts'
import { CameWith } from './came-with.tsx'
import { usePreflight } from './can-buy.ts'
import { Total } from './offered.tsx'
import { boundOf, Quantity } from './quantity.tsx'
import { isSold, Ladder, useMostPerWallet } from './tiers.tsx'
import { Unfinished } from './unfinished.tsx'

// The code that pays loads once there is a wallet to pay with, or the buyer wants the QR code.
const ByWallet = later(async () => (await import('./by-wallet.tsx')).ByWallet)
const ByHand = later(async () => (await import('./by-hand.tsx')).ByHand)
const NotNow = later(async () => (await import('./not-now.tsx')).NotNow)

const t = words.buy

interface CheckoutProps {
  tier: Tier
  /** The page's heading once the buyer has paid, which follows several transfers. */
  heading: string
  setHeading: (heading: string) => void
}

export const Checkout = (props: CheckoutProps) => (
  <WalletArea>
    <Payment {...props} />
  </WalletArea>
)

function Payment({ tier, heading, setHeading }: CheckoutProps) {
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const hashes = search.getAll('tx')
  const quote = useQuote(tier.id, tier.state)
  const wallet = useWallet()
  // Null if the buyer pays with the wallet connected here.
  const [byHand, setByHand] = useState<{ payer: string | null } | null>(null)
  const payer = byHand ? byHand.payer : wallet?.address
  // A page that loads with a payment starts at its top.
  const cameWith = useRef(hashes.length > 0)
  const show = (tierId: string, txHashes: readonly string[]) =>
    navigate(`/buy/${tierId}?${txHashes.map((hash) => `tx=${hash}`).join('&')}`, { replace: true })
  const onSent = (those: readonly string[]) => show(tier.id, those)
  const { data: tiers = [] } = useTiers()
  if (hashes.length > 0)
    return (
      <div className="one-column">
        <Section
          title={heading}
          takesFocus={!cameWith.current}
          aside={
            <Link href={`/buy/${tier.id}`} onClick={() => writeIntent(null)}>
              {t.another}
            </Link>
          }
        >
          <Followed hashes={hashes} payer={payer ?? undefined} wallet={wallet} setHeading={setHeading} />
        </Section>
      </div>
    )
  return (
    <div className="one-column">
      <Section title={isSold(tier) ? t.total : tier.label} isHeardOnly>
        <Unfinished chainId={quote.data?.chainId} tierId={tier.id} show={show}>
          {isSold(tier) ? (
            <Shown reading={quote} waiting={<Total tier={tier} wei={tier.priceWei} />}>
              {(answer) => <Ways {...{ tier, wallet, onSent, byHand, setByHand }} quote={answer} />}
            </Shown>
          ) : (
            <Suspense fallback={<Waiting lines={4} />}>
              <NotNow tier={tier} tiers={tiers} />
            </Suspense>
          )}
        </Unfinished>
        <Ladder tiers={tiers} of={tier} />
      </Section>
      {!byHand && <Claim />}
    </div>
  )
}

interface FollowedProps {
  hashes: readonly string[]
  payer: string | undefined
  wallet: ConnectedWallet | null
  setHeading: (heading: string) => void
}

const WAITING: readonly string[] = ['orphaned', 'seen', 'accepted', 'minting'] satisfies LedgerPayment['status'][]

/** The transfers that were sent, each followed to its nodes, and the state of all of them. */
function Followed({ hashes, payer, wallet, setHeading }: FollowedProps) {
  const [states, setStates] = useState<Readonly<Record<string, readonly string[]>>>({})
  const all = hashes.flatMap((hash) => states[hash] ?? ['seen'])
  const waiting = all.filter((state) => WAITING.includes(state)).length
  const minted = all.filter((state) => state === 'minted').length
  const counted = waiting > 0 ? fill(t.onTheirWay, { n: waiting }) : minted > 0 && fill(t.areYours, { n: minted })
  const isSeveral = hashes.length > 1
  const single = waiting > 0 ? t.oneOnItsWay : minted > 0 ? t.oneIsHere : t.yourPayment
  const heading = isSeveral ? counted || t.yourPayments : single
  useEffect(() => setHeading(heading), [heading, setHeading])
  return (
    <div className={isSeveral ? 'stack several' : 'stack'}>
      {hashes.map((txHash, index) => (
        <PaymentSteps
          key={txHash}
          txHash={txHash}
          payer={payer}
          name={isSeveral ? fill(t.nth, { n: index + 1, all: hashes.length }) : undefined}
          onState={(state) => setStates((before) => ({ ...before, [txHash]: state }))}
          ofNode={wallet ? (nodeId) => <AddToWallet nodeId={nodeId} wallet={wallet} /> : () => null}
        />
      ))}
      {isSeveral && waiting > 0 && <p className="note">{t.leave}</p>}
      {isSeveral && waiting === 0 && minted > 0 && (
        <Link href="/owner" className="button main wide">
          {t.seeNodes}
        </Link>
      )}
    </div>
  )
}

interface WaysProps {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  onSent: (hashes: readonly string[]) => void
  byHand: { payer: string | null } | null
  setByHand: (byHand: { payer: string | null } | null) => void
}

function Ways({ tier, quote, wallet, onSent, byHand, setByHand }: WaysProps) {
  const { termsUrl } = useSite()
  const intent = useIntent()
  const [choice, setChoice] = useState(1)
  // A wallet that disconnects takes nothing from the page that has paid with it.
  const hadWallet = useRef(false)
  if (wallet) hadWallet.current = true
  const payByHand = () => setByHand({ payer: null })
  const mostPerWallet = useMostPerWallet()(tier)
  const checks = usePreflight(wallet?.address, tier.id).data
  const bound = boundOf(checks, tier, mostPerWallet)
  // What is left of a purchase that was begun or is in progress.
  const unfinishedQuantity = intent && (intent.isOpen ? intent.quantity : restOf(intent))
  const quantity = byHand ? 1 : (unfinishedQuantity ?? Math.min(choice, bound.most))
  return (
    <div className="ways">
      <Total tier={tier} wei={quote.priceWei * BigInt(quantity)}>
        {!byHand && unfinishedQuantity === null && <Quantity quantity={quantity} bound={bound} choose={setChoice} />}
        {quantity > 1 && <p className="note">{fill(t.times, { n: quantity, amount: ether(quote.priceWei) })}</p>}
      </Total>
      <Choice
        legend={t.howToPay}
        options={['wallet', 'hand']}
        value={byHand === null ? 'wallet' : 'hand'}
        choose={(way) => setByHand(way === 'wallet' ? null : { payer: wallet?.address ?? null })}
        word={(way) => (way === 'wallet' ? t.byWallet : t.byHand)}
      />
      {byHand === null && !wallet && <CameWith />}
      <Suspense fallback={<Waiting lines={4} />}>
        {byHand !== null ? (
          <ByHand
            quote={quote}
            tier={tier}
            payer={byHand.payer}
            setPayer={(payer) => setByHand({ payer })}
            onSent={(hash) => onSent([hash])}
          />
        ) : hadWallet.current ? (
          <ByWallet {...{ tier, quote, wallet, quantity, onSent, payByHand }} />
        ) : (
          <Connect payByHand={payByHand} />
        )}
      </Suspense>
      {byHand === null && (
        <p className="note">
          {!wallet && t.feeAdded} {t.checked}
        </p>
      )}
      {termsUrl && (
        <p className="note">{rich(t.terms, { terms: (text) => <OutLink href={termsUrl}>{text}</OutLink> })}</p>
      )}
    </div>
  )
}
