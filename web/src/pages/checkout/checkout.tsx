// Paying for one tier: the checks of the wallet that pays, the exact amount, and three ways (a wallet here, another device, the
// hash of a transfer made elsewhere). The page keeps the hash in its address, so it still follows the transfer after a reload.
import type { Quote, Tier } from '@node-ledger/client'
import { type ReactNode, useId, useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { ether, everyTime } from '../../format.ts'
import { useQuote, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Choice } from '../../ui/choice.tsx'
import { OutLink } from '../../ui/explorer.tsx'
import { Amount, Countdown } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { AddToWallet } from '../../wallet/add.tsx'
import { WalletArea } from '../../wallet/area.tsx'
import { type ConnectedWallet, useWallet } from '../../wallet/use-wallet.ts'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { words as walletWords } from '../../words/wallet.ts'
import { Claim } from '../payment/claim.tsx'
import { writeIntent } from '../payment/intent.ts'
import { PaymentSteps } from '../payment/steps.tsx'
import { ByHand } from './by-hand.tsx'
import { ByWallet } from './by-wallet.tsx'
import { Preflight } from './preflight.tsx'
import { Ladder, labelOf, leftInWords, useMostPerWallet, whoMayBuy } from './tiers.tsx'
import { Unfinished } from './unfinished.tsx'

const t = words.buy

export function Checkout({ tier }: { tier: Tier }) {
  return (
    <WalletArea>
      <Payment tier={tier} />
    </WalletArea>
  )
}

function Payment({ tier }: { tier: Tier }) {
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const txHash = search.get('tx')
  const quote = useQuote(tier.id, tier.state)
  const wallet = useWallet()
  // Null: with the wallet that is connected here.
  const [byHand, setByHand] = useState<{ payer: string | null } | null>(null)
  const payer = byHand ? byHand.payer : wallet?.address
  // A page that loads with a payment starts at its top.
  const cameWith = useRef(txHash !== null)
  const sent = (hash: string) => navigate(`/buy/${tier.id}?tx=${hash}`, { replace: true })
  const { data: tiers = [] } = useTiers()
  const whyNot = whyNotSold(tier, tiers)
  return (
    <>
      <div className="columns">
        {txHash ? (
          <Section
            title={t.yourPayment}
            takesFocus={!cameWith.current}
            aside={
              <Link href={`/buy/${tier.id}`} onClick={() => writeIntent(null)}>
                {t.another}
              </Link>
            }
          >
            <PaymentSteps
              txHash={txHash}
              payer={payer ?? undefined}
              ofNode={wallet ? (nodeId) => <AddToWallet nodeId={nodeId} wallet={wallet} /> : () => null}
            />
          </Section>
        ) : (
          <Section title={t.pay}>
            <Unfinished chainId={quote.data?.chainId}>
              {whyNot ? (
                <NotNow tier={tier} why={whyNot} />
              ) : (
                <Shown reading={quote} shape="plot">
                  {(asked) => <Ways {...{ tier, wallet, sent, byHand, setByHand }} quote={asked} />}
                </Shown>
              )}
            </Unfinished>
          </Section>
        )}
        {!txHash && (
          <Section title={payer ? t.checks : t.willCheck}>
            {payer && <Preflight address={payer} tier={tier} />}
            {!payer && <Rules tier={tier} mode={quote.data?.contractWallets} />}
            <Ladder tiers={tiers} of={tier} />
          </Section>
        )}
      </div>
      {!txHash && <Claim />}
    </>
  )
}

/** Why nothing can be paid for a tier now, in a sentence; null if it can. */
function whyNotSold(tier: Tier, tiers: readonly Tier[]): string | null {
  const { state, soldOut, supply, opensAt, opensAfter } = tier
  if (state === 'open') return soldOut ? t.soldOut : null
  if (state === 'soldOut') return fill(t.allSold, { supply: supply ?? 0 })
  if (state === 'closed') return t.notOnSale
  if (opensAfter !== null) return fill(t.upcomingStep, { tier: labelOf(tiers, opensAfter) })
  return fill(t.upcoming, { at: opensAt ? everyTime(opensAt) : '' })
}

/** What keeps everybody from paying now, and when that ends. The page goes on by itself once the service says that the tier is open. */
function NotNow({ tier, why }: { tier: Tier; why: string }) {
  const id = useId()
  const { state, opensAt } = tier
  return (
    <div className="ways">
      <p className="price">
        <Amount wei={tier.priceWei} exact />
      </p>
      <div id={id} className="notice" role="status">
        <p>{why}</p>
        {state === 'upcoming' && opensAt && <p>{rich(t.opening, { time: <Countdown to={opensAt} /> })}</p>}
      </div>
      <button type="button" className="button main wide" disabled aria-describedby={id}>
        {fill(words.wallet.pay, { amount: ether(tier.priceWei) })}
      </button>
      <Left tier={tier} />
      <p>
        <Link href="/buy">{t.seeOthers}</Link>
      </p>
    </div>
  )
}

const Left = ({ tier }: { tier: Tier }) => tier.remaining !== null && <p className="note">{leftInWords(tier)}</p>

interface WaysProps {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  sent: (hash: string) => void
  byHand: { payer: string | null } | null
  setByHand: (byHand: { payer: string | null } | null) => void
}

function Ways({ tier, quote, wallet, sent, byHand, setByHand }: WaysProps) {
  const { termsUrl } = useSite()
  return (
    <div className="ways">
      <p className="price">
        <Amount wei={quote.priceWei} exact />
      </p>
      <Left tier={tier} />
      <Choice
        legend={t.howToPay}
        options={['wallet', 'hand']}
        chosen={byHand === null ? 'wallet' : 'hand'}
        choose={(way) => setByHand(way === 'wallet' ? null : { payer: wallet?.address ?? null })}
        word={(way) => (way === 'wallet' ? t.byWallet : t.byHand)}
      />
      {byHand === null ? (
        <ByWallet tier={tier} quote={quote} wallet={wallet} sent={sent} />
      ) : (
        <ByHand quote={quote} payer={byHand.payer} setPayer={(payer) => setByHand({ payer })} sent={sent} />
      )}
      <p className="notice warn">{t.ownWallet}</p>
      {termsUrl && (
        <p className="note">{rich(t.terms, { terms: (text) => <OutLink href={termsUrl}>{text}</OutLink> })}</p>
      )}
    </div>
  )
}

const what = (text: ReactNode) => <strong className="what">{text}</strong>

/** The rules that will be checked, before a wallet is named. */
function Rules({ tier, mode }: { tier: Tier; mode: Quote['contractWallets'] | undefined }) {
  const { amount, allowance, buyer, buyerAtBlock, sender, held } = words.rules
  const mostOf = useMostPerWallet()
  return (
    <ul className="checks">
      <li>{rich(amount, { what, amount: ether(tier.priceWei) })}</li>
      <li>{rich(allowance, { what, nodes: fill(words.tiers.nodes, { n: mostOf(tier) }) })}</li>
      <li>{rich(tier.holdingWei > 0n ? buyerAtBlock : buyer, { what, who: whoMayBuy(tier).join(', ') })}</li>
      <li>
        {rich(sender, { what })} {mode && walletWords.contractsMay[mode]}
      </li>
      <li>{rich(held, { what })}</li>
    </ul>
  )
}
