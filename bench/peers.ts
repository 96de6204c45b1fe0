// The product compared with what its users would otherwise pick: its routes with Next.js and Drizzle on the same
// database, and its following with Ponder on the same recorded blocks. The peers' own code is in bench/peers.
import { isDeepStrictEqual } from 'node:util'
import { encodeFunctionData } from 'viem'
import { createRpc } from '../src/chain/rpc/rpc.ts'
import { connect, inTransaction } from '../src/db/core/sql.ts'
import { insertFirstWallet } from '../src/db/sale/payment-wallets.ts'
import { follow } from '../src/follower/follow.ts'
import { silentLog } from '../src/lib/log.ts'
import type { TestTransaction } from '../test/support/anvil.ts'
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../test/support/postgres.ts'
import { contextOf, ETHER, INTERVAL_SEC, ownerAbi, startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { fillLedger, walletOfNode } from './lib/fill.ts'
import { inTurn, missingTools, requestRate } from './lib/load.ts'
import { median, perSecond } from './lib/numbers.ts'
import { indexWithPonder, installPeers, PONDER_SCHEMA, startNext } from './lib/peers.ts'
import { type Served, serve, serveApi } from './lib/process.ts'
import { record } from './lib/recording.ts'
import { atLeast, notMeasured, type Row } from './lib/report.ts'

/** Credits and withdrawals on a node's page. */
const ENTRIES = 50
const NODES = 2_000
/** How many different pages we request from the memo. Few enough that it holds them all from the first second. */
const PAGES = 100
const MEMO_GOAL = 5
/** Without the memo, both sides read the database once per request. */
const PLAIN_GOAL = 8
const BLOCKS = 1_000
/** Enough blocks that one-time costs of either side no longer count. */
const BLOCKS_FULL = 10_000
const BLOCKS_QUICK = 100
/** Ponder treats a block as final under this many others. It follows later blocks at the speed of new ones. */
const PONDER_FINALITY = 30
/** We prove each block, and Ponder believes its provider. */
const FOLLOW_GOAL = 1
const SYNCS = 3
const TIER_PRICE_WEI = ETHER / 100n
/** Accounts: the first node's owner, who withdraws, and the second's, who transfers it back and forth. */
const WITHDRAWER = 5
const HOLDERS = [6, 7] as const

interface Route {
  what: string
  /** With `%d` for a number from 1 to `maximum`. */
  template: string
  maximum: number
}

export const peers: Bench = {
  name: 'peers',
  about:
    'Beside what such a service is usually written with: requests a second of one process beside Next.js with Drizzle on the same database, and blocks a second of a cold sync beside Ponder on the same recorded chain.',
  isTimed: true,
  run: async (options) => {
    const missing = missingTools() ?? (await installPeers(options.progress))
    if (missing !== null) return [notMeasured('peers', missing)]
    return [...(await besideNext(options)), ...(await besidePonder(options))]
  },
}

async function besideNext(options: BenchOptions): Promise<Row[]> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'bench' })
  let next: Served | undefined
  try {
    options.progress('filling a ledger, building the Next.js service')
    await fillLedger(pool, { nodes: NODES, rounds: ENTRIES, withdrawingEvery: 1, withdrawals: ENTRIES })
    next = await startNext(database.url)
    const routes = [
      { what: '/api/node/:id', template: '/api/node/%d', maximum: NODES },
      { what: '/api/stats', template: '/api/stats', maximum: 1 },
      { what: '/api/nodes/:address', template: `/api/nodes/${await walletOfNode(pool, 1)}`, maximum: 1 },
    ]
    return await compareReads(options, database.url, { name: 'Next.js with Drizzle', ...next }, routes)
  } finally {
    await next?.stop()
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

/** Rows for each route, with the service's memo and without, compared with a peer whose answers are equal. */
async function compareReads(
  { quick, progress }: BenchOptions,
  url: string,
  peer: { name: string; origin: string },
  routes: readonly Route[],
): Promise<Row[]> {
  const memoised = await serveApi(url, 'memoised')
  const plain = await serveApi(url, 'plain')
  try {
    const rows: Row[] = []
    for (const { what, template, maximum } of routes) {
      await expectSameAnswers(plain.origin, peer.origin, template.replace('%d', '1'))
      const load = (origin: string, pages: number) => (sec: number) =>
        requestRate(origin, { template, maximum: pages }, sec)
      const loads = {
        memoised: load(memoised.origin, Math.min(maximum, PAGES)),
        plain: load(plain.origin, maximum),
        theirs: load(peer.origin, maximum),
      }
      const rates = await inTurn(loads, quick ? { runs: 1, sec: 1 } : { runs: 3, sec: 2 })
      const theirs = `${peer.name}: ${perSecond(rates.theirs, 'requests')}`
      for (const [how, rate, goal] of [
        ['from its memo', rates.memoised, MEMO_GOAL],
        ['memo off', rates.plain, PLAIN_GOAL],
      ] as const) {
        rows.push(atLeast(`${what}, ${how}`, perSecond(rate, 'requests'), theirs, rate / rates.theirs, goal))
      }
      progress(`${what} beside ${peer.name}: done`)
    }
    return rows
  } finally {
    await plain.stop()
    await memoised.stop()
  }
}

/** Throws if a field of the peer's answer differs from ours. The peer may leave fields out. */
async function expectSameAnswers(ours: string, theirs: string, path: string): Promise<void> {
  const [wanted, given] = await Promise.all(
    [ours, theirs].map(async (origin) => (await fetch(origin + path)).json() as Promise<unknown>),
  )
  const same = isDeepStrictEqual(given, partOf(wanted, given))
  if (!same)
    throw new Error(
      `GET ${path}: the peer answers otherwise:\n${JSON.stringify(given)}\nours:\n${JSON.stringify(wanted)}`,
    )
}

/** The part of a JSON value for which another one has fields. */
function partOf(whole: unknown, like: unknown): unknown {
  if (Array.isArray(whole) && Array.isArray(like)) return whole.map((item, index) => partOf(item, like[index]))
  if (!isObject(whole) || !isObject(like)) return whole
  return Object.fromEntries(Object.keys(like).map((key) => [key, partOf(whole[key], like[key])]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

async function besidePonder(options: BenchOptions): Promise<Row[]> {
  const world = await startWorld()
  let recorded: Served | undefined
  try {
    options.progress(`living through ${ENTRIES} rounds`)
    await prepareNodes(world)
    const blocks = options.quick ? BLOCKS_QUICK : options.full ? BLOCKS_FULL : BLOCKS
    options.progress(`recording ${blocks.toLocaleString('en')} blocks`)
    const last = Number((await world.chain.block()).number) + blocks
    const files = await record(world, blocks + PONDER_FINALITY, (block) => eventsOf(world, block))
    recorded = await serve('recorded.ts', [...files, String(world.chain.chainId)])
    return await compareIndexed(options, { world, origin: recorded.origin, last })
  } finally {
    await recorded?.stop()
    await world.close()
  }
}

interface RecordedChain {
  world: World
  origin: string
  /** The last block that both index. */
  last: number
}

/** The service and the peer after a cold sync, with their blocks per second. */
interface Indexed {
  ours: number
  theirs: number
  ledgerUrl: string
  ponderOrigin: string
}

async function compareIndexed(options: BenchOptions, chain: RecordedChain): Promise<Row[]> {
  const indexed: Indexed[] = []
  const note = (both: Indexed) => {
    indexed.push(both)
    options.progress(`cold sync ${indexed.length}: done`)
  }
  for (let run = 1; run < (options.quick ? 1 : SYNCS); run++) await indexBoth(chain, async (both) => note(both))
  const pages = await indexBoth(chain, async (both) => {
    note(both)
    const page = { what: 'a node’s page of what was indexed', template: '/api/node/1', maximum: 1 }
    return compareReads(options, both.ledgerUrl, { name: 'Ponder', origin: both.ponderOrigin }, [page])
  })
  const ours = median(indexed.map((both) => both.ours))
  const theirs = median(indexed.map((both) => both.theirs))
  const peer = `Ponder: ${perSecond(theirs, 'blocks')}`
  return [
    atLeast('cold sync, all blocks proven', perSecond(ours, 'blocks'), peer, ours / theirs, FOLLOW_GOAL),
    ...pages,
  ]
}

/** Both follow the recorded chain into empty databases, one after the other. Throws if their results differ. */
async function indexBoth<T>(chain: RecordedChain, look: (both: Indexed) => Promise<T>): Promise<T> {
  const { world, origin, last } = chain
  const ledger = await createDatabase()
  const theirs = await createEmptyDatabase()
  try {
    const ourSec = await followInto(ledger, chain)
    const { tookMs, ...ponder } = await indexWithPonder({
      databaseUrl: theirs.url,
      rpcOrigin: origin,
      chainId: world.chain.chainId,
      factory: world.factory,
      paymentsWallet: world.at(3),
      endBlock: last,
    })
    try {
      await expectSameTables(ledger.url, theirs.url)
      const speeds = { ours: last / ourSec, theirs: last / (tookMs / 1000) }
      return await look({ ...speeds, ledgerUrl: ledger.url, ponderOrigin: ponder.origin })
    } finally {
      await ponder.stop()
    }
  } finally {
    await theirs.drop()
    await ledger.drop()
  }
}

/** The service's own cold sync. @returns seconds. */
async function followInto({ url }: TestDatabase, { world, origin, last }: RecordedChain): Promise<number> {
  const pool = connect(url, { max: 5, prepare: true, applicationName: 'bench' })
  const rpc = createRpc({ urls: [origin], log: silentLog })
  try {
    const ctx = contextOf({ chain: world.chain, rpc, pool, directUrl: url, factory: world.factory })
    await inTransaction(pool, (sql) => insertFirstWallet(sql, world.at(3), 0, 'bench'))
    const began = performance.now()
    await follow(ctx, { checkLock: () => {}, outOfTime: () => false }, { upTo: last })
    return (performance.now() - began) / 1000
  } finally {
    await rpc.close()
    await pool.end({ timeout: 1 })
  }
}

async function expectSameTables(ledgerUrl: string, ponderUrl: string): Promise<void> {
  const ours = await sums(ledgerUrl, [
    'SELECT count(*), sum(value_wei) FROM payments',
    "SELECT count(*), string_agg(owner || withdrawn_wei, ' ' ORDER BY node_id) FROM nodes",
    'SELECT count(*), sum(node_id) FROM node_transfers',
    'SELECT count(*), sum(amount_wei * turn_no) FROM turns',
    'SELECT count(*), sum(amount_wei) FROM withdrawals',
  ])
  const theirs = await sums(ponderUrl, [
    'SELECT count(*), sum(value_wei) FROM payment',
    "SELECT count(*), string_agg(owner || withdrawn_wei, ' ' ORDER BY id) FROM node",
    'SELECT count(*), sum(node_id) FROM node_transfer',
    'SELECT count(*), sum(amount_wei * turn_no) FROM turn',
    'SELECT count(*), sum(amount_wei) FROM withdrawal',
  ])
  if (!isDeepStrictEqual(ours, theirs)) throw new Error(`Ponder found ${theirs}, the follower ${ours}`)
}

/** The one row of each statement, as text. */
async function sums(url: string, statements: readonly string[]): Promise<string[]> {
  const pool = connect(url, { max: 1, prepare: false, applicationName: 'bench' })
  try {
    await pool.unsafe(`SET search_path = ${PONDER_SCHEMA}, public`)
    const found: string[] = []
    for (const statement of statements) {
      const [row] = await pool.unsafe<{ found: string }[]>(`SELECT x::text AS found FROM (${statement}) x`)
      found.push(row?.found ?? '')
    }
    return found
  } finally {
    await pool.end({ timeout: 1 })
  }
}

/** Creates two nodes of one cohort, each with a full page of credits. */
async function prepareNodes(world: World): Promise<void> {
  await world.pay(WITHDRAWER, TIER_PRICE_WEI)
  await world.pay(HOLDERS[0], TIER_PRICE_WEI)
  await world.settle()
  await world.chain.setBalance(world.at(2), 1_000n * ETHER)
  for (let round = 0; round < ENTRIES; round++) {
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    await world.payments()
    await world.credit()
  }
  await world.rest()
}

/**
 * The owners' transactions in each recorded block: one withdraws from the first node, the other transfers the second.
 */
function eventsOf({ at, factory }: World, block: number): TestTransaction[] {
  const [from, to] = block % 2 === 1 ? HOLDERS : [HOLDERS[1], HOLDERS[0]]
  const act = (sender: number, functionName: string, args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi: ownerAbi, functionName, args } as never)
    return { from: at(sender), to: factory, data, gas: '0x30000' } as const
  }
  return [act(WITHDRAWER, 'withdraw', [1n, at(WITHDRAWER), 1n]), act(from, 'transferFrom', [at(from), at(to), 2n])]
}
