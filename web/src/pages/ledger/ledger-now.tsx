// The end of the overview: the latest rounds, what the contract holds and owes, and the ledger's totals.
import type { Cover, Distribution, Stats } from '@node-ledger/client'
import { Link } from 'wouter'
import { figure, percent } from '../../format.ts'
import { type Reading, useCover } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Amount, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { RoundsTable } from './rounds-table.tsx'

const t = words.overview

export function LedgerNow({ rounds, stats }: { rounds: Reading<Distribution[]>; stats: Reading<Stats> }) {
  const cover = useCover()
  return (
    <div className="columns level">
      <Section title={t.latest} aside={<Link href="/rounds">{t.allRounds}</Link>}>
        <Shown reading={rounds}>{(all) => <RoundsTable rounds={all.slice(0, 7)} few />}</Shown>
      </Section>
      <Section title={t.ledger} isHeardOnly>
        <Shown reading={cover} lines={2}>
          {(reading) => <Covered cover={reading} />}
        </Shown>
        <Shown reading={stats} lines={4}>
          {(totals) => totals.totalNodes > 0 && <Totals totals={totals} />}
        </Shown>
      </Section>
    </div>
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
        [t.distributed]: totals.totalDistributions > 0 && (
          <Tally note={at ? rich(t.lastRound, { rounds, time: <Time at={at} /> }) : rounds}>
            <Amount wei={totals.totalDistributedWei} />
          </Tally>
        ),
        [t.withdrawn]: totals.totalWithdrawnWei > 0n && <Amount wei={totals.totalWithdrawnWei} />,
        [t.sales]: totals.totalSalesWei > 0n && <Amount wei={totals.totalSalesWei} />,
      }}
    />
  )
}

const Tally = ({ children, note }: { children: React.ReactNode; note: React.ReactNode }) => (
  <>
    {children} {note && <span className="note">{note}</span>}
  </>
)

/** Whether the contract holds what it owes, in figures. */
function Covered({ cover: { contractBalanceWei, outstandingWei, surplusWei, isSolvent, ...rest } }: { cover: Cover }) {
  const c = words.cover
  if (contractBalanceWei === null || outstandingWei === null) return <Empty title={c.unchecked}>{c.whyUnchecked}</Empty>
  const isShort = surplusWei !== null && surplusWei < 0n
  const at = rich(c.readAt, { block: <Block of={rest.blockNumber} />, time: <Time at={rest.checkedAt} /> })
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
          // The share shows that it is solvent.
          [c.contract]: (isSolvent !== true || outstandingWei === 0n) && (
            <Tally note={contractBalanceWei === 0n && at}>
              {isSolvent === null ? (
                <Unknown />
              ) : (
                <Mark tone={isSolvent ? 'good' : 'bad'}>{isSolvent ? c.solvent : c.short}</Mark>
              )}
            </Tally>
          ),
          [contractBalanceWei === outstandingWei ? c.both : c.holds]: contractBalanceWei > 0n && (
            <Tally note={at}>
              <Amount wei={contractBalanceWei} />
            </Tally>
          ),
          [c.owes]: contractBalanceWei !== outstandingWei && <Amount wei={outstandingWei} />,
          [c.lacks]: isShort && <Amount wei={-surplusWei} />,
        }}
      />
    </>
  )
}
