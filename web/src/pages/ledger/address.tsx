// Any wallet: its nodes and what they hold together.
import type { Node } from '@node-ledger/client'
import { Link, useParams } from 'wouter'
import { ADDRESS, checksummed, count, short } from '../../format.ts'
import { useNodesOf, useTiers } from '../../ledger.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { InExplorer } from '../../ui/explorer.tsx'
import { Amount, Time } from '../../ui/facts.tsx'
import { Figure, Page, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { PaymentsOf } from '../payment/payments.tsx'

export function AddressPage() {
  const { address } = useParams<{ address: string }>()
  const nodes = useNodesOf(address)
  return (
    <Page
      title={`Wallet ${short(checksummed(address))}`}
      lead={
        <span className="whole">
          {ADDRESS.test(address) ? (
            <InExplorer kind="address" id={address}>
              <code>{checksummed(address)}</code>
            </InExplorer>
          ) : (
            <code>{address}</code>
          )}{' '}
          <CopyButton text={checksummed(address)} what="address" />
        </span>
      }
    >
      <Shown reading={nodes} shape="tiles">
        {(all) => (all.length > 0 ? <Nodes nodes={all} /> : <NoNodes />)}
      </Shown>
      <PaymentsOf address={address} />
    </Page>
  )
}

function NoNodes() {
  return (
    <Empty title="This wallet owns no node.">
      A payment takes a block or two to become one. <Link href="/buy">Buy a node</Link>
    </Empty>
  )
}

/** What several nodes hold, have earned and have paid out. */
export function Totals({ nodes, balanceNote }: { nodes: readonly Node[]; balanceNote: string }) {
  const sum = (of: 'creditedWei' | 'withdrawnWei' | 'balanceWei') => nodes.reduce((total, node) => total + node[of], 0n)
  const next = nextCredit(nodes)
  return (
    <dl className="tiles">
      <Figure
        name="Nodes"
        note={
          next && (
            <>
              next credit <Time at={next} ahead />
            </>
          )
        }
      >
        {nodes.length.toLocaleString('en-US')}
      </Figure>
      <Figure name="Balance" note={balanceNote}>
        <Amount wei={sum('balanceWei')} />
      </Figure>
      <Figure name="Credited">
        <Amount wei={sum('creditedWei')} />
      </Figure>
      <Figure name="Withdrawn">
        <Amount wei={sum('withdrawnWei')} />
      </Figure>
    </dl>
  )
}

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  return (
    <>
      <Totals nodes={nodes} balanceNote="may be withdrawn by the owner" />
      <Section title={count(nodes.length, 'node')}>
        <NodesTable nodes={nodes} />
      </Section>
    </>
  )
}

const COLUMNS: readonly Column<Node>[] = [
  {
    heading: 'Node',
    sortBy: ({ nodeId }) => BigInt(nodeId),
    cell: ({ nodeId }) => <Link href={`/node/${nodeId}`}>#{nodeId}</Link>,
  },
  { heading: 'Tier', sortBy: ({ tierId }) => tierId ?? '', cell: ({ tierId }) => <TierName id={tierId} /> },
  {
    heading: 'Minted',
    sortBy: ({ mintedAt }) => mintedAt?.getTime() ?? 0,
    cell: ({ mintedAt }) => <Time at={mintedAt} />,
  },
  {
    heading: 'Next credit',
    sortBy: ({ nextCreditAt }) => nextCreditAt?.getTime() ?? 0,
    cell: ({ nextCreditAt }) => <Time at={nextCreditAt} ahead />,
  },
  {
    heading: 'Credited',
    figure: true,
    sortBy: ({ creditedWei }) => creditedWei,
    cell: ({ creditedWei }) => <Amount wei={creditedWei} />,
  },
  {
    heading: 'Balance',
    figure: true,
    sortBy: ({ balanceWei }) => balanceWei,
    cell: ({ balanceWei }) => <Amount wei={balanceWei} />,
  },
]

/** The time of the next credit of any of them; null where none is scheduled. */
function nextCredit(nodes: readonly Node[]): Date | null {
  const times = nodes.flatMap(({ nextCreditAt }) => nextCreditAt ?? [])
  return times.sort((a, b) => a.getTime() - b.getTime())[0] ?? null
}

/** Nodes as a table. */
export function NodesTable({ nodes }: { nodes: readonly Node[] }) {
  return <Table caption="Nodes" rows={nodes} keyOf={({ nodeId }) => nodeId} columns={COLUMNS} />
}

/** A tier by its label where the ledger has it. */
export function TierName({ id }: { id: string | null }) {
  const tiers = useTiers()
  if (id === null) return <span className="none">none</span>
  return tiers.data?.find((tier) => tier.id === id)?.label ?? id
}
