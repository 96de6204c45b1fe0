// What waits for the operator, most urgent first, each with the page for handling it.
import { Link } from 'wouter'
import { useCover, useHealth } from '../../ledger.ts'
import { Mark, Time, type Tone } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Waiting } from '../../ui/states.tsx'
import { type Read, type Shape, useAdmin } from '../admin.ts'

interface Task {
  what: string
  tone: Tone
  /** When the oldest began to wait, and how: "paid". */
  since?: readonly [how: string, at: Date | undefined]
  /** The section for handling the task. Null if it is on this page, or outside the console. */
  section: string | null
  how: string
  /** What it stops until then. */
  stops?: string
}

export function ToDo() {
  const counts = useAdmin('payments/counts')
  const proposals = useAdmin('proposals')
  const stuckReading = useAdmin('transactions/stuck')
  const reconciliation = useAdmin('reconciliation')
  const service = useOfService()
  const readings = [counts, proposals, stuckReading, reconciliation]
  const stuckCount = (stuckReading.data?.senders.length ?? 0) + (stuckReading.data?.transactions.length ?? 0)
  const heldCounts = counts.data?.open.filter(({ status }) => status === 'held') ?? []
  const most = counts.data?.atMost
  const open = proposals.data?.proposals.filter(({ state }) => state === 'open') ?? []
  const tasks: Task[] = [
    ...service,
    ...ofChain(reconciliation.data),
    ...taskFor(stuckCount, 'transaction is stuck', 'transactions are stuck', {
      tone: 'bad',
      section: 'transactions',
      how: 'See why',
    }),
    ...taskFor(sumOf(heldCounts), 'payment is held', 'payments are held', {
      tone: 'warn',
      most,
      since: ['paid', oldestOf(heldCounts)],
      section: 'payments',
      how: 'Release or refund',
    }),
    ...taskFor(counts.data?.unpaidNodes, 'node has no payment', 'nodes have no payment', {
      tone: 'warn',
      most,
      section: 'nodes',
      how: 'See the node',
      stops: 'its group gets no credits until you decide',
    }),
    ...taskFor(open.length, 'action waits for a second person', 'actions wait for a second person', {
      tone: 'warn',
      since: ['proposed', open.at(-1)?.proposedAt],
      section: 'proposals',
      how: 'Confirm or refuse',
    }),
  ].sort((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'))
  if (tasks.length === 0 && readings.every(({ isSuccess }) => isSuccess))
    return (
      <p>
        <Mark tone="good">Nothing to do.</Mark>
      </p>
    )
  return (
    <Section title="To do">
      {tasks.length > 0 && (
        <ul className="todo">
          {tasks.map((task, place) => (
            <Row key={task.what} {...task} isFirst={place === 0} />
          ))}
        </ul>
      )}
      {readings.some(({ isPending }) => isPending) && <Waiting lines={2} />}
      {readings.some(({ isError }) => isError) && <p className="notice warn">Some of this could not be read.</p>}
    </Section>
  )
}

function Row({ what, tone, since, section, how, stops, isFirst }: Task & { isFirst: boolean }) {
  return (
    <li>
      {tone === 'bad' && <Mark tone={tone}>now</Mark>}
      <span>
        <strong>{what}</strong>
        {stops && <span className="note">, {stops}</span>}
        {since?.[1] && (
          <span className="note">
            , {/^1 /.test(what) ? since[0] : `the oldest ${since[0]}`} <Time at={since[1]} />
          </span>
        )}
      </span>
      {section === null ? (
        <span className="note">{how}</span>
      ) : (
        <Link href={`/console/${section}`} className={isFirst ? 'button main' : 'button'}>
          {how}
        </Link>
      )}
    </li>
  )
}

type Waits = Read<'payments/counts'>['open']
const sumOf = (waits: Waits) => waits.reduce((sum, { count }) => sum + count, 0)
const oldestOf = ([first, ...others]: Waits): Date | undefined =>
  others.reduce((oldest, { oldestAt }) => (oldest && oldest < oldestAt ? oldest : oldestAt), first?.oldestAt)

/** `most`: how far the service counts. If it reached that, the text shows that. */
const taskFor = (
  n = 0,
  one: string,
  many: string,
  { most = Number.POSITIVE_INFINITY, ...task }: Omit<Task, 'what'> & { most?: number | undefined },
): Task[] =>
  n === 0 ? [] : [{ ...task, what: `${n.toLocaleString()}${n >= most ? ' or more' : ''} ${n === 1 ? one : many}` }]

/** Faults of the service, according to its health and its cover. */
function useOfService(): Task[] {
  const { data: health } = useHealth()
  const { data: cover } = useCover()
  const tasks: Task[] = []
  const add = (what: string, how: string) => tasks.push({ what, tone: 'bad', section: null, how })
  if (health?.halted) add(`Halted: ${health.halted.reason}`, 'Clear the halt below')
  if (health?.stuck) add(`Stuck at block ${health.stuck.block}`, 'See “stuck” in the runbook')
  for (const role of health?.notSigning ?? []) add(`The ${role} does not sign`, 'Check its key or signer')
  if (health?.stale) add('The credit pass has stopped', 'Check that the service runs')
  if (cover?.isSolvent === false) add('The contract holds less than it owes', 'Pause rounds, and see the runbook')
  return tasks
}

/** What the ledger lacks compared with the contract, and budgets that the contract's owner has to refill. */
function ofChain(reconciliation: Shape<'Reconciliation'> | undefined): Task[] {
  if (!reconciliation) return []
  const tasks = taskFor(reconciliation.drift?.count, 'difference from the contract', 'differences from the contract', {
    tone: 'bad',
    section: null,
    how: 'See them below',
  })
  const { budget } = reconciliation
  for (const kind of budget?.low ?? [])
    tasks.push({
      what: budget?.spent === kind ? `No ${NAMES[kind]} are left, and work waits` : `Few ${NAMES[kind]} are left`,
      tone: budget?.spent === kind ? 'bad' : 'warn',
      section: null,
      how: 'The contract’s owner refills them',
    })
  return tasks
}
const NAMES = { nodes: 'nodes to mint', cohorts: 'groups to open' } as const
