// The deny list: the service holds payments from these wallets until the operator has reviewed them.
import { Empty } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import { listSection } from '../list.tsx'

export const DenyList = listSection('senders', {
  title: 'Deny list',
  leads: ['label'],
  aside: () => (
    <ActButton
      main
      label="Add a wallet"
      act="senders"
      says="From now on the service holds this wallet’s payments (senderDenied) until you release or refund them. Use it for wallets that pay for others and must not own their nodes, such as an exchange’s. A wallet that is already on the list gets the new name and reason."
    />
  ),
  empty: <Empty title="No wallet is on the list.">Only the rules decide about payments, from any sender.</Empty>,
  decide: ({ address, label }) => (
    <ActButton
      label="Remove"
      title={`Remove ${label} from the list`}
      act="senders/{address}/remove"
      params={{ address }}
      says={`Only the rules decide about new payments from ${label} (${address}). Held payments stay held until you decide.`}
    />
  ),
})
