// The referral codes with their versions, what they earned, and the acts for paying the earnings out.
import { exactTime } from '../../format.ts'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Read, useAdmin } from '../admin.ts'
import { ENTERED } from '../columns.tsx'
import { Exact } from '../exact.tsx'
import { SafeFile } from '../safe-file.tsx'

export function ReferralsConsole() {
  const [codes, commissions] = [useAdmin('referrals'), useAdmin('referrals/commissions')]
  return (
    <>
      <Section
        title="Referral codes"
        aside={
          <ActButton
            main
            label="Register a code"
            act="referrals"
            says="It counts from the next block on. Earlier payments keep the version of their block."
          />
        }
      >
        <Shown reading={codes} lines={4}>
          {({ referrals }) => (
            <Table caption="Referral codes" rows={referrals} keyOf={keyOf} columns={CODES} empty={NONE} />
          )}
        </Shown>
      </Section>
      <Section
        title="Commissions"
        aside={
          <ActButton
            label="File for a Safe"
            act="referrals/commissions/file"
            says="It pays each code what is due. Send only one file, then record its transaction for each code."
            did={({ says, safeBatch }) => (
              <div className="stack">
                <p>{says}</p>
                {safeBatch && <SafeFile safeBatch={safeBatch} name="commissions-safe.json" />}
              </div>
            )}
          />
        }
      >
        <Shown reading={commissions} lines={4}>
          {({ commissions: lines }) => (
            <Table
              caption="Commissions"
              rows={lines}
              keyOf={({ code, payee }) => `${code} ${payee}`}
              columns={COMMISSIONS}
              empty={<Empty title="Nothing earned yet.">A payment earns once it is a node.</Empty>}
            />
          )}
        </Shown>
      </Section>
    </>
  )
}

const NONE = <Empty title="No code yet.">A payment that names a code earns its payee a commission.</Empty>
const timeOf = (unix: number | null) => (unix === null ? '' : exactTime(new Date(unix * 1000)))

type Version = Read<'referrals'>['referrals'][number]
const keyOf = ({ code, version }: Version) => `${code} ${version}`
const CODES: readonly Column<Version>[] = [
  { heading: 'Code', cell: ({ code }) => <span className="whole">{code}</span> },
  { heading: 'From block', figure: true, cell: ({ fromBlock }) => fromBlock.toLocaleString() },
  { heading: 'Basis points', figure: true, cell: ({ commissionBps }) => commissionBps },
  { heading: 'Payee', cell: ({ payee }) => <code translate="no">{payee}</code> },
  { heading: 'Opens', cell: ({ opensAt }) => timeOf(opensAt) },
  { heading: 'Closes', cell: ({ closesAt }) => timeOf(closesAt) },
  ENTERED,
]

const COMMISSIONS: readonly Column<Read<'referrals/commissions'>['commissions'][number]>[] = [
  { heading: 'Code', cell: ({ code }) => <span className="whole">{code}</span> },
  { heading: 'Payments', figure: true, cell: ({ count }) => count.toLocaleString() },
  { heading: 'Earned', figure: true, cell: ({ earnedWei }) => <Exact wei={earnedWei} /> },
  { heading: 'Taken back', figure: true, cell: ({ takenBackWei }) => <Exact wei={takenBackWei} /> },
  { heading: 'Paid', figure: true, cell: ({ paidWei }) => <Exact wei={paidWei} /> },
  { heading: 'Due', figure: true, cell: ({ dueWei }) => <Exact wei={BigInt(dueWei)} /> },
  {
    heading: '',
    cell: ({ code }) => (
      <ActButton
        label="Record a payment"
        act="referrals/{code}/paid"
        params={{ code }}
        says="The chain must show it. One transfer proves one commission."
      />
    ),
  },
]
