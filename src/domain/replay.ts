// Replays the factory's events onto the cohorts, the way the contract did it: what a range of blocks changes in the
// ledger, computed without reading the chain's state. Pure; the same events give the same ledger after any restart.
import type { FactoryEvent } from './observed.ts'
import { effectiveDue } from './schedule.ts'
import { type Address, type Hash, type Wei, wei, ZERO_ADDRESS } from './units.ts'

/** A cohort as the ledger followed it. Times are unix seconds. */
export interface LedgerCohort {
  cohort: number
  tierNo: number
  intervalSec: number
  nextDue: number
  size: number
  /** Credited to one of its nodes that was there from the start. */
  perNodeWei: Wei
  turnCount: number
  lastTurnAt: number | null
  openedBlock: number
  openedHash: Hash
}

interface Stamp {
  blockNumber: number
  blockHash: Hash
  blockTime: number
  txHash: Hash
}
export interface NewNode extends Stamp {
  nodeId: bigint
  owner: Address
  cohort: number
  tierNo: number
  ref: Hash
  perNodeAtMintWei: Wei
  turnsAtMint: number
}
export interface NewTransfer extends Stamp {
  nodeId: bigint
  from: Address
  to: Address
  logIndex: number
}
export interface NewRound extends Stamp {
  round: number
  mode: 'treasury' | 'swaps' | null
  totalWei: Wei
  nodeCount: number
}
export interface NewTurn {
  round: number
  cohort: number
  tierNo: number
  turnNo: number
  due: number
  amountWei: Wei
  nodeCount: number
}
export interface NewWithdrawal extends Stamp {
  nodeId: bigint
  to: Address
  amountWei: Wei
  withdrawnTotalWei: Wei
  logIndex: number
}

export interface LedgerChanges {
  nodes: NewNode[]
  transfers: NewTransfer[]
  rounds: NewRound[]
  turns: NewTurn[]
  withdrawals: NewWithdrawal[]
  /** Orders that a mint skipped, with the contract's reason. */
  skipped: { ref: Hash; reason: number; txHash: Hash }[]
  /** Cohorts as the range left them. */
  cohorts: Map<number, LedgerCohort>
  /** Each changed cohort after each block in which it changed. */
  cohortStates: Map<string, { blockNumber: number; state: LedgerCohort }>
}

/** Thrown when events rest on something the ledger has never seen: it was not followed from the factory's first block. */
export class MissingHistory extends Error {}

/** Replays events in chain order onto the cohorts the ledger holds. The input is not changed. */
export function replay(known: ReadonlyMap<number, LedgerCohort>, events: readonly FactoryEvent[]): LedgerChanges {
  const changes: LedgerChanges = {
    nodes: [],
    transfers: [],
    rounds: [],
    turns: [],
    withdrawals: [],
    skipped: [],
    cohorts: new Map(),
    cohortStates: new Map(),
  }
  for (const event of events) apply(changes, known, event)
  return changes
}

function apply(changes: LedgerChanges, known: ReadonlyMap<number, LedgerCohort>, event: FactoryEvent): void {
  const stamp = {
    blockNumber: event.blockNumber,
    blockHash: event.blockHash,
    blockTime: event.blockTime,
    txHash: event.txHash,
  }
  switch (event.kind) {
    case 'cohortOpened':
      change(changes, event.blockNumber, {
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
      })
      break
    case 'intervalSet':
      change(changes, event.blockNumber, {
        ...cohortOf(changes, known, event.cohort),
        intervalSec: event.intervalSec,
      })
      break
    case 'nodeMinted': {
      const cohort = cohortOf(changes, known, event.cohort)
      changes.nodes.push({
        ...stamp,
        nodeId: event.nodeId,
        owner: event.owner,
        cohort: event.cohort,
        tierNo: cohort.tierNo,
        ref: event.ref,
        perNodeAtMintWei: cohort.perNodeWei,
        turnsAtMint: cohort.turnCount,
      })
      // An empty cohort whose time has passed owes nobody that turn: the contract moves it on when the first node joins.
      const nextDue = effectiveDue(cohort, event.blockTime)
      change(changes, event.blockNumber, { ...cohort, nextDue, size: cohort.size + 1 })
      break
    }
    case 'mintSkipped':
      changes.skipped.push({ ref: event.ref, reason: event.reason, txHash: event.txHash })
      break
    case 'transfer':
      changes.transfers.push({
        ...stamp,
        nodeId: event.nodeId,
        from: event.from,
        to: event.to,
        logIndex: event.logIndex,
      })
      break
    case 'credited':
      applyCredited(changes, known, event, stamp)
      break
    case 'withdrawn':
      changes.withdrawals.push({
        ...stamp,
        nodeId: event.nodeId,
        to: event.to,
        amountWei: event.amountWei,
        withdrawnTotalWei: event.withdrawnTotalWei,
        logIndex: event.logIndex,
      })
      break
  }
}

function applyCredited(
  changes: LedgerChanges,
  known: ReadonlyMap<number, LedgerCohort>,
  event: Extract<FactoryEvent, { kind: 'credited' }>,
  stamp: Stamp,
): void {
  const cohort = cohortOf(changes, known, event.cohort)
  const paidWei = event.amountPerNodeWei * BigInt(event.nodeCount)
  let round = changes.rounds.at(-1)
  if (round?.round !== event.round) {
    round = { ...stamp, round: event.round, mode: null, totalWei: wei(0n), nodeCount: 0 }
    changes.rounds.push(round)
  }
  round.totalWei = wei(round.totalWei + paidWei)
  round.nodeCount += event.nodeCount
  if (event.txValueWei !== null) round.mode = event.txValueWei === 0n && round.totalWei > 0n ? 'swaps' : 'treasury'
  changes.turns.push({
    round: event.round,
    cohort: event.cohort,
    tierNo: cohort.tierNo,
    turnNo: cohort.turnCount + 1,
    due: event.due,
    amountWei: event.amountPerNodeWei,
    nodeCount: event.nodeCount,
  })
  change(changes, event.blockNumber, {
    ...cohort,
    nextDue: event.due + cohort.intervalSec,
    perNodeWei: wei(cohort.perNodeWei + event.amountPerNodeWei),
    turnCount: cohort.turnCount + 1,
    lastTurnAt: event.blockTime,
  })
}

function cohortOf(changes: LedgerChanges, known: ReadonlyMap<number, LedgerCohort>, number: number): LedgerCohort {
  const cohort = changes.cohorts.get(number) ?? known.get(number)
  if (!cohort) {
    throw new MissingHistory(
      `the chain speaks of cohort ${number}, which the ledger never saw opened: START_BLOCK must not be after the block in which the factory was deployed`,
    )
  }
  return cohort
}

function change(changes: LedgerChanges, blockNumber: number, cohort: LedgerCohort): void {
  changes.cohorts.set(cohort.cohort, cohort)
  changes.cohortStates.set(`${cohort.cohort}:${blockNumber}`, { blockNumber, state: cohort })
}

/** The owner each node ends up with after these transfers, mints left out. */
export function lastOwners(transfers: readonly NewTransfer[]): Map<bigint, Address> {
  const owners = new Map<bigint, Address>()
  for (const transfer of transfers) if (transfer.from !== ZERO_ADDRESS) owners.set(transfer.nodeId, transfer.to)
  return owners
}
