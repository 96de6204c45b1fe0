// Columns that several lists of the console share.
import { Time } from '../ui/facts.tsx'
import type { Column } from '../ui/table.tsx'

/** When a row was entered, and by whom. */
function By({ at, by }: { at: Date; by: string }) {
  return (
    <span>
      <Time at={at} /> by {by}
    </span>
  )
}

interface Entered {
  enteredAt: Date
  enteredBy: string
}

/** The column of a version that the operator entered: when and by whom. */
export const ENTERED: Column<Entered> = {
  heading: 'Entered',
  cell: ({ enteredAt, enteredBy }) => <By at={enteredAt} by={enteredBy} />,
}

interface Listed {
  label: string
  reason: string
  addedAt: Date
  addedBy: string
}

/** The columns of a wallet that the operator put on a list: by whom, and the reason. */
export const LISTED: readonly Column<Listed>[] = [
  { heading: 'Name', sortBy: ({ label }) => label, cell: ({ label }) => <span className="whole">{label}</span> },
  { heading: 'Reason', cell: ({ reason }) => <span className="whole">{reason}</span> },
  {
    heading: 'Added',
    sortBy: ({ addedAt }) => addedAt.getTime(),
    cell: ({ addedAt, addedBy }) => <By at={addedAt} by={addedBy} />,
  },
]
