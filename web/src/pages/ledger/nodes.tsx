// A wallet's nodes: their totals and their table, on its own page and on its owner's.
import type { Node } from '@node-ledger/client'
import { Link } from 'wouter'
import { figure } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Amount, Turn } from '../../ui/facts.tsx'
import { Figure } from '../../ui/page.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'

const t = words.wallet

export const sumOf = (nodes: readonly Node[], of: 'creditedWei' | 'withdrawnWei' | 'balanceWei') =>
  nodes.reduce((total, node) => total + node[of], 0n)

/** What several nodes earned and paid out, without their balance. */
export function Totals({ nodes }: { nodes: readonly Node[] }) {
  const next = nextCredit(nodes)
  return (
    <dl className="tiles">
      <Figure name={t.nodes} note={next && rich(words.figures.nextCredit, { time: <Turn at={next} /> })}>
        {figure(nodes.length)}
      </Figure>
      <Figure name={words.figures.credited}>
        <Amount wei={sumOf(nodes, 'creditedWei')} />
      </Figure>
      <Figure name={words.figures.withdrawn}>
        <Amount wei={sumOf(nodes, 'withdrawnWei')} />
      </Figure>
    </dl>
  )
}

const columns: readonly Column<Node>[] = [
  {
    heading: t.node,
    sortBy: ({ nodeId }) => BigInt(nodeId),
    cell: ({ nodeId }) => <Link href={`/node/${nodeId}`}>{fill(words.node.title, { id: nodeId })}</Link>,
  },
  {
    heading: t.tier,
    isPlain: true,
    sortBy: ({ tierId }) => tierId ?? '',
    cell: ({ tierId }) => <TierName id={tierId} />,
  },
  timeColumn(t.minted, ({ mintedAt }) => mintedAt),
  {
    heading: t.nextCredit,
    sortBy: ({ nextCreditAt }) => nextCreditAt?.getTime() ?? 0,
    cell: ({ nextCreditAt }) => <Turn at={nextCreditAt} />,
  },
  amountColumn(words.figures.credited, ({ creditedWei }) => creditedWei),
  amountColumn(words.figures.balance, ({ balanceWei }) => balanceWei),
]

/** When the next credit of any of these nodes is due; null if none is scheduled. */
export function nextCredit(nodes: readonly Node[]): Date | null {
  const times = nodes.flatMap(({ nextCreditAt }) => nextCreditAt ?? [])
  return times.sort((a, b) => a.getTime() - b.getTime())[0] ?? null
}

/** Nodes as a table. */
export function NodesTable({ nodes }: { nodes: readonly Node[] }) {
  return <Table caption={t.nodes} rows={nodes} keyOf={({ nodeId }) => nodeId} columns={columns} />
}

/** Shows a tier by its label, if the ledger has the tier. */
export function TierName({ id }: { id: string | null }) {
  const tiers = useTiers()
  if (id === null) return <span className="none">{t.noTier}</span>
  return tiers.data?.find((tier) => tier.id === id)?.label ?? id
}
