// Webhook endpoints, their deliveries and redelivery. The operator can enter URLs and secrets here, but the console never shows them.
import { useState } from 'react'
import { Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import type { Delivery, Endpoint } from '../admin.ts'
import { listSection } from '../list.tsx'
import { Choice, Pager, usePages } from '../pager.tsx'
import { Pairs } from '../record.tsx'

export function Webhooks() {
  return (
    <>
      <Endpoints />
      <Deliveries />
    </>
  )
}

const Endpoints = listSection('webhooks', {
  title: 'Webhooks',
  aside: () => (
    <ActButton
      main
      label="Add an endpoint"
      act="webhooks"
      says="All instances send events there. If the endpoint exists, its secrets are replaced."
    />
  ),
  note: (
    <p className="note">An endpoint’s name is its host and a digest of its URL. URLs and secrets are never shown.</p>
  ),
  empty: <Empty title="No endpoints yet." />,
  hides: ['failingSince', 'disabledAt'],
  cells: {
    endpoint: ({ endpoint }) => (
      <code translate="no" className="outcome">
        {endpoint}
      </code>
    ),
    active: (endpoint) => <EndpointState of={endpoint} />,
    events: ({ events }) => <span className="whole">{events.replaceAll(',', ', ')}</span>,
  },
  decide: ({ endpoint, active, disabledAt, events }) => (
    <div className="buttons">
      {disabledAt && (
        <ActButton
          main
          label="Send to it again"
          act="webhooks/enable"
          body={{ endpoint }}
          says={`Events go to ${endpoint} again, waiting ones immediately. First check that it accepts them.`}
        />
      )}
      {active && (
        <ActButton
          label="Choose events"
          act="webhooks/events"
          body={{ endpoint }}
          more={{ events: { value: events } }}
          says={`From now on ${endpoint} gets these kinds of events. Waiting events of other kinds are dropped.`}
        />
      )}
      {active && (
        <ActButton
          label="Remove"
          act="webhooks/remove"
          body={{ endpoint }}
          says={`No instance sends events to ${endpoint} any more.`}
          danger
        />
      )}
    </div>
  ),
})

function EndpointState({ of: { active, disabledAt, failingSince, lastSuccessAt } }: { of: Endpoint }) {
  if (!active) return <Mark tone="calm">removed</Mark>
  if (disabledAt) return <Mark tone="bad">given up</Mark>
  if (failingSince) return <Mark tone="warn">failing</Mark>
  return lastSuccessAt ? <Mark tone="good">well</Mark> : <Mark tone="calm">not tried yet</Mark>
}

const STATES = ['pending', 'delivered', 'failed'] as const
const TONES: Record<Delivery['state'], Tone> = { pending: 'warn', delivered: 'good', failed: 'bad' }

function Deliveries() {
  const [state, setState] = useState('')
  const filter = state === '' ? {} : { state }
  const { page, place } = usePages('webhooks/deliveries', filter)
  return (
    <Section
      title="Deliveries"
      aside={
        <Choice
          label="State"
          value={state}
          choices={[['', 'all'], ...STATES.map((one) => [one, one] as const)]}
          choose={(one) => {
            setState(one)
            place.go(null)
          }}
        />
      }
    >
      <Shown reading={page} lines={6}>
        {({ deliveries, nextCursor }) => (
          <>
            {deliveries.length === 0 ? (
              <Empty title={state === '' ? 'Nothing sent yet.' : 'None in this state.'}>
                Deliveries are kept for 30 days.
              </Empty>
            ) : (
              <ul className="rows">
                {deliveries.map((delivery) => (
                  <DeliveryRow key={delivery.id} delivery={delivery} />
                ))}
              </ul>
            )}
            <Pager place={place} next={nextCursor} />
          </>
        )}
      </Shown>
    </Section>
  )
}

const ATTEMPTS: readonly Column<Delivery['log'][number]>[] = [
  { heading: 'Tried', cell: ({ at }) => <Time at={new Date(at)} /> },
  { heading: 'Answer', cell: ({ status, error }) => <span className="whole">{error ?? status}</span> },
  { heading: 'Took', figure: true, cell: ({ durationMs }) => `${durationMs.toLocaleString()} ms` },
]

function DeliveryRow({ delivery: { id, type, eventId, endpoint, state, createdAt, dueAt, event, log } }: RowProps) {
  return (
    <li>
      <details>
        <summary>
          <code translate="no">{type}</code>
          <span>
            <Mark tone={TONES[state]}>{state}</Mark>
          </span>
          <span className="note">
            <Time at={createdAt} />
          </span>
        </summary>
        <div className="stack detail">
          <Facts
            of={{
              To: <code translate="no">{endpoint}</code>,
              Event: <code translate="no">{eventId}</code>,
              'Next attempt': state === 'pending' ? <Time at={dueAt} ahead /> : undefined,
            }}
          />
          <div className="evidence">
            <Pairs of={event.data} />
          </div>
          {log.length > 0 && <Table caption="Attempts" rows={log} keyOf={({ at }) => at} columns={ATTEMPTS} />}
          <div className="buttons">
            <ActButton
              label="Send again"
              act="webhooks/deliveries/{id}/redeliver"
              params={{ id: String(id) }}
              says={`Sends the same ${type} to ${endpoint} once more, under the same id, whether it failed before or not.`}
            />
          </div>
        </div>
      </details>
    </li>
  )
}

interface RowProps {
  delivery: Delivery
}
