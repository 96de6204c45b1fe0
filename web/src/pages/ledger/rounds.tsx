// Every round that the service lists, newest first, and their total.
import type { Distribution } from '@node-ledger/client'
import { Link } from 'wouter'
import { figure } from '../../format.ts'
import { useRounds } from '../../ledger.ts'
import { Hash } from '../../ui/facts.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Plot } from '../../ui/plot.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words } from '../../words/ledger.ts'

const t = words.rounds

export function Rounds() {
  const rounds = useRounds()
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
export function RoundsPlot({ rounds }: { rounds: readonly Distribution[] }) {
  const points = rounds
    .flatMap(({ createdAt, totalWei }) => (createdAt ? [{ at: createdAt, wei: totalWei }] : []))
    .reverse()
  if (points.length === 0) return <Empty title={t.none}>{t.first}</Empty>
  return <Plot points={points} what="round" />
}

const columns: readonly Column<Distribution>[] = [
  { heading: t.round, sortBy: ({ id }) => id, cell: ({ id }) => <Link href={`/round/${id}`}>#{id}</Link> },
  timeColumn(t.when, ({ createdAt }) => createdAt),
  { heading: t.fundedBy, cell: ({ mode }) => (mode === null ? t.unknown : mode === 'swaps' ? t.surplus : t.treasury) },
  { heading: t.transaction, cell: ({ txHash }) => <Hash of={txHash} /> },
  {
    heading: t.nodes,
    figure: true,
    sortBy: ({ nodeCount }) => nodeCount,
    cell: ({ nodeCount }) => figure(nodeCount),
  },
  amountColumn(t.credited, ({ totalWei }) => totalWei),
]

/** What fits in a line on a phone: round, time and amount. */
const fewColumns = columns.filter((_, index) => [0, 1, 5].includes(index))

/** Rounds as a table. */
export function RoundsTable({ rounds, few = false }: { rounds: readonly Distribution[]; few?: boolean }) {
  const shown = few ? fewColumns : columns
  const empty = <Empty title={t.none} />
  return <Table caption={t.title} rows={rounds} keyOf={({ id }) => String(id)} columns={shown} empty={empty} />
}
