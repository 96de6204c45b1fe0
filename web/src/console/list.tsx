// The operator's lists, by the columns that their readings declare for the command line too. A page adds a title, its acts, and the cells that it
// shows in its own way.
import { type ReactNode, useState } from 'react'
import { LISTS } from '../../../api/admin-acts.ts'
import { type ColumnKind, columnOf, type Column as Declared } from '../../../src/operator/columns.ts'
import { limitFigure, sentenceCase } from '../format.ts'
import { Address, Hash, Mark, Time, type Tone } from '../ui/facts.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import type { Read, ReadRoute } from './admin.ts'
import { Exact } from './exact.tsx'
import { Lines } from './lines.tsx'
import { Choice, Find, Pager, usePages } from './pager.tsx'
import { Pairs } from './record.tsx'
import { actorOf, headingOf, inWords, NONE, spanOf } from './values.ts'

type ListRoute = keyof typeof LISTS & ReadRoute
/** A row of a list. */
export type RowOf<Route extends ListRoute> = Read<Route>[(typeof LISTS)[Route]['rows'] &
  keyof Read<Route>] extends readonly (infer Row extends object)[]
  ? Row
  : never

interface Ways<Row> {
  /** The cells of fields that a page shows in its own way. */
  cells?: { readonly [Field in keyof Row]?: (row: Row) => ReactNode }
  /** Fields that the console leaves out. */
  hides?: readonly (keyof Row)[]
  /** Fields that a phone leaves out. */
  onlyWide?: readonly (keyof Row)[]
  /** Fields that come before the others: what a row is about. */
  leads?: readonly (keyof Row)[]
  /** The colours of states that differ from the usual ones. */
  tones?: Readonly<Record<string, Tone>>
  /** The acts for a row. */
  decide?: (row: Row) => ReactNode
}

const TONES: Readonly<Record<string, Tone>> = {
  mined: 'good',
  confirmed: 'good',
  inForce: 'good',
  open: 'good',
  pending: 'calm',
  grace: 'warn',
  reverted: 'bad',
  displaced: 'calm',
  failed: 'bad',
}

/** From when something is in force that no later entry precedes. */
const FIRST = 'the first block'

/** Facts of the entry that is in force. */
export const entryFacts = ({ fromTime, enteredBy, enteredAt }: Entry) => ({
  'In force': fromTime === 0 ? `From ${FIRST}` : <Time at={asTime(fromTime)} ahead />,
  Entered: (
    <>
      By {actorOf(enteredBy)}, <Time at={enteredAt} />
    </>
  ),
})

interface Entry {
  fromTime: number
  enteredBy: string
  enteredAt: Date
}

const asTime = (value: unknown): Date | null =>
  value === null
    ? null
    : value instanceof Date
      ? value
      : new Date(typeof value === 'number' ? value * 1_000 : String(value))

/** How each kind of value is shown. Only `null` comes before these, as a dash. */
const CELLS: Readonly<Record<ColumnKind, (value: never) => ReactNode>> = {
  address: (value: string) => <Address of={value} />,
  answer: (value: { error: string | null; status: number | null }[]) => value.at(-1)?.error ?? value.at(-1)?.status,
  count: (value: number | bigint) => limitFigure(value),
  ether: (value: bigint | string) => <Exact wei={BigInt(value)} aligned />,
  hash: (value: string) => <Hash of={value} />,
  number: (value: number | string) => value,
  record: (value: Record<string, unknown>) => <Pairs of={value} />,
  size: (value: unknown[]) => limitFigure(value.length),
  span: (value: number) => spanOf(value),
  state: (value: string) => <Mark tone={TONES[value] ?? 'calm'}>{inWords(value)}</Mark>,
  text: (value: unknown) => textOf(value),
  time: (value: unknown) => (value === 0 ? sentenceCase(FIRST) : <Time at={asTime(value)} />),
  words: (value: string) => <span title={value}>{inWords(value)}</span>,
}
/** Times that may be yet to come. Any other is never shown in the future, whatever the clock skew. */
const AHEAD = /^(closes|due|expires|opens)At$|^(due|fromTime)$/
const FIGURES: readonly ColumnKind[] = ['count', 'ether', 'size', 'span']

/** These need no heading beside them on a phone. */
const PLAIN: readonly ColumnKind[] = ['address', 'hash', 'state', 'words']
/** Breaks anywhere, because no column is as wide. */
const LONG_WORD = /\S{25}/

function textOf(value: unknown): ReactNode {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object') return <Pairs of={value as Record<string, unknown>} />
  return <span className={LONG_WORD.test(String(value)) ? 'whole' : undefined}>{String(value)}</span>
}

/** Columns of a table, from their declarations. */
export function columnsOf<Row extends object>(
  declarations: readonly Declared[],
  { cells = {}, hides = [], onlyWide = [], leads = [], tones = {}, decide }: Ways<Row> = {},
): readonly Column<Row>[] {
  const isLast = ({ field }: { field: string }) => Number(!leads.includes(field as keyof Row))
  const visible = declarations
    .map(columnOf)
    .filter(({ field }) => !hides.includes(field as keyof Row))
    .sort((one, other) => isLast(one) - isLast(other))
  const columns = visible.map(({ head, field, kind }): Column<Row> => {
    const entryOf = (row: Row) => row[field as keyof Row] ?? null
    const usual = (row: Row) => {
      const value = entryOf(row)
      if (value === null || value === '') return <span className="none">{NONE}</span>
      if (AHEAD.test(field) && value !== 0) return <Time at={asTime(value)} ahead />
      if (/By$/.test(field)) return actorOf(String(value))
      const tone = kind === 'state' && tones[String(value)]
      return tone ? <Mark tone={tone}>{inWords(String(value))}</Mark> : CELLS[kind](value as never)
    }
    return {
      heading: headingOf(head),
      cell: cells[field as keyof Row] ?? usual,
      figure: FIGURES.includes(kind),
      isPlain: PLAIN.includes(kind),
      wideOnly: onlyWide.includes(field as keyof Row),
    }
  })
  return decide ? [...columns, { heading: 'Actions', isPlain: true, cell: decide }] : columns
}

/** Rows on a page of a section, and lines, which are higher. */
const ROWS = 25
const LINES = 15

interface Filter {
  name: string
  label: string
  /** Its values, the one of the whole list first. Without them, a text to enter. */
  choices?: () => readonly (readonly [value: string, text: string])[]
}

interface Listed<Route extends ListRoute> extends Ways<RowOf<Route>> {
  title: string
  aside?: () => ReactNode
  /** Above the list: a text, or what its rows ask to explain. */
  note?: ReactNode | ((rows: readonly RowOf<Route>[]) => ReactNode)
  /** Shown in place of a list without rows. */
  empty: ReactNode
  /** What a row opens to. */
  detail?: (row: RowOf<Route>) => ReactNode
  /** The fields of the reading by which the list can be narrowed. */
  filters?: readonly Filter[]
}

/** A section with one of the operator's lists, page by page. */
export function listSection<Route extends ListRoute>(
  of: Route,
  { title, aside, note, empty, detail, filters = [], ...ways }: Listed<Route>,
): () => ReactNode {
  const { rows: name, columns: declarations } = LISTS[of]
  const columns = columnsOf<RowOf<Route>>(declarations, ways)
  const keys = declarations.slice(0, 2).map((column) => columnOf(column).field)
  const keyOf = (row: RowOf<Route>) =>
    'id' in row ? String(row.id) : keys.map((field) => String(row[field as keyof RowOf<Route>])).join(' ')
  return function List() {
    const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({})
    const choiceOf = ({ name, choices }: Filter) => chosen[name] ?? choices?.()[0]?.[0] ?? ''
    const query = filters.map((filter) => [filter.name, choiceOf(filter)] as const).filter(([, value]) => value !== '')
    const { page, place } = usePages(of, Object.fromEntries(query), detail ? LINES : ROWS)
    const isNarrowed = Object.values(chosen).some((value) => value !== '')
    const narrow = filters.map((filter) => {
      const choose = (value: string) => {
        setChosen({ ...chosen, [filter.name]: value })
        place.go(null)
      }
      return filter.choices ? (
        <Choice key={filter.name} {...filter} choices={filter.choices()} value={choiceOf(filter)} choose={choose} />
      ) : (
        <Find key={filter.name} label={filter.label} find={choose} />
      )
    })
    return (
      <Section title={title} aside={narrow.length > 0 ? narrow : aside?.()}>
        <Shown reading={page} lines={4}>
          {(answer) => {
            const rows = (answer as unknown as Record<string, RowOf<Route>[]>)[name] ?? []
            // A column without anything in it is left out.
            const used = columns.filter(({ cell }) => rows.some((row) => cell(row) !== null))
            const table = { rows, keyOf, columns: used }
            return (
              <div className="stack">
                {typeof note === 'function' ? note(rows) : note}
                {detail && rows.length > 0 ? (
                  <Lines {...table} detail={detail} />
                ) : (
                  <Table
                    {...table}
                    caption={title}
                    first={ROWS}
                    empty={isNarrowed ? <Empty title="None of these." /> : empty}
                  />
                )}
                <Pager place={place} next={'nextCursor' in answer ? (answer.nextCursor as string | null) : null} />
              </div>
            )
          }}
        </Shown>
      </Section>
    )
  }
}
