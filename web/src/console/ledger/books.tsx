// The statement of a month, whether it balances, and the files.
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { figure } from '../../format.ts'
import { useTiers } from '../../ledger.ts'
import { Address, Mark } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Failed, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { download, type Statement, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'

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
              As CSV
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
                {kind}
              </button>
            ))}
            {save.isPending && <span role="status">Preparing…</span>}
          </div>
        </div>
      </Section>
    </>
  )
}

type Account = Statement['accounts'][number]
const ACCOUNTS: readonly Column<Account>[] = [
  {
    heading: 'Account',
    cell: ({ name, address }) => (
      <>
        {name} <Address of={address} link={false} />
      </>
    ),
  },
  { heading: 'Opening', figure: true, cell: ({ openingWei }) => <Exact wei={openingWei} hinted /> },
  {
    heading: 'Movements',
    figure: true,
    cell: ({ movements }) =>
      movements.length === 0
        ? 'none'
        : movements.map(({ what, count, wei }) => (
            <div key={what}>
              {what} ({count}): <Exact wei={BigInt(wei)} hinted />
            </div>
          )),
  },
  { heading: 'Other', figure: true, cell: ({ otherWei }) => <Exact wei={otherWei} hinted /> },
  { heading: 'Closing', figure: true, cell: ({ closingWei }) => <Exact wei={closingWei} hinted /> },
]

/** An amount, and how many it is the sum of. */
const Counted = ({ wei, count }: { wei: bigint; count: number }) => (
  <>
    {figure(count)}, <Exact wei={wei} />
  </>
)

function Figures({ statement }: { statement: Statement }) {
  const tiers = useTiers().data ?? []
  const { period, sales, totalSalesWei, assurance, happened, commissions, accounts, balanced, gasWei } = statement
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
      <Facts
        of={{
          ...Object.fromEntries(
            sales.map(({ tierId, count, valueWei }) => [
              `Sales of ${tiers.find(({ id }) => id === tierId)?.label ?? tierId ?? 'no tier'}`,
              <Counted key={tierId} wei={valueWei} count={count} />,
            ]),
          ),
          'Total sales': <Exact wei={totalSalesWei} />,
          ...Object.fromEntries(
            assurance.map(({ of, assurance: rest, count, wei }) => [
              `${of === 'turns' ? 'Turns' : 'Payments'} ${rest ?? 'without evidence'}`,
              <Counted key={`${of} ${rest}`} wei={BigInt(wei)} count={count} />,
            ]),
          ),
          'Credited to nodes': <Exact wei={BigInt(happened.creditedWei ?? 0)} />,
          'Withdrawn by owners': <Exact wei={BigInt(happened.withdrawnWei ?? 0)} />,
          Refunded: <Exact wei={BigInt(happened.refundedWei ?? 0)} />,
          ...Object.fromEntries(
            commissions.map(({ code, payee, count, earnedWei, takenBackWei, paidWei }) => [
              `Commissions of ${code}`,
              <span key={`${code} ${payee}`}>
                {figure(count)}, earned <Exact wei={BigInt(earnedWei)} hinted />, refunded{' '}
                <Exact wei={BigInt(takenBackWei)} hinted />, paid <Exact wei={BigInt(paidWei)} hinted />
              </span>,
            ]),
          ),
          Gas: <Exact wei={gasWei} />,
        }}
      />
      <Table caption="Accounts" rows={accounts} keyOf={({ name }) => name} columns={ACCOUNTS} />
    </div>
  )
}
