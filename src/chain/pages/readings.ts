// Reads of the chain for the public API: a value, or null for "we could not check". It must never throw, never delay an answer beyond its budget,
// never return a cached value that has expired, and never report 0 for a value that it could not read.
import { type Address, wei } from '../../domain/units.ts'
import { Cache } from '../../lib/cache.ts'
import { inTime, inTimeOrNull } from '../../lib/deadline.ts'
import type { NodeReading, Readings } from '../../ports/contract.ts'
import { readView, requestView, type ViewArgs, type ViewName, viewCall } from '../factory/calls.ts'
import { createBreaker } from '../rpc/breaker.ts'
import type { ReadOptions, Rpc } from '../rpc/rpc.ts'
import { header, quantity, toQuantity } from '../rpc/wire.ts'
import { createBuyerReading, createTraceReading } from './buyer.ts'
import { createNodeQueue, type Outcome } from './nodes.ts'

/** Milliseconds by which one read may delay the answer that includes it. */
const BUDGET_MS = 300
/**
 * Reads of nodes within this time share one request. That saves connections but no money, because providers count each call of a batch. Under load,
 * the slowest percent of all answers are pages of a node that wait for this.
 */
const COALESCE_MS = 10
/** How many nodes one request reads, and how many reads may wait for a request. If more wait, the answer is "we could not check". */
const NODES_PER_REQUEST = 100
const NODES_WAITING_MAX = 1_000
/** How old a cached answer may be. The routes' caches allow the same. */
const NODE_MS = 5_000
const COVER_MS = 10_000
const STATE_MS = 5_000
/** The most cached answers of each kind. */
const REMEMBERED_MAX = 10_000
/** The breaker: after three failures in a row, there are no further tries for five seconds. */
const FAILURES_MAX = 3
const COOLDOWN_MS = 5_000

type Cover = NonNullable<Awaited<ReturnType<Readings['cover']>>>

export interface ReadingsOptions {
  rpc: Rpc
  factory: Address
  /** Null if no distributor is configured. Its balance is then null too. */
  distributor: Address | null
  /** A monotonic clock, in milliseconds. */
  clock?: () => number
  /** A clock in milliseconds since 1970, used only to show when a read was made. */
  wallClock?: () => number
  /** The time limit of one read. Tests that are not about timing set a longer one. */
  budgetMs?: number
}

/** Creates the readings. Give them an Rpc of their own, so that the passes' bulk reads do not delay them. */
export function createReadings(options: ReadingsOptions): Readings {
  const { rpc, factory, distributor } = options
  const { clock = () => performance.now(), wallClock = Date.now, budgetMs = BUDGET_MS } = options
  const breaker = createBreaker({ failuresMax: FAILURES_MAX, cooldownMs: COOLDOWN_MS, clock })

  /** Tries once, within the budget. Null if the read fails or is late, or if the breaker is open. */
  async function attempt<T>(read: (timeoutMs: number) => Promise<T>, limitMs = budgetMs): Promise<Outcome<T>> {
    if (!breaker.allows()) return null
    try {
      const answer = await inTime('the chain', limitMs, read(limitMs))
      breaker.succeeded()
      return { answer }
    } catch {
      breaker.failed()
      return null
    }
  }

  function viewNow<Name extends ViewName>(name: Name, args: ViewArgs<Name>) {
    return attempt((timeoutMs) => requestView(rpc, { factory, at: 'latest', name, args }, once(timeoutMs)))
  }

  const nodes = memory<NodeReading | null>(NODE_MS, clock)
  const [cover, readCover] = [memory<Cover>(COVER_MS, clock), createCoverReading(rpc, factory)]
  const balance = memory<bigint>(STATE_MS, clock)
  const paused = memory<boolean>(STATE_MS, clock)
  // Cached without end, because it is fixed when the contract is deployed.
  const walletMax = memory<bigint>(Number.POSITIVE_INFINITY, clock)
  // Not cached, because the caller wants to see the wallet's newest nodes.
  const nodesOf = memory<readonly bigint[]>(0, clock)
  const readNode = createNodeQueue({
    rpc,
    factory,
    clock,
    coalesceMs: COALESCE_MS,
    nodesPerRequest: NODES_PER_REQUEST,
    waitingMax: NODES_WAITING_MAX,
    // A read may have waited to share a request. That time comes off its budget.
    attempt: (read) => attempt(read, budgetMs - COALESCE_MS),
  })

  return {
    node: (nodeId, atBlock) =>
      nodes(`${nodeId}@${atBlock}`, () => inTimeOrNull(budgetMs, () => readNode(nodeId, atBlock))),

    cover: () =>
      cover('', () => {
        const checkedAt = wallClock()
        return attempt(async (ms) => ({ ...(await readCover(once(ms))), checkedAt }))
      }),

    async distributorBalanceWei() {
      if (distributor === null) return null
      const ask = () =>
        attempt(async (timeoutMs) =>
          quantity(await rpc.request('eth_getBalance', [distributor, 'latest'], once(timeoutMs)), 'balance'),
        )
      const balanceWei = await balance('', ask)
      return balanceWei === null ? null : wei(balanceWei)
    },

    async maxPerWallet() {
      const most = await walletMax('', () => viewNow('maxPerWallet', []))
      return most === null ? null : Number(most)
    },

    paused: () => paused('', () => viewNow('paused', [])),

    nodesOf: (owner) => nodesOf(owner, () => viewNow('nodesOf', [owner])),
    buyer: createBuyerReading(rpc, factory, clock),
    tracesWork: createTraceReading(rpc, clock),
  }
}

/** Caches the answers of one kind; failures are not cached. */
function memory<T>(ageMaxMs: number, clock: () => number) {
  const cache = new Cache<Outcome<T>>({ clock, weightMax: REMEMBERED_MAX, keeps: (outcome) => outcome !== null })
  return async (key: string, ask: () => Promise<Outcome<T>>): Promise<T | null> =>
    (await cache.get(key, ageMaxMs, ask))?.answer ?? null
}

/** A single attempt: a second one would not fit into the budget, and the next caller gets the next provider anyway. */
const once = (timeoutMs: number): ReadOptions => ({ timeoutMs, attempts: 1 })

/** Creates the read of the contract's balance, its debt, and whether it is solvent, all at the head. */
function createCoverReading(rpc: Rpc, factory: Address): (read: ReadOptions) => Promise<Omit<Cover, 'checkedAt'>> {
  return async (read) => {
    const { number: blockNumber } = header(await rpc.request('eth_getBlockByNumber', ['latest', false], read))
    const [balance, outstanding, isSolvent] = await rpc.requestAll(
      [
        { method: 'eth_getBalance', params: [factory, toQuantity(blockNumber)] },
        viewCall(factory, blockNumber, 'outstanding', []),
        viewCall(factory, blockNumber, 'isSolvent', []),
      ],
      read,
    )
    return {
      contractBalanceWei: wei(quantity(balance, 'balance')),
      outstandingWei: wei(readView('outstanding', outstanding)),
      isSolvent: readView('isSolvent', isSolvent),
      blockNumber,
    }
  }
}
