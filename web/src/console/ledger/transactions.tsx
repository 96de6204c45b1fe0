// The service's transactions, and what is stuck.
import { Address, Hash, Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type StuckSender, type StuckTransaction, type Transaction, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { PAGE, Pager, usePages } from '../pager.tsx'
import { inWords } from '../values.ts'

const TONES: Record<string, Tone> = { mined: 'good', pending: 'warn', reverted: 'bad', displaced: 'bad' }

const SENT: readonly Column<Transaction>[] = [
  { heading: 'Sent', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { heading: 'What', cell: ({ kind }) => inWords(kind) },
  { heading: 'By', cell: ({ sender }) => <Address of={sender} link={false} /> },
  { heading: 'Nonce', figure: true, cell: ({ nonce }) => nonce },
  { heading: 'State', cell: ({ status }) => <Mark tone={TONES[status] ?? 'calm'}>{status}</Mark> },
  { heading: 'Attempts', figure: true, cell: ({ attempts }) => attempts.length },
  { heading: 'Transaction', cell: ({ txHash, attempts }) => <Hash of={txHash ?? attempts.at(-1)?.txHash ?? null} /> },
  { heading: 'Gas', figure: true, cell: ({ gasUsed }) => gasUsed?.toLocaleString() ?? '–' },
  { heading: 'Fee', figure: true, cell: ({ feeWei }) => (feeWei === null ? '–' : <Exact wei={feeWei} hinted />) },
]

const WHY: Record<StuckTransaction['why'], string> = {
  nonce: 'The nonce of its account is in doubt, as above.',
  behind: 'An earlier transaction of the same account is stuck.',
  over: 'It has expired. The next run uses its nonce for an empty call, and sends its work again.',
  fee: 'Its fee is too low for the blocks. The service raises it every 12 blocks, up to FEE_CAP_WEI.',
  refused: 'The providers reject it.',
  waiting: 'The providers have it, but it is in no block yet.',
}

const STUCK_SENDERS: readonly Column<StuckSender>[] = [
  { heading: 'Account', cell: ({ sender }) => <Address of={sender} link={false} /> },
  { heading: 'Nonce per providers', figure: true, cell: ({ said }) => said },
  { heading: 'Per followed blocks', figure: true, cell: ({ known }) => known },
  { heading: 'Since block', figure: true, cell: ({ sinceBlock }) => sinceBlock.toLocaleString() },
  {
    heading: 'Decide',
    cell: ({ sender, takeOver }) =>
      takeOver ? (
        'The next run adopts it.'
      ) : (
        <ActButton
          label="Take over"
          act="transactions/free"
          body={{ sender }}
          says="The next run adopts the providers’ nonce, if they still agree, and replaces transactions that can no longer be mined. If a provider may be wrong, wait: after 64 blocks in which all agree, the service does it without you."
          danger
        />
      ),
  },
]

const STUCK: readonly Column<StuckTransaction>[] = [
  { heading: 'Account', cell: ({ sender }) => <Address of={sender} link={false} /> },
  { heading: 'Nonce', figure: true, cell: ({ nonce }) => nonce },
  { heading: 'What', cell: ({ kind }) => inWords(kind) },
  { heading: 'Blocks', figure: true, cell: ({ pendingBlocks }) => pendingBlocks.toLocaleString() },
  { heading: 'Attempts', figure: true, cell: ({ attempts }) => attempts },
  {
    heading: 'Why',
    cell: ({ why, lastOutcome }) => (why === 'refused' ? `${WHY[why]} ${lastOutcome ?? ''}` : WHY[why]),
  },
]

/** What keeps an account from sending. Renders nothing if the accounts can send. */
function Stuck() {
  const found = useAdmin('transactions/stuck')
  return (
    <Shown reading={found} lines={2}>
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

function SentTransactions() {
  const { page, place } = usePages('transactions')
  return (
    <Section title="Transactions">
      <Shown reading={page} lines={8}>
        {({ transactions, nextCursor }) => (
          <>
            <Table
              caption="Transactions"
              rows={transactions}
              keyOf={({ id }) => String(id)}
              columns={SENT}
              first={PAGE}
              empty={<Empty title="Nothing has been sent yet." />}
            />
            <Pager place={place} next={nextCursor} />
          </>
        )}
      </Shown>
    </Section>
  )
}
