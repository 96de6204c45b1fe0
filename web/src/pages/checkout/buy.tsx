// The page on which a buyer chooses a tier. The checkout itself is checkout.tsx.
import { Suspense, useState } from 'react'
import { Link, useParams, useSearchParams } from 'wouter'
import { useTiers } from '../../ledger.ts'
import { later } from '../../ui/boundary.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import { fill } from '../../words/message.ts'
import { Offered, Thing } from './offered.tsx'
import { isSold, Tiers } from './tiers.tsx'

// The payment code loads once the buyer picks a tier.
const Checkout = later(async () => (await import('./checkout.tsx')).Checkout)
const Instead = later(async () => (await import('./not-now.tsx')).Instead)

const t = words.buy

export function Buy() {
  const { tier: id } = useParams<{ tier?: string }>()
  const [search] = useSearchParams()
  const tiers = useTiers()
  const [standing, setStanding] = useState<string | null>(null)
  if (id === undefined) return <Tiers />
  const tier = tiers.data?.find((candidate) => candidate.id === id)
  const isOpen = tier !== undefined && isSold(tier)
  const paidCount = search.getAll('tx').length
  const paid = standing ?? (paidCount > 1 ? fill(t.onTheirWay, { n: paidCount }) : t.oneOnItsWay)
  const offer = tier && (isOpen ? fill(words.tiers.buy, { tier: tier.label }) : tier.label)
  const heading = paidCount > 0 ? paid : (offer ?? t.title)
  return (
    <Page
      title={heading}
      heading={heading}
      lead={isOpen && paidCount === 0 && t.lead}
      back={paidCount === 0 && <Link href="/buy">{t.allTiers}</Link>}
    >
      <div className={tier && (paidCount > 0 ? 'selling alone' : isOpen ? 'selling' : 'stack')}>
        <Shown reading={tiers}>
          {(all) =>
            tier ? (
              <>
                {isOpen && paidCount === 0 && <Thing tier={tier} />}
                <Suspense fallback={<Offered tier={tier} />}>
                  <Checkout key={id} tier={tier} heading={paid} setHeading={setStanding} />
                  {!isOpen && paidCount === 0 && <Instead tiers={all} />}
                </Suspense>
              </>
            ) : (
              <>
                <Empty title={t.noTier} />
                <Suspense>
                  <Instead tiers={all} />
                </Suspense>
              </>
            )
          }
        </Shown>
      </div>
    </Page>
  )
}
