// Paying for one tier: what is checked for the wallet that pays, the exact amount, and three ways (a wallet here, another device, a hash of a
// transfer made elsewhere). The hash of a transfer is kept in the page's address, so that a reload goes on following it.
import type { Quote, Tier } from '@node-ledger/client'
import { useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { count, ether } from '../../format.ts'
import { useQuote } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Choice } from '../../ui/choice.tsx'
import { OutLink } from '../../ui/explorer.tsx'
import { Amount } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { AddToWallet } from '../../wallet/add.tsx'
import { WalletArea } from '../../wallet/area.tsx'
import { CONTRACTS_MAY } from '../../wallet/contract.tsx'
import { type ConnectedWallet, useWallet } from '../../wallet/use-wallet.ts'
import { Claim } from '../payment/claim.tsx'
import { writeIntent } from '../payment/intent.ts'
import { PaymentSteps } from '../payment/steps.tsx'
import { ByHand } from './by-hand.tsx'
import { ByWallet } from './by-wallet.tsx'
import { Preflight } from './preflight.tsx'
import { holdingInWords } from './tiers.tsx'
import { Unfinished } from './unfinished.tsx'

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
  const quote = useQuote(tier.id)
  const wallet = useWallet()
  // Null: with the wallet that is connected here.
  const [byHand, setByHand] = useState<{ payer: string | null } | null>(null)
  const payer = byHand ? byHand.payer : wallet?.address
  // A page that is loaded with a payment starts at its top.
  const cameWith = useRef(txHash !== null)
  const sent = (hash: string) => navigate(`/buy/${tier.id}?tx=${hash}`, { replace: true })
  if (!tier.onSale && !txHash) {
    return (
      <Empty title="This tier is not on sale.">
        <Link href="/buy">See what is</Link>
      </Empty>
    )
  }
  return (
    <>
      <div className="columns">
        {txHash ? (
          <Section
            title="Your payment"
            takesFocus={!cameWith.current}
            aside={
              <Link href={`/buy/${tier.id}`} onClick={() => writeIntent(null)}>
                Buy another
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
          <Section title="Pay">
            <Unfinished>
              <Shown reading={quote} shape="plot">
                {(asked) => <Ways {...{ tier, wallet, sent, byHand, setByHand }} quote={asked} />}
              </Shown>
            </Unfinished>
          </Section>
        )}
        {!txHash && (
          <Section title={payer ? 'Checks' : 'What will be checked'}>
            {payer && <Preflight address={payer} tier={tier} />}
            {!payer && <Rules tier={tier} mode={quote.data?.contractWallets} />}
          </Section>
        )}
      </div>
      {!txHash && <Claim />}
    </>
  )
}

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
      <Choice
        legend="How to pay"
        options={['wallet', 'hand']}
        chosen={byHand === null ? 'wallet' : 'hand'}
        choose={(way) => setByHand(way === 'wallet' ? null : { payer: wallet?.address ?? null })}
        word={(way) => (way === 'wallet' ? 'Wallet in this browser' : 'QR code or by hand')}
      />
      {byHand === null ? (
        <ByWallet tier={tier} quote={quote} wallet={wallet} sent={sent} />
      ) : (
        <ByHand quote={quote} payer={byHand.payer} setPayer={(payer) => setByHand({ payer })} sent={sent} />
      )}
      <p className="notice warn">
        The node goes to the address the ether comes from: pay from a wallet of your own. An exchange would receive it
        in your place.
      </p>
      {termsUrl && (
        <p className="note">
          The <OutLink href={termsUrl}>terms of the sale</OutLink> apply.
        </p>
      )}
    </div>
  )
}

/** What is checked, where no wallet has been named yet. */
function Rules({ tier, mode }: { tier: Tier; mode: Quote['contractWallets'] | undefined }) {
  return (
    <ul className="checks">
      <li>
        <strong className="what">The amount</strong> is exactly {ether(tier.priceWei)} ETH, not a wei more or less.
      </li>
      <li>
        <strong className="what">The allowance</strong>: at most {count(tier.maxPerWallet, 'node')} of this tier a
        wallet, those under way included.
      </li>
      <li>
        <strong className="what">The holding</strong>: {holdingInWords(tier)}
        {tier.holdingWei > 0n && ', read at the block of your transfer'}.
      </li>
      <li>
        <strong className="what">The sender</strong> is the account itself, by a plain transfer.{' '}
        {mode && CONTRACTS_MAY[mode]}
      </li>
      <li>
        <strong className="what">What does not pass</strong> is held, not lost: the operator releases it or sends it
        back by hand.
      </li>
    </ul>
  )
}
