// Webhook endpoints, their deliveries and redelivery. The operator can enter URLs and secrets here, but the console never shows them.
import { short, shortEther } from '../../format.ts'
import { Mark, Time } from '../../ui/facts.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import type { Shape } from '../admin.ts'
import { listSection } from '../list.tsx'
import { Pairs } from '../record.tsx'
import { inWords } from '../values.ts'

export function Webhooks() {
  return (
    <>
      <Endpoints />
      <Deliveries />
    </>
  )
}

const Endpoints = listSection('webhooks', {
  title: 'Endpoints',
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
    endpoint: ({ endpoint }) => <EndpointName of={endpoint} />,
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

const EndpointName = ({ of }: { of: string }) => (
  <code translate="no" className="outcome">
    {of}
  </code>
)

function EndpointState({ of: { active, disabledAt, failingSince, lastSuccessAt } }: { of: Shape<'Endpoint'> }) {
  if (!active) return <Mark tone="calm">removed</Mark>
  if (disabledAt) return <Mark tone="bad">given up</Mark>
  if (failingSince) return <Mark tone="warn">failing</Mark>
  return lastSuccessAt ? <Mark tone="good">OK</Mark> : <Mark tone="calm">not tried yet</Mark>
}

const STATES = ['pending', 'delivered', 'failed'] as const

const ATTEMPTS: readonly Column<Shape<'Delivery'>['log'][number]>[] = [
  { heading: 'Tried', cell: ({ at }) => <Time at={new Date(at)} /> },
  { heading: 'Answer', cell: ({ status, error }) => <span className="whole">{error ?? status}</span> },
  { heading: 'Took', figure: true, cell: ({ durationMs }) => `${durationMs.toLocaleString()} ms` },
]

/** What an event is about: its round, node or tier with the amount, or what an action was done to. */
function aboutOf(data: Readonly<Record<string, unknown>>): string {
  const part = (name: string, inText: (value: string) => string) =>
    (data[name] ?? null) === null ? [] : [inText(String(data[name]))]
  return [
    ...part('distributionId', (id) => `Round ${id}`),
    ...part('nodeId', (id) => `Node ${id}`),
    ...part('tierId', (id) => `Tier ${id}`),
    ...AMOUNTS.flatMap((name) => part(name, (wei) => `${shortEther(BigInt(wei))} ETH`)),
    ...part('reason', inWords),
    ...part('subject', (of) => (of.startsWith('0x') ? short(of) : of)),
  ].join(', ')
}
const AMOUNTS = ['valueWei', 'totalWei', 'amountWei', 'balanceWei']

const Deliveries = listSection('webhooks/deliveries', {
  title: 'Deliveries',
  filters: [
    { name: 'state', label: 'State', choices: () => [['', 'any state'], ...STATES.map((one) => [one, one] as const)] },
  ],
  empty: <Empty title="No deliveries.">They are kept for 30 days.</Empty>,
  hides: ['id', 'attempts', 'endpoint', 'dueAt'],
  onlyWide: ['log'],
  leads: ['type', 'state'],
  tones: { delivered: 'good' },
  cells: {
    type: ({ type, event }) => (
      <>
        <code translate="no">{type}</code> <span className="note">{aboutOf(event.data)}</span>
      </>
    ),
  },
  detail: ({ id, type, eventId, endpoint, dueAt, event, log }) => (
    <>
      <Pairs of={{ endpoint, ...(dueAt && { dueAt }), event: eventId, ...event.data }} />
      {log.length > 0 && <Table caption="Attempts" rows={log} keyOf={({ at }) => at} columns={ATTEMPTS} />}
      <div className="buttons">
        <ActButton
          label="Send again"
          act="webhooks/deliveries/{id}/redeliver"
          params={{ id: String(id) }}
          says={`Sends the same ${type} to ${endpoint} once more, under the same id, whether it failed before or not.`}
        />
      </div>
    </>
  ),
})
