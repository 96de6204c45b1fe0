// What the checkout sells and what it asks for. Shown before the code that pays has loaded, so nothing of it moves then.
import type { Quote, Tier } from '@node-ledger/client'
import type { ReactNode } from 'react'
import { checksummed } from '../../format.ts'
import { useDeployment, useQuote } from '../../ledger.ts'
import { chainInWords } from '../../site.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Price } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { words } from '../../words/checkout.ts'
import { LastPaid, leftInWords, whoMayBuy } from './tiers.tsx'

const t = words.buy

/** The thing itself: its picture, what it paid, and what happens next. */
export function Thing({ tier }: { tier: Tier }) {
  return (
    <div className="thing">
      <Picture sign={tier.label.slice(0, 1)} line={tier.label} />
      <LastPaid tier={tier} />
      <ol className="next">
        {t.next.map(([step, what]) => (
          <li key={step}>
            <strong>{step}</strong> <span className="note">{what}</span>
          </li>
        ))}
      </ol>
      {(tier.allowlistRoot !== null || tier.holdingWei > 0n) && (
        <Facts of={{ [words.tiers.whoMay]: whoMayBuy(tier).join(', ') }} />
      )}
    </div>
  )
}

/** The link with which a wallet pays (EIP-681). */
export const payLink = ({ paymentAddress, chainId, priceWei }: Quote): string =>
  `ethereum:${paymentAddress}@${chainId}?value=${priceWei}`

/** The total, and what is left. */
export function Total({ tier, wei, children }: { tier: Tier; wei: bigint; children?: ReactNode }) {
  return (
    <div className="total">
      <p className="price">
        <Price wei={wei} />
      </p>
      {children}
      <Left tier={tier} />
    </div>
  )
}

/** To whom, and on which network. */
export function Recipient({ quote: { paymentAddress, chainId } }: { quote: Quote }) {
  const { data } = useDeployment()
  const to = checksummed(paymentAddress)
  return (
    <Facts
      of={{
        [t.to]: (
          <>
            <code translate="no">{to}</code> <CopyButton text={to} what={t.wallet} />
          </>
        ),
        [t.network]: chainInWords({ chainName: data?.chainName ?? null, chainId }),
      }}
    />
  )
}

/** The checkout before its code has loaded: a wallet can already pay by the link. */
export function Offered({ tier }: { tier: Tier }) {
  const { data: quote } = useQuote(tier.id, tier.state)
  return (
    <Section title={t.total}>
      <div className="ways">
        <Total tier={tier} wei={quote?.priceWei ?? tier.priceWei} />
        {quote && (
          <>
            <Recipient quote={quote} />
            <a href={payLink(quote)} className="button main wide">
              {t.openInWallet}
            </a>
          </>
        )}
      </div>
    </Section>
  )
}

/** How many nodes of a limited tier are left. */
const Left = ({ tier }: { tier: Tier }) => tier.remaining !== null && <p className="note">{leftInWords(tier)}</p>
