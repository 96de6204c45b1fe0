// The first glance: how much there is, whether it is covered, what was credited lately.
import type { Cover, Stats } from '@node-ledger/client'
import { Link } from 'wouter'
import { count, percent } from '../../format.ts'
import { useCover, useRounds, useStats, useTiers } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Amount, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Figure, Page, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { TierCards } from '../checkout/tiers.tsx'
import { RecomputedRounds } from './proof.tsx'
import { ROUNDS_MAX, RoundsPlot, RoundsTable } from './rounds.tsx'

export function Overview() {
  const stats = useStats()
  const cover = useCover()
  const rounds = useRounds(ROUNDS_MAX)
  const tiers = useTiers()
  return (
    <Page
      title="Overview"
      heading="One transfer of ether buys a node, which is credited ether round by round and pays only its owner."
    >
      <p className="buttons">
        <Link href="/buy" className="button main">
          Buy a node
        </Link>
        <Link href="/rounds" className="button">
          See every round
        </Link>
      </p>
      <RecomputedRounds rounds={rounds.data ?? []} />
      <Shown reading={stats} shape="tiles">
        {(totals) => <Glance totals={totals} />}
      </Shown>
      <div className="columns">
        <Section title="Distributed over time" aside={<Link href="/rounds">All rounds</Link>}>
          <Shown reading={rounds} shape="plot">
            {(all) => <RoundsPlot rounds={all} />}
          </Shown>
        </Section>
        <Section title="Cover">
          <Shown reading={cover} shape="plot">
            {(reading) => <CoverGauge cover={reading} />}
          </Shown>
        </Section>
      </div>
      <Section title="On offer" aside={<Link href="/tiers">Compare tiers</Link>}>
        <Shown reading={tiers} shape="cards">
          {(all) => <TierCards tiers={all.filter(({ onSale }) => onSale)} />}
        </Shown>
      </Section>
      <Section title="Latest rounds">
        <Shown reading={rounds}>{(all) => <RoundsTable rounds={all.slice(0, 5)} />}</Shown>
      </Section>
    </Page>
  )
}

/** What there is, in four figures. */
function Glance({ totals }: { totals: Stats }) {
  return (
    <dl className="tiles">
      <Figure name="Nodes" note={count(totals.totalOwners, 'owner')}>
        {totals.totalNodes.toLocaleString('en-US')}
      </Figure>
      <Figure
        name="Distributed"
        note={
          <>
            {count(totals.totalDistributions, 'round')}
            {totals.lastDistributionAt && (
              <>
                , the last <Time at={totals.lastDistributionAt} />
              </>
            )}
          </>
        }
      >
        <Amount wei={totals.totalDistributedWei} />
      </Figure>
      <Figure
        name="Withdrawn"
        note={
          <>
            <Amount wei={totals.outstandingWei} plain /> may be withdrawn now
          </>
        }
      >
        <Amount wei={totals.totalWithdrawnWei} />
      </Figure>
      <Figure name="Sales">
        <Amount wei={totals.totalSalesWei} />
      </Figure>
    </dl>
  )
}

/** Full at what is owed, and beyond. */
function CoverGauge({ cover }: { cover: Cover }) {
  const { contractBalanceWei, outstandingWei, surplusWei, coverBps, isSolvent, blockNumber, checkedAt } = cover
  if (contractBalanceWei === null || outstandingWei === null) {
    return (
      <Empty title="Could not be checked.">
        The chain cannot be reached at present. This says nothing about the cover itself.
      </Empty>
    )
  }
  const share = coverBps === null ? 1 : Math.min(coverBps / 10_000, 1)
  return (
    <div className="cover">
      <svg
        viewBox="0 0 120 68"
        role="img"
        aria-label={coverBps === null ? 'Nothing is owed' : `Covered ${percent(coverBps)}`}
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
          <Mark tone={isSolvent ? 'good' : 'bad'}>{isSolvent ? 'solvent' : 'short'}</Mark>
        )}
      </p>
      <dl className="facts">
        <dt>Holds</dt>
        <dd>
          <Amount wei={contractBalanceWei} />
        </dd>
        <dt>Owes</dt>
        <dd>
          <Amount wei={outstandingWei} />
        </dd>
        <dt>{surplusWei !== null && surplusWei < 0n ? 'Lacks' : 'Surplus'}</dt>
        <dd>
          <Amount wei={surplusWei === null ? null : surplusWei < 0n ? -surplusWei : surplusWei} />
        </dd>
      </dl>
      <p className="note">
        Read at <Block of={blockNumber} />, <Time at={checkedAt} />.
      </p>
    </div>
  )
}
