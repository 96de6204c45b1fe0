// The product page: what a node is, proof that it pays, what it costs, what is left. The ledger's figures come last.
import type { Cover, Stats } from '@node-ledger/client'
import { Link } from 'wouter'
import { figure, percent } from '../../format.ts'
import { useCover, useRounds, useStats, useTiers } from '../../ledger.ts'
import { useSite } from '../../site.ts'
import { Block, OutLink } from '../../ui/explorer.tsx'
import { Amount, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Facts, Figure, Page, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { TierCards } from '../checkout/tiers.tsx'
import { Proof } from './proof.tsx'
import { ROUNDS_MAX, RoundsPlot, RoundsTable } from './rounds.tsx'

const t = words.overview

export function Overview() {
  const stats = useStats()
  const cover = useCover()
  const rounds = useRounds(ROUNDS_MAX)
  const tiers = useTiers()
  return (
    <>
      <div className="hero">
        <div className="stack">
          <Page title={null} heading={t.heading} lead={t.lead}>
            <p className="buttons">
              <Link href="/buy" className="button main big">
                {t.buy}
              </Link>
              <Seller />
            </p>
          </Page>
        </div>
        <Proof rounds={rounds.data ?? []} />
      </div>
      <section className="offer" aria-labelledby="offer">
        <header className="bar">
          <h2 id="offer">{t.offer}</h2>
          <Link href="/buy">{t.how}</Link>
        </header>
        <Shown reading={tiers} shape="cards">
          {(all) => <TierCards tiers={all.filter(({ onSale }) => onSale)} />}
        </Shown>
      </section>
      <div className="columns">
        <Section title={t.overTime} aside={<Link href="/rounds">{t.allRounds}</Link>}>
          <Shown reading={rounds} shape="plot">
            {(all) => <RoundsPlot rounds={all} />}
          </Shown>
        </Section>
        <Section title={t.cover}>
          <Shown reading={cover} shape="plot">
            {(reading) => <CoverGauge cover={reading} />}
          </Shown>
        </Section>
      </div>
      <Section title={t.latest}>
        <Shown reading={rounds}>{(all) => <RoundsTable rounds={all.slice(0, 5)} few />}</Shown>
      </Section>
      <Shown reading={stats} shape="tiles">
        {(totals) => <Glance totals={totals} />}
      </Shown>
    </>
  )
}

/** Who sells, and how to contact them. */
function Seller() {
  const { name, contact, termsUrl } = useSite()
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

/** The totals, in four figures. */
function Glance({ totals }: { totals: Stats }) {
  const rounds = fill(t.rounds, { n: totals.totalDistributions })
  return (
    <dl className="tiles">
      <Figure name={t.nodes} note={fill(t.owners, { n: totals.totalOwners })}>
        {figure(totals.totalNodes)}
      </Figure>
      <Figure
        name={t.distributed}
        note={
          totals.lastDistributionAt
            ? rich(t.lastRound, { rounds, time: <Time at={totals.lastDistributionAt} /> })
            : rounds
        }
      >
        <Amount wei={totals.totalDistributedWei} />
      </Figure>
      <Figure name={t.withdrawn} note={rich(t.outstanding, { amount: <Amount wei={totals.outstandingWei} plain /> })}>
        <Amount wei={totals.totalWithdrawnWei} />
      </Figure>
      <Figure name={t.sales}>
        <Amount wei={totals.totalSalesWei} />
      </Figure>
    </dl>
  )
}

/** A gauge that is full if the balance covers the debt. */
function CoverGauge({ cover }: { cover: Cover }) {
  const { contractBalanceWei, outstandingWei, surplusWei, coverBps, isSolvent, blockNumber, checkedAt } = cover
  if (contractBalanceWei === null || outstandingWei === null) {
    return <Empty title={words.cover.unchecked}>{words.cover.whyUnchecked}</Empty>
  }
  const share = coverBps === null ? 1 : Math.min(coverBps / 10_000, 1)
  return (
    <div className="cover">
      <svg
        viewBox="0 0 120 68"
        role="img"
        aria-label={
          coverBps === null ? words.cover.nothingOwed : fill(words.cover.covered, { share: percent(coverBps) })
        }
      >
        <path className="track" d="M10 60a50 50 0 0 1 100 0" pathLength="1" />
        <path
          className={isSolvent ? 'level good' : 'level bad'}
          d="M10 60a50 50 0 0 1 100 0"
          pathLength="1"
          strokeDasharray={`${share} 1`}
        />
        <text x="60" y="52" textAnchor="middle" fontSize="15">
          {coverBps === null ? '–' : percent(coverBps)}
        </text>
      </svg>
      <p>
        {isSolvent === null ? (
          <Unknown />
        ) : (
          <Mark tone={isSolvent ? 'good' : 'bad'}>{isSolvent ? words.cover.solvent : words.cover.short}</Mark>
        )}
      </p>
      <Facts
        of={{
          [words.cover.holds]: <Amount wei={contractBalanceWei} />,
          [words.cover.owes]: <Amount wei={outstandingWei} />,
          ...(surplusWei !== null && surplusWei < 0n
            ? { [words.cover.lacks]: <Amount wei={-surplusWei} /> }
            : { [words.cover.surplus]: <Amount wei={surplusWei} /> }),
        }}
      />
      <p className="note">
        {rich(words.cover.readAt, { block: <Block of={blockNumber} />, time: <Time at={checkedAt} /> })}
      </p>
    </div>
  )
}
