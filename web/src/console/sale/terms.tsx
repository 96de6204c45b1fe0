// The credit terms: what a turn pays, whether turns are owed, the schedule. Also what the contract's owner has to send to apply them.
import { everySpan } from '../../format.ts'
import { Mark } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton, itsLine } from '../act.tsx'
import { type Did, type Shape, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { columnsOf, entryFacts } from '../list.tsx'

const FIELDS = ['payouts', 'minWei', 'maxWei', 'intervalSec', 'slotSec', 'fromTime', 'zero'] as const

export function TermsConsole() {
  const reading = useAdmin('terms')
  return (
    <Section title="Terms" aside={reading.data && <Acts terms={reading.data.terms} />}>
      <Shown reading={reading} lines={6}>
        {({ terms, ownersTransaction }) => (
          <div className="stack">
            {ownersTransaction && <ForTheOwner transaction={ownersTransaction} />}
            {terms.length === 0 && (
              <Empty title="No terms yet.">Nothing is judged, minted or paid until there are some.</Empty>
            )}
            {terms
              .filter(({ state }) => state === 'inForce')
              .map((current) => (
                <InForce key={current.fromTime} terms={current} />
              ))}
            {terms.length > 1 && (
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

/** The terms by which turns are paid now, in words. */
function InForce({ terms }: { terms: Shape<'Terms'> }) {
  const { payouts, minWei, maxWei, intervalSec, slotSec } = terms
  return (
    <Facts
      of={{
        Payouts: payouts ? <Mark tone="good">on</Mark> : <Mark tone="warn">off</Mark>,
        'A turn pays': (
          <>
            <Exact wei={minWei} /> to <Exact wei={maxWei} />, drawn on chain, times the rate of the tier
          </>
        ),
        'A node has a turn': `Every ${everySpan(intervalSec)}`,
        'Groups follow each other': <>Every {everySpan(slotSec)}, so that not all nodes are paid in one round</>,
        ...entryFacts(terms),
      }}
    />
  )
}

function Acts({ terms }: { terms: readonly Shape<'Terms'>[] }) {
  // If a ledger has no terms yet, the form also asks for the terms that applied before.
  const form = terms.length === 0 ? {} : { fields: FIELDS }
  const last = terms.at(-1)
  return (
    <>
      <ActButton
        main
        tries
        label="Enter terms"
        act="terms"
        says="Changes the fields that you fill in, from five minutes after the latest block or from the time you give. Earlier turns are paid by the terms of their time."
        warning="Open groups keep their interval until the contract’s owner sets it."
        {...form}
        did={resultOf}
      />
      {last && last.fromTime > 0 && (
        <ActButton
          label="Cancel the latest"
          act="terms/cancel"
          body={{ fromTime: last.fromTime }}
          says="Rejected if the entry is already in force."
          danger
        />
      )}
    </>
  )
}

/** What is entered, or would be. */
function resultOf({ says, ownersTransaction }: Did<'terms'>) {
  return (
    <>
      {itsLine({ says })}
      {ownersTransaction && <ForTheOwner transaction={ownersTransaction} />}
    </>
  )
}

function ForTheOwner({ transaction: { to, call, data } }: { transaction: Shape<'OwnersTransaction'> }) {
  return (
    <div className="notice">
      <p>
        The contract’s owner has to send this. Until it is on chain, the turns that it declares not owed are still owed,
        and wait.
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

const COLUMNS = columnsOf<Shape<'Terms'>>(
  [
    ['from', 'fromTime'],
    'state',
    'payouts',
    ['a turn pays', 'minWei', 'text'],
    ['a node, every', 'intervalSec'],
    ['groups, every', 'slotSec'],
    'enteredBy',
    'enteredAt',
  ],
  {
    cells: {
      payouts: ({ payouts }) => (payouts ? 'on' : 'off'),
      minWei: ({ minWei, maxWei }) => (
        <>
          <Exact wei={minWei} /> to <Exact wei={maxWei} />
        </>
      ),
    },
  },
)
