// The console's first page: what waits for the operator, the state of the passes, and the ledger compared with the chain.
import { Link } from 'wouter'
import { count, HASH, limitFigure, sentenceCase, short } from '../../format.ts'
import { useCover, useHealth, useStats } from '../../ledger.ts'
import { Address, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Figure, Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Shape, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { asText, inUnits, inWords, NONE } from '../values.ts'
import { ToDo } from './to-do.tsx'

export function State() {
  const health = useHealth()
  const cover = useCover()
  const stats = useStats()
  return (
    <>
      <ToDo />
      <dl className="tiles">
        <Figure
          name="Worker"
          note={
            <>
              last run <Time at={health.data?.lastTickAt ?? null} none="never" />
            </>
          }
        >
          {health.data ? <WorkerMark health={health.data} /> : <Unknown why="not known" />}
        </Figure>
        <Figure name="Distributor holds" note="for rounds and their gas">
          <Exact wei={health.data?.distributorBalanceWei ?? null} />
        </Figure>
        <Figure name="Cover" note={stats.data && `${stats.data.totalNodes.toLocaleString()} nodes`}>
          {cover.data?.isSolvent === true && <Mark tone="good">solvent</Mark>}
          {cover.data?.isSolvent === false && <Mark tone="bad">short</Mark>}
          {(cover.data?.isSolvent ?? null) === null && <Unknown />}
        </Figure>
      </dl>
      <AgainstChain />
      <Budget />
    </>
  )
}

/** What the contract's owner still allows the minter and the distributor to do. */
function Budget() {
  const reading = useAdmin('reconciliation')
  return (
    <Section title="Budgets">
      <Shown reading={reading} lines={2}>
        {({ budget }) =>
          budget === null ? (
            <p className="note">Not read yet.</p>
          ) : (
            <div className="stack">
              <dl className="tiles">
                <Figure
                  name="Nodes left to mint"
                  note={`about ${budget.nodesPerWeek.toLocaleString()} a week at the recent pace`}
                >
                  <Left count={budget.nodes} isLow={budget.low.includes('nodes')} />
                </Figure>
                <Figure name="Groups left to open" note={`each new tier uses ${budget.cohortsPerTier}`}>
                  <Left count={budget.cohorts} isLow={budget.low.includes('cohorts')} />
                </Figure>
                <Figure name="Smallest payout" note="for a turn, set in the contract">
                  <Exact wei={budget.floorWei} />
                </Figure>
                <Figure name="Largest payout" note="for a turn, set in the contract">
                  <Exact wei={budget.ceilingWei} />
                </Figure>
              </dl>
              {budget.spent !== null && (
                <p className="notice bad">Work waits: no {budget.spent === 'nodes' ? 'nodes' : 'groups'} are left.</p>
              )}
              {budget.low.length > 0 && (
                <p className="note">
                  The contract’s owner refills them: <code translate="no">node-ledger owner refill-minter</code>{' '}
                  prepares the transaction.
                </p>
              )}
            </div>
          )
        }
      </Shown>
    </Section>
  )
}

function Left({ count, isLow }: { count: number; isLow: boolean }) {
  return (
    <>
      {sentenceCase(limitFigure(count))} {isLow && <Mark tone="warn">low</Mark>}
    </>
  )
}

function WorkerMark({ health }: { health: NonNullable<ReturnType<typeof useHealth>['data']> }) {
  if (health.halted) return <Mark tone="bad">halted</Mark>
  if (health.stuck) return <Mark tone="bad">Stuck at block {health.stuck.block}</Mark>
  if (health.notSigning.length > 0) return <Mark tone="bad">No signature: {health.notSigning.join(', ')}</Mark>
  if (health.paused) return <Mark tone="warn">paused</Mark>
  if (!health.distEnabled) return <Mark tone="calm">rounds off</Mark>
  return health.stale ? <Mark tone="bad">stale</Mark> : <Mark tone="good">running</Mark>
}

type PassRow = NonNullable<Shape<'Reconciliation'>['passes']>[string] & { name: string }

function Ending({ error, outcome }: PassRow) {
  if (error)
    return (
      <>
        <Mark tone="bad">failed</Mark> <span className="note">{error}</span>
      </>
    )
  if (outcome?.signer === 'roleLost') return <Mark tone="bad">role lost</Mark>
  if (outcome?.reason === 'unpaidNodes') return <Mark tone="warn">unpaid node</Mark>
  return outcome?.signer === 'notSigned' ? <Mark tone="bad">not signed</Mark> : <Mark tone="good">OK</Mark>
}

/** What each pass is for. */
const NAMES: Readonly<Record<string, string>> = {
  funds: 'Balances',
  budget: 'Budgets',
  credit: 'Rounds',
  payments: 'Payments',
  reconcile: 'Comparison',
}

const PASSES: readonly Column<PassRow>[] = [
  { heading: 'Pass', cell: ({ name }) => NAMES[name] ?? name },
  { heading: 'Result', cell: (pass) => <Ending {...pass} /> },
  { heading: 'Last run', cell: ({ finishedAt, startedAt }) => <Time at={finishedAt ?? startedAt} /> },
  {
    heading: 'Details',
    cell: ({ outcome }) => <div className="note">{outcomeInWords(outcome ?? {})}</div>,
  },
]

/** Parts of an outcome that are the same each time. */
const SHOWN_ELSEWHERE = ['ran', 'durationMs', 'fromBlock', 'headBlock', 'signer', 'txHash', 'nodeCount']

/** The parts of an outcome that are not empty: "to block 265, 2 nodes due". */
function outcomeInWords(outcome: Record<string, unknown>): string {
  const fields = Object.entries(outcome).filter(
    ([name, value]) => !SHOWN_ELSEWHERE.includes(name) && !EMPTY.includes(asText(value)),
  )
  const part = ([name, value]: [string, unknown]) =>
    name === 'reason'
      ? (REASONS[String(value)] ?? wordOf(value))
      : name === 'dueNodes'
        ? `${count(Number(value), 'node')} due`
        : `${inWords(name)} ${HASH.test(String(value)) ? short(String(value)) : name.endsWith('Wei') ? inUnits(name, value).replace(/ \(\d+ wei\)$/, '') : wordOf(value)}`
  const last = ([name]: [string, unknown]) => Number(name === 'reason')
  return (
    fields
      .toSorted((one, other) => last(one) - last(other))
      .map(part)
      .join(', ') || 'nothing to do'
  )
}
/** Reasons whose codes do not explain themselves. */
const REASONS: Readonly<Record<string, string>> = { unpaidNodes: 'a node has no payment' }
const EMPTY = [NONE, '0', 'false', '[]']
/** A code, such as a reason, in words. */
const wordOf = (value: unknown) =>
  typeof value === 'string' && /^[a-z]+[A-Z]/.test(value) ? inWords(value) : asText(value)

type Drift = NonNullable<Shape<'Reconciliation'>['drift']>['drifts'][number]

const DRIFTS: readonly Column<Drift>[] = [
  {
    heading: 'What',
    cell: ({ kind, name, nodeId, cohort }) => {
      if (nodeId !== undefined) return <Link href={`/node/${nodeId}`}>node {nodeId}</Link>
      return cohort === undefined ? inWords(name ?? kind) : `group ${cohort}`
    },
  },
  { heading: 'Differs by', cell: ({ kind, field }) => (field ? inWords(field) : KINDS[kind]) },
  { heading: 'Ledger', figure: true, cell: ({ field, name, ledger }) => inUnits(field ?? name ?? '', ledger) },
  { heading: 'Chain', figure: true, cell: ({ field, name, chain }) => inUnits(field ?? name ?? '', chain) },
]
const KINDS: Record<Drift['kind'], string> = {
  counter: 'its count',
  node: 'its facts',
  cohort: 'its facts',
  notInLedger: 'missing in the ledger',
  notOnChain: 'missing on chain',
}

function AgainstChain() {
  const reading = useAdmin('reconciliation')
  return (
    <Section
      title="Ledger against chain"
      aside={
        <ActButton
          label="Compare all"
          act="reconciliation/run"
          says="Compares every node and group with the contract at one block, and records what differs. It changes nothing else."
        />
      }
    >
      <Shown reading={reading} lines={6}>
        {({ drift, halted, passes, followed, wallets }) => (
          <div className="stack">
            {halted && (
              <div className="notice bad" role="alert">
                <p>Halted: {halted.reason}. Nothing is sent until this is cleared.</p>
                <ActButton
                  danger
                  label="Clear the halt"
                  act="halt/clear"
                  says="Lets the passes continue with the chain as it is now. They halt again if nothing has changed. First find out why the chain was a different one."
                />
              </div>
            )}
            {drift && drift.count > 0 ? (
              <div className="notice bad">
                <p>
                  {drift.count} differences, found by {drift.by}. The chain is right.
                </p>
                <Table caption="Differences" rows={drift.drifts} keyOf={asText} columns={DRIFTS} />
              </div>
            ) : (
              <p className="buttons">
                <Mark tone="good">no difference on record</Mark>
                <span className="note">Followed to block {followed?.blockNumber.toLocaleString() ?? '–'}.</span>
              </p>
            )}
            {wallets.map((wallet) => (
              <p className="note" key={wallet.address}>
                The payments wallet <Address of={wallet.address} link={false} />
                {wallet.closedBlock === null ? '' : ', closed since,'} is checked up to block{' '}
                {wallet.auditedBlock?.toLocaleString() ?? '–'}. Recorded balance: <Exact wei={wallet.bookedWei} />.
              </p>
            ))}
            <Table
              caption="Passes"
              rows={Object.entries(passes ?? {}).map(([name, pass]) => ({ name, ...pass }))}
              keyOf={({ name }) => name}
              columns={PASSES}
            />
          </div>
        )}
      </Shown>
    </Section>
  )
}
