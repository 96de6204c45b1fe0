// Choosing what to buy. The checkout itself is checkout.tsx.
import { lazy, Suspense } from 'react'
import { useParams } from 'wouter'
import { times } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Shown, Waiting } from '../../ui/states.tsx'
import { Claim } from '../payment/claim.tsx'
import { TierCards } from './tiers.tsx'

// What pays is loaded once a tier is chosen.
const Checkout = lazy(async () => ({ default: (await import('./checkout.tsx')).Checkout }))

export function Buy() {
  const { tier: id } = useParams<{ tier?: string }>()
  const tiers = useTiers()
  if (id === undefined) {
    return (
      <Page
        title="Buy a node"
        lead="Choose a tier. You pay by one transfer; the node comes to the wallet you pay from."
      >
        <Shown reading={tiers} shape="cards">
          {(all) => <TierCards tiers={all.filter(({ onSale }) => onSale)} />}
        </Shown>
        <Claim />
      </Page>
    )
  }
  const tier = tiers.data?.find((candidate) => candidate.id === id)
  return (
    <Page
      title={tier ? `Buy ${tier.label}` : 'Buy a node'}
      lead={tier && `One node that earns ${times(tier.payoutBps)} the base credit each round.`}
    >
      <Shown reading={tiers}>
        {(all) =>
          tier ? (
            <Suspense fallback={<Waiting lines={6} />}>
              <Checkout key={id} tier={tier} />
            </Suspense>
          ) : (
            <>
              <Empty title="There is no such tier." />
              <TierCards tiers={all.filter(({ onSale }) => onSale)} />
            </>
          )
        }
      </Shown>
    </Page>
  )
}
