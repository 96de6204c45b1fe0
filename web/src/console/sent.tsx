// What the service has sent, and what was done by whom.
import { Address, Amount, Hash, Mark, Time, type Tone } from '../ui/facts.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import type { Entry, Sent } from './admin.ts'
import { PAGE, Pager, usePages } from './pager.tsx'
import { shown } from './payments.tsx'

const TONES: Record<string, Tone> = { mined: 'good', pending: 'warn', reverted: 'bad', displaced: 'bad' }

const SENT: readonly Column<Sent>[] = [
  { heading: 'Sent', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { heading: 'What', cell: ({ kind }) => kind },
  { heading: 'By', cell: ({ sender }) => <Address of={sender} link={false} /> },
  { heading: 'Nonce', figure: true, cell: ({ nonce }) => nonce },
  { heading: 'State', cell: ({ status }) => <Mark tone={TONES[status] ?? 'calm'}>{status}</Mark> },
  { heading: 'Attempts', figure: true, cell: ({ attempts }) => attempts.length },
  { heading: 'Transaction', cell: ({ txHash, attempts }) => <Hash of={txHash ?? attempts.at(-1)?.txHash ?? null} /> },
  { heading: 'Gas', figure: true, cell: ({ gasUsed }) => gasUsed?.toLocaleString('en-US') ?? '–' },
  { heading: 'Fee', figure: true, cell: ({ feeWei }) => (feeWei === null ? '–' : <Amount wei={feeWei} plain />) },
]

export function Transactions() {
  const { page, place } = usePages<{ transactions: Sent[] }>('transactions')
  return (
    <Section title="Transactions">
      <Shown reading={page} lines={8}>
        {({ transactions, nextCursor }) =>
          transactions.length === 0 ? (
            <Empty title="Nothing has been sent yet." />
          ) : (
            <>
              <Table
                caption="Transactions"
                rows={transactions}
                keyOf={({ id }) => String(id)}
                columns={SENT}
                first={PAGE}
              />
              <Pager place={place} next={nextCursor} />
            </>
          )
        }
      </Shown>
    </Section>
  )
}

const AUDIT: readonly Column<Entry>[] = [
  { heading: 'When', cell: ({ at }) => <Time at={new Date(at)} /> },
  { heading: 'Who', cell: ({ actor }) => actor },
  { heading: 'Did', cell: ({ action }) => action },
  { heading: 'To', cell: ({ subject }) => <code className="outcome">{subject ?? '–'}</code> },
  { heading: 'Detail', cell: ({ detail }) => <code className="outcome">{shown(detail)}</code> },
]

export function Audit() {
  const { page, place } = usePages<{ entries: Entry[] }>('audit')
  return (
    <Section title="Audit log">
      <Shown reading={page} lines={8}>
        {({ entries, nextCursor }) =>
          entries.length === 0 ? (
            <Empty title="Nothing yet.">Every act leaves a row here.</Empty>
          ) : (
            <>
              <Table caption="Audit log" rows={entries} keyOf={({ id }) => String(id)} columns={AUDIT} first={PAGE} />
              <Pager place={place} next={nextCursor} />
            </>
          )
        }
      </Shown>
    </Section>
  )
}
