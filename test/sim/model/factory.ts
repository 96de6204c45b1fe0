// The factory's semantics in plain TypeScript: what NodeFactory.sol does to its storage, which events it emits and with
// which error it refuses, in the contract's own order of checks. It must never know of blocks' hashes but by the
// environment it is given, and is held to the real contract by test/sim/conformance.test.ts.
import { type Address, type Hash, ZERO_ADDRESS } from '../../../src/domain/units.ts'

/** A refusal of the contract: its error's name. Everything the call did is undone. */
export class Reverted extends Error {
  readonly error: string
  constructor(error: string) {
    super(error)
    this.error = error
  }
}

export interface Cohort {
  perNode: bigint
  size: bigint
  nextDue: bigint
  interval: bigint
  tier: bigint
  lastRound: bigint
}
export interface Node {
  owner: Address
  cohort: bigint
  perNodeAtMint: bigint
  withdrawn: bigint
  approved: Address
}

/** Storage. Entries are replaced, never changed, so that a copy is a copy of the maps alone. */
export interface FactoryState {
  owner: Address
  pendingOwner: Address
  minter: Address
  distributor: Address
  maxPerWallet: bigint
  paused: boolean
  round: bigint
  credited: bigint
  withdrawn: bigint
  swapsAllowance: bigint
  nodes: Map<bigint, Node>
  /** Ids of each wallet, in the contract's order: the last takes the place of one that leaves. */
  lists: Map<Address, readonly bigint[]>
  cohorts: Map<bigint, Cohort>
  nodeOfRef: Map<Hash, bigint>
  operators: Set<string>
}

export interface Event {
  name: string
  args: Record<string, unknown>
}

/** What a call may see and do besides the storage. */
export interface Frame {
  self: Address
  sender: Address
  value: bigint
  number: number
  time: bigint
  blockHash(number: bigint): Hash
  /** Ether of the factory itself, `value` included. */
  balance(): bigint
  /** Sends ether from the factory; false where the recipient refuses it. */
  pay(to: Address, amount: bigint): boolean
  emit(event: Event): void
}

const UINT16 = 2n ** 16n - 1n
const UINT32 = 2n ** 32n - 1n
const UINT40 = 2n ** 40n - 1n
const UINT80 = 2n ** 80n - 1n
const UINT96 = 2n ** 96n - 1n
const NO_HASH = 0n

const WALLET_FULL = 1n
const COHORT_CLOSED = 2n
const RECIPIENT_IMPOSSIBLE = 3n

export function newFactory(
  [owner, minter, distributor, maxPerWallet]: [Address, Address, Address, bigint],
  frame: Frame,
): FactoryState {
  need(maxPerWallet >= 1n && maxPerWallet <= 256n, 'CapOutOfRange')
  need(owner !== ZERO_ADDRESS, 'ZeroOwner')
  frame.emit({ name: 'OwnershipTransferred', args: { previousOwner: ZERO_ADDRESS, owner } })
  frame.emit({ name: 'MinterSet', args: { minter } })
  frame.emit({ name: 'DistributorSet', args: { distributor } })
  return {
    ...{ owner, pendingOwner: ZERO_ADDRESS, minter, distributor, maxPerWallet },
    ...{ paused: false, round: 0n, credited: 0n, withdrawn: 0n, swapsAllowance: 0n },
    ...{ nodes: new Map(), lists: new Map(), cohorts: new Map(), nodeOfRef: new Map(), operators: new Set() },
  }
}

export function copyFactory(state: FactoryState): FactoryState {
  return {
    ...state,
    nodes: new Map(state.nodes),
    lists: new Map(state.lists),
    cohorts: new Map(state.cohorts),
    nodeOfRef: new Map(state.nodeOfRef),
    operators: new Set(state.operators),
  }
}

function need(condition: boolean, error: string): asserts condition {
  if (!condition) throw new Reverted(error)
}

const address = (text: unknown): Address => String(text).toLowerCase() as Address
const idsOf = (state: FactoryState, wallet: Address): readonly bigint[] => state.lists.get(wallet) ?? []

interface Order {
  to: string
  cohort: bigint
  ref: Hash
}
interface Opening {
  cohort: bigint
  tier: bigint
  firstDue: bigint
  interval: bigint
}

/** As the ABI has them, which has been held to them by the decoding. */
type Args = readonly [never, never, never, never]

/** Every function of the contract, by name; arguments and results as the ABI has them. */
export const FUNCTIONS: Record<string, (state: FactoryState, frame: Frame, args: Args) => unknown> = {
  openCohort(state, frame, [cohort, tier, firstDue, interval]) {
    need(frame.sender === state.minter, 'NotMinter')
    openCohort(state, frame, { cohort, tier, firstDue, interval } as never)
  },
  openCohorts(state, frame, [openings]) {
    need(frame.sender === state.minter, 'NotMinter')
    for (const opening of openings as Opening[]) openCohort(state, frame, opening)
  },
  mint(state, frame, [orders, guardBlock, guardHash]) {
    need(frame.sender === state.minter, 'NotMinter')
    need(!state.paused, 'IsPaused')
    requireFork(frame, guardBlock, guardHash)
    for (const order of orders as Order[]) mintOrder(state, frame, order)
  },
  credit(state, frame, [round, guardBlock, guardHash, credits]) {
    need(frame.sender === state.distributor, 'NotDistributor')
    need(!state.paused, 'IsPaused')
    requireFork(frame, guardBlock, guardHash)
    need(round === state.round + 1n, 'WrongRound')
    const wanted = credits as { cohort: bigint; amountPerNode: bigint }[]
    need(wanted.length > 0, 'EmptyRound')
    let total = 0n
    for (const { cohort, amountPerNode } of wanted) total += creditCohort(state, frame, round, cohort, amountPerNode)
    if (frame.value !== total) spendSurplus(state, frame, total)
    need(total <= UINT96 - state.credited, 'AmountTooLarge')
    state.credited += total
    state.round += 1n
  },
  withdraw(state, frame, [id, to, amount]) {
    const node = requireOwn(state, frame, id)
    const recipient = address(to)
    need(!isImpossible(frame, recipient), 'ImpossibleRecipient')
    need(amount !== 0n, 'ZeroAmount')
    need(amount <= balanceOf(state, node), 'BalanceExceeded')
    book(state, frame, id, recipient, amount)
    payOut(state, frame, recipient, amount)
  },
  withdrawAll(state, frame, [ids, to]) {
    const recipient = address(to)
    need(!isImpossible(frame, recipient), 'ImpossibleRecipient')
    let total = 0n
    for (const id of ids as bigint[]) {
      const balance = balanceOf(state, requireOwn(state, frame, id))
      if (balance === 0n) continue
      book(state, frame, id, recipient, balance)
      total += balance
    }
    need(total !== 0n, 'ZeroAmount')
    payOut(state, frame, recipient, total)
  },
  setInterval(state, frame, [id, interval]) {
    onlyOwner(state, frame)
    const cohort = state.cohorts.get(id)
    need(cohort !== undefined, 'CohortNotOpen')
    need(interval !== 0n && interval <= UINT32, 'ScheduleOutOfRange')
    const shorter = interval < cohort.interval ? interval : cohort.interval
    need(cohort.size === 0n || cohort.nextDue + shorter > frame.time, 'TurnsOverdue')
    state.cohorts.set(id, { ...cohort, interval })
    frame.emit({ name: 'IntervalSet', args: { cohort: id, interval } })
  },
  setMinter(state, frame, [minter]) {
    onlyOwner(state, frame)
    state.minter = address(minter)
    frame.emit({ name: 'MinterSet', args: { minter } })
  },
  setDistributor(state, frame, [distributor]) {
    onlyOwner(state, frame)
    state.distributor = address(distributor)
    frame.emit({ name: 'DistributorSet', args: { distributor } })
  },
  setSwapsAllowance(state, frame, [allowance]) {
    onlyOwner(state, frame)
    state.swapsAllowance = allowance
    frame.emit({ name: 'SwapsAllowanceSet', args: { allowance } })
  },
  sweep(state, frame, [to, amount]) {
    onlyOwner(state, frame)
    need(!isImpossible(frame, address(to)), 'ImpossibleRecipient')
    need(amount !== 0n, 'ZeroAmount')
    need(amount <= surplus(state, frame), 'SurplusExceeded')
    frame.emit({ name: 'Swept', args: { to, amount } })
    need(frame.pay(address(to), amount), 'SendFailed')
  },
  pause(state, frame) {
    onlyOwner(state, frame)
    state.paused = true
    frame.emit({ name: 'Paused', args: {} })
  },
  unpause(state, frame) {
    onlyOwner(state, frame)
    state.paused = false
    frame.emit({ name: 'Unpaused', args: {} })
  },
  transferOwnership(state, frame, [pendingOwner]) {
    onlyOwner(state, frame)
    state.pendingOwner = address(pendingOwner)
    frame.emit({ name: 'OwnershipTransferStarted', args: { owner: frame.sender, pendingOwner } })
  },
  acceptOwnership(state, frame) {
    need(frame.sender === state.pendingOwner, 'NotPendingOwner')
    frame.emit({ name: 'OwnershipTransferred', args: { previousOwner: state.owner, owner: frame.sender } })
    state.owner = frame.sender
    state.pendingOwner = ZERO_ADDRESS
  },
  transferFrom(state, frame, [from, to, id]) {
    transfer(state, frame, address(from), address(to), id)
  },
  approve(state, frame, [account, id]) {
    const node = requireNode(state, id)
    need(frame.sender === node.owner || state.operators.has(`${node.owner} ${frame.sender}`), 'NotOwnerNorApproved')
    state.nodes.set(id, { ...node, approved: address(account) })
    frame.emit({ name: 'Approval', args: { owner: node.owner, account, id } })
  },
  setApprovalForAll(state, frame, [operator, isApproved]) {
    const pair = `${frame.sender} ${address(operator)}`
    if (isApproved) state.operators.add(pair)
    else state.operators.delete(pair)
    frame.emit({ name: 'ApprovalForAll', args: { owner: frame.sender, operator, isApproved } })
  },

  nodeInfo(state, _frame, [id]) {
    const node = requireNode(state, id)
    return [node.owner, balanceOf(state, node), creditedOf(state, node), node.withdrawn, node.cohort]
  },
  nodesInfo(state, _frame, [firstId, count]) {
    const first: bigint = firstId === 0n ? 1n : firstId
    const wanted: bigint = firstId !== 0n ? count : count === 0n ? 0n : count - 1n
    const nodes = []
    for (let id = first; id < first + wanted && id <= lastId(state); id++) {
      const node = requireNode(state, id)
      const { owner, withdrawn, cohort } = node
      nodes.push({
        ...{ id, owner, withdrawn, cohort },
        balance: balanceOf(state, node),
        credited: creditedOf(state, node),
      })
    }
    return nodes
  },
  cohort(state, _frame, [id]) {
    const { perNode, size, nextDue, interval, tier } = state.cohorts.get(id) ?? NO_COHORT
    return [perNode, size, nextDue, interval, tier]
  },
  nodesOf: (state, _frame, [wallet]) => idsOf(state, address(wallet)),
  balanceOf(state, _frame, [wallet]) {
    need(address(wallet) !== ZERO_ADDRESS, 'BalanceQueryForZeroAddress')
    return BigInt(idsOf(state, address(wallet)).length)
  },
  ownerOf: (state, _frame, [id]) => requireNode(state, id).owner,
  getApproved: (state, _frame, [id]) => requireNode(state, id).approved,
  isApprovedForAll: (state, _frame, [owner, operator]) => state.operators.has(`${address(owner)} ${address(operator)}`),
  nodeOfRef: (state, _frame, [ref]) => state.nodeOfRef.get(ref) ?? 0n,
  lastId: (state) => lastId(state),
  round: (state) => state.round,
  creditedTotal: (state) => state.credited,
  withdrawnTotal: (state) => state.withdrawn,
  outstanding: (state) => outstanding(state),
  isSolvent: (state, frame) => frame.balance() >= outstanding(state),
  swapsAllowance: (state) => state.swapsAllowance,
  maxPerWallet: (state) => state.maxPerWallet,
  paused: (state) => state.paused,
  owner: (state) => state.owner,
  pendingOwner: (state) => state.pendingOwner,
  minter: (state) => state.minter,
  distributor: (state) => state.distributor,
  hashOf: (_state, frame, [number]) => frame.blockHash(number),
}

const NO_COHORT: Cohort = { perNode: 0n, size: 0n, nextDue: 0n, interval: 0n, tier: 0n, lastRound: 0n }

const lastId = (state: FactoryState): bigint => BigInt(state.nodes.size)
const outstanding = (state: FactoryState): bigint => state.credited - state.withdrawn
const isImpossible = (frame: Frame, to: Address): boolean => to === ZERO_ADDRESS || to === frame.self

function surplus(state: FactoryState, frame: Frame): bigint {
  const owed = outstanding(state)
  return frame.balance() > owed ? frame.balance() - owed : 0n
}

function creditedOf(state: FactoryState, node: Node): bigint {
  return (state.cohorts.get(node.cohort) ?? NO_COHORT).perNode - node.perNodeAtMint
}

function balanceOf(state: FactoryState, node: Node): bigint {
  return creditedOf(state, node) - node.withdrawn
}

function requireNode(state: FactoryState, id: bigint): Node {
  const node = state.nodes.get(id)
  need(node !== undefined, 'TokenDoesNotExist')
  return node
}

function requireOwn(state: FactoryState, frame: Frame, id: bigint): Node {
  const node = requireNode(state, id)
  need(node.owner === frame.sender, 'NotNodeOwner')
  return node
}

function onlyOwner(state: FactoryState, frame: Frame): void {
  need(frame.sender === state.owner, 'NotOwner')
}

function requireFork(frame: Frame, guardBlock: bigint, guardHash: Hash): void {
  if (BigInt(guardHash) !== NO_HASH) need(frame.blockHash(guardBlock) === guardHash, 'StaleFork')
}

function openCohort(state: FactoryState, frame: Frame, { cohort, tier, firstDue, interval }: Opening): void {
  need(cohort <= UINT16 && tier <= UINT16, 'ScheduleOutOfRange')
  need(firstDue !== 0n && firstDue <= UINT40, 'ScheduleOutOfRange')
  need(interval !== 0n && interval <= UINT32, 'ScheduleOutOfRange')
  need(!state.cohorts.has(cohort), 'CohortAlreadyOpen')
  state.cohorts.set(cohort, { ...NO_COHORT, tier, nextDue: firstDue, interval })
  frame.emit({ name: 'CohortOpened', args: { cohort, tier, firstDue, interval } })
}

function mintOrder(state: FactoryState, frame: Frame, { to, cohort, ref }: Order): void {
  const owner = address(to)
  if (state.nodeOfRef.has(ref)) return
  const skipped = whyNot(state, frame, owner)
  const joined = skipped === null ? join(state, frame, cohort) : null
  if (!joined) {
    frame.emit({ name: 'MintSkipped', args: { ref, reason: skipped ?? COHORT_CLOSED } })
    return
  }
  const id = lastId(state) + 1n
  state.nodeOfRef.set(ref, id)
  state.nodes.set(id, { owner, cohort, perNodeAtMint: joined.perNode, withdrawn: 0n, approved: ZERO_ADDRESS })
  state.lists.set(owner, [...idsOf(state, owner), id])
  frame.emit({ name: 'Transfer', args: { from: ZERO_ADDRESS, to: owner, id } })
  frame.emit({ name: 'NodeMinted', args: { nodeId: id, owner, ref, cohort } })
}

/** What speaks against the recipient; null for nothing. */
function whyNot(state: FactoryState, frame: Frame, owner: Address): bigint | null {
  if (isImpossible(frame, owner)) return RECIPIENT_IMPOSSIBLE
  return BigInt(idsOf(state, owner).length) >= state.maxPerWallet ? WALLET_FULL : null
}

/** The cohort with one node more; null where it takes none. */
function join(state: FactoryState, frame: Frame, id: bigint): Cohort | null {
  let cohort = state.cohorts.get(id)
  if (!cohort) return null
  if (cohort.nextDue <= frame.time) {
    if (cohort.size !== 0n) return null
    const missed = (frame.time - cohort.nextDue) / cohort.interval + 1n
    cohort = { ...cohort, nextDue: cohort.nextDue + missed * cohort.interval }
  }
  const joined = { ...cohort, size: cohort.size + 1n }
  state.cohorts.set(id, joined)
  return joined
}

function creditCohort(state: FactoryState, frame: Frame, round: bigint, id: bigint, amountPerNode: bigint): bigint {
  const cohort = state.cohorts.get(id) ?? NO_COHORT
  need(cohort.size !== 0n, 'EmptyCohort')
  need(cohort.lastRound !== round, 'CohortTwiceInRound')
  need(cohort.nextDue <= frame.time, 'TurnNotDue')
  need(amountPerNode <= UINT80 - cohort.perNode, 'AmountTooLarge')
  state.cohorts.set(id, {
    ...cohort,
    perNode: cohort.perNode + amountPerNode,
    nextDue: cohort.nextDue + cohort.interval,
    lastRound: round,
  })
  const { nextDue: due, size: nodeCount } = cohort
  frame.emit({ name: 'Credited', args: { round, cohort: id, due, amountPerNode, nodeCount } })
  return amountPerNode * nodeCount
}

function spendSurplus(state: FactoryState, frame: Frame, total: bigint): void {
  need(frame.value === 0n, 'WrongValue')
  need(total <= state.swapsAllowance, 'AllowanceExceeded')
  need(total <= surplus(state, frame), 'SurplusExceeded')
  state.swapsAllowance -= total
}

function book(state: FactoryState, frame: Frame, id: bigint, to: Address, amount: bigint): void {
  const node = requireNode(state, id)
  const withdrawn = node.withdrawn + amount
  state.nodes.set(id, { ...node, withdrawn })
  frame.emit({
    name: 'Withdrawn',
    args: { nodeId: id, owner: frame.sender, to, amount, withdrawnTotal: withdrawn },
  })
}

function payOut(state: FactoryState, frame: Frame, to: Address, amount: bigint): void {
  state.withdrawn += amount
  need(frame.pay(to, amount), 'SendFailed')
}

function transfer(state: FactoryState, frame: Frame, from: Address, to: Address, id: bigint): void {
  const node = requireNode(state, id)
  need(node.owner === from, 'TransferFromIncorrectOwner')
  const { sender } = frame
  const may = sender === from || sender === node.approved || state.operators.has(`${from} ${sender}`)
  need(may, 'NotOwnerNorApproved')
  need(to !== ZERO_ADDRESS, 'TransferToZeroAddress')
  state.nodes.set(id, { ...node, owner: to, approved: ZERO_ADDRESS })
  frame.emit({ name: 'Transfer', args: { from, to, id } })
  if (from === to) return
  need(to !== frame.self, 'ImpossibleRecipient')
  const received = [...idsOf(state, to), id]
  need(BigInt(received.length) <= state.maxPerWallet, 'WalletFull')
  state.lists.set(to, received)
  const left = [...idsOf(state, from)]
  const last = left.pop()
  if (last !== undefined && last !== id) left[left.indexOf(id)] = last
  state.lists.set(from, left)
}
