// The allowlists, and a form to enter a short list. Long lists are entered by command.
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Allowlist, useAdmin } from '../admin.ts'
import { ENTERED } from '../columns.tsx'

export function AllowlistsConsole() {
  const lists = useAdmin('allowlists')
  return (
    <Section
      title="Allowlists"
      aside={
        <ActButton
          main
          label="Add a list"
          act="allowlists"
          says="A list never changes, and has no effect until a tier names its root. For more than 300 rows use the command allowlists add."
        />
      }
    >
      <Shown reading={lists} lines={4}>
        {({ allowlists }) => (
          <Table caption="Allowlists" rows={allowlists} keyOf={({ root }) => root} columns={COLUMNS} empty={NONE} />
        )}
      </Shown>
    </Section>
  )
}

const NONE = <Empty title="No list yet.">A tier without a list is open to anyone.</Empty>

const COLUMNS: readonly Column<Allowlist>[] = [
  { heading: 'Name', cell: ({ label }) => <span className="whole">{label}</span> },
  { heading: 'Root', cell: ({ root }) => <code translate="no">{root}</code> },
  { heading: 'Wallets', figure: true, cell: ({ entries }) => entries.toLocaleString() },
  { heading: 'Nodes', figure: true, cell: ({ allocated }) => allocated.toLocaleString() },
  ENTERED,
]
