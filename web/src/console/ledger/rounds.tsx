// The next round: what it would pay, whether the balance covers it, and what blocks it. Also the switch that pauses
// rounds.
import { Link } from 'wouter'
import { count } from '../../format.ts'
import { useHealth, useTiers } from '../../ledger.ts'
import { Amount, Mark } from '../../ui/facts.tsx'
import { Figure, Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Shape, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { columnsOf } from '../list.tsx'
import { NONE } from '../values.ts'

const STOPS: Record<string, string> = {
  nothingDue: 'no node is due now',
  outOfBounds: 'an amount is outside the distributor’s bounds on the contract',
  delayed: 'turns that are not owed wait until the contract’s owner sets a window',
  unknown: 'the payout or the seed of a due turn is unknown',
  behind: 'the ledger is a few blocks behind the chain',
  disabled: 'rounds are switched off by the settings',
  paused: 'rounds are paused by the operator',
  contractPaused: 'the contract is paused',
  halted: 'the passes have halted',
  underfunded: 'the distributor has too little ether',
  pending: 'the last round is still pending',
  notSigned: 'the distributor’s signer does not sign',
  roleLost: 'another account is the contract’s distributor',
  noDistributor: 'this service has no distributor’s key',
  chainUnreachable: 'no provider of the chain returns a block',
}

export function RoundsConsole() {
  const preview = useAdmin('credit/preview')
  return (
    <Section
      title="The next round"
      aside={
        <>
          <Link className="button quiet" href="/rounds">
            Past rounds
          </Link>
          <PauseButton />
        </>
      }
    >
      <Shown reading={preview} lines={6}>
        {(next) => <NextRound next={next} />}
      </Shown>
    </Section>
  )
}

function NextRound({ next: { round, funds, stops, nextDay, blockNumber } }: { next: Shape<'Preview'> }) {
  // The notice about groups without backing tells what this stop would.
  const others = stops.filter((stop) => stop !== 'unpaidNodes')
  const unbacked = round.unbackedCohorts
  const turns = round.turns.map((turn) => ({ ...turn, isHeld: unbacked.includes(turn.cohort) }))
  const heldCount = turns.reduce((sum, { isHeld, nodeCount }) => sum + (isHeld ? nodeCount : 0), 0)
  return (
    <div className="stack">
      <dl className="tiles">
        <Figure
          name="To pay now"
          note={`to ${count(round.nodeCount, 'node')}${heldCount > 0 ? `; ${heldCount.toLocaleString()} due, not credited` : ''}, at block ${blockNumber.toLocaleString()}`}
        >
          <Exact wei={round.totalWei} />
        </Figure>
        <Figure
          name="Distributor holds"
          note={
            funds.sufficient === null ? (
              'we could not check whether that is enough'
            ) : (
              <Mark tone={funds.sufficient ? 'good' : 'bad'}>{funds.sufficient ? 'enough' : 'too little'}</Mark>
            )
          }
        >
          <Exact wei={funds.balanceWei} />
        </Figure>
        <Figure name="The next 24 hours" note={nextDay.maxWei !== null && <AtMost wei={nextDay.maxWei} />}>
          {nextDay.minWei === null ? (
            <Amount wei={null} />
          ) : (
            <>
              at least <Exact wei={nextDay.minWei} />
            </>
          )}
        </Figure>
      </dl>
      {others.length > 0 && (
        <p className="notice">No round now: {others.map((stop) => STOPS[stop] ?? stop).join('; ')}.</p>
      )}
      {unbacked.length > 0 && <Unbacked groups={unbacked} />}
      {round.turns.length > 0 && (
        <Table
          caption="Turns of the next round"
          rows={turns}
          keyOf={({ cohort, due }) => `${cohort} ${due.getTime()}`}
          columns={COLUMNS}
        />
      )}
    </div>
  )
}

const Unbacked = ({ groups }: { groups: readonly number[] }) => (
  <div className="notice warn">
    <p>
      {groups.length === 1
        ? `Group ${groups[0]} has a node without a payment, so it gets no credit.`
        : `Groups ${groups.join(', ')} have nodes without a payment, so they get no credit.`}
    </p>
    <Link className="button" href="/console/nodes">
      See the nodes
    </Link>
  </div>
)

const AtMost = ({ wei }: { wei: bigint }) => (
  <>
    at most <Exact wei={wei} />
  </>
)

/** A turn, and whether a node without a payment keeps its group from being credited. */
type Turn = Shape<'Preview'>['round']['turns'][number] & { isHeld: boolean }

function TierName({ of }: { of: Turn['tierId'] }) {
  const tier = useTiers().data?.find(({ id }) => id === of)
  return tier?.label ?? of ?? NONE
}

const COLUMNS = columnsOf<Turn>(
  [
    ['group', 'cohort'],
    ['tier', 'tierId', 'text'],
    ['due', 'due', 'time'],
    ['turns', 'count'],
    ['nodes', 'nodeCount'],
    ['each', 'amountWei'],
  ],
  {
    leads: ['tierId'],
    cells: {
      tierId: ({ tierId, isHeld }) => (
        <>
          <TierName of={tierId} /> {isHeld && <Mark tone="warn">not credited</Mark>}
        </>
      ),
    },
  },
)

function PauseButton() {
  const { data } = useHealth()
  if (!data) return null
  return data.paused ? (
    <ActButton main label="Resume rounds" act="resume" says="Rounds resume. The next one also pays the missed turns." />
  ) : (
    <ActButton
      danger
      label="Pause rounds"
      act="pause"
      says="No rounds until you resume. The service still follows, judges and mints, and owners can withdraw."
    />
  )
}
