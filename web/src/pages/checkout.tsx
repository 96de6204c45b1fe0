// Paying for one tier: what will be checked, the exact amount, and three ways (a wallet here, a phone, a hash of a transfer made
// elsewhere). The hash of a transfer is kept in the page's address, so that a reload goes on following it.
import type { Quote, Tier } from '@node-ledger/client'
import { buy, WalletError } from '@node-ledger/client/viem'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { encode } from 'uqr'
import { Link, useLocation, useSearchParams } from 'wouter'
import { count, ether } from '../format.ts'
import { ledger, useNodesOf, useQuote } from '../ledger.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Amount, Mark } from '../ui/facts.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, Failed, Shown } from '../ui/states.tsx'
import { Connect, WrongChain } from '../wallet/connect.tsx'
import { saidByWallet } from '../wallet/errors.ts'
import { type ConnectedWallet, useWallet } from '../wallet/use-wallet.ts'
import { Claim } from './claim.tsx'
import { PaymentSteps } from './payment-steps.tsx'
import { holdingInWords } from './tiers.tsx'

export function Checkout({ tier }: { tier: Tier }) {
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const txHash = search.get('tx')
  const quote = useQuote(tier.id)
  const wallet = useWallet()
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
          <Section title="Your payment" aside={<Link href={`/buy/${tier.id}`}>Buy another</Link>}>
            <PaymentSteps txHash={txHash} />
          </Section>
        ) : (
          <Section title="Pay">
            <Shown reading={quote} shape="plot">
              {(asked) => <Ways tier={tier} quote={asked} wallet={wallet} sent={sent} />}
            </Shown>
          </Section>
        )}
        <Section title="What will be checked">
          <Checks tier={tier} wallet={wallet} />
        </Section>
      </div>
      {!txHash && <Claim />}
    </>
  )
}

function Ways({
  tier,
  quote,
  wallet,
  sent,
}: {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  sent: (hash: string) => void
}) {
  const [way, setWay] = useState<'wallet' | 'phone'>('wallet')
  return (
    <div className="ways">
      <p className="price">
        <Amount wei={quote.priceWei} />
      </p>
      <fieldset className="switch">
        <legend className="visually-hidden">How to pay</legend>
        {(
          [
            ['wallet', 'Wallet in this browser'],
            ['phone', 'QR code or by hand'],
          ] as const
        ).map(([value, name]) => (
          <label key={value}>
            <input type="radio" name="way" checked={way === value} onChange={() => setWay(value)} />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      {way === 'wallet' ? <ByWallet tier={tier} quote={quote} wallet={wallet} sent={sent} /> : <ByHand quote={quote} />}
      <p className="notice warn">
        Pay from an ordinary account of your own. The node goes to the address the ether comes from: an exchange would
        receive it in your place, and a contract wallet’s transfer is held until the operator has looked.
      </p>
    </div>
  )
}

function ByWallet({
  tier,
  quote,
  wallet,
  sent,
}: {
  tier: Tier
  quote: Quote
  wallet: ConnectedWallet | null
  sent: (hash: string) => void
}) {
  const pay = useMutation({
    mutationFn: async (payer: ConnectedWallet) => {
      const stop = new AbortController()
      // From the transfer on, the page that follows it takes over.
      await buy(ledger, await payer.open(), tier.id, {
        signal: stop.signal,
        onSent: (hash) => {
          sent(hash)
          stop.abort()
        },
      }).catch((error: unknown) => {
        if (!stop.signal.aborted) throw error
      })
    },
  })
  if (!wallet) return <Connect />
  const refused = pay.error instanceof WalletError && pay.error.code === 'rejected'
  return (
    <div className="stack">
      <Connect />
      <WrongChain />
      <button
        type="button"
        className="button main wide"
        disabled={pay.isPending || wallet.chainId !== quote.chainId}
        onClick={() => pay.mutate(wallet)}
      >
        {pay.isPending ? 'Confirm in the wallet…' : `Pay ${ether(quote.priceWei)} ETH`}
      </button>
      {pay.error &&
        (refused ? (
          <p className="notice" role="alert">
            You refused in the wallet. Nothing was sent; you can try again whenever you like.
          </p>
        ) : (
          <Failed error={saidByWallet(pay.error)} />
        ))}
    </div>
  )
}

function ByHand({ quote }: { quote: Quote }) {
  const link = `ethereum:${quote.paymentAddress}@${quote.chainId}?value=${quote.priceWei}`
  const rows = [
    ['Amount, exactly', `${ether(quote.priceWei)} ETH`, ether(quote.priceWei).replaceAll(',', '')],
    ['To', quote.paymentAddress, quote.paymentAddress],
    ['Chain id', String(quote.chainId), String(quote.chainId)],
  ] as const
  return (
    <div className="by-hand">
      <Qr text={link} />
      <div className="stack">
        <p>Scan this with a wallet on a phone, or send by hand:</p>
        <dl className="facts">
          {rows.map(([name, shown, copied]) => (
            <div key={name} className="row">
              <dt>{name}</dt>
              <dd>
                <code>{shown}</code> <CopyButton text={copied} what={name.toLowerCase()} />
              </dd>
            </div>
          ))}
        </dl>
        <p>
          <a href={link} className="button">
            Open in a wallet
          </a>
        </p>
        <p className="note">
          The service sees the transfer by itself. To watch it here, paste its hash below. Any other amount is held for
          the operator.
        </p>
      </div>
    </div>
  )
}

/** A QR code, dark on light in both themes, since not every camera reads it the other way round. */
function Qr({ text }: { text: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 3 })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code of the payment"
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  )
}

function Checks({ tier, wallet }: { tier: Tier; wallet: ConnectedWallet | null }) {
  return (
    <ul className="checks">
      <li>
        <strong className="what">The amount</strong> is exactly {ether(tier.priceWei)} ETH, not a wei more or less.
      </li>
      <li>
        <strong className="what">The allowance</strong>: at most {count(tier.maxPerWallet, 'node')} of this tier a
        wallet, those under way included.
        {wallet && <Allowance tier={tier} wallet={wallet} />}
      </li>
      <li>
        <strong className="what">The holding</strong>: {holdingInWords(tier)}
        {tier.holdingWei > 0n && ', read at the block of your transfer'}.
      </li>
      <li>
        <strong className="what">The sender</strong> is the account itself: a plain transfer, not a call inside another
        transaction.
      </li>
      <li>
        <strong className="what">What does not pass</strong> is held, not lost: the operator releases it or sends it
        back by hand.
      </li>
    </ul>
  )
}

function Allowance({ tier, wallet }: { tier: Tier; wallet: ConnectedWallet }) {
  const nodes = useNodesOf(wallet.address)
  if (!nodes.data) return null
  const held = nodes.data.filter(({ tierId }) => tierId === tier.id).length
  return (
    <p>
      <Mark tone={held < tier.maxPerWallet ? 'good' : 'bad'}>
        you hold {held} of {tier.maxPerWallet}
      </Mark>
    </p>
  )
}
