// The credit terms: what a turn pays, whether turns are owed, the schedule; and what the contract's owner has to send for them.
import { Mark, Time } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton, type FieldOf } from '../act.tsx'
import { type Did, type OwnersTransaction, type Terms, useAdmin } from '../admin.ts'
import { etherAndWei } from '../amounts.ts'
import { ENTERED } from '../columns.tsx'
import { Exact } from '../exact.tsx'

const whole = (text: string) => Number(text)
const FIELDS: readonly FieldOf<'terms/preview'>[] = [
  {
    name: 'payouts',
    label: 'Turns due from then on',
    choices: [
      ['', 'as before'],
      ['true', 'are owed'],
      ['false', 'are not owed'],
    ],
  },
  { name: 'minWei', label: 'Least draw of a turn, in ether', ether: true, placeholder: '0.0005' },
  { name: 'maxWei', label: 'Most of it, in ether', ether: true, placeholder: '0.0015' },
  { name: 'intervalSec', label: 'Seconds between two turns of a node', placeholder: '86400', read: whole },
  { name: 'slotSec', label: 'Seconds between the phases of a tier', placeholder: '3600', read: whole },
  {
    name: 'fromTime',
    label: 'Holds from (unix seconds of block time)',
    placeholder: 'five minutes ahead',
    read: whole,
  },
  {
    name: 'zero',
    label: 'Turns that pay nothing',
    choices: [
      ['', 'are refused'],
      ['true', 'are meant'],
    ],
  },
]
/** Extra fields for a ledger without terms. */
const FIRST: readonly FieldOf<'terms/preview'>[] = [
  {
    name: 'before',
    label: 'Turns due before, where the contract has nodes',
    choices: [
      ['', 'there are none'],
      ['same', 'are paid by these terms'],
      ['range', 'are paid by the range below'],
      ['notOwed', 'are not owed'],
    ],
  },
  { name: 'beforeMinWei', label: 'Least draw of turns due before, in ether', ether: true },
  { name: 'beforeMaxWei', label: 'Most of that, in ether', ether: true },
]

export function TermsConsole() {
  const listed = useAdmin('terms')
  return (
    <Section title="Credit terms">
      <Shown reading={listed} lines={6}>
        {({ terms, ownersTransaction }) => (
          <div className="stack">
            {ownersTransaction && <ForTheOwner transaction={ownersTransaction} />}
            <Acts terms={terms} />
            {terms.length === 0 ? (
              <Empty title="No terms yet.">Nothing is judged, minted or paid until there are some.</Empty>
            ) : (
              <Table
                caption="Credit terms"
                rows={[...terms].reverse()}
                keyOf={({ fromTime }) => String(fromTime)}
                columns={COLUMNS}
                first={5}
              />
            )}
          </div>
        )}
      </Shown>
    </Section>
  )
}

function Acts({ terms }: { terms: readonly Terms[] }) {
  const fields = terms.length === 0 ? [...FIELDS, ...FIRST] : FIELDS
  const last = terms.at(-1)
  return (
    <div className="buttons">
      <ActButton
        label="Preview terms"
        act="terms/preview"
        says="Says what would be entered, and what the contract’s owner would have to send. It changes nothing."
        fields={fields}
        did={proposed}
      />
      <ActButton
        main
        label="Enter terms"
        act="terms"
        says="What you fill in changes, from five minutes after the latest block, or from the time you give. Turns due before are paid by the terms of their time. Groups that are open keep their interval until the contract’s owner sets it."
        fields={fields}
        did={proposed}
      />
      {last && last.fromTime > 0 && (
        <ActButton
          label="Take the latest back"
          act="terms/take-back"
          body={{ fromTime: last.fromTime }}
          says="It is refused where the entry holds already."
          did={() => 'Taken back. What was in force before it goes on.'}
          danger
        />
      )}
    </div>
  )
}

/** The answer of a preview or an entry. */
function proposed({ changed, entries, ownersTransaction }: Did<'terms'>) {
  return (
    <>
      {changed
        ? entries.map((entry) => <p key={entry.fromTime}>{inWords(entry)}</p>)
        : 'The latest terms say so already.'}
      {ownersTransaction && <ForTheOwner transaction={ownersTransaction} />}
    </>
  )
}

const inWords = ({ fromTime, payouts, minWei, maxWei, intervalSec, slotSec }: Did<'terms'>['entries'][number]) =>
  `From ${fromTime === 0 ? 'the beginning' : new Date(fromTime * 1000).toISOString()}: turns are ${payouts ? '' : 'not '}owed, ${etherAndWei(minWei)} to ${etherAndWei(maxWei)}, every ${intervalSec} s in slots of ${slotSec} s.`

function ForTheOwner({ transaction: { to, call, data } }: { transaction: OwnersTransaction }) {
  return (
    <div className="notice">
      <p>
        The contract’s owner has to send this. Until it is on chain, turns that are not to be owed are owed, and wait.
      </p>
      <p>
        <code translate="no">{call}</code>
      </p>
      <p>
        To <code translate="no">{to}</code>, data <code translate="no">{data}</code>
      </p>
    </div>
  )
}

const STATES = {
  past: <Mark tone="calm">past</Mark>,
  inForce: <Mark tone="good">in force</Mark>,
  toCome: <Mark tone="calm">to come</Mark>,
}

const COLUMNS: readonly Column<Terms>[] = [
  {
    heading: 'From',
    cell: ({ fromTime }) => (fromTime === 0 ? 'the beginning' : <Time at={new Date(fromTime * 1000)} ahead />),
  },
  { heading: 'State', cell: ({ state }) => STATES[state] },
  { heading: 'Turns', cell: ({ payouts }) => (payouts ? 'owed' : 'not owed') },
  { heading: 'Least a turn', figure: true, cell: ({ minWei }) => <Exact wei={minWei} /> },
  { heading: 'Most a turn', figure: true, cell: ({ maxWei }) => <Exact wei={maxWei} /> },
  { heading: 'Every', figure: true, cell: ({ intervalSec }) => `${intervalSec} s` },
  { heading: 'Slots', figure: true, cell: ({ slotSec }) => `${slotSec} s` },
  ENTERED,
]
