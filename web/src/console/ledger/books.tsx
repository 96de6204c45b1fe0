// The statement of a month, whether it balances, and the files.
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { count, figure, sentenceCase } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Address, Mark } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Failed, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { download, type Shape, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { NONE } from '../values.ts'

const EXPORTS = [
  'payments',
  'nodes',
  'credits',
  'withdrawals',
  'refunds',
  'transactions',
  'outflows',
  'commissions',
] as const
const thisMonth = () => new Date().toISOString().slice(0, 7)

export function Books() {
  const [month, setMonth] = useState(thisMonth)
  const statement = useAdmin('statement', { month })
  const save = useMutation({ mutationFn: download })
  return (
    <>
      <Section
        title="Statement"
        aside={
          <div className="buttons">
            <label className="field">
              <span className="visually-hidden">Month</span>
              <input
                type="month"
                value={month}
                max={thisMonth()}
                onChange={(event) => event.target.value && setMonth(event.target.value)}
              />
            </label>
            <button
              type="button"
              className="button"
              disabled={save.isPending}
              onClick={() => save.mutate(`statement.csv?month=${month}`)}
            >
              Download CSV
            </button>
          </div>
        }
      >
        {save.error && <Failed error={save.error} />}
        <Shown reading={statement} lines={8}>
          {(figures) => <Figures statement={figures} />}
        </Shown>
      </Section>
      <Section title="Exports">
        <div className="stack">
          <p className="note">
            For the same month. Each file ends with its number of rows and its totals; a file without that last line is
            incomplete.
          </p>
          <div className="buttons">
            {EXPORTS.map((kind) => (
              <button
                key={kind}
                type="button"
                className="button"
                disabled={save.isPending}
                onClick={() => save.mutate(`exports/${kind}.csv?month=${month}`)}
              >
                {sentenceCase(kind)}
              </button>
            ))}
            {save.isPending && <span role="status">Preparing…</span>}
          </div>
        </div>
      </Section>
    </>
  )
}

type Tiers = NonNullable<ReturnType<typeof useTiers>['data']>
type Account = Shape<'Statement'>['accounts'][number]
const ACCOUNTS: readonly Column<Account>[] = [
  {
    heading: 'Account',
    cell: ({ name, address }) => (
      <>
        {sentenceCase(name)} <Address of={address} link={false} />
      </>
    ),
  },
  { heading: 'Opening', figure: true, cell: ({ openingWei }) => <Exact wei={openingWei} aligned /> },
  {
    heading: 'Movements',
    figure: true,
    cell: ({ movements }) =>
      movements.length === 0
        ? 'none'
        : movements.map(({ what, count, wei }) => (
            <div key={what}>
              {sentenceCase(what)} ({count}) <Exact wei={BigInt(wei)} aligned />
            </div>
          )),
  },
  {
    heading: 'Other',
    figure: true,
    cell: ({ otherWei }) => (otherWei === 0n ? <span className="none">{NONE}</span> : <Exact wei={otherWei} aligned />),
  },
  { heading: 'Closing', figure: true, cell: ({ closingWei }) => <Exact wei={closingWei} aligned /> },
]

/** A line of the statement: how much of what, and of how many if it is a sum. */
interface Line {
  what: string
  count?: number
  wei: bigint
}
const TOTAL = 'Total sales'
const LINES: readonly Column<Line>[] = [
  { heading: 'In this month', cell: ({ what }) => (what === TOTAL ? <strong>{what}</strong> : what) },
  { heading: 'Number', figure: true, cell: ({ count }) => count !== undefined && figure(count) },
  {
    heading: 'Amount',
    figure: true,
    cell: ({ what, wei }) =>
      what === TOTAL ? (
        <strong>
          <Exact wei={wei} aligned />
        </strong>
      ) : (
        <Exact wei={wei} aligned />
      ),
  },
]

/** Who vouches for payments and turns. */
const VOUCHED = {
  proven: 'proven',
  linked: 'checked, not confirmed by the chain yet',
  agreed: 'on which providers agree',
  believed: 'confirmed by one provider only',
} as const

function linesOf({ sales, totalSalesWei, happened, commissions, gasWei }: Shape<'Statement'>, tiers: Tiers): Line[] {
  return [
    ...sales.map(({ tierId, count, valueWei }) => ({
      what: `Sales of ${tiers.find(({ id }) => id === tierId)?.label ?? tierId ?? 'no tier'}`,
      count,
      wei: valueWei,
    })),
    { what: TOTAL, count: sales.reduce((sum, { count }) => sum + count, 0), wei: totalSalesWei },
    { what: 'Credited to nodes', wei: BigInt(happened.creditedWei ?? 0) },
    { what: 'Withdrawn by owners', wei: BigInt(happened.withdrawnWei ?? 0) },
    { what: 'Refunded', wei: BigInt(happened.refundedWei ?? 0) },
    ...commissions.flatMap(({ code, count, earnedWei, reversedWei, paidWei }) => [
      { what: `Commissions of ${code}, earned`, count, wei: BigInt(earnedWei) },
      { what: `Commissions of ${code}, refunded`, wei: BigInt(reversedWei) },
      { what: `Commissions of ${code}, paid`, wei: BigInt(paidWei) },
    ]),
    { what: 'Gas', wei: gasWei },
  ]
}

function Figures({ statement }: { statement: Shape<'Statement'> }) {
  const tiers = useTiers().data ?? []
  const { period, accounts, balanced, assurance } = statement
  return (
    <div className="stack detail">
      <p>
        Blocks {period.opening.blockNumber.toLocaleString()} to {period.closing.blockNumber.toLocaleString()}
        {!period.complete && ', the month so far'}.{' '}
        {balanced === null ? (
          <Mark tone="warn">not every balance could be read</Mark>
        ) : (
          <Mark tone={balanced ? 'good' : 'bad'}>{balanced ? 'adds up to the wei' : 'does not add up'}</Mark>
        )}
      </p>
      <Table
        caption="Sums of the month"
        rows={linesOf(statement, tiers)}
        keyOf={({ what }) => what}
        columns={LINES}
        first={100}
      />
      <div className="note">
        {assurance.map(({ of, assurance: evidence, count: number, wei }) => (
          <p key={`${of} ${evidence}`}>
            {count(number, of === 'turns' ? 'turn' : 'payment')}, <Exact wei={BigInt(wei)} />,{' '}
            {evidence === null ? 'without evidence' : VOUCHED[evidence]}.
          </p>
        ))}
      </div>
      <p className="note">Amounts here are cut to six decimals. The file has every digit.</p>
      <Table caption="Accounts" rows={accounts} keyOf={({ name }) => name} columns={ACCOUNTS} />
    </div>
  )
}
