// What a tier costs and how many are left. Shown until the ways to pay have loaded, so that the price of the first paint stays.
import type { Tier } from '@node-ledger/client'
import { Amount } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Waiting } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import { leftInWords } from './tiers.tsx'

/** The checkout before its code has loaded. */
export const Offered = ({ tier }: { tier: Tier }) => (
  <Section title={words.buy.pay}>
    <PriceOnly tier={tier} />
  </Section>
)

/** The price, and room for the ways to pay it. */
export const PriceOnly = ({ tier }: { tier: Tier }) => (
  <div className="ways">
    <p className="price">
      <Amount wei={tier.priceWei} exact />
    </p>
    <Left tier={tier} />
    <Waiting shape="plot" />
  </div>
)

/** How many nodes of a limited tier are left. */
export const Left = ({ tier }: { tier: Tier }) => tier.remaining !== null && <p className="note">{leftInWords(tier)}</p>
