// Rounds as a table, on their own page and in short on the overview.
import type { Distribution } from '@node-ledger/client'
import { Link } from 'wouter'
import { figure } from '../../format.ts'
import { Hash } from '../../ui/facts.tsx'
import { Empty } from '../../ui/states.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words } from '../../words/ledger.ts'
import { fill } from '../../words/message.ts'

const t = words.rounds

const columns: readonly Column<Distribution>[] = [
  {
    heading: t.round,
    cell: ({ id }) => (
      <Link href={`/round/${id}`} className="nowrap">
        {fill(words.round.title, { id })}
      </Link>
    ),
  },
  timeColumn(t.when, ({ createdAt }) => createdAt),
  { heading: t.fundedBy, cell: ({ mode }) => (mode === null ? t.unknown : mode === 'swaps' ? t.surplus : t.treasury) },
  { heading: t.transaction, wideOnly: true, cell: ({ txHash }) => <Hash of={txHash} /> },
  {
    heading: t.nodes,
    figure: true,
    cell: ({ nodeCount }) => figure(nodeCount),
  },
  amountColumn(t.credited, ({ totalWei }) => totalWei),
]

/** Nearly always the operator funds all of them. */
const usualColumns = columns.filter(({ heading }) => heading !== t.fundedBy)
/** What the first page shows. On a phone: round, time and amount. */
const fewColumns = columns
  .filter(({ heading }) => heading !== t.fundedBy && heading !== t.transaction)
  .map((column) => ({ ...column, wideOnly: column.heading === t.nodes }))

/** Rounds as a table. */
export function RoundsTable({ rounds, few = false }: { rounds: readonly Distribution[]; few?: boolean }) {
  const visibleColumns = few ? fewColumns : rounds.every(({ mode }) => mode === 'treasury') ? usualColumns : columns
  const empty = <Empty title={t.none} />
  return <Table caption={t.title} rows={rounds} keyOf={({ id }) => String(id)} columns={visibleColumns} empty={empty} />
}
