// Tables: sortable by their headings, each row a card on a phone, with a caption for screen readers.
import { type ReactNode, useMemo, useState } from 'react'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { Amount, Time } from './facts.tsx'

/** A column: its heading, its sort value (bigint, number or text; without a value it is not sortable), and its cell. */
export interface Column<Row> {
  heading: string
  sortBy?: (row: Row) => bigint | number | string
  cell: (row: Row) => ReactNode
  /** True if the cell needs no name beside it on a phone. */
  isPlain?: boolean
  /** Aligns the column's figures to the right, so that digits line up. */
  figure?: boolean
  /** True if a phone leaves the column out. */
  wideOnly?: boolean
  /** True if the column is of use only where rows differ in it. Tables show it always. */
  ifDiffers?: boolean
}

/** A column of times, by which the table sorts. */
export const timeColumn = <Row,>(heading: string, of: (row: Row) => Date | null): Column<Row> => ({
  heading,
  isPlain: true,
  sortBy: (row) => of(row)?.getTime() ?? 0,
  cell: (row) => <Time at={of(row)} />,
})

/** A column of amounts, by which the table sorts. */
export const amountColumn = <Row,>(heading: string, of: (row: Row) => bigint): Column<Row> => ({
  heading,
  figure: true,
  sortBy: of,
  cell: (row) => <Amount wei={of(row)} aligned />,
})

interface TableProps<Row> {
  caption: string
  rows: readonly Row[]
  keyOf: (row: Row) => string
  columns: readonly Column<Row>[]
  /** How many rows are shown at first; a button shows the others. */
  first?: number
  /** Shown in place of a table without rows. */
  empty?: ReactNode
}

/** So few more rows are not worth a press. */
const FEW = 5

/** How many columns fit on a phone. */
const SLIM_COLUMNS = 3

type Direction = 'ascending' | 'descending'

/** The column to sort by; null keeps the rows' own order. */
type Sorting = { index: number; direction: Direction } | null

/** A table. Pass `columns` as a module constant: a new array at each render would be sorted at each render. */
export function Table<Row extends object>({ caption, rows, keyOf, columns, first = 25, empty }: TableProps<Row>) {
  const [sorting, setSorting] = useState<Sorting>(null)
  const [all, setAll] = useState(false)
  const sortedRows = useMemo(() => sortedBy(rows, columns, sorting), [rows, columns, sorting])
  const visibleRows = all || rows.length <= first + FEW ? sortedRows : sortedRows.slice(0, first)
  if (rows.length === 0 && empty !== undefined) return empty
  return (
    <div className={columns.length <= SLIM_COLUMNS ? 'table slim' : 'table'}>
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
                turn={sortBy && (() => setSorting(nextSorting(index, sorting, typeof (rows[0] && sortBy(rows[0])))))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {visibleRows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td
                  key={column.heading}
                  data-heading={column.isPlain ? undefined : column.heading}
                  data-wide={column.wideOnly ? '' : undefined}
                  className={column.figure ? 'figure' : undefined}
                >
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {visibleRows.length < sortedRows.length && (
        <button type="button" className="button quiet" onClick={() => setAll(true)}>
          {fill(ui.table.all, { n: sortedRows.length })}
        </button>
      )}
    </div>
  )
}

interface HeadingProps {
  heading: string
  figure: boolean | undefined
  direction: Direction | null
  /** Called on a press: sorts by the column, then in reverse, then not at all. Null if the column is not sortable. */
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

/**
 * The sorting after a press. The first press sorts text from A and figures from the largest, the next reverses that, the third restores the original
 * order.
 */
function nextSorting(index: number, sorting: Sorting, kind: string): Sorting {
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
