// The wallets that buyers pay to: the present one, the time from which a change holds, and those still watched.
import { Address, Mark, Time } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton, type FieldOf } from '../act.tsx'
import { type Did, type PaymentsWallet, useAdmin } from '../admin.ts'
import { ENTERED } from '../columns.tsx'

const FIELDS: readonly FieldOf<'payment-wallets/preview'>[] = [
  { name: 'address', label: 'Wallet', required: true, placeholder: '0x…' },
  {
    name: 'stolen',
    label: 'The present wallet',
    choices: [
      ['', 'is replaced as planned'],
      ['true', 'was stolen: no later payment to it is a sale'],
    ],
    read: (text) => text === 'true',
  },
]

export function Wallets() {
  const listed = useAdmin('payment-wallets')
  return (
    <Section title="Payments wallets" aside={<Changes />}>
      <Shown reading={listed} lines={4}>
        {({ wallets }) =>
          wallets.length === 0 ? (
            <Empty title="No payments wallet yet.">Nothing can be bought until there is one.</Empty>
          ) : (
            <Table
              caption="Payments wallets"
              rows={[...wallets].reverse()}
              keyOf={({ wallet }) => wallet}
              columns={COLUMNS}
            />
          )
        }
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
        says="Says from when the change would hold. It changes nothing."
        fields={FIELDS}
        did={proposed}
      />
      <ActButton
        main
        label="Change the wallet"
        act="payment-wallets"
        says="Buyers get the new wallet from 64 blocks and five minutes ahead; it is watched from the next block on. If the present one was stolen, they get it from the next block on. It must be a wallet of your own whose key no server holds."
        fields={FIELDS}
        did={proposed}
        danger
      />
    </div>
  )
}

/** The answer of a preview or a change. */
function proposed({ wallet, before, fromBlock, fromTime, graceUntil, stolen }: Did<'payment-wallets'>) {
  if (before === null || graceUntil === null) return <p>Buyers pay to {wallet} from now on.</p>
  return (
    <>
      <p>
        Buyers pay to {wallet} from block {fromBlock.toLocaleString()} on, not before {at(fromTime)}.
      </p>
      <p>
        {stolen
          ? `No later payment to ${before} is a sale.`
          : `A payment to ${before} is a sale until ${at(graceUntil)}, and held after.`}
      </p>
    </>
  )
}

const at = (time: number) => new Date(time * 1000).toISOString()

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
        says={`Buyers never get ${wallet}. Refused once it holds, or once something was paid to it.`}
        did={() => 'Taken back. Buyers go on paying where they pay now.'}
      />
    )
  if (state === 'old')
    return (
      <ActButton
        label="Close its books"
        act="payment-wallets/close"
        body={{ address: wallet }}
        says={`What comes to ${wallet} from the next block on is not seen any more.`}
        did={({ closedBlock: block }) => `Closed with block ${block.toLocaleString()}.`}
        danger
      />
    )
  return closedBlock === null ? null : <>with block {closedBlock.toLocaleString()}</>
}
