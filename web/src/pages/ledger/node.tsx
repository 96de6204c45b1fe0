// Any node: what it earned, what it holds, whether the chain says the same.
import type { Credit, NodeDetail, Withdrawal } from '@node-ledger/client'
import { Link, useParams } from 'wouter'
import { count } from '../../format.ts'
import { useNode } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Address, Amount, Hash, Mark, Time } from '../../ui/facts.tsx'
import { Figure, Page, Section } from '../../ui/page.tsx'
import { Plot } from '../../ui/plot.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TierName } from './address.tsx'
import { OwnProvider } from './proof.tsx'

/** As many of each list as the service gives. */
const LISTED_MAX = 200

export function NodePage() {
  const { id } = useParams<{ id: string }>()
  const node = useNode(id, LISTED_MAX)
  return (
    <Page title={`Node ${node.data?.nodeId ?? id}`}>
      <Shown reading={node} shape="tiles">
        {(detail) => <NodeFacts node={detail} />}
      </Shown>
    </Page>
  )
}

function NodeFacts({ node }: { node: NodeDetail }) {
  return (
    <>
      <dl className="tiles">
        <Figure name="Balance" note="may be withdrawn by the owner">
          <Amount wei={node.balanceWei} />
        </Figure>
        <Figure
          name="Credited"
          note={
            <>
              next credit <Time at={node.nextCreditAt} none="not scheduled" ahead />
            </>
          }
        >
          <Amount wei={node.creditedWei} />
        </Figure>
        <Figure name="Withdrawn">
          <Amount wei={node.withdrawnWei} />
        </Figure>
        <Figure name="Owner">
          <Address of={node.owner} />
        </Figure>
      </dl>
      <div className="columns">
        <Section title="What it earned">
          <Earned credits={node.credits} />
        </Section>
        <Section title="Record" aside={<ChainMark node={node} />}>
          <dl className="facts">
            <dt>Tier</dt>
            <dd>
              <TierName id={node.tierId} />
            </dd>
            <dt>Paid</dt>
            <dd>
              {node.priceWei === null ? (
                <span className="none">no payment on record</span>
              ) : (
                <Amount wei={node.priceWei} />
              )}
            </dd>
            <dt>Minted</dt>
            <dd>
              <Time at={node.mintedAt} />
            </dd>
            <dt>Payment</dt>
            <dd>
              <Hash of={node.paymentTxHash} />
            </dd>
            <dt>Mint</dt>
            <dd>
              <Hash of={node.mintTxHash} />
            </dd>
          </dl>
          <AgainstChain node={node} />
        </Section>
      </div>
      <Section title="Credits" aside={<Listed all={node.credits.length} what="credit" />}>
        {node.credits.length === 0 ? (
          <Empty title="Not credited yet.">The first turn comes within one interval of the mint.</Empty>
        ) : (
          <Table caption="Credits" rows={node.credits} keyOf={({ id }) => String(id)} columns={CREDITS} />
        )}
      </Section>
      <Section title="Withdrawals" aside={<Listed all={node.withdrawals.length} what="withdrawal" />}>
        {node.withdrawals.length === 0 ? (
          <Empty title="Nothing withdrawn yet." />
        ) : (
          <Table caption="Withdrawals" rows={node.withdrawals} keyOf={({ id }) => String(id)} columns={WITHDRAWALS} />
        )}
      </Section>
    </>
  )
}

function Listed({ all, what }: { all: number; what: string }) {
  return <span className="note">{all < LISTED_MAX ? count(all, what) : `the newest ${LISTED_MAX}`}</span>
}

function ChainMark({ node: { chain } }: { node: NodeDetail }) {
  if (chain === null) return <Mark tone="warn">chain not read</Mark>
  return chain.matchesLedger ? <Mark tone="good">chain says the same</Mark> : <Mark tone="bad">chain differs</Mark>
}

function AgainstChain({ node }: { node: NodeDetail }) {
  return (
    <div className="stack after">
      <ChainSays node={node} />
      <OwnProvider nodeId={node.nodeId} />
    </div>
  )
}

const LIST = new Intl.ListFormat('en')

function ChainSays({ node }: { node: NodeDetail }) {
  const { chain } = node
  if (chain === null)
    return <p className="note">The contract could not be asked just now. This says nothing about the record.</p>
  if (chain.matchesLedger)
    return (
      <p className="note">
        Read from the contract at <Block of={chain.blockNumber} />.
      </p>
    )
  const fields = [
    ['Owner', chain.owner, node.owner],
    ['Balance', chain.balanceWei, node.balanceWei],
    ['Credited', chain.creditedWei, node.creditedWei],
    ['Withdrawn', chain.withdrawnWei, node.withdrawnWei],
  ] as const
  const differing = fields.filter(([, said, kept]) => said !== kept)
  return (
    <>
      <p className="notice warn">
        {LIST.format(differing.map(([name]) => name))} {differing.length === 1 ? 'differs' : 'differ'}. The chain is
        right. At <Block of={chain.blockNumber} /> it says:
      </p>
      <dl className="facts">
        {differing.map(([name, said]) => (
          <div key={name} className="row">
            <dt>{name}</dt>
            <dd>{typeof said === 'bigint' ? <Amount wei={said} exact /> : <Address of={said} />}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Earned({ credits }: { credits: readonly Credit[] }) {
  const points = credits
    .flatMap(({ createdAt, amountWei }) => (createdAt ? [{ at: createdAt, wei: amountWei }] : []))
    .reverse()
  if (points.length === 0) return <Empty title="Nothing yet.">The plot begins with the first credit.</Empty>
  return <Plot points={points} what="credit" />
}

const CREDITS: readonly Column<Credit>[] = [
  {
    heading: 'Round',
    sortBy: ({ distributionId }) => distributionId,
    cell: ({ distributionId }) => <Link href={`/round/${distributionId}`}>#{distributionId}</Link>,
  },
  {
    heading: 'When',
    sortBy: ({ createdAt }) => createdAt?.getTime() ?? 0,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    heading: 'Amount',
    figure: true,
    sortBy: ({ amountWei }) => amountWei,
    cell: ({ amountWei }) => <Amount wei={amountWei} />,
  },
]

const WITHDRAWALS: readonly Column<Withdrawal>[] = [
  {
    heading: 'When',
    sortBy: ({ createdAt }) => createdAt?.getTime() ?? 0,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  { heading: 'To', cell: ({ toAddress }) => <Address of={toAddress} /> },
  { heading: 'Transaction', cell: ({ txHash }) => <Hash of={txHash} /> },
  {
    heading: 'Outcome',
    cell: ({ status }) =>
      status === 'failed' ? <Mark tone="bad">failed, nothing moved</Mark> : <Mark tone="good">paid out</Mark>,
  },
  {
    heading: 'Amount',
    figure: true,
    sortBy: ({ amountWei }) => amountWei,
    cell: ({ amountWei }) => <Amount wei={amountWei} />,
  },
]
