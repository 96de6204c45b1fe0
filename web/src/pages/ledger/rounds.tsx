// Every round the service lists, newest first, and what they come to.
import type { Distribution } from '@node-ledger/client'
import { Link } from 'wouter'
import { useRounds } from '../../ledger.ts'
import { Amount, Hash, Time } from '../../ui/facts.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Plot } from '../../ui/plot.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'

/** As many as the service lists at once. */
export const ROUNDS_MAX = 200

export function Rounds() {
  const rounds = useRounds(ROUNDS_MAX)
  return (
    <Page
      title="Rounds"
      lead="Each round credits the nodes that are due. Seed and terms of every amount are published, so that anyone can recompute it."
    >
      <Section title="Distributed over time">
        <Shown reading={rounds} shape="plot">
          {(all) => <RoundsPlot rounds={all} />}
        </Shown>
      </Section>
      <Section title="All rounds">
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
  if (points.length === 0) return <Empty title="No round yet.">The first comes when the first nodes are due.</Empty>
  return <Plot points={points} what="round" />
}

const COLUMNS: readonly Column<Distribution>[] = [
  { heading: 'Round', sortBy: ({ id }) => id, cell: ({ id }) => <Link href={`/round/${id}`}>#{id}</Link> },
  {
    heading: 'When',
    sortBy: ({ createdAt }) => createdAt?.getTime() ?? 0,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  { heading: 'Funded by', cell: ({ mode }) => (mode === 'swaps' ? 'surplus' : (mode ?? 'unknown')) },
  { heading: 'Transaction', cell: ({ txHash }) => <Hash of={txHash} /> },
  {
    heading: 'Nodes',
    figure: true,
    sortBy: ({ nodeCount }) => nodeCount,
    cell: ({ nodeCount }) => nodeCount.toLocaleString('en-US'),
  },
  {
    heading: 'Credited',
    figure: true,
    sortBy: ({ totalWei }) => totalWei,
    cell: ({ totalWei }) => <Amount wei={totalWei} />,
  },
]

/** Rounds as a table. */
export function RoundsTable({ rounds }: { rounds: readonly Distribution[] }) {
  if (rounds.length === 0) return <Empty title="No round yet." />
  return <Table caption="Rounds" rows={rounds} keyOf={({ id }) => String(id)} columns={COLUMNS} />
}
