// The product page: what a node brought, proof of it, what a node costs, what is left. The ledger's figures come last.
import type { Cover, Distribution, Stats, Tier } from '@node-ledger/client'
import { Link } from 'wouter'
import { cadenceOf, paidByTier } from '../../cadence.ts'
import { creditInWords, ether, everySpan, fewFigures, figure, percent, short } from '../../format.ts'
import { useCover, useDeployment, useRounds, useStats, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Block, OutLink } from '../../ui/explorer.tsx'
import { Amount, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { isSold, TierCards } from '../checkout/tiers.tsx'
import { Proof } from './proof.tsx'
import { RoundsTable } from './rounds-table.tsx'

const t = words.overview

export function Overview() {
  const stats = useStats()
  const cover = useCover()
  const rounds = useRounds()
  const tiers = useTiers()
  const offered = (tiers.data ?? []).filter(({ state }) => state === 'open' || state === 'upcoming')
  const [cheapest] = offered.filter(isSold).toSorted((a, b) => (a.priceWei < b.priceWei ? -1 : 1))
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
        <Earned rounds={rounds.data} tier={cheapest} totalWei={stats.data?.totalDistributedWei ?? null} />
        {rounds.data?.length !== 0 && <Proof rounds={rounds.data ?? []} tier={cheapest} />}
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
      <div className="columns level">
        <Section title={t.latest} aside={<Link href="/rounds">{t.allRounds}</Link>}>
          <Shown reading={rounds}>{(all) => <RoundsTable rounds={all.slice(0, 8)} few />}</Shown>
        </Section>
        <Section title={t.ledger}>
          <Shown reading={cover} lines={2}>
            {(reading) => <Covered cover={reading} />}
          </Shown>
          <Shown reading={stats} lines={4}>
            {(totals) => <Totals totals={totals} />}
          </Shown>
        </Section>
      </div>
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
  totalWei: bigint | null
}

/** What a node of the cheapest tier got last, or else an average node; how often rounds come, and what all nodes got so far. */
function Earned({ rounds, tier, totalWei }: EarnedProps) {
  const [last] = rounds ?? []
  if (!rounds || !last) return <p className="yield lead">{rounds && words.rounds.first}</p>
  const cadence = cadenceOf(rounds, Date.now())
  const paid = tier && paidByTier(rounds, tier.id, 1)[0]
  const perNode = paid?.wei ?? last.totalWei / BigInt(last.nodeCount)
  return (
    <div className="yield">
      <p className="earned" title={`${ether(perNode)} ETH`} translate="no">
        {perNode < GWEI ? String(perNode) : creditInWords(perNode)} <span>{perNode < GWEI ? 'wei' : 'ETH'}</span>
      </p>
      <p>{paid ? fill(t.earnedIn, { tier: tier.label }) : t.earned}</p>
      <p className="note">
        {cadence && `${fill(t.often, { span: everySpan(cadence.intervalSec) })} · `}
        {totalWei !== null && rich(t.sinceStart, { amount: <Amount wei={totalWei} plain /> })}
      </p>
    </div>
  )
}

/** Who sells, and how to contact them. A sale without a name is known by its wallet; in development, the page says how to name it. */
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

function Totals({ totals }: { totals: Stats }) {
  const rounds = fill(t.rounds, { n: totals.totalDistributions })
  const at = totals.lastDistributionAt
  return (
    <Facts
      className="facts tally"
      of={{
        [t.nodes]: <Tally note={fill(t.owners, { n: totals.totalOwners })}>{figure(totals.totalNodes)}</Tally>,
        [t.distributed]: (
          <Tally note={at ? rich(t.lastRound, { rounds, time: <Time at={at} /> }) : rounds}>
            <Amount wei={totals.totalDistributedWei} />
          </Tally>
        ),
        [t.withdrawn]: <Amount wei={totals.totalWithdrawnWei} />,
        [t.sales]: <Amount wei={totals.totalSalesWei} />,
      }}
    />
  )
}

const Tally = ({ children, note }: { children: React.ReactNode; note: React.ReactNode }) => (
  <>
    {children} <span className="note">{note}</span>
  </>
)

/** Whether the contract holds what it owes, in figures. */
function Covered({ cover: { contractBalanceWei, outstandingWei, surplusWei, isSolvent, ...rest } }: { cover: Cover }) {
  const c = words.cover
  if (contractBalanceWei === null || outstandingWei === null) return <Empty title={c.unchecked}>{c.whyUnchecked}</Empty>
  const isShort = surplusWei !== null && surplusWei < 0n
  return (
    <>
      {outstandingWei > 0n && (
        <p className="price">
          {fill(c.share, { share: percent(Number((contractBalanceWei * 10_000n) / outstandingWei)) })}
        </p>
      )}
      <Facts
        className="facts tally"
        of={{
          // The share says that it is solvent.
          ...((isSolvent !== true || outstandingWei === 0n) && {
            [c.contract]:
              isSolvent === null ? (
                <Unknown />
              ) : (
                <Mark tone={isSolvent ? 'good' : 'bad'}>{isSolvent ? c.solvent : c.short}</Mark>
              ),
          }),
          [contractBalanceWei === outstandingWei ? c.both : c.holds]: (
            <Tally
              note={rich(c.readAt, { block: <Block of={rest.blockNumber} />, time: <Time at={rest.checkedAt} /> })}
            >
              <Amount wei={contractBalanceWei} />
            </Tally>
          ),
          ...(contractBalanceWei !== outstandingWei && { [c.owes]: <Amount wei={outstandingWei} /> }),
          ...(isShort && { [c.lacks]: <Amount wei={-surplusWei} /> }),
        }}
      />
    </>
  )
}
