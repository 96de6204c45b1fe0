// Lines under their headings, each of which opens to its details over the whole width.
import type { CSSProperties, ReactNode } from 'react'
import type { Column } from '../ui/table.tsx'

/** Headings above lines that are not a table's. Screen readers hear a line's content without them. */
export const Heads = ({ of, figures = [] }: { of: readonly string[]; figures?: readonly string[] }) => (
  <div className="heads" aria-hidden="true">
    {of.map((heading) => (
      <span key={heading} className={figures.includes(heading) ? 'figure' : undefined}>
        {heading}
      </span>
    ))}
  </div>
)

interface LinesProps<Row> {
  rows: readonly Row[]
  keyOf: (row: Row) => string
  columns: readonly Column<Row>[]
  detail: (row: Row) => ReactNode
}

export function Lines<Row extends object>({ rows, keyOf, columns, detail }: LinesProps<Row>) {
  return (
    <div style={{ '--columns': `2fr repeat(${columns.length - 1}, 1fr)` } as CSSProperties}>
      <div className="headed">
        <Heads of={columns.map(({ heading }) => heading)} />
      </div>
      <ul className="rows lined">
        {rows.map((row) => (
          <li key={keyOf(row)}>
            <details>
              <summary>
                {columns.map(({ heading, isPlain, wideOnly, cell }, index) => (
                  <span
                    key={heading}
                    data-heading={isPlain || index === 0 ? undefined : heading}
                    data-wide={wideOnly ? '' : undefined}
                  >
                    {cell(row)}
                  </span>
                ))}
              </summary>
              <div className="stack detail">{detail(row)}</div>
            </details>
          </li>
        ))}
      </ul>
    </div>
  )
}
