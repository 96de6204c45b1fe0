// The tiers on sale, their conditions, and the party that enforces each.
import type { Tier } from '@node-ledger/client'
import { Link } from 'wouter'
import { count, ether, times } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Amount, Mark } from '../../ui/facts.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Got } from './got.tsx'

export function Tiers() {
  const tiers = useTiers()
  return (
    <Page
      title="Tiers"
      lead="A node is bought by a plain transfer of a tier’s exact price. The amount is what selects the tier."
    >
      <Shown reading={tiers} shape="cards">
        {(all) => (
          <>
            <TierCards tiers={all} />
            <Got tiers={all} />
          </>
        )}
      </Shown>
    </Page>
  )
}

export function TierCards({ tiers }: { tiers: readonly Tier[] }) {
  if (tiers.length === 0) return <Empty title="Nothing is on offer yet." />
  const byPrice = [...tiers].sort((a, b) => Number(b.onSale) - Number(a.onSale) || Number(a.priceWei - b.priceWei))
  return (
    <ul className="tiers">
      {byPrice.map((tier) => (
        <li key={tier.id} className="card tier">
          <header>
            <h2>{tier.label}</h2>
            {!tier.onSale && <Mark tone="calm">not on sale</Mark>}
          </header>
          <p className="price">
            <Amount wei={tier.priceWei} exact />
          </p>
          <ul className="terms">
            <li>
              <strong>{times(tier.payoutBps)}</strong> the base credit each round
            </li>
            <li>
              up to <strong>{count(tier.maxPerWallet, 'node')}</strong> a wallet
            </li>
            <li>{holdingInWords(tier)}</li>
          </ul>
          {tier.onSale && (
            <Link href={`/buy/${tier.id}`} className="button main">
              Buy {tier.label}
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The required holding of a tier, in words. */
export function holdingInWords({ holdingWei, holdingToken, holdingSymbol, holdingDecimals }: Tier): string {
  if (holdingWei === 0n) return 'open to anyone'
  const symbol = holdingSymbol ?? `tokens of ${holdingToken}`
  return `for holders of ${ether(holdingWei, holdingDecimals ?? 18)} ${symbol}`
}
