// The wallets that buyers pay to: the current wallet, when a change takes effect, and wallets that we still watch.
import { Address, Mark, Time } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type PaymentsWallet, useAdmin } from '../admin.ts'
import { ENTERED } from '../columns.tsx'

export function Wallets() {
  const listed = useAdmin('payment-wallets')
  return (
    <Section title="Payments wallets" aside={<Changes />}>
      <Shown reading={listed} lines={4}>
        {({ wallets }) => (
          <Table
            caption="Payments wallets"
            rows={[...wallets].reverse()}
            keyOf={({ wallet }) => wallet}
            columns={COLUMNS}
            empty={<Empty title="No payments wallet yet.">Nothing can be bought until there is one.</Empty>}
          />
        )}
      </Shown>
    </Section>
  )
}

function Changes() {
  return (
    <div className="buttons">
      <ActButton
        label="Preview a change"
        act="payment-wallets/preview"
        says="Shows when the change would take effect. Changes nothing."
      />
      <ActButton
        main
        label="Change the wallet"
        act="payment-wallets"
        says="Buyers see the new wallet after 64 blocks and five minutes; the service watches it from the next block on. If the present one was stolen, buyers see the new one from the next block on. It must be a wallet of your own whose key no server holds."
        danger
      />
    </div>
  )
}

const STATES = {
  toCome: <Mark tone="calm">to come</Mark>,
  inForce: <Mark tone="good">in force</Mark>,
  grace: <Mark tone="warn">grace</Mark>,
  old: <Mark tone="calm">old</Mark>,
  closed: <Mark tone="calm">closed</Mark>,
}

const COLUMNS: readonly Column<PaymentsWallet>[] = [
  { heading: 'Wallet', cell: ({ wallet }) => <Address of={wallet} /> },
  { heading: 'State', cell: ({ state }) => STATES[state] },
  {
    heading: 'From',
    cell: ({ fromBlock, fromTime }) =>
      fromBlock === 0 ? (
        'the beginning'
      ) : (
        <span>
          block {fromBlock.toLocaleString()}, not before <Time at={new Date(fromTime * 1000)} ahead />
        </span>
      ),
  },
  { heading: 'The one before', cell: ({ stolen }) => (stolen ? 'was stolen' : '') },
  ENTERED,
  { heading: 'Decide', cell: (wallet) => <Decide wallet={wallet} /> },
]

function Decide({ wallet: { wallet, state, closedBlock } }: { wallet: PaymentsWallet }) {
  if (state === 'toCome')
    return (
      <ActButton
        label="Take back"
        act="payment-wallets/take-back"
        body={{ address: wallet }}
        says={`Buyers never see ${wallet}. Rejected once it is in force, or has received a payment.`}
      />
    )
  if (state === 'old')
    return (
      <ActButton
        label="Close its books"
        act="payment-wallets/close"
        body={{ address: wallet }}
        says={`From the next block on, the service no longer sees payments to ${wallet}.`}
        danger
      />
    )
  return closedBlock === null ? null : <>with block {closedBlock.toLocaleString()}</>
}
