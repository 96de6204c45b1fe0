// The product page: what a node brought, proof of it, what a node costs, what is left. The ledger's figures come last.
import type { Distribution, Tier } from '@node-ledger/client'
import { Link } from 'wouter'
import { paidByTier } from '../../cadence.ts'
import { creditInWords, ether, everySpan, fewFigures, short } from '../../format.ts'
import { useDeployment, useRounds, useStats, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { OutLink } from '../../ui/explorer.tsx'
import { Amount } from '../../ui/facts.tsx'
import { Page } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { type Credit, HowItWorks, isSold, rangeInWords, TierCards } from '../checkout/tiers.tsx'
import { LedgerNow } from './ledger-now.tsx'
import { PaidCourse, Proof } from './proof.tsx'

const t = words.overview

export function Overview() {
  const stats = useStats()
  const rounds = useRounds()
  const tiers = useTiers()
  const offered = (tiers.data ?? []).filter(({ state }) => state === 'open' || state === 'upcoming')
  const [cheapest] = offered.filter(isSold).toSorted((a, b) => (a.priceWei < b.priceWei ? -1 : 1))
  const isLaunch = rounds.data?.length === 0
  return (
    <>
      <div className="hero">
        <Page title={null} heading={t.heading} lead={t.lead}>
          <p className="buttons">
            <Link href="/buy" className="button main big">
              {t.buy}
              {cheapest && fill(t.from, { amount: fewFigures(ether(cheapest.priceWei), 10) })}
            </Link>
            <Seller />
          </p>
        </Page>
        <Earned
          rounds={rounds.data}
          tier={cheapest}
          credit={(cheapest ?? tiers.data?.[0])?.credit ?? null}
          totalWei={stats.data?.totalDistributedWei ?? null}
        />
        {!isLaunch && <Proof rounds={rounds.data ?? []} />}
      </div>
      <section className="offer" aria-labelledby="offer">
        <header className="bar">
          <h2 id="offer">{t.offer}</h2>
          <Link href="/buy">{offered.length > CARDS_MAX ? fill(t.allTiers, { n: offered.length }) : t.how}</Link>
        </header>
        <Shown reading={tiers} shape="cards">
          {() => <TierCards tiers={offered} most={CARDS_MAX} />}
        </Shown>
      </section>
      {isLaunch ? <HowItWorks /> : <LedgerNow rounds={rounds} stats={stats} />}
    </>
  )
}

/** How many tiers have their card here, the cheapest first. */
const CARDS_MAX = 3

/** Below this, an amount is in wei, because in ether it would be only zeros. */
const GWEI = 10n ** 9n

interface EarnedProps {
  rounds: readonly Distribution[] | undefined
  /** The cheapest tier on sale. */
  tier: Tier | undefined
  credit: Tier['credit']
  totalWei: bigint | null
}

/**
 * What a node of the cheapest tier got last, or else an average node, after what it got before; how often it is paid, and what all nodes got so far.
 * Before the first round, what it may get by its terms.
 */
function Earned({ rounds, tier, credit, totalWei }: EarnedProps) {
  if (!rounds) return null
  const [last] = rounds
  const often = credit && fill(t.often, { span: everySpan(credit.intervalSec) })
  if (!last) return tier?.credit && <MayEarn tier={tier} credit={tier.credit} often={often} />
  const paid = tier && paidByTier(rounds, tier.id, 1)[0]
  const perNode = paid?.wei ?? last.totalWei / BigInt(last.nodeCount)
  return (
    <div className="card yield">
      <p>{paid ? fill(t.earnedIn, { tier: tier.label }) : t.earned}</p>
      <p className="earned" title={`${ether(perNode)} ETH`} translate="no">
        {perNode < GWEI ? String(perNode) : creditInWords(perNode)} <span>{perNode < GWEI ? 'wei' : 'ETH'}</span>
      </p>
      <PaidCourse rounds={rounds} tier={tier} />
      <p className="note">
        {often && `${often} · `}
        {totalWei !== null && rich(t.sinceStart, { amount: <Amount wei={totalWei} plain /> })}
      </p>
    </div>
  )
}

/** What the first round may pay a node of the cheapest tier, by its terms. */
const MayEarn = ({ tier, credit, often }: { tier: Tier; credit: Credit; often: string | null }) => (
  <div className="card yield">
    <p>{fill(t.mayEarn, { tier: tier.label })}</p>
    <p className="earned range" translate="no">
      {rangeInWords(credit)} <span>ETH</span>
    </p>
    <p className="note">{often}</p>
  </div>
)

/** Who sells, and how to contact them. A sale without a name is known by its wallet; in development, the page explains how to name it. */
function Seller() {
  const { contact, termsUrl } = useSite()
  const { data } = useDeployment()
  if (!data) return null
  const name = data.brand.name ?? (data.embedded ? t.nameIt : short(data.paymentAddress ?? ''))
  return (
    <span className="note">
      {fill(t.soldBy, { name })}
      {termsUrl && (
        <>
          {' · '}
          <OutLink href={termsUrl}>{t.terms}</OutLink>
        </>
      )}
      {contact && (
        <>
          {' · '}
          <a href={contact}>{t.contact}</a>
        </>
      )}
    </span>
  )
}
