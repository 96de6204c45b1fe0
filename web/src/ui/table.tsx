// Tables: sorted by their headings, each row a card on a phone, with a caption for those who cannot see them.
import { type ReactNode, useMemo, useState } from 'react'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'

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
  /** Shown in place of a table without rows. */
  empty?: ReactNode
}

type Direction = 'ascending' | 'descending'

/** The column that rows are sorted by; null: as they came. */
type Sorting = { index: number; direction: Direction } | null

/** Give `columns` as a constant of the module: what changes at each rendering is sorted at each rendering. */
export function Table<Row extends object>({ caption, rows, keyOf, columns, first = 25, empty }: TableProps<Row>) {
  const [sorting, setSorting] = useState<Sorting>(null)
  const [all, setAll] = useState(false)
  const sorted = useMemo(() => sortedBy(rows, columns, sorting), [rows, columns, sorting])
  const shown = all ? sorted : sorted.slice(0, first)
  if (rows.length === 0 && empty !== undefined) return empty
  return (
    <div className="table">
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ heading, sortBy, figure }, index) => (
              <Heading
                key={heading}
                heading={heading}
                figure={figure}
                direction={sorting?.index === index ? sorting.direction : null}
                turn={sortBy && (() => setSorting(turned(index, sorting, typeof (rows[0] && sortBy(rows[0])))))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.heading} data-heading={column.heading} className={column.figure ? 'figure' : undefined}>
                  <div>{column.cell(row)}</div>
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

interface HeadingProps {
  heading: string
  figure: boolean | undefined
  direction: Direction | null
  /** Sorts by it, the other way round, or no longer; none where it cannot be sorted by. */
  turn: (() => void) | undefined
}

function Heading({ heading, figure, direction, turn }: HeadingProps) {
  return (
    <th scope="col" className={figure ? 'figure' : undefined} aria-sort={turn ? (direction ?? 'none') : undefined}>
      {turn ? (
        <button type="button" onClick={turn}>
          {heading}
          <span aria-hidden="true">{direction === null ? ' ' : SIGNS[direction]}</span>
        </button>
      ) : (
        heading
      )}
    </th>
  )
}

const SIGNS = { ascending: '↑', descending: '↓' } as const

/** Of texts the first ones come first, of figures the largest; then the other way round, then as they came. */
function turned(index: number, sorting: Sorting, kind: string): Sorting {
  const [one, other] =
    kind === 'string' ? (['ascending', 'descending'] as const) : (['descending', 'ascending'] as const)
  if (sorting?.index !== index) return { index, direction: one }
  return sorting.direction === one ? { index, direction: other } : null
}

function sortedBy<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sorting: Sorting): readonly Row[] {
  const sortBy = sorting && columns[sorting.index]?.sortBy
  if (!sorting || !sortBy) return rows
  const sign = sorting.direction === 'ascending' ? 1 : -1
  return rows.toSorted((a, b) => {
    const [one, other] = [sortBy(a), sortBy(b)]
    return one === other ? 0 : one < other ? -sign : sign
  })
}
