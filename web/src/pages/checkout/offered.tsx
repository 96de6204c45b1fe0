// What the checkout sells and what it asks for. Shown before the code that pays has loaded, so nothing of it moves then.
import type { Quote, Tier } from '@node-ledger/client'
import type { ReactNode } from 'react'
import { useDeployment, useQuote } from '../../ledger.ts'
import { chainInWords } from '../../site.ts'
import { Address, Price } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { TierPicture } from '../../ui/picture.tsx'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { isBoundToSome, LastPaid, leftInWords, TierCourse, useMostPerWallet, whoMayBuy } from './tiers.tsx'

const t = words.buy

/** The thing itself: its picture, what it paid, its terms and what happens next. */
export const Thing = ({ tier }: { tier: Tier }) => (
  <div className="thing">
    <TierPicture payoutBps={tier.payoutBps} />
    <LastPaid tier={tier} />
    <TierCourse tier={tier} />
    {isBoundToSome(tier) && <Facts of={{ [words.tiers.whoMay]: whoMayBuy(tier).join(', ') }} />}
    <ol className="how short">
      {t.next.map(([step, what]) => (
        <li key={step}>
          <p>
            <strong>{step}</strong> {what}
          </p>
        </li>
      ))}
    </ol>
  </div>
)

/** What will be sold in a tier that is not open yet: how many nodes, how many a wallet may hold, and who may buy. */
export function Terms({ tier }: { tier: Tier }) {
  const mostOf = useMostPerWallet()
  return (
    <Facts
      of={{
        [words.tiers.supply]: tier.remaining !== null && leftInWords(tier),
        [words.tiers.perWallet]: fill(words.tiers.nodes, { n: mostOf(tier) }),
        [words.tiers.whoMay]: isBoundToSome(tier) && whoMayBuy(tier).join(', '),
      }}
    />
  )
}

/** The link with which a wallet pays (EIP-681). */
export const payLink = ({ paymentAddress, chainId, priceWei }: Quote): string =>
  `ethereum:${paymentAddress}@${chainId}?value=${priceWei}`

/** The total, beside it how many the buyer takes, and below it how many they may. */
export function Total({ tier, wei, children }: { tier: Tier; wei: bigint; children?: ReactNode }) {
  return (
    <div className="total">
      <p className="price">
        <Price wei={wei} />
      </p>
      {children}
      <Most tier={tier} />
    </div>
  )
}

/** To whom, and on which network. */
export function Recipient({ quote: { paymentAddress, chainId } }: { quote: Quote }) {
  const { data } = useDeployment()
  const chain = data?.chainName ?? chainInWords({ chainName: null, chainId })
  return <p className="note">{rich(t.to, { wallet: <Address of={paymentAddress} link={false} />, chain })}</p>
}

/** The checkout before its code has loaded: a wallet can already pay by the link. */
export function Offered({ tier }: { tier: Tier }) {
  const { data: quote } = useQuote(tier.id, tier.state)
  return (
    <Section title={t.total} isHeardOnly>
      <div className="ways">
        <Total tier={tier} wei={quote?.priceWei ?? tier.priceWei} />
        {quote && (
          <>
            <a href={payLink(quote)} className="button main wide big">
              {t.openInWallet}
            </a>
            <Recipient quote={quote} />
          </>
        )}
      </div>
    </Section>
  )
}

/** How many nodes a wallet may hold, or how many are left if that is fewer. */
function Most({ tier }: { tier: Tier }) {
  const most = useMostPerWallet()(tier)
  return (
    <p className="note">
      {tier.remaining !== null && leftInWords(tier)}
      {tier.remaining !== null && tier.remaining > most && ' · '}
      {(tier.remaining ?? most + 1) > most && fill(words.tiers.upTo, { n: most })}
    </p>
  )
}
