// The service's transactions, and what is stuck.
import { Link } from 'wouter'
import { count, sentenceCase } from '../../format.ts'
import { Hash } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Shape, useAdmin } from '../admin.ts'
import { columnsOf, listSection } from '../list.tsx'

type Sent = Shape<'Transaction'>

const WHY: Record<Shape<'StuckTransaction'>['why'], string> = {
  nonce: 'The nonce of its account is in doubt, as above.',
  behind: 'An earlier transaction of the same account is stuck.',
  over: 'It has expired. The next run fills its nonce with an empty call, and sends its work again.',
  fee: 'Its fee is too low for the blocks. The service raises it every 12 blocks, up to FEE_CAP_WEI.',
  refused: 'The providers reject it.',
  waiting: 'The providers have it, but no block contains it yet.',
}

const STUCK_SENDERS = columnsOf<Shape<'StuckSender'>>(
  ['sender', ['nonce per providers', 'reported', 'number'], ['per followed blocks', 'known', 'number'], 'sinceBlock'],
  {
    decide: ({ sender, takeOver }) =>
      takeOver ? (
        'The next run adopts it.'
      ) : (
        <ActButton
          label="Adopt nonce"
          act="transactions/free"
          body={{ sender }}
          says="The next run adopts the providers’ nonce, if they still agree, and replaces transactions that can no longer be mined. If a provider may be wrong, wait: after 64 blocks in which all agree, the service does it without you."
          danger
        />
      ),
  },
)

const STUCK = columnsOf<Shape<'StuckTransaction'>>(
  ['sender', 'nonce', 'kind', ['blocks', 'pendingBlocks'], ['attempts', 'attempts', 'number'], 'why'],
  { cells: { why: ({ why, lastOutcome }) => (why === 'refused' ? `${WHY[why]} ${lastOutcome ?? ''}` : WHY[why]) } },
)

/** What keeps an account from sending. Renders nothing if the accounts can send. */
function Stuck() {
  const reading = useAdmin('transactions/stuck')
  return (
    <Shown reading={reading} lines={2}>
      {({ senders, transactions }) =>
        senders.length + transactions.length === 0 ? null : (
          <Section title="Stuck">
            <Table
              caption="Accounts in doubt"
              rows={senders}
              keyOf={({ sender }) => sender}
              columns={STUCK_SENDERS}
              empty={null}
            />
            <Table
              caption="Stuck transactions"
              rows={transactions}
              keyOf={({ id }) => String(id)}
              columns={STUCK}
              empty={null}
            />
          </Section>
        )
      }
    </Shown>
  )
}

export function Transactions() {
  return (
    <>
      <Stuck />
      <SentTransactions />
    </>
  )
}

/** The states by which the list can be narrowed, and what needs an explanation. */
const STATES: Record<Sent['status'], string | null> = {
  pending: null,
  mined: null,
  reverted: 'the contract rejected it, and it changed nothing',
  displaced: 'another transaction took its nonce, so the service sends its work again',
}

/** What a transaction did, or was to do. Its state shows whether it was displaced. */
function Work({ of: { kind, distributionId, orders, openings } }: { of: Sent }) {
  if (kind.startsWith('mint')) return orders > 0 ? `Mint ${count(orders, 'node')}` : 'Mint'
  if (kind.startsWith('openCohorts')) return openings > 0 ? `Open ${count(openings, 'group')}` : 'Open groups'
  if (kind.startsWith('foreign')) return 'Not sent by this service'
  return distributionId === null ? 'Round' : <Link href={`/round/${distributionId}`}>Round {distributionId}</Link>
}

/** The states on the page that do not explain themselves. */
function Explained({ rows }: { rows: readonly Sent[] }) {
  return Object.entries(STATES).map(
    ([state, means]) =>
      means !== null &&
      rows.some(({ status }) => status === state) && (
        <p key={state} className="note">
          <strong>{sentenceCase(state)}</strong>: {means}.
        </p>
      ),
  )
}

const SentTransactions = listSection('transactions', {
  title: 'Transactions',
  filters: [
    {
      name: 'status',
      label: 'State',
      choices: () => [['', 'any state'], ...Object.keys(STATES).map((state) => [state, state] as const)],
    },
  ],
  note: (rows) => <Explained rows={rows} />,
  empty: <Empty title="Nothing sent yet." />,
  // Both are of use only for what is stuck, which has its own table.
  hides: ['pendingSec', 'attempts'],
  leads: ['kind', 'status'],
  onlyWide: ['nonce', 'blockNumber', 'gasUsed'],
  cells: {
    kind: (sent) => <Work of={sent} />,
    txHash: ({ txHash, attempts }) => <Hash of={txHash ?? attempts.at(-1)?.txHash ?? null} />,
  },
})
