// The payments of a wallet, each with its state and a link to its page.
import type { Payment } from '@node-ledger/client'
import { Link } from 'wouter'
import { short } from '../../format.ts'
import { usePaymentsOf } from '../../live.ts'
import { Mark, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words as checkoutWords } from '../../words/checkout.ts'
import { fill } from '../../words/message.ts'
import { words } from '../../words/payment.ts'

const TONES: Record<Payment['status'], Tone> = {
  seen: 'calm',
  accepted: 'calm',
  minting: 'calm',
  minted: 'good',
  held: 'warn',
  refunded: 'calm',
  dismissed: 'warn',
  orphaned: 'warn',
}

const t = words.list
const states = checkoutWords.payments

const columns: readonly Column<Payment>[] = [
  {
    heading: t.payment,
    cell: ({ txHash }) => (
      <Link href={`/payment/${txHash}`}>
        <code className="hex" translate="no">
          {short(txHash)}
        </code>
      </Link>
    ),
  },
  timeColumn(t.paid, ({ paidAt }) => paidAt),
  {
    heading: t.state,
    isPlain: true,
    cell: ({ status }) => <Mark tone={TONES[status]}>{states[status]}</Mark>,
  },
  {
    heading: t.node,
    isPlain: true,
    cell: ({ nodeId }) => nodeId && <Link href={`/node/${nodeId}`}>{fill(t.nodeOf, { id: nodeId })}</Link>,
  },
  amountColumn(t.amount, ({ valueWei }) => valueWei),
]

/** Lists a wallet's payments. Renders nothing if there are none. */
export function PaymentsOf({ address }: { address: string }) {
  const { data } = usePaymentsOf(address)
  if (!data || data.length === 0) return null
  return (
    <Section title={fill(t.count, { n: data.length })}>
      <Table caption={t.title} rows={data} keyOf={({ txHash, paidAt }) => `${txHash} ${paidAt}`} columns={columns} />
    </Section>
  )
}
