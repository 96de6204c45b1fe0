// A wallet's nodes: their sums and their table, on its own page and on its owner's.
import type { Node } from '@node-ledger/client'
import { Link } from 'wouter'
import { useTiers } from '../../ledger.ts'
import { Turn } from '../../ui/facts.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words } from '../../words/ledger.ts'
import { fill } from '../../words/message.ts'

const t = words.wallet

export const sumOf = (nodes: readonly Node[], of: 'creditedWei' | 'withdrawnWei' | 'balanceWei') =>
  nodes.reduce((total, node) => total + node[of], 0n)

const columns: readonly Column<Node>[] = [
  {
    heading: t.node,
    cell: ({ nodeId }) => <Link href={`/node/${nodeId}`}>{fill(words.node.title, { id: nodeId })}</Link>,
  },
  {
    heading: t.tier,
    isPlain: true,
    cell: ({ tierId }) => <TierName id={tierId} />,
  },
  { ...timeColumn<Node>(t.minted, ({ mintedAt }) => mintedAt), isPlain: false },
  // On a phone, both are above the table.
  {
    heading: t.nextCredit,
    wideOnly: true,
    cell: ({ nextCreditAt }) => <Turn at={nextCreditAt} />,
  },
  { ...amountColumn<Node>(words.figures.credited, ({ creditedWei }) => creditedWei), wideOnly: true },
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

/** Only the owner's wallet can withdraw, on the owner's own page. */
export const ToWithdraw = () => (
  <Link href="/owner" className="button wide">
    {words.node.withdraw}
  </Link>
)

/** Shows a tier by its label, if the ledger has the tier. */
export function TierName({ id }: { id: string | null }) {
  const tiers = useTiers()
  if (id === null) return <span className="none">{t.noTier}</span>
  return tiers.data?.find((tier) => tier.id === id)?.label ?? id
}
