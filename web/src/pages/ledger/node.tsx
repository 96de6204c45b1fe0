// Any node: what it earned, what it holds, and whether the chain agrees.
import type { Credit, NodeDetail, Withdrawal } from '@node-ledger/client'
import { Link, useParams } from 'wouter'
import { percent, times } from '../../format.ts'
import { useNode } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Address, Amount, Hash, Mark, Time, Turn, useNow } from '../../ui/facts.tsx'
import { Facts, Page, Section, Summary } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Plot } from '../../ui/plot.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { TierName, ToWithdraw } from './nodes.tsx'
import { OwnProvider } from './own-provider.tsx'

const t = words.node
const f = words.figures

/** No contract lets its owner expel a credited node later than this after its mint. */
const EXPULSION_MAX_MS = 7 * 86_400_000
/** The service returns at most this many entries of each list. */
const LISTED_MAX = 200

export function NodePage() {
  const { id } = useParams<{ id: string }>()
  const node = useNode(id, LISTED_MAX)
  const { data } = node
  return (
    <div className="stack pictured">
      {data && <Picture nodeId={data.nodeId} />}
      <Page
        title={fill(t.title, { id: data?.nodeId ?? id })}
        lead={data && rich(t.lead, { tier: <TierName id={data.tierId} />, time: <Time at={data.mintedAt} /> })}
      >
        <Shown reading={node} shape="tiles">
          {(detail) => <NodeFacts node={detail} />}
        </Shown>
      </Page>
    </div>
  )
}

function Expelled({ node: { expelledAt, paymentTxHash } }: { node: NodeDetail }) {
  if (expelledAt === null) return null
  return (
    <p className="notice warn" role="status">
      <strong>{t.expelled}.</strong> {rich(t.expelledWhy, { time: <Time at={expelledAt} /> })}{' '}
      {paymentTxHash !== null && t.expelledPaid}
    </p>
  )
}

/** Warns the buyer of a paid node from its first owner, for as long as it can be expelled. */
function MayBeExpelled({ node: { expelledAt, paymentTxHash, lastCreditedAt, mintedAt } }: { node: NodeDetail }) {
  const now = useNow()
  const isOld = lastCreditedAt !== null && mintedAt !== null && mintedAt.getTime() + EXPULSION_MAX_MS <= now
  return expelledAt !== null || paymentTxHash === null || isOld ? null : (
    <details className="checked">
      <summary className="unknown-tick">{t.mayBeExpelled}</summary>
      <p className="note">{t.whenExpelled}</p>
    </details>
  )
}

function NodeFacts({ node }: { node: NodeDetail }) {
  return (
    <>
      <Expelled node={node} />
      <div className="columns even">
        <div className="stack">
          <Summary
            name={f.balance}
            act={node.balanceWei > 0n && <ToWithdraw />}
            of={{
              [f.credited]: <Amount wei={node.creditedWei} />,
              [f.withdrawn]: <Amount wei={node.withdrawnWei} />,
              [words.wallet.nextCredit]: node.nextCreditAt ? <Turn at={node.nextCreditAt} /> : t.notScheduled,
            }}
          >
            <Amount wei={node.balanceWei} />
          </Summary>
          <Section title={t.earned}>
            <AgainstCost node={node} />
            <Earned node={node} />
          </Section>
          <Section title={t.withdrawals} aside={<Listed all={node.withdrawals.length} what={t.withdrawalCount} />}>
            <Table
              caption={t.withdrawals}
              rows={node.withdrawals}
              keyOf={({ id }) => String(id)}
              columns={node.withdrawals.some(({ status }) => status === 'failed') ? WITHDRAWALS : USUAL_WITHDRAWALS}
              empty={<Empty title={t.nothingWithdrawn} />}
            />
          </Section>
        </div>
        <div className="stack">
          <Section title={t.record} aside={<ChainMark node={node} />}>
            <Facts
              of={{
                [t.owner]: <Address of={node.owner} />,
                [t.paid]:
                  node.priceWei === null ? <span className="none">{t.noPayment}</span> : <Amount wei={node.priceWei} />,
                [t.payment]: <Hash of={node.paymentTxHash} />,
                [t.mint]: <Hash of={node.mintTxHash} />,
              }}
            />
            <MayBeExpelled node={node} />
            <AgainstChain node={node} />
          </Section>
          <Section title={t.credits} aside={<Listed all={node.credits.length} what={t.creditCount} />}>
            <Table
              caption={t.credits}
              rows={node.credits}
              keyOf={({ id }) => String(id)}
              columns={CREDITS}
              first={7}
              empty={<Empty title={t.notCredited}>{t.firstTurn}</Empty>}
            />
          </Section>
        </div>
      </div>
    </>
  )
}

type Counted = typeof t.creditCount | typeof t.withdrawalCount

function Listed({ all, what }: { all: number; what: Counted }) {
  return <span className="note">{all < LISTED_MAX ? fill(what, { n: all }) : fill(t.newest, { max: LISTED_MAX })}</span>
}

function ChainMark({ node: { chain } }: { node: NodeDetail }) {
  if (chain === null) return <Mark tone="warn">{t.notRead}</Mark>
  return chain.matchesLedger ? <Mark tone="good">{t.same}</Mark> : <Mark tone="bad">{t.differs}</Mark>
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
  if (chain === null) return <p className="note">{t.notAsked}</p>
  if (chain.matchesLedger) return <p className="note">{rich(t.readAt, { block: <Block of={chain.blockNumber} /> })}</p>
  const fields = [
    [t.owner, chain.owner, node.owner],
    [f.balance, chain.balanceWei, node.balanceWei],
    [f.credited, chain.creditedWei, node.creditedWei],
    [f.withdrawn, chain.withdrawnWei, node.withdrawnWei],
  ] as const
  const differing = fields.filter(([, onChain, inLedger]) => onChain !== inLedger)
  return (
    <>
      <p className="notice warn">
        {rich(t.chainSays, {
          n: differing.length,
          fields: LIST.format(differing.map(([name]) => name)),
          block: <Block of={chain.blockNumber} />,
        })}
      </p>
      <Facts
        of={Object.fromEntries(
          differing.map(([name, onChain]) => [
            name,
            typeof onChain === 'bigint' ? (
              <Amount key={name} wei={onChain} exact />
            ) : (
              <Address key={name} of={onChain} />
            ),
          ]),
        )}
      />
    </>
  )
}

/** How much of its price a node has earned back. */
function AgainstCost({ node: { creditedWei, priceWei } }: { node: NodeDetail }) {
  if (priceWei === null || priceWei === 0n) return null
  const bps = Number((creditedWei * 10_000n) / priceWei)
  return (
    <div className="cost">
      <p>
        {rich(bps < 20_000 ? t.ofCost : t.timesCost, {
          strong: (text) => <strong>{text}</strong>,
          share: bps < 20_000 ? percent(bps) : times(Math.floor(bps / 1_000) * 1_000),
          earned: <Amount wei={creditedWei} plain />,
          paid: <Amount wei={priceWei} plain />,
        })}
      </p>
      <meter min={0} max={10_000} value={Math.min(bps, 10_000)} aria-hidden="true" />
    </div>
  )
}

function Earned({ node: { credits } }: { node: NodeDetail }) {
  const points = credits
    .flatMap(({ createdAt, amountWei }) => (createdAt ? [{ at: createdAt, wei: amountWei }] : []))
    .reverse()
  if (points.length === 0) return <Empty title={t.nothingYet}>{t.plotBegins}</Empty>
  return <Plot points={points} what="credit" />
}

const CREDITS: readonly Column<Credit>[] = [
  {
    heading: t.round,
    cell: ({ distributionId }) => (
      <Link href={`/round/${distributionId}`} className="nowrap">
        {fill(words.round.title, { id: distributionId })}
      </Link>
    ),
  },
  timeColumn(t.when, ({ createdAt }) => createdAt),
  amountColumn(t.amount, ({ amountWei }) => amountWei),
]

const WITHDRAWALS: readonly Column<Withdrawal>[] = [
  timeColumn(t.when, ({ createdAt }) => createdAt),
  { heading: t.to, cell: ({ toAddress }) => <Address of={toAddress} /> },
  { heading: t.transaction, cell: ({ txHash }) => <Hash of={txHash} /> },
  {
    heading: t.outcome,
    cell: ({ status }) =>
      status === 'failed' ? <Mark tone="bad">{t.failed}</Mark> : <Mark tone="good">{t.paidOut}</Mark>,
  },
  amountColumn(t.amount, ({ amountWei }) => amountWei),
]

/** Nearly always all are paid out. */
const USUAL_WITHDRAWALS = WITHDRAWALS.filter(({ heading }) => heading !== t.outcome)
