// Tables by TanStack Table: sorted by their headings, each row a card on a phone, with a caption for those who cannot see them.
import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { type ReactNode, useMemo, useState } from 'react'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
})

/** A column: its heading, what a row is sorted by (bigint, number, text; none: cannot be sorted), and what its cell shows. */
export interface Column<Row> {
  heading: string
  sortBy?: (row: Row) => bigint | number | string
  cell: (row: Row) => ReactNode
  /** Figures stand to the right, under one another. */
  figure?: boolean
}

interface TableProps<Row> {
  caption: string
  rows: readonly Row[]
  keyOf: (row: Row) => string
  columns: readonly Column<Row>[]
  /** Rows shown at first; a button shows the rest. */
  first?: number
}

const NO_VALUE = 0

/** Give `columns` as a constant of the module: what changes at each rendering is sorted at each rendering. */
export function Table<Row extends object>({ caption, rows, keyOf, columns, first = 25 }: TableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>([])
  const [all, setAll] = useState(false)
  const definitions = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<typeof features, Row> => ({
          id: column.heading,
          accessorFn: (row) => column.sortBy?.(row) ?? NO_VALUE,
          enableSorting: column.sortBy !== undefined,
          sortFn: 'basic',
        }),
      ),
    [columns],
  )
  const data = useMemo(() => [...rows], [rows])
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: keyOf,
    state: { sorting },
    onSortingChange: setSorting,
  })
  const headings = table.getHeaderGroups()[0]?.headers ?? []
  const sorted = table.getRowModel().rows
  const shown = all ? sorted : sorted.slice(0, first)
  return (
    <div className="table">
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {headings.map((heading, index) => {
              const column = columns[index]
              const direction = heading.column.getIsSorted()
              const ariaSort = direction === false ? 'none' : direction === 'asc' ? 'ascending' : 'descending'
              return (
                <th
                  key={heading.id}
                  scope="col"
                  className={column?.figure ? 'figure' : undefined}
                  aria-sort={heading.column.getCanSort() ? ariaSort : undefined}
                >
                  {heading.column.getCanSort() ? (
                    <button type="button" onClick={heading.column.getToggleSortingHandler()}>
                      {column?.heading}
                      <span aria-hidden="true">{{ none: ' ', ascending: '↑', descending: '↓' }[ariaSort]}</span>
                    </button>
                  ) : (
                    column?.heading
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.id}>
              {columns.map((column) => (
                <td key={column.heading} data-heading={column.heading} className={column.figure ? 'figure' : undefined}>
                  <div>{column.cell(row.original)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < sorted.length && (
        <button type="button" className="button quiet" onClick={() => setAll(true)}>
          {fill(ui.table.all, { n: sorted.length })}
        </button>
      )}
    </div>
  )
}
