// Every round that the service lists, newest first, and their total.
import type { Distribution } from '@node-ledger/client'
import { Link } from 'wouter'
import { everySpan } from '../../format.ts'
import { useRounds, useTiers } from '../../ledger.ts'
import { Page, Section } from '../../ui/page.tsx'
import { Plot } from '../../ui/plot.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill } from '../../words/message.ts'
import { HowItWorks } from '../checkout/tiers.tsx'
import { RoundsTable } from './rounds-table.tsx'

const t = words.rounds

export function Rounds() {
  const rounds = useRounds()
  const credit = useTiers().data?.[0]?.credit
  if (rounds.data?.length === 0)
    return (
      <Page title={t.title} lead={t.lead}>
        <Empty title={t.none}>
          <p>
            {credit && fill(t.often, { span: everySpan(credit.intervalSec) })} {t.first}
          </p>
          <Link href="/buy" className="button main">
            {words.overview.buy}
          </Link>
        </Empty>
        <HowItWorks />
      </Page>
    )
  return (
    <Page title={t.title} lead={t.lead}>
      <Section title={words.overview.overTime}>
        <Shown reading={rounds} shape="plot">
          {(all) => <RoundsPlot rounds={all} />}
        </Shown>
      </Section>
      <Section title={words.overview.allRounds}>
        <Shown reading={rounds} lines={8}>
          {(all) => <RoundsTable rounds={all} />}
        </Shown>
      </Section>
    </Page>
  )
}

/** The rounds' totals over time. */
function RoundsPlot({ rounds }: { rounds: readonly Distribution[] }) {
  const points = rounds
    .flatMap(({ createdAt, totalWei }) => (createdAt ? [{ at: createdAt, wei: totalWei }] : []))
    .reverse()
  return <Plot points={points} what="round" />
}
