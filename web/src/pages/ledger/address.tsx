// Any wallet: its nodes and their total.
import type { Node } from '@node-ledger/client'
import { Link, useParams } from 'wouter'
import { ADDRESS, checksummed, figure, short } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { useNodesOf } from '../../live.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { InExplorer } from '../../ui/explorer.tsx'
import { Amount, Turn } from '../../ui/facts.tsx'
import { Figure, Page, Section, Summary } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { ui } from '../../words/ui.ts'
import { PaymentsOf } from '../payment/payments.tsx'

const t = words.wallet

export function AddressPage() {
  const { address } = useParams<{ address: string }>()
  const nodes = useNodesOf(address.toLowerCase())
  return (
    <Page
      title={fill(t.title, { address: short(checksummed(address)) })}
      lead={
        <span className="whole">
          {ADDRESS.test(address) ? (
            <InExplorer kind="address" id={address}>
              <code translate="no">{checksummed(address)}</code>
            </InExplorer>
          ) : (
            <code translate="no">{address}</code>
          )}{' '}
          <CopyButton text={checksummed(address)} what={ui.copy.address} />
        </span>
      }
    >
      <Shown reading={nodes} shape="tiles">
        {(all) => (all.length > 0 ? <Nodes nodes={all} /> : <NoNodes />)}
      </Shown>
      <PaymentsOf address={address.toLowerCase()} />
    </Page>
  )
}

function NoNodes() {
  return <Empty title={t.noNode}>{rich(t.howOne, { buy: (text) => <Link href="/buy">{text}</Link> })}</Empty>
}

const sumOf = (nodes: readonly Node[], of: 'creditedWei' | 'withdrawnWei' | 'balanceWei') =>
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

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  const next = nextCredit(nodes)
  return (
    <>
      <Summary
        name={words.figures.balance}
        note={words.figures.byOwner}
        of={{
          [t.nodes]: figure(nodes.length),
          [words.figures.credited]: <Amount wei={sumOf(nodes, 'creditedWei')} />,
          [words.figures.withdrawn]: <Amount wei={sumOf(nodes, 'withdrawnWei')} />,
          [t.nextCredit]: next ? <Turn at={next} /> : words.node.notScheduled,
        }}
      >
        <Amount wei={sumOf(nodes, 'balanceWei')} />
      </Summary>
      <Section title={fill(words.nodes, { n: nodes.length })}>
        <NodesTable nodes={nodes} />
      </Section>
    </>
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
function nextCredit(nodes: readonly Node[]): Date | null {
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
