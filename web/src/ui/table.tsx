// Tables: each row a card on a phone, with a caption for screen readers.
import { type ReactNode, useState } from 'react'
import { placesIn } from '../format.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { Amount, Time } from './facts.tsx'

/** A column: its heading and its cell. */
export interface Column<Row> {
  heading: string
  cell: (row: Row, places?: number) => ReactNode
  /** The cell's amount. All of a column have as many decimals as the longest, so that digits line up. */
  wei?: (row: Row) => bigint
  /** True if the cell needs no name beside it on a phone. */
  isPlain?: boolean
  /** Aligns the column's figures to the right, so that digits line up. */
  figure?: boolean
  /** True if a phone leaves the column out. */
  wideOnly?: boolean
}

/** A column of times. */
export const timeColumn = <Row,>(heading: string, of: (row: Row) => Date | null): Column<Row> => ({
  heading,
  isPlain: true,
  cell: (row) => <Time at={of(row)} />,
})

/** A column of amounts. */
export const amountColumn = <Row,>(heading: string, wei: (row: Row) => bigint, plain = false): Column<Row> => ({
  heading,
  figure: true,
  wei,
  cell: (row, places) => <Amount wei={wei(row)} plain={plain} places={places} />,
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
const FEW = 3

/** How many columns fit on a phone. */
const SLIM_COLUMNS = 3

export function Table<Row extends object>({ caption, rows, keyOf, columns, first = 25, empty }: TableProps<Row>) {
  const [all, setAll] = useState(false)
  const visibleRows = all || rows.length <= first + FEW ? rows : rows.slice(0, first)
  if (rows.length === 0 && empty !== undefined) return empty
  const places = columns.map(({ wei }) => wei && placesIn(visibleRows.map(wei)))
  return (
    <div className={columns.filter(({ wideOnly }) => !wideOnly).length <= SLIM_COLUMNS ? 'table slim' : 'table'}>
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ heading, figure, wideOnly }) => (
              <th
                key={heading}
                scope="col"
                data-wide={wideOnly ? '' : undefined}
                className={figure ? 'figure' : undefined}
              >
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {visibleRows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, index) => (
                <td
                  key={column.heading}
                  data-heading={column.isPlain ? undefined : column.heading}
                  data-wide={column.wideOnly ? '' : undefined}
                  className={column.figure ? 'figure' : undefined}
                >
                  <div>{column.cell(row, places[index])}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {visibleRows.length < rows.length && (
        <button type="button" className="button quiet" onClick={() => setAll(true)}>
          {fill(ui.table.all, { n: rows.length })}
        </button>
      )}
    </div>
  )
}
