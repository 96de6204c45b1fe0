// The factory's semantics in plain TypeScript: what NodeFactory.sol does to its storage, its events and its errors, in
// the contract's own order of checks. It gets blocks' hashes only from its environment, and
// test/sim/conformance.test.ts compares it with the real contract.
import { type Address, type Hash, ZERO_ADDRESS } from '../../../src/domain/units.ts'

/** A revert of the contract: its error's name. The call's effects are undone. */
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
  /** Credited before the expulsion. */
  kept: bigint
  withdrawn: bigint
  approved: Address
}

/** Arguments of the constructor. */
export interface Setup {
  owner: Address
  minter: Address
  nodes: bigint
  cohorts: bigint
  distributor: Address
  floorGwei: bigint
  ceilingGwei: bigint
  maxPerWallet: bigint
  leastInterval: bigint
  expulsionPeriod: bigint
}

/** What a ref was used for. */
interface Use {
  id: bigint
  mintedAt: bigint
}

/** A tier's nodes, without expelled ones, and the most it may have. */
interface Supply {
  minted: bigint
  most: bigint
}

/** Storage. Entries are replaced, never changed, so copying the maps copies all of it. */
export interface FactoryState extends Setup {
  pendingOwner: Address
  paused: boolean
  round: bigint
  credited: bigint
  withdrawn: bigint
  swapsAllowance: bigint
  books: Map<bigint, Node>
  /** Ids of each wallet, in the contract's order: if one leaves, the last takes its place. */
  lists: Map<Address, readonly bigint[]>
  opened: Map<bigint, Cohort>
  uses: Map<Hash, Use>
  supplies: Map<bigint, Supply>
  operators: Set<string>
  /** Windows whose turns are not owed, in their order. */
  windows: readonly { from: bigint; until: bigint }[]
  decliners: Set<Address>
}

export interface Event {
  name: string
  args: Record<string, unknown>
}

/** What a call may see and change besides the storage. */
export interface Frame {
  self: Address
  sender: Address
  value: bigint
  number: number
  time: bigint
  blockHash(number: bigint): Hash
  /** Ether of the factory itself, `value` included. */
  balance(): bigint
  /** Sends ether from the factory; false if the recipient refuses it. */
  pay(to: Address, amount: bigint): boolean
  emit(event: Event): void
}

const UINT16 = 2n ** 16n - 1n
const UINT32 = 2n ** 32n - 1n
const UINT40 = 2n ** 40n - 1n
const UINT48 = 2n ** 48n - 1n
const GWEI = 10n ** 9n
const TURNS_MAX = 2_000n
const EXPULSION_PERIOD_MAX = 7n * 86_400n
const EXPEL_INTERVALS = 2n
const UINT80 = 2n ** 80n - 1n
const UINT96 = 2n ** 96n - 1n
const NO_HASH = 0n

const WALLET_FULL = 1n
const COHORT_CLOSED = 2n
const RECIPIENT_IMPOSSIBLE = 3n
const BUDGET_SPENT = 4n
const SUPPLY_SPENT = 5n

export function newFactory(setup: Setup, frame: Frame): FactoryState {
  const { owner, minter, nodes, cohorts, distributor, floorGwei, ceilingGwei, maxPerWallet, leastInterval } = setup
  need(maxPerWallet >= 1n && maxPerWallet <= 256n, 'CapOutOfRange')
  need(owner !== ZERO_ADDRESS, 'ZeroOwner')
  const state: FactoryState = {
    ...setup,
    ...{ minter: ZERO_ADDRESS, distributor: ZERO_ADDRESS, pendingOwner: ZERO_ADDRESS },
    ...{ paused: false, round: 0n, credited: 0n, withdrawn: 0n, swapsAllowance: 0n },
    ...{ books: new Map(), lists: new Map(), opened: new Map(), uses: new Map(), supplies: new Map() },
    ...{ operators: new Set() },
    ...{ windows: [], decliners: new Set() },
  }
  frame.emit({ name: 'OwnershipTransferred', args: { previousOwner: ZERO_ADDRESS, newOwner: owner } })
  setMinter(state, frame, { minter, nodes, cohorts })
  setDistributor(state, frame, { distributor, floorGwei, ceilingGwei })
  need(leastInterval >= 1n && leastInterval <= UINT32, 'ScheduleOutOfRange')
  need(setup.expulsionPeriod <= EXPULSION_PERIOD_MAX, 'ExpulsionPeriodOutOfRange')
  return state
}

function requireBudget(nodes: bigint, cohorts: bigint): void {
  need(nodes <= UINT32 && cohorts <= UINT16, 'BudgetOutOfRange')
}

function requireBounds(floorGwei: bigint, ceilingGwei: bigint): void {
  need(floorGwei <= ceilingGwei && ceilingGwei <= UINT48, 'BoundsOutOfRange')
}

function setMinter(state: FactoryState, frame: Frame, budget: Pick<Setup, 'minter' | 'nodes' | 'cohorts'>): void {
  requireBudget(budget.nodes, budget.cohorts)
  frame.emit({ name: 'MinterSet', args: { ...budget, former: state.minter } })
  Object.assign(state, budget)
}

type DistributorBounds = Pick<Setup, 'distributor' | 'floorGwei' | 'ceilingGwei'>

function setDistributor(state: FactoryState, frame: Frame, bounds: DistributorBounds): void {
  requireBounds(bounds.floorGwei, bounds.ceilingGwei)
  frame.emit({ name: 'DistributorSet', args: { ...bounds, former: state.distributor } })
  Object.assign(state, bounds)
}

export function copyFactory(state: FactoryState): FactoryState {
  return {
    ...state,
    books: new Map(state.books),
    lists: new Map(state.lists),
    opened: new Map(state.opened),
    uses: new Map(state.uses),
    supplies: new Map(state.supplies),
    operators: new Set(state.operators),
    decliners: new Set(state.decliners),
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
  tier: bigint
  firstDue: bigint
  interval: bigint
}

interface Credit {
  cohort: bigint
  firstDue: bigint
  skipped: bigint
  paid: bigint
  amountPerNode: bigint
}

/** As in the ABI, which the decoder has checked. */
type Args = readonly [never, never, never, never, never]

/** Every function of the contract, by name; arguments and results as in the ABI. */
export const FUNCTIONS: Record<string, (state: FactoryState, frame: Frame, args: Args) => unknown> = {
  openCohorts(state, frame, [first, openings, validUntil]) {
    need(frame.sender === state.minter, 'NotMinter')
    need(!state.paused, 'IsPaused')
    requireInTime(frame, validUntil)
    need(first === lastCohort(state) + 1n, 'WrongCohort')
    const count = BigInt((openings as Opening[]).length)
    need(count <= UINT16 - lastCohort(state), 'CohortNumbersExhausted')
    need(count <= state.cohorts, 'CohortBudgetExceeded')
    for (const opening of openings as Opening[]) openCohort(state, frame, opening)
    state.cohorts -= count
  },
  mint(state, frame, [orders, guardBlock, guardHash, validUntil]) {
    need(frame.sender === state.minter, 'NotMinter')
    need(!state.paused, 'IsPaused')
    requireInTime(frame, validUntil)
    requireFork(frame, guardBlock, guardHash)
    need(BigInt((orders as Order[]).length) <= UINT32 - lastId(state), 'NodeIdsExhausted')
    for (const order of orders as Order[]) mintOrder(state, frame, order)
  },
  credit(state, frame, [round, guardBlock, guardHash, validUntil, credits]) {
    need(frame.sender === state.distributor, 'NotDistributor')
    need(!state.paused, 'IsPaused')
    requireInTime(frame, validUntil)
    requireFork(frame, guardBlock, guardHash)
    need(round === state.round + 1n, 'WrongRound')
    const wanted = credits as Credit[]
    need(wanted.length > 0, 'EmptyRound')
    let total = 0n
    let room = TURNS_MAX
    for (const entry of wanted) {
      need(entry.paid <= room, 'TooManyTurns')
      room -= entry.paid
      total += creditCohort(state, frame, round, entry)
    }
    if (frame.value !== total) spendSurplus(state, frame, round, total)
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
    const cohort = state.opened.get(id)
    need(cohort !== undefined, 'CohortNotOpen')
    requireInterval(state, interval)
    const shorter = interval < cohort.interval ? interval : cohort.interval
    need(cohort.size === 0n || cohort.nextDue + shorter > frame.time, 'TurnsOverdue')
    state.opened.set(id, { ...cohort, interval })
    frame.emit({ name: 'IntervalSet', args: { cohort: id, interval, former: cohort.interval } })
  },
  expel(state, frame, [refs]) {
    onlyOwner(state, frame)
    for (const ref of refs as Hash[]) expel(state, frame, ref)
  },
  capTier(state, frame, [tier, most]) {
    onlyOwner(state, frame)
    const supply = supplyOf(state, tier)
    need(tier <= UINT16 && most <= supply.most && most >= supply.minted, 'SupplyOutOfRange')
    state.supplies.set(tier, { ...supply, most })
    frame.emit({ name: 'TierCapped', args: { tier, most, former: supply.most } })
  },
  setMinter(state, frame, [minter, former, nodes, cohorts]) {
    onlyOwner(state, frame)
    need(address(minter) === ZERO_ADDRESS || address(former) === state.minter, 'WrongKey')
    setMinter(state, frame, { minter: address(minter), nodes, cohorts })
  },
  refillMinter(state, frame, [minter, nodes, nodesMost, cohorts, cohortsMost]) {
    onlyOwner(state, frame)
    need(address(minter) === state.minter, 'WrongKey')
    requireBudget(nodesMost, cohortsMost)
    const [formerNodes, formerCohorts] = [state.nodes, state.cohorts]
    state.nodes = refilled(formerNodes, nodes, nodesMost)
    state.cohorts = refilled(formerCohorts, cohorts, cohortsMost)
    const now = { nodes: state.nodes, cohorts: state.cohorts }
    frame.emit({ name: 'MinterRefilled', args: { minter, ...now, formerNodes, formerCohorts } })
  },
  setDistributor(state, frame, [distributor, former, floorGwei, ceilingGwei]) {
    onlyOwner(state, frame)
    need(address(distributor) === ZERO_ADDRESS || address(former) === state.distributor, 'WrongKey')
    setDistributor(state, frame, { distributor: address(distributor), floorGwei, ceilingGwei })
  },
  setBounds(state, frame, [distributor, floorGwei, ceilingGwei]) {
    onlyOwner(state, frame)
    need(address(distributor) === state.distributor, 'WrongKey')
    requireBounds(floorGwei, ceilingGwei)
    const former = { formerFloorGwei: state.floorGwei, formerCeilingGwei: state.ceilingGwei }
    frame.emit({ name: 'BoundsSet', args: { distributor, floorGwei, ceilingGwei, ...former } })
    Object.assign(state, { floorGwei, ceilingGwei })
  },
  setSwapsAllowance(state, frame, [distributor, allowance, former]) {
    onlyOwner(state, frame)
    need(address(distributor) === state.distributor, 'WrongKey')
    need(allowance <= state.swapsAllowance || former === state.swapsAllowance, 'WrongAllowance')
    frame.emit({ name: 'SwapsAllowanceSet', args: { allowance, former: state.swapsAllowance } })
    state.swapsAllowance = allowance
  },
  addNotOwed(state, frame, [window, from, until]) {
    onlyOwner(state, frame)
    const last = state.windows.at(-1)
    need(window === BigInt(state.windows.length) + 1n, 'WrongWindow')
    need(from < until && until <= UINT40, 'WindowOutOfRange')
    need(!last || from >= last.until, 'WindowOutOfRange')
    state.windows = [...state.windows, { from, until }]
    frame.emit({ name: 'NotOwedSet', args: { window, from, until } })
  },
  endNotOwed(state, frame, [window, wanted]) {
    onlyOwner(state, frame)
    const last = state.windows.at(-1)
    need(last !== undefined && window === BigInt(state.windows.length), 'WrongWindow')
    const until = [wanted, frame.time, last.from].reduce((a, b) => (a > b ? a : b))
    need(until < last.until, 'WindowOutOfRange')
    state.windows = state.windows.with(-1, { from: last.from, until })
    frame.emit({ name: 'NotOwedSet', args: { window, from: last.from, until } })
  },
  declineGifts(state, frame, [declined]) {
    if (declined) state.decliners.add(frame.sender)
    else state.decliners.delete(frame.sender)
    frame.emit({ name: 'GiftsDeclined', args: { wallet: frame.sender, declined } })
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
    frame.emit({ name: 'OwnershipTransferStarted', args: { previousOwner: frame.sender, newOwner: pendingOwner } })
  },
  acceptOwnership(state, frame) {
    need(frame.sender === state.pendingOwner, 'NotPendingOwner')
    frame.emit({ name: 'OwnershipTransferred', args: { previousOwner: state.owner, newOwner: frame.sender } })
    state.owner = frame.sender
    state.pendingOwner = ZERO_ADDRESS
  },
  transferFrom(state, frame, [from, to, id]) {
    transfer(state, frame, address(from), address(to), id)
  },
  approve(state, frame, [account, id]) {
    need(frame.value === 0n, 'EtherRefused')
    const node = requireNode(state, id)
    need(frame.sender === node.owner || state.operators.has(`${node.owner} ${frame.sender}`), 'NotOwnerNorApproved')
    state.books.set(id, { ...node, approved: address(account) })
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
    const { perNode, size, nextDue, interval, tier } = state.opened.get(id) ?? NO_COHORT
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
  nodeOfRef: (state, _frame, [ref]) => state.uses.get(ref)?.id ?? 0n,
  tierSupply(state, _frame, [tier]) {
    const { minted, most } = supplyOf(state, tier)
    return [minted, most]
  },
  lastId: (state) => lastId(state),
  lastCohort: (state) => lastCohort(state),
  budget: (state) => [state.nodes, state.cohorts],
  bounds: (state) => [state.floorGwei, state.ceilingGwei],
  notOwedCount: (state) => BigInt(state.windows.length),
  notOwed(state, _frame, [window]) {
    const { from, until } = state.windows[Number(window) - 1] ?? { from: 0n, until: 0n }
    return [from, until]
  },
  declinesGifts: (state, _frame, [wallet]) => state.decliners.has(address(wallet)),
  leastInterval: (state) => state.leastInterval,
  expulsionPeriod: (state) => state.expulsionPeriod,
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

const lastId = (state: FactoryState): bigint => BigInt(state.books.size)
const lastCohort = (state: FactoryState): bigint => BigInt(state.opened.size)
const outstanding = (state: FactoryState): bigint => state.credited - state.withdrawn
const isImpossible = (frame: Frame, to: Address): boolean => to === ZERO_ADDRESS || to === frame.self

function surplus(state: FactoryState, frame: Frame): bigint {
  const owed = outstanding(state)
  return frame.balance() > owed ? frame.balance() - owed : 0n
}

function creditedOf(state: FactoryState, node: Node): bigint {
  return (state.opened.get(node.cohort) ?? NO_COHORT).perNode - node.perNodeAtMint + node.kept
}

function balanceOf(state: FactoryState, node: Node): bigint {
  return creditedOf(state, node) - node.withdrawn
}

function requireNode(state: FactoryState, id: bigint): Node {
  const node = state.books.get(id)
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

function requireInTime(frame: Frame, validUntil: bigint): void {
  need(frame.time <= validUntil, 'Expired')
}

function requireInterval(state: FactoryState, interval: bigint): void {
  need(interval >= state.leastInterval && interval <= UINT32, 'ScheduleOutOfRange')
}

/** `left` and `more`, but at most `most`; never less than `left`. */
function refilled(left: bigint, more: bigint, most: bigint): bigint {
  const room = most > left ? most - left : 0n
  return left + (more < room ? more : room)
}

function openCohort(state: FactoryState, frame: Frame, { tier, firstDue, interval }: Opening): void {
  need(tier <= UINT16 && firstDue !== 0n && firstDue <= UINT40, 'ScheduleOutOfRange')
  requireInterval(state, interval)
  const cohort = lastCohort(state) + 1n
  state.opened.set(cohort, { ...NO_COHORT, tier, nextDue: firstDue, interval })
  frame.emit({ name: 'CohortOpened', args: { cohort, tier, firstDue, interval } })
}

function mintOrder(state: FactoryState, frame: Frame, { to, cohort, ref }: Order): void {
  const owner = address(to)
  const taken = state.uses.get(ref)?.id
  if (taken !== undefined) {
    if (requireNode(state, taken).owner !== owner)
      frame.emit({ name: 'RefTaken', args: { ref, nodeId: taken, to: owner } })
    return
  }
  const joining = taking(state, frame, cohort)
  const reason = whyNot(state, frame, owner) ?? (joining ? null : COHORT_CLOSED)
  const { minted, most } = supplyOf(state, joining?.tier ?? 0n)
  const skipped = reason ?? (minted >= most ? SUPPLY_SPENT : state.nodes === 0n ? BUDGET_SPENT : null)
  if (skipped !== null) {
    frame.emit({ name: 'MintSkipped', args: { ref, reason: skipped } })
    return
  }
  const joined = join(state, frame, cohort)
  const id = lastId(state) + 1n
  state.nodes -= 1n
  state.supplies.set(joined.tier, { minted: minted + 1n, most })
  state.uses.set(ref, { id, mintedAt: frame.time })
  const books = { perNodeAtMint: joined.perNode, kept: 0n, withdrawn: 0n }
  state.books.set(id, { owner, cohort, ...books, approved: ZERO_ADDRESS })
  state.lists.set(owner, [...idsOf(state, owner), id])
  frame.emit({ name: 'Transfer', args: { from: ZERO_ADDRESS, to: owner, id } })
  frame.emit({ name: 'NodeMinted', args: { nodeId: id, owner, ref, cohort } })
}

const supplyOf = (state: FactoryState, tier: bigint): Supply => state.supplies.get(tier) ?? { minted: 0n, most: UINT32 }

/** The objection to the recipient; null for none. */
function whyNot(state: FactoryState, frame: Frame, owner: Address): bigint | null {
  if (isImpossible(frame, owner)) return RECIPIENT_IMPOSSIBLE
  return BigInt(idsOf(state, owner).length) >= state.maxPerWallet ? WALLET_FULL : null
}

/** The cohort as a node would join it now; null if it accepts none. */
function taking(state: FactoryState, frame: Frame, id: bigint): Cohort | null {
  const cohort = state.opened.get(id)
  if (!cohort) return null
  if (cohort.nextDue > frame.time) return cohort
  if (cohort.size !== 0n) return null
  const missed = (frame.time - cohort.nextDue) / cohort.interval + 1n
  return { ...cohort, nextDue: cohort.nextDue + missed * cohort.interval }
}

/** The cohort with one more node. */
function join(state: FactoryState, frame: Frame, id: bigint): Cohort {
  const cohort = taking(state, frame, id)
  if (!cohort) throw new Error(`cohort ${id} takes no node`)
  const joined = { ...cohort, size: cohort.size + 1n }
  state.opened.set(id, joined)
  return joined
}

function expel(state: FactoryState, frame: Frame, ref: Hash): void {
  const use = state.uses.get(ref)
  if (use === undefined) return
  const node = requireNode(state, use.id)
  const cohort = state.opened.get(node.cohort)
  if (!cohort) return
  const credited = creditedOf(state, node)
  const turns = EXPEL_INTERVALS * cohort.interval
  const window = turns < state.expulsionPeriod ? turns : state.expulsionPeriod
  if (credited !== 0n && frame.time >= use.mintedAt + window) return
  state.opened.set(node.cohort, { ...cohort, size: cohort.size - 1n })
  const supply = supplyOf(state, cohort.tier)
  state.supplies.set(cohort.tier, { ...supply, minted: supply.minted - 1n })
  state.books.set(use.id, { ...node, cohort: 0n, perNodeAtMint: 0n, kept: credited })
  frame.emit({ name: 'NodeExpelled', args: { nodeId: use.id, ref, cohort: node.cohort, credited } })
}

function creditCohort(state: FactoryState, frame: Frame, round: bigint, entry: Credit): bigint {
  const { cohort: id, firstDue, skipped, paid, amountPerNode } = entry
  const cohort = state.opened.get(id) ?? NO_COHORT
  const { size, nextDue, interval } = cohort
  need(size !== 0n, 'EmptyCohort')
  need(cohort.lastRound !== round, 'CohortTwiceInRound')
  need(firstDue === nextDue, 'WrongTurn')
  need(skipped <= UINT40, 'TurnNotDue')
  const turns = skipped + paid
  need(turns !== 0n, 'NoTurns')
  need(nextDue + (turns - 1n) * interval <= frame.time, 'TurnNotDue')
  need(amountPerNode >= state.floorGwei * GWEI * paid, 'AmountOutOfBounds')
  need(amountPerNode <= state.ceilingGwei * GWEI * paid, 'AmountOutOfBounds')
  need(amountPerNode <= UINT80 - cohort.perNode, 'AmountTooLarge')
  const moved = { perNode: cohort.perNode + amountPerNode, nextDue: nextDue + turns * interval, lastRound: round }
  state.opened.set(id, { ...cohort, ...moved })
  if (skipped !== 0n) {
    const last = nextDue + (skipped - 1n) * interval
    need(
      state.windows.some(({ from, until }) => from <= nextDue && last < until),
      'TurnOwed',
    )
    frame.emit({ name: 'TurnsSkipped', args: { round, cohort: id, due: nextDue, turns: skipped } })
  }
  const due = nextDue + skipped * interval
  if (paid !== 0n)
    frame.emit({ name: 'Credited', args: { round, cohort: id, due, turns: paid, amountPerNode, nodeCount: size } })
  return amountPerNode * size
}

function spendSurplus(state: FactoryState, frame: Frame, round: bigint, total: bigint): void {
  need(frame.value === 0n, 'WrongValue')
  need(total <= state.swapsAllowance, 'AllowanceExceeded')
  need(total <= surplus(state, frame), 'SurplusExceeded')
  state.swapsAllowance -= total
  frame.emit({ name: 'SurplusSpent', args: { round, amount: total, allowance: state.swapsAllowance } })
}

function book(state: FactoryState, frame: Frame, id: bigint, to: Address, amount: bigint): void {
  const node = requireNode(state, id)
  const withdrawn = node.withdrawn + amount
  state.books.set(id, { ...node, withdrawn })
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
  need(frame.value === 0n, 'EtherRefused')
  const node = requireNode(state, id)
  need(node.owner === from, 'TransferFromIncorrectOwner')
  const { sender } = frame
  const may = sender === from || sender === node.approved || state.operators.has(`${from} ${sender}`)
  need(may, 'NotOwnerNorApproved')
  need(to !== ZERO_ADDRESS, 'TransferToZeroAddress')
  state.books.set(id, { ...node, owner: to, approved: ZERO_ADDRESS })
  frame.emit({ name: 'Transfer', args: { from, to, id } })
  if (from === to) return
  need(to !== frame.self, 'ImpossibleRecipient')
  need(!state.decliners.has(to) || sender === to, 'GiftDeclined')
  const received = [...idsOf(state, to), id]
  need(BigInt(received.length) <= state.maxPerWallet, 'WalletFull')
  state.lists.set(to, received)
  const left = [...idsOf(state, from)]
  const last = left.pop()
  if (last !== undefined && last !== id) left[left.indexOf(id)] = last
  state.lists.set(from, left)
}
