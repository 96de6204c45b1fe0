// The trends of the business: sales, held payments and gas, hour by hour or day by day.
import { useState } from 'react'
import { count, etherAsNumber, everyTime, shortEther } from '../../format.ts'
import { Bars } from '../../ui/bars.tsx'
import { Choice } from '../../ui/choice.tsx'
import { ExactTime, Unknown } from '../../ui/facts.tsx'
import { Figure, Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type Shape, type TrendBin, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { NONE } from '../values.ts'

const RANGES = ['24h', '7d', '30d', '90d'] as const
type Range = (typeof RANGES)[number]
const RANGE_WORDS: Record<Range, string> = { '24h': '24 h', '7d': '7 days', '30d': '30 days', '90d': '90 days' }

export function Trends() {
  const [range, setRange] = useState<Range>('24h')
  const reading = useAdmin('trends', { range })
  return (
    <>
      <div className="bar">
        <Choice legend="Range" options={RANGES} value={range} choose={setRange} word={(one) => RANGE_WORDS[one]} />
      </div>
      <Shown reading={reading} lines={8}>
        {(trends) => <Plots trends={trends} range={range} />}
      </Shown>
    </>
  )
}

function Plots({ trends: { bins, by }, range }: { trends: Shape<'Trends'>; range: Range }) {
  const newest = bins.filter(hasFigures).reverse()
  return (
    <>
      <dl className="tiles trends">
        {KINDS.filter(([, kind], place) => place < MAIN || sumWei(bins, kind) > 0n).map(([name, kind]) => (
          <Trend
            key={kind}
            bins={bins}
            name={name}
            kind={kind}
            by={by}
            none={`Nothing in the last ${RANGE_WORDS[range]}.`}
          />
        ))}
      </dl>
      <p className="note">Payments count at the time of their block, in their present state.</p>
      {newest.length > 1 && (
        <Section title={`By the ${by}`}>
          <Table
            caption={`Figures by the ${by}, the newest first`}
            rows={newest}
            keyOf={({ startAt }) => startAt.toISOString()}
            columns={COLUMNS}
            first={10}
          />
        </Section>
      )}
    </>
  )
}

type Ledger = NonNullable<TrendBin['ledger']>
type Kind = Exclude<keyof Ledger, 'nodes'>

/** So many figures always have a tile, the others only if there are any. */
const MAIN = 3

const KINDS: readonly (readonly [name: string, kind: Kind])[] = [
  ['Sold', 'sold'],
  ['Held', 'held'],
  ['Credited', 'rounds'],
  ['Gas of mints', 'mintGas'],
  ['Gas of rounds', 'roundGas'],
  ['Refunded', 'refunded'],
  ['Dismissed', 'dismissed'],
  ['Other gas', 'otherGas'],
]

const weiOf = (ledger: Ledger, kind: Kind): bigint => {
  const figures = ledger[kind]
  return 'feeWei' in figures ? figures.feeWei : figures.valueWei
}
const bigger = (one: bigint, other: bigint) => (one > other ? one : other)
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
  by: Shape<'Trends'>['by']
  /** Shown in place of bars that all are zero. */
  none: string
}

/** The sum of an amount, and its course in small. A bin without a reading stays empty. */
function Trend({ bins, name, kind, by, none }: TrendProps) {
  const sum = sumWei(bins, kind)
  return (
    <Figure
      name={name}
      note={
        <>
          {countOf(bins, kind)}
          {sum > 0n ? <Course bins={bins} kind={kind} by={by} /> : <p className="trend none">{none}</p>}
        </>
      }
    >
      <Exact wei={sum} />
    </Figure>
  )
}

/** The highest bar's amount stands at the top line. */
const Course = ({ bins, kind, by }: Pick<TrendProps, 'bins' | 'kind' | 'by'>) => (
  <div className="trend">
    <p className="ends">
      <span>by the {by}</span>
      <span>
        {shortEther(bins.reduce((max, { ledger }) => bigger(max, ledger ? weiOf(ledger, kind) : 0n), 0n))} ETH
      </span>
    </p>
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
    <p className="ends">
      <span>{count(bins.length, by)} ago</span>
      <span>now</span>
    </p>
  </div>
)

/** The amounts of the table, by their headings. */
const AMOUNTS = KINDS.slice(0, 5)

/** True unless every figure of the bin is zero. A bin without a reading stays, because its figures are not known. */
const hasFigures = ({ ledger }: TrendBin) => !ledger || AMOUNTS.some(([, kind]) => weiOf(ledger, kind) > 0n)

const NOT_KNOWN = 'not known'

const COLUMNS: readonly Column<TrendBin>[] = [
  { heading: 'From', cell: ({ startAt }) => <ExactTime at={startAt} /> },
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
