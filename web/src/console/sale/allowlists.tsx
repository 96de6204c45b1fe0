// The allowlists, and a form to enter a short list. Long lists are entered by command.
import { Empty } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import { listSection } from '../list.tsx'

export const AllowlistsConsole = listSection('allowlists', {
  title: 'Allowlists',
  aside: () => (
    <ActButton
      main
      label="Add a list"
      act="allowlists"
      says="A list never changes, and has no effect until a tier has its root. For more than 300 rows use the command allowlists add."
    />
  ),
  empty: <Empty title="No list yet.">A list limits a tier to the wallets on it.</Empty>,
  cells: { root: ({ root }) => <code translate="no">{root}</code> },
})
