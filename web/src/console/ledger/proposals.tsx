// The second person: the amount above which an act needs a second person, and the acts that wait.
import { Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { ownKey, type Proposal, useAdmin } from '../admin.ts'
import { etherAndWei } from '../amounts.ts'
import { PAGE } from '../pager.tsx'
import { Pairs } from '../record.tsx'
import { SafeFile } from '../safe-file.tsx'

export function Proposals() {
  const reading = useAdmin('proposals')
  return (
    <Section title="Second person" aside={<SetRule />}>
      <Rule />
      <Shown reading={reading} lines={4}>
        {({ proposals }) => (
          <Table
            caption="Proposals"
            rows={proposals}
            keyOf={({ id }) => String(id)}
            columns={COLUMNS}
            first={PAGE}
            empty={<Empty title="Nothing waits for a second person." />}
          />
        )}
      </Shown>
    </Section>
  )
}

function Rule() {
  const { data } = useAdmin('second-person')
  if (!data) return null
  return (
    <p className="note">
      {data.aboveWei === null
        ? 'The rule is off: each act is done at once.'
        : `A release or refund of more than ${etherAndWei(data.aboveWei)} needs a second person; credit terms and the payments wallet always do.`}
    </p>
  )
}

function SetRule() {
  const { data } = useAdmin('second-person')
  return (
    <div className="buttons">
      <ActButton
        main={!data || data.aboveWei === null}
        label="Set the amount"
        act="second-person"
        says="Releases and refunds above it become proposals, which another person confirms. Raising it takes a second person, too."
        fields={['aboveWei']}
        more={{ aboveWei: { required: true } }}
      />
      {data && data.aboveWei !== null && (
        <ActButton
          label="Switch the rule off"
          act="second-person"
          body={{ off: true }}
          fields={[]}
          says="This takes a second person. Open proposals stay open."
          danger
        />
      )}
    </div>
  )
}

const TONES: Record<Proposal['state'], Tone> = {
  open: 'warn',
  confirmed: 'good',
  refused: 'calm',
  failed: 'bad',
  expired: 'calm',
}

const COLUMNS: readonly Column<Proposal>[] = [
  { heading: 'Proposal', figure: true, cell: ({ id }) => id },
  { heading: 'Act', cell: ({ act }) => <code translate="no">{act}</code> },
  { heading: 'With', cell: ({ input }) => <Pairs of={input} /> },
  {
    heading: 'By',
    cell: ({ proposedBy, proposedAt, makerEnded }) => (
      <>
        {proposedBy}, <Time at={proposedAt} /> {makerEnded && <Mark tone="bad">key has ended</Mark>}
      </>
    ),
  },
  {
    heading: 'State',
    cell: ({ state, settledBy, refusal }) => (
      <span className="whole">
        <Mark tone={TONES[state]}>{state}</Mark> {settledBy && `by ${settledBy}`} {refusal}
      </span>
    ),
  },
  { heading: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} ahead /> },
  { heading: 'Decide', cell: (proposal) => proposal.state === 'open' && <Answer proposal={proposal} /> },
]

const isFile = (value: unknown): value is object => typeof value === 'object' && value !== null

function Answer({ proposal: { id, act, proposedBy, makerEnded } }: { proposal: Proposal }) {
  const params = { id: String(id) }
  return (
    <div className="buttons">
      {ownKey()?.label !== proposedBy && !makerEnded && (
        <ActButton
          main
          label="Confirm"
          act="proposals/{id}/confirm"
          params={params}
          says={`Does ${act} now, as ${proposedBy} proposed it, if that is still possible. The audit log has both names.`}
          did={({ says, done: { safeBatch } }) => (
            <div className="stack">
              <p>{says}</p>
              {isFile(safeBatch) && <SafeFile safeBatch={safeBatch} name={`${act}-safe.json`} />}
            </div>
          )}
        />
      )}
      <ActButton label="Refuse" act="proposals/{id}/refuse" params={params} says="The act is not done." danger />
    </div>
  )
}
