// The trends of the business: sales, held payments and gas, hour by hour or day by day.
import { useMemo, useState } from 'react'
import { count, day, etherAsNumber, everyTime, localTime, minuteOfDay, shortEther } from '../../format.ts'
import { Bars } from '../../ui/bars.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Amount, Unknown } from '../../ui/facts.tsx'
import { Facts, Figure, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type Shape, type TrendBin, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { asText, NONE } from '../values.ts'

const RANGES = ['24h', '7d', '30d', '90d'] as const
type Range = (typeof RANGES)[number]
const RANGE_WORDS: Record<Range, string> = { '24h': '24 h', '7d': '7 days', '30d': '30 days', '90d': '90 days' }
const STEPS = ['hour', 'day'] as const
type Step = (typeof STEPS)[number]

export function Trends() {
  const [range, setRange] = useState<Range>('24h')
  const [by, setBy] = useState<Step>('hour')
  const reading = useAdmin('trends', { range, by })
  const choose = (next: Range) => {
    setRange(next)
    setBy(next === '24h' || next === '7d' ? 'hour' : 'day')
  }
  return (
    <>
      <div className="bar">
        <Choice legend="Range" options={RANGES} value={range} choose={choose} word={(one) => RANGE_WORDS[one]} />
        <Choice legend="By" options={STEPS} value={by} choose={setBy} word={(one) => `by ${one}`} />
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
        <Trend bins={bins} name="Sold" weiOf={({ sold }) => sold.valueWei} />
        <Trend bins={bins} name="Held" weiOf={({ held }) => held.valueWei} />
        <Trend bins={bins} name="Gas of mints" weiOf={({ mintGas }) => mintGas.feeWei} />
        <Trend bins={bins} name="Gas of rounds" weiOf={({ roundGas }) => roundGas.feeWei} />
      </dl>
      <Section title="Figures">
        <div className="stack">
          <Facts
            of={{
              'Became nodes': <InAll of={bins} name="sold" />,
              Held: <InAll of={bins} name="held" />,
              'Paid back': <InAll of={bins} name="refunded" />,
              Dismissed: <InAll of={bins} name="dismissed" />,
              'Gas of mints': <Spent of={bins} name="mintGas" />,
              'Gas of rounds': <Spent of={bins} name="roundGas" />,
              'Other gas': <Spent of={bins} name="otherGas" />,
            }}
          />
          <p className="note">Payments count at the time of their block, in their present state.</p>
          <Table
            caption={`Figures by the ${by}, the newest first`}
            rows={newest}
            keyOf={({ startAt }) => startAt.toISOString()}
            columns={COLUMNS}
            first={10}
            empty={<Empty title="Nothing happened." />}
          />
        </div>
      </Section>
    </>
  )
}

interface TrendProps {
  /** The bins, oldest first. */
  bins: readonly TrendBin[]
  name: string
  weiOf: (of: Ledger) => bigint
}

/** The sum of an amount, and its course in small. A bin without a reading stays empty. */
function Trend({ bins, name, weiOf }: TrendProps) {
  return (
    <Figure name={name}>
      <Exact wei={sumWei(bins, weiOf)} />
      <div className="trend">
        <Bars
          bars={bins.map(({ startAt, ledger }) => {
            const wei = ledger && weiOf(ledger)
            const amount = wei === null ? NOT_KNOWN : `${shortEther(wei)} ETH`
            return {
              key: startAt.getTime(),
              value: wei === null ? null : etherAsNumber(wei),
              title: `${everyTime(startAt)}: ${amount}`,
            }
          })}
        />
      </div>
    </Figure>
  )
}

type Ledger = NonNullable<TrendBin['ledger']>

/** The amounts of the table, by their headings. */
const AMOUNTS: readonly (readonly [heading: string, weiOf: (of: Ledger) => bigint])[] = [
  ['Sold', ({ sold }) => sold.valueWei],
  ['Held', ({ held }) => held.valueWei],
  ['Credited', ({ rounds }) => rounds.valueWei],
  ['Gas of mints', ({ mintGas }) => mintGas.feeWei],
  ['Gas of rounds', ({ roundGas }) => roundGas.feeWei],
]

/** True unless every figure of the bin is zero. A bin without a reading stays, because its figures are not known. */
const hasFigures = ({ ledger }: TrendBin) => !ledger || AMOUNTS.some(([, weiOf]) => weiOf(ledger) > 0n)

const sum = (bins: readonly TrendBin[], of: (ledger: Ledger) => number) =>
  bins.reduce((total, { ledger }) => total + (ledger ? of(ledger) : 0), 0)
const sumWei = (bins: readonly TrendBin[], of: (ledger: Ledger) => bigint) =>
  bins.reduce((total, { ledger }) => total + (ledger ? of(ledger) : 0n), 0n)

interface InAllProps {
  of: readonly TrendBin[]
  name: 'sold' | 'held' | 'refunded' | 'dismissed'
}

function InAll({ of, name }: InAllProps) {
  const payments = sum(of, (ledger) => ledger[name].count)
  return (
    <>
      {count(payments, 'payment')}
      {payments > 0 && (
        <>
          , <Amount wei={sumWei(of, (ledger) => ledger[name].valueWei)} plain />
        </>
      )}
    </>
  )
}

function Spent({ of, name }: { of: readonly TrendBin[]; name: 'mintGas' | 'roundGas' | 'otherGas' }) {
  return (
    <>
      {count(
        sum(of, (ledger) => ledger[name].transactions),
        'transaction',
      )}
      , <Amount wei={sumWei(of, (ledger) => ledger[name].feeWei)} plain />
    </>
  )
}

const NOT_KNOWN = 'not known'

const wei = (of: (ledger: Ledger) => bigint) => ({
  figure: true,
  cell: ({ ledger }: TrendBin) =>
    !ledger ? <Unknown why={NOT_KNOWN} /> : of(ledger) === 0n ? NONE : <Exact wei={of(ledger)} aligned />,
})

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
  ...AMOUNTS.map(([heading, weiOf]) => ({ heading, ...wei(weiOf) })),
]
