// The deny list: the service holds payments from these wallets until the operator has reviewed them.
import { Address } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type DeniedSender, useAdmin } from '../admin.ts'
import { LISTED } from '../columns.tsx'

export function DenyList() {
  const list = useAdmin('senders')
  return (
    <Section
      title="Deny list"
      aside={
        <ActButton
          main
          label="Add a wallet"
          act="senders"
          says="From now on the service holds this wallet’s payments (senderDenied) until you release or refund them. Use it for wallets that pay for others and must not own their nodes, such as an exchange’s. A wallet that is already on the list gets the new name and reason."
        />
      }
    >
      <Shown reading={list} lines={4}>
        {({ senders }) => (
          <Table caption="Deny list" rows={senders} keyOf={({ address }) => address} columns={COLUMNS} empty={NOBODY} />
        )}
      </Shown>
    </Section>
  )
}

const NOBODY = <Empty title="No wallet is on the list.">Only the rules decide about payments, from any sender.</Empty>

const COLUMNS: readonly Column<DeniedSender>[] = [
  { heading: 'Wallet', cell: ({ address }) => <Address of={address} /> },
  ...LISTED,
  {
    heading: 'Decide',
    cell: ({ address, label }) => (
      <ActButton
        label="Take off the list"
        act="senders/{address}/remove"
        params={{ address }}
        says={`From now on only the rules decide about payments from ${label} (${address}). Held payments stay held until you decide.`}
      />
    ),
  },
]
