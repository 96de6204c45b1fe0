// The parts that seeds play on, opened once and reset before each: a chain (the model, or a real one), a PostgreSQL
// database for the ledger and one for rebuilding it. A reset deletes rows and copies the initial ones again, which
// takes a small part of the time of a new database.
import { keccak256 } from 'viem'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { setMode } from '../../src/db/blocks/evidence.ts'
import type { LockName } from '../../src/db/core/locks.ts'
import { connect, type Pool, type Sql } from '../../src/db/core/sql.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { Lock } from '../../src/ports/contexts.ts'
import { startTestChain, type TestChain } from '../support/anvil.ts'
import type { Answer, Call } from '../support/faults/names.ts'
import { createSendRules, type SendRules } from '../support/faults/send-rules.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { contextOf, deployContracts, ETHER, enterTerms, type World, worldOn } from '../support/world.ts'
import { SLOTS_IN_EPOCH } from './model/rpc.ts'
import { SHAPES, type Shape, type ShapeName } from './model/shapes.ts'
import { newModelChain, startModelChain } from './model/test-chain.ts'
import { readRaw } from './model/transactions.ts'
import { deployPayers, type Payers } from './payers/contracts.ts'
import { Provider, REPLY_BYTES_MAX } from './provider.ts'
import { changedInEmptyBlocks } from './real/by-hand.ts'
import { openShelves, type Shelf } from './shelves.ts'

export type Backend = 'model' | 'real'

/** Few cohorts, so opening them costs little; turns come soon. */
export const INTERVAL_SEC = 600
const SLOT_SEC = 300
/** Nodes a wallet may hold in all: more than its allowance in any one tier but the first, and a seed can reach it. */
export const MAX_PER_WALLET = 7n
/** The first followed block, the one after the deployments, so a reorganisation may remove it, too. */
export const FIRST_BLOCK = 4

interface Beginning {
  chain: `0x${string}`
  ledger: Shelf
}
/** Plans made once, because the tables are small, and planning for every value takes longer than running. */
const PLANNED_ONCE = '?plan_cache_mode=force_generic_plan'

export interface Locks {
  /** Null: advisory locks over connections, as in the service. */
  lock: Lock | null
  /** Takes every lock from its holder, who learns of it at once or not at all. */
  lose(tell: boolean): Promise<void>
}

export interface Stage {
  backend: Backend
  chain: TestChain
  /** A chain that forks from this one so many blocks below its head; null on a real one. */
  fork: ((depth: number) => TestChain) | null
  /** Gives the blocks from now on the shape of another chain, and tells the ledger what these do not prove. Null on a real one. */
  reshape: ((shape: ShapeName) => Promise<void>) | null
  database: TestDatabase
  /** The instances' connections, and one for observing. */
  pool: Pool
  observer: Pool
  /** A second database, for rebuilds. */
  rebuildPool: Pool
  factory: Address
  token: Address
  /** Sources of payments that are in no transaction. */
  payers: Payers
  locks: Locks
  /** Transactions that were sent without being stored first, since the last reset. */
  unstored: Hash[]
  /** A world without faults on these parts, for coming to rest and for checks. */
  world: World
  /** Builds the JSON-RPC client of an instance. */
  rpcOn(providers: readonly Provider[]): Rpc
  /** Notes sends among the calls that the ledger had not stored. */
  checkStored(calls: readonly Call[]): Promise<void>
  /** Resets everything: contracts deployed and terms entered, or (on the model) some business done on top of that. */
  reset(begun: boolean): Promise<void>
  /** Takes a backup of the ledger, in place of the last one; returns a function that restores it. */
  backUp(): Promise<() => Promise<void>>
  emptyRebuild(): Promise<void>
  close(): Promise<void>
}

/** Opens one; a second or so. */
export async function openStage(backend: Backend): Promise<Stage> {
  const [database, rebuilding] = [await createDatabase(), await createDatabase()]
  const { chain, played, fork, setShape } = await openChain(backend)
  const pool = connect(`${database.url}${PLANNED_ONCE}`, { max: 5, prepare: true, applicationName: 'sim' })
  const observer = connect(`${database.url}${PLANNED_ONCE}`, { max: 1, prepare: true, applicationName: 'sim observer' })
  const rebuildPool = connect(`${rebuilding.url}${PLANNED_ONCE}`, {
    max: 3,
    prepare: true,
    applicationName: 'sim rebuild',
  })
  const shelves = await openShelves(database.url, ['unplayed', 'begun', 'backup'])
  const rebuildShelves = await openShelves(rebuilding.url, ['empty'])
  const locks = backend === 'model' ? locksInProcess() : advisoryLocks(observer)
  const unstored: Hash[] = []
  const checkStored = (calls: readonly Call[]) => noteUnstored(observer, calls, unstored)
  const contracts = await deployContracts(chain, MAX_PER_WALLET)
  const payers = await deployPayers(chain)
  const fair = { chain, rules: sendRulesFor(chain), weather: null, onRequest: checkStored, onFault: () => {} }
  const rpc = rpcOn([new Provider(fair), new Provider(fair)])
  const rules = { startBlock: FIRST_BLOCK }
  const ctx = contextOf({ chain, rpc, pool, directUrl: database.url, ...contracts }, rules)
  const world = worldOn({
    ...{ chain, rpc, pool, directUrl: database.url, ...contracts },
    ctx: locks.lock ? { ...ctx, lock: locks.lock } : ctx,
    close: async () => {},
  })
  await rebuildShelves.empty.keep()
  await enterTerms(observer, chain, contracts.token, { intervalSec: INTERVAL_SEC, slotSec: SLOT_SEC })
  await identify(observer, chain, { factory: contracts.factory, ...rules })

  const begin = async (ledger: Shelf): Promise<Beginning> => {
    await ledger.keep()
    return { chain: await chain.snapshot(), ledger }
  }
  let fresh = await begin(shelves.unplayed)
  let begun: Beginning | null = null
  if (backend === 'model') {
    await world.rest()
    for (const payer of [5, 6]) await world.pay(payer, ETHER / 100n)
    await world.rest()
    begun = await begin(shelves.begun)
  }
  return {
    ...{ backend, chain: played, fork, database, pool, observer, rebuildPool, ...contracts },
    ...{ payers, locks, unstored, world, rpcOn, checkStored },
    reshape: setShape && ((name: ShapeName) => reshape(observer, () => setShape(SHAPES[name]), SHAPES[name])),
    async reset(wantsBegun) {
      const beginning = (wantsBegun && begun) || fresh
      unstored.length = 0
      await locks.lose(true)
      await beginning.ledger.restore()
      await chain.revert(beginning.chain)
      if (backend === 'real') fresh = { ...fresh, chain: await chain.snapshot() }
    },
    async backUp() {
      await shelves.backup.keep()
      return shelves.backup.restore
    },
    emptyRebuild: rebuildShelves.empty.restore,
    async close() {
      await Promise.all([shelves, rebuildShelves].map((open) => open.close()))
      await Promise.all([pool, observer, rebuildPool].map((open) => open.end({ timeout: 1 })))
      await rpc.close()
      await chain.stop()
      await database.drop()
      await rebuilding.drop()
    },
  }
}

interface OpenChain extends Pick<Stage, 'chain' | 'fork'> {
  /** The same chain for seeds to play on. */
  played: TestChain
  setShape: ((shape: Shape) => void) | null
}

async function openChain(backend: Backend): Promise<OpenChain> {
  if (backend === 'real') {
    const chain = await startTestChain({ slotsInEpoch: SLOTS_IN_EPOCH })
    return { chain, played: changedInEmptyBlocks(chain), fork: null, setShape: null }
  }
  const model = newModelChain()
  const chain = startModelChain(model)
  return {
    ...{ chain, played: chain },
    fork: (depth) => startModelChain(model.fork(depth)),
    setShape(shape) {
      model.shape = shape
    },
  }
}

/** As an operator who begins on such a chain: where a part never recomputes, two providers must agree. */
async function reshape(sql: Sql, set: () => void, { unproven }: Shape): Promise<void> {
  set()
  if (unproven.length > 0) await setMode(sql, 'agreed', { by: 'sim' })
}

/** Notes which ledger this is, and that its chain proves its blocks. */
async function identify(sql: Sql, chain: TestChain, rest: { factory: Address; startBlock: number }): Promise<void> {
  await setMode(sql, 'proven', { by: 'sim' })
  const { hash: genesisHash } = await chain.block(0)
  await recordIdentity(sql, { chainId: chain.chainId, genesisHash, ...rest })
}

/** Real networks' rules for a send to this chain. */
export function sendRulesFor(chain: TestChain): SendRules {
  return createSendRules({
    forward: forwardTo(chain),
    databaseUrl: null,
    signerOf: async (raw) => (await readRaw(raw)).from,
  })
}

function forwardTo(chain: TestChain): (call: Call) => Promise<Answer> {
  return async ({ method, params }) => ({ result: await chain.rpc(method, params) })
}

/** The service's own client for these. */
export function rpcOn(providers: readonly Provider[]): Rpc {
  const byUrl = new Map(providers.map((provider, i) => [`http://provider-${i + 1}.invalid`, provider]))
  return createRpc({
    urls: [...byUrl.keys()],
    log: silentLog,
    replyBytesMax: REPLY_BYTES_MAX,
    retryPauseMs: 0,
    // A request may wait for the event in the middle of a pass, however slow the machine.
    timeoutMs: 600_000,
    dispatcherFor: (url) => byUrl.get(url) as Provider,
  })
}

async function noteUnstored(observer: Pool, calls: readonly Call[], unstored: Hash[]): Promise<void> {
  for (const { method, params } of calls) {
    if (method !== 'eth_sendRawTransaction') continue
    const hash = keccak256(params[0] as `0x${string}`)
    const stored = await observer`SELECT FROM outbox_attempts WHERE tx_hash = ${hash}`
    if (stored.count === 0) unstored.push(hash)
  }
}

/** Locks inside the process, because opening a connection for every run of a pass takes longer than the run. */
function locksInProcess(): Locks {
  const held = new Map<LockName, AbortController>()
  return {
    async lock(name, body) {
      if (held.has(name)) return null
      const holder = new AbortController()
      held.set(name, holder)
      try {
        return await body(holder.signal)
      } finally {
        if (held.get(name) === holder) held.delete(name)
      }
    },
    async lose(tell) {
      for (const [name, holder] of held) {
        held.delete(name)
        if (tell) holder.abort(new Error('the lock was lost'))
      }
    },
  }
}

function advisoryLocks(observer: Pool): Locks {
  return {
    lock: null,
    async lose() {
      await observer`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE application_name LIKE 'node-ledger lock%' AND datname = current_database()`
    },
  }
}
