// The wallets that buyers pay to: the current wallet, when a change takes effect, and wallets that we still watch.
import { Empty } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import type { Shape } from '../admin.ts'
import { listSection } from '../list.tsx'

export const Wallets = listSection('payment-wallets', {
  title: 'Payments wallet',
  aside: () => (
    <ActButton
      danger
      tries
      label="Change the wallet"
      act="payment-wallets"
      says="Buyers see the new wallet after 64 blocks and five minutes; the service watches it from the next block on. If the present one was stolen, buyers see the new one from the next block on. It must be a wallet of your own whose key no server holds."
    />
  ),
  empty: <Empty title="No payments wallet yet.">Nothing can be bought until there is one.</Empty>,
  reversed: true,
  cells: {
    fromBlock: ({ fromBlock }) => fromBlock || null,
    stolen: ({ stolen }) => (stolen ? 'yes' : null),
    closedBlock: ({ closedBlock }) => closedBlock,
  },
  decide: actFor,
})

function actFor({ wallet, state }: Shape<'PaymentsWallet'>) {
  if (state === 'planned')
    return (
      <ActButton
        label="Cancel change"
        act="payment-wallets/cancel"
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
        says={`From the next block on, the service ignores payments to ${wallet}.`}
        danger
      />
    )
  return null
}
