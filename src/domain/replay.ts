// Replays the factory's events onto the cohorts, as the contract did. Computes how a range of blocks changes the ledger without reading the chain's
// state. Pure: the same events give the same ledger after any restart.
import type { FactoryEvent, Position } from './observed.ts'
import { type CohortState, effectiveDue } from './schedule.ts'
import { type Address, type Hash, type Wei, wei, ZERO_ADDRESS } from './units.ts'

/** A cohort as the ledger followed it. Times are unix seconds. */
export interface LedgerCohort extends CohortState {
  /** Total credit of a node that has been in it from the start. */
  perNodeWei: Wei
  /** How many credits it has had; one credit may cover several turns. */
  turnCount: number
  lastTurnAt: number | null
  openedBlock: number
  openedHash: Hash
}

type Stamp = Omit<Position, 'txIndex'>
type EventOf<Kind extends FactoryEvent['kind']> = Extract<FactoryEvent, { kind: Kind }>

export type NewNode = Stamp &
  Pick<EventOf<'nodeMinted'>, 'nodeId' | 'owner' | 'cohort' | 'ref' | 'proof'> & {
    tierNo: number
    perNodeAtMintWei: Wei
    turnsAtMint: number
  }
export type OwnershipChange = Stamp & Pick<EventOf<'transfer'>, 'nodeId' | 'from' | 'to' | 'logIndex'>
export interface NewRound extends Stamp {
  round: number
  mode: 'treasury' | 'swaps'
  totalWei: Wei
  /** Zero if the round only skipped turns. */
  nodeCount: number
}
/** A round's credit to the nodes of a cohort, for one turn or several. */
export interface NewTurn {
  round: number
  cohort: number
  tierNo: number
  /** Number of the credit within its cohort. */
  turnNo: number
  /** The due time of the first of the turns, and the number of turns. */
  due: number
  turns: number
  /** Seconds from one turn to the next. */
  intervalSec: number
  amountWei: Wei
  nodeCount: number
}
/** Turns of a cohort that were skipped as not owed. */
export type NewSkip = Pick<EventOf<'turnsSkipped'>, 'round' | 'cohort' | 'due' | 'turns'>
/** A node that moved from its cohort to the closed cohort, with its credits there and their number. */
export type NewExpulsion = Stamp &
  Pick<EventOf<'nodeExpelled'>, 'nodeId' | 'cohort' | 'creditedWei'> & {
    /** How many credits its cohort had had by then. */
    turnCount: number
  }
export type NewOwnerAct = Stamp & Pick<EventOf<'ownerAct'>, 'name' | 'detail' | 'logIndex'>
export type NewWithdrawal = Stamp &
  Pick<EventOf<'withdrawn'>, 'nodeId' | 'to' | 'amountWei' | 'withdrawnTotalWei' | 'logIndex'>

export interface ReplayedChanges {
  nodes: NewNode[]
  transfers: OwnershipChange[]
  rounds: NewRound[]
  turns: NewTurn[]
  skips: NewSkip[]
  withdrawals: NewWithdrawal[]
  expulsions: NewExpulsion[]
  ownerActs: NewOwnerAct[]
  /** Orders that a mint skipped, with the contract's reason. */
  skipped: Pick<EventOf<'mintSkipped'>, 'ref' | 'reason' | 'txHash'>[]
  /** Orders whose ref already belonged to another wallet's node. */
  refsTaken: Pick<EventOf<'refTaken'>, 'ref' | 'nodeId' | 'to' | 'txHash'>[]
  /** Cohorts at the end of the range. */
  cohorts: Map<number, LedgerCohort>
  /** Each changed cohort, after each block in which it changed. */
  cohortStates: Map<string, { blockNumber: number; state: LedgerCohort }>
}

/** Thrown if events need something that the ledger does not know, because it was not followed from the factory's first block. */
export class MissingHistory extends Error {}

/** Replays events in chain order onto the ledger's cohorts. Does not change its input. */
export function replay(
  ledgerCohorts: ReadonlyMap<number, LedgerCohort>,
  events: readonly FactoryEvent[],
): ReplayedChanges {
  const changes: ReplayedChanges = {
    nodes: [],
    transfers: [],
    rounds: [],
    turns: [],
    skips: [],
    withdrawals: [],
    expulsions: [],
    ownerActs: [],
    skipped: [],
    refsTaken: [],
    cohorts: new Map(),
    cohortStates: new Map(),
  }
  for (const event of events) apply(changes, ledgerCohorts, event)
  return changes
}

function apply(changes: ReplayedChanges, ledgerCohorts: ReadonlyMap<number, LedgerCohort>, event: FactoryEvent): void {
  const stamp = {
    blockNumber: event.blockNumber,
    blockHash: event.blockHash,
    blockTime: event.blockTime,
    txHash: event.txHash,
  }
  switch (event.kind) {
    case 'cohortOpened':
      change(changes, event.blockNumber, opened(event))
      break
    case 'intervalSet':
      change(changes, event.blockNumber, {
        ...cohortOf(changes, ledgerCohorts, event.cohort),
        intervalSec: event.intervalSec,
      })
      break
    case 'nodeMinted':
      applyMinted(changes, ledgerCohorts, event)
      break
    case 'mintSkipped':
      changes.skipped.push(event)
      break
    case 'refTaken':
      changes.refsTaken.push(event)
      break
    case 'nodeExpelled': {
      const cohort = cohortOf(changes, ledgerCohorts, event.cohort)
      changes.expulsions.push({ ...event, turnCount: cohort.turnCount })
      // Never below zero, because the ledger may lack the node until the reconciler finds it.
      change(changes, event.blockNumber, { ...cohort, size: Math.max(0, cohort.size - 1) })
      break
    }
    case 'transfer':
      changes.transfers.push(event)
      break
    case 'credited':
      applyCredited(changes, ledgerCohorts, event, stamp)
      break
    case 'turnsSkipped':
      applySkipped(changes, ledgerCohorts, event, stamp)
      break
    case 'surplusSpent':
      roundOf(changes, event.round, stamp).mode = 'swaps'
      break
    case 'ownerAct':
      changes.ownerActs.push(event)
      break
    case 'withdrawn':
      changes.withdrawals.push(event)
      break
  }
}

function opened(event: EventOf<'cohortOpened'>): LedgerCohort {
  return {
    cohort: event.cohort,
    tierNo: event.tierNo,
    intervalSec: event.intervalSec,
    nextDue: event.firstDue,
    size: 0,
    perNodeWei: wei(0n),
    turnCount: 0,
    lastTurnAt: null,
    openedBlock: event.blockNumber,
    openedHash: event.blockHash,
  }
}

function applyMinted(
  changes: ReplayedChanges,
  ledgerCohorts: ReadonlyMap<number, LedgerCohort>,
  event: EventOf<'nodeMinted'>,
): void {
  const cohort = cohortOf(changes, ledgerCohorts, event.cohort)
  const { tierNo, perNodeWei: perNodeAtMintWei, turnCount: turnsAtMint } = cohort
  changes.nodes.push({ ...event, tierNo, perNodeAtMintWei, turnsAtMint })
  // A past turn of an empty cohort is owed to no node. When the first node joins, the contract therefore sets a later due time.
  const nextDue = effectiveDue(cohort, event.blockTime)
  change(changes, event.blockNumber, { ...cohort, nextDue, size: cohort.size + 1 })
}

function applySkipped(
  changes: ReplayedChanges,
  ledgerCohorts: ReadonlyMap<number, LedgerCohort>,
  { round, cohort: number, due, turns, blockNumber }: EventOf<'turnsSkipped'>,
  stamp: Stamp,
): void {
  const cohort = cohortOf(changes, ledgerCohorts, number)
  roundOf(changes, round, stamp)
  changes.skips.push({ round, cohort: number, due, turns })
  change(changes, blockNumber, { ...cohort, nextDue: due + turns * cohort.intervalSec })
}

function applyCredited(
  changes: ReplayedChanges,
  ledgerCohorts: ReadonlyMap<number, LedgerCohort>,
  event: EventOf<'credited'>,
  stamp: Stamp,
): void {
  const cohort = cohortOf(changes, ledgerCohorts, event.cohort)
  const paidWei = event.amountPerNodeWei * BigInt(event.nodeCount)
  const round = roundOf(changes, event.round, stamp)
  round.totalWei = wei(round.totalWei + paidWei)
  round.nodeCount += event.nodeCount
  const { tierNo, intervalSec, turnCount } = cohort
  changes.turns.push({ ...event, tierNo, intervalSec, turnNo: turnCount + 1, amountWei: event.amountPerNodeWei })
  change(changes, event.blockNumber, {
    ...cohort,
    nextDue: event.due + event.turns * cohort.intervalSec,
    perNodeWei: wei(cohort.perNodeWei + event.amountPerNodeWei),
    turnCount: cohort.turnCount + 1,
    lastTurnAt: event.blockTime,
  })
}

/** The round of an event. It was paid with the distributor's ether, unless a later event shows that surplus paid. */
function roundOf(changes: ReplayedChanges, number: number, stamp: Stamp): NewRound {
  const last = changes.rounds.at(-1)
  if (last?.round === number) return last
  const round: NewRound = { ...stamp, round: number, mode: 'treasury', totalWei: wei(0n), nodeCount: 0 }
  changes.rounds.push(round)
  return round
}

function cohortOf(
  changes: ReplayedChanges,
  ledgerCohorts: ReadonlyMap<number, LedgerCohort>,
  number: number,
): LedgerCohort {
  const cohort = changes.cohorts.get(number) ?? ledgerCohorts.get(number)
  if (!cohort) {
    throw new MissingHistory(
      `the chain has cohort ${number}, but the ledger never saw its opening: START_BLOCK must not be later than the factory's deployment`,
    )
  }
  return cohort
}

function change(changes: ReplayedChanges, blockNumber: number, cohort: LedgerCohort): void {
  changes.cohorts.set(cohort.cohort, cohort)
  changes.cohortStates.set(`${cohort.cohort}:${blockNumber}`, { blockNumber, state: cohort })
}

/** The final owner of each node after these transfers, without mints. */
export function lastOwners(transfers: readonly OwnershipChange[]): Map<bigint, Address> {
  const owners = new Map<bigint, Address>()
  for (const transfer of transfers) if (transfer.from !== ZERO_ADDRESS) owners.set(transfer.nodeId, transfer.to)
  return owners
}
