// The payments of a wallet, each with its state and a way to its page.
import type { Payment } from '@node-ledger/client'
import { Link } from 'wouter'
import { count, short } from '../../format.ts'
import { usePaymentsOf } from '../../live.ts'
import { Amount, Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'

const STATES: Record<Payment['status'], readonly [Tone, string]> = {
  seen: ['calm', 'in a block'],
  accepted: ['calm', 'accepted'],
  minting: ['calm', 'being minted'],
  minted: ['good', 'minted'],
  held: ['warn', 'held'],
  refunded: ['calm', 'sent back'],
  dismissed: ['warn', 'closed'],
  orphaned: ['warn', 'taken back by the chain'],
}

const COLUMNS: readonly Column<Payment>[] = [
  {
    heading: 'Payment',
    cell: ({ txHash }) => <Link href={`/payment/${txHash}`}>{short(txHash)}</Link>,
  },
  { heading: 'Paid', sortBy: ({ paidAt }) => paidAt?.getTime() ?? 0, cell: ({ paidAt }) => <Time at={paidAt} /> },
  {
    heading: 'Amount',
    figure: true,
    sortBy: ({ valueWei }) => valueWei,
    cell: ({ valueWei }) => <Amount wei={valueWei} />,
  },
  {
    heading: 'State',
    sortBy: ({ status }) => status,
    cell: ({ status }) => <Mark tone={STATES[status][0]}>{STATES[status][1]}</Mark>,
  },
  { heading: 'Node', cell: ({ nodeId }) => nodeId && <Link href={`/node/${nodeId}`}>#{nodeId}</Link> },
]

/** Nothing while there is none. */
export function PaymentsOf({ address }: { address: string }) {
  const { data } = usePaymentsOf(address)
  if (!data || data.length === 0) return null
  return (
    <Section title={count(data.length, 'payment')}>
      <Table caption="Payments" rows={data} keyOf={({ txHash, paidAt }) => `${txHash} ${paidAt}`} columns={COLUMNS} />
    </Section>
  )
}
