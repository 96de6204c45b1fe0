// The trends of the business: sales, held payments and gas, hour by hour or day by day.
import { Fragment, useMemo, useState } from 'react'
import { count, day, etherAsNumber, everyTime, localTime, minuteOfDay, shortEther } from '../../format.ts'
import { Bars } from '../../ui/bars.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Amount, Unknown } from '../../ui/facts.tsx'
import { Facts, Figure, Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type Shape, type TrendBin, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { asText, NONE } from '../values.ts'

const RANGES = ['24h', '7d', '30d', '90d'] as const
type Range = (typeof RANGES)[number]
const RANGE_WORDS: Record<Range, string> = { '24h': '24 h', '7d': '7 days', '30d': '30 days', '90d': '90 days' }

export function Trends() {
  const [range, setRange] = useState<Range>('24h')
  const reading = useAdmin('trends', { range, by: range === '24h' ? 'hour' : 'day' })
  return (
    <>
      <div className="bar">
        <Choice legend="Range" options={RANGES} value={range} choose={setRange} word={(one) => RANGE_WORDS[one]} />
      </div>
      <Shown reading={reading} lines={8}>
        {(trends) => <Plots trends={trends} />}
      </Shown>
    </>
  )
}

/** Returns the same object while its content is unchanged, so that a refresh every few seconds does not redraw the plot. */
function useUnchanged<T>(value: T): T {
  const [last, keep] = useState(value)
  if (last === value || asText(last) === asText(value)) return last
  keep(value)
  return value
}

function Plots({ trends }: { trends: Shape<'Trends'> }) {
  const { bins, by } = useUnchanged(trends)
  const newest = useMemo(() => bins.filter(hasFigures).reverse(), [bins])
  return (
    <>
      <dl className="tiles">
        {TILES.map(([name, kind]) => (
          <Trend key={kind} bins={bins} name={name} kind={kind} isCourse={newest.length > 1} />
        ))}
      </dl>
      <Section title="Figures">
        <div className="stack">
          <Facts
            of={Object.fromEntries(
              REST.map(([name, kind]) => [
                name,
                <Fragment key={kind}>
                  {countOf(bins, kind)}, <Amount wei={sumWei(bins, kind)} plain />
                </Fragment>,
              ]),
            )}
          />
          <p className="note">Payments count at the time of their block, in their present state.</p>
          {newest.length > 1 && (
            <Table
              caption={`Figures by the ${by}, the newest first`}
              rows={newest}
              keyOf={({ startAt }) => startAt.toISOString()}
              columns={COLUMNS}
              first={10}
            />
          )}
        </div>
      </Section>
    </>
  )
}

type Ledger = NonNullable<TrendBin['ledger']>
type Kind = Exclude<keyof Ledger, 'nodes'>

/** The figures that have a tile. */
const TILES: readonly (readonly [name: string, kind: Kind])[] = [
  ['Sold', 'sold'],
  ['Held', 'held'],
  ['Gas of mints', 'mintGas'],
  ['Gas of rounds', 'roundGas'],
]
const CREDITED = ['Credited', 'rounds'] as const
const REST: typeof TILES = [CREDITED, ['Refunded', 'refunded'], ['Dismissed', 'dismissed'], ['Other gas', 'otherGas']]

const weiOf = (ledger: Ledger, kind: Kind): bigint => {
  const figures = ledger[kind]
  return 'feeWei' in figures ? figures.feeWei : figures.valueWei
}
const sumWei = (bins: readonly TrendBin[], kind: Kind) =>
  bins.reduce((total, { ledger }) => total + (ledger ? weiOf(ledger, kind) : 0n), 0n)

/** How many payments, rounds or transactions that were. */
function countOf(bins: readonly TrendBin[], kind: Kind): string {
  const total = bins.reduce((sum, { ledger }) => {
    const figures = ledger?.[kind]
    return sum + (figures ? ('feeWei' in figures ? figures.transactions : figures.count) : 0)
  }, 0)
  return count(total, kind === 'rounds' ? 'round' : /Gas$/.test(kind) ? 'transaction' : 'payment')
}

interface TrendProps {
  /** The bins, oldest first. */
  bins: readonly TrendBin[]
  name: string
  kind: Kind
  /** True if there is more than one bar to show. */
  isCourse: boolean
}

/** The sum of an amount, and its course in small. A bin without a reading stays empty. */
function Trend({ bins, name, kind, isCourse }: TrendProps) {
  return (
    <Figure
      name={name}
      note={
        <>
          {countOf(bins, kind)}
          {isCourse && <Course bins={bins} kind={kind} />}
        </>
      }
    >
      <Exact wei={sumWei(bins, kind)} />
    </Figure>
  )
}

const Course = ({ bins, kind }: Pick<TrendProps, 'bins' | 'kind'>) => (
  <div className="trend">
    <Bars
      bars={bins.map(({ startAt, ledger }) => {
        const wei = ledger && weiOf(ledger, kind)
        const amount = wei === null ? NOT_KNOWN : `${shortEther(wei)} ETH`
        return {
          key: startAt.getTime(),
          value: wei === null ? null : etherAsNumber(wei),
          title: `${everyTime(startAt)}: ${amount}`,
        }
      })}
    />
  </div>
)

/** The amounts of the table, by their headings. */
const AMOUNTS = [...TILES.slice(0, 2), CREDITED, ...TILES.slice(2)]

/** True unless every figure of the bin is zero. A bin without a reading stays, because its figures are not known. */
const hasFigures = ({ ledger }: TrendBin) => !ledger || AMOUNTS.some(([, kind]) => weiOf(ledger, kind) > 0n)

const NOT_KNOWN = 'not known'

/** The start of a bin, in UTC and local time. */
function Beginning({ at }: { at: Date }) {
  const here = localTime(at)
  return (
    <time dateTime={at.toISOString()} title={everyTime(at)}>
      <span className="nowrap">
        {day(at)}, {minuteOfDay(at)} UTC
      </span>
      <br />
      {here && <span className="note nowrap">{here.replace(/:00 /, ' ')}</span>}
    </time>
  )
}

const COLUMNS: readonly Column<TrendBin>[] = [
  { heading: 'From', cell: ({ startAt }) => <Beginning at={startAt} /> },
  ...AMOUNTS.map(([heading, kind]) => ({
    heading,
    figure: true,
    cell: ({ ledger }: TrendBin) => {
      if (!ledger) return <Unknown why={NOT_KNOWN} />
      const wei = weiOf(ledger, kind)
      return wei === 0n ? NONE : <Exact wei={wei} aligned />
    },
  })),
]
