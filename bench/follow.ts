// Cold sync: follows blocks of 50 transactions, recorded once and served from memory, into an empty ledger. For comparison, bare undici makes the
// same requests at the concurrency that suits it best, parses the answers and stores nothing. Also measures how much of the time reading alone takes.
import { cpus } from 'node:os'
import { Pool as Connections } from 'undici'
import { createChainReader } from '../src/chain/evidence/reader.ts'
import { createRpc } from '../src/chain/rpc/rpc.ts'
import { connect, inTransaction } from '../src/db/core/sql.ts'
import { insertFirstWallet } from '../src/db/sale/payment-wallets.ts'
import type { ObservedRange } from '../src/domain/observed.ts'
import type { Hash } from '../src/domain/units.ts'
import { follow as followChain } from '../src/follower/follow.ts'
import { silentLog } from '../src/lib/log.ts'
import type { RunLimits } from '../src/ports/contexts.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { contextOf, startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { median, perSecond } from './lib/numbers.ts'
import { type Served, serve } from './lib/process.ts'
import { PER_BLOCK, record } from './lib/recording.ts'
import { asIs, type Row } from './lib/report.ts'

const BLOCKS = 2_000
const BLOCKS_FULL = 10_000
const BLOCKS_QUICK = 100
const CONCURRENCY = [4, 8, 16, 32]
const RUNS = 5
/** The bench follows alone and to the end, so it needs no lock and no time limit. */
const RUN: RunLimits = { checkLock: () => {}, outOfTime: () => false }

export const follow: Bench = {
  name: 'follow',
  about: `Blocks a second of a cold sync, ${PER_BLOCK} transactions in each, one of them a payment, from a recorded chain served from memory.`,
  isTimed: true,
  run: async (options) => {
    const blocks = options.quick ? BLOCKS_QUICK : options.full ? BLOCKS_FULL : BLOCKS
    const world = await startWorld()
    let recorded: Served | undefined
    try {
      options.progress(`recording ${blocks.toLocaleString('en')} blocks`)
      recorded = await serve('recorded.ts', [...(await record(world, blocks)), String(world.chain.chainId)])
      return await compare(options, world, recorded.origin, blocks)
    } finally {
      await recorded?.stop()
      await world.close()
    }
  },
}

/** The cost of a run: seconds, and processor time of everything that ran in that time, on all cores. */
interface Took {
  sec: number
  busyMs: number
}

async function compare(
  { quick, progress }: BenchOptions,
  world: World,
  origin: string,
  blocks: number,
): Promise<Row[]> {
  const syncs: Took[] = []
  const reads: Took[] = []
  const limits: Took[] = []
  let requests: string[] | undefined
  for (let run = 0; run < (quick ? 1 : RUNS); run++) {
    syncs.push(await sync(world, origin, blocks))
    // The requests of the first sync. Each sync makes the same ones.
    requests ??= (await (await fetch(origin)).json()) as string[]
    reads.push(await read(world, origin, blocks))
    const tries: Took[] = []
    for (const concurrency of CONCURRENCY) tries.push(await again(origin, requests, concurrency))
    limits.push(tries.reduce((best, one) => (one.sec < best.sec ? one : best)))
    progress(`run ${run + 1}: done`)
  }
  const rate = (runs: readonly Took[]) => blocks / median(runs.map(({ sec }) => sec))
  const busyUs = (runs: readonly Took[]) => (median(runs.map(({ busyMs }) => busyMs)) * 1000) / blocks
  const peer = `bare undici, the same requests: ${perSecond(rate(limits), 'blocks')}`
  const times = [busyUs(syncs), busyUs(limits)] as const
  return [
    asIs('cold sync, all blocks proven', perSecond(rate(syncs), 'blocks'), peer, rate(syncs) / rate(limits)),
    asIs('read and judged alone, nothing stored', perSecond(rate(reads), 'blocks'), peer, rate(reads) / rate(limits)),
    asIs(
      `processor time a block, all processes on ${cpus().length} cores`,
      `${Math.round(times[0])} µs`,
      `bare undici: ${Math.round(times[1])} µs`,
      times[0] / times[1],
    ),
  ]
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const before = { busyMs: busyMs(), began: performance.now() }
  await work()
  return { sec: (performance.now() - before.began) / 1000, busyMs: busyMs() - before.busyMs }
}

/** How long all cores together were not idle, in steps of the system's clock (10 ms on Linux). */
function busyMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}

/** Follows the recorded chain into an empty ledger. */
async function sync({ chain, factory, at }: World, origin: string, blocks: number): Promise<Took> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 5, prepare: true, applicationName: 'bench' })
  const rpc = createRpc({ urls: [origin], log: silentLog })
  try {
    const ctx = contextOf({ chain, rpc, pool, directUrl: database.url, factory })
    // A service enters its wallet before it follows.
    await inTransaction(pool, (sql) => insertFirstWallet(sql, at(3), 0, 'bench'))
    const took = await timed(async () => {
      const { cursor } = await followChain(ctx, RUN)
      if ((cursor?.number ?? 0) < blocks) throw new Error('the sync did not reach the head')
    })
    const [paid] = await pool<{ payments: number }[]>`SELECT count(*) AS payments FROM payments`
    if (paid?.payments !== blocks) throw new Error('the sync missed a payment')
    return took
  } finally {
    await rpc.close()
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

/** Reads the recorded chain as the follower does, one range after another, and discards it. */
async function read({ at, factory }: World, origin: string, blocks: number): Promise<Took> {
  const rpc = createRpc({ urls: [origin], log: silentLog })
  const chain = createChainReader(rpc, {
    factory,
    wallets: [{ wallet: at(3), watchedFrom: 0, closedBlock: null }],
    signers: [at(1), at(2)],
  })
  try {
    return await timed(async () => {
      const head = await chain.head()
      let transfers = 0
      let parent: Hash | null = null
      for (let from = 1; from <= head.number; ) {
        const range: ObservedRange = await chain.observe(from, head.number, parent)
        transfers += range.transfers.length
        from += range.blocks.length
        parent = range.blocks.at(-1)?.hash ?? null
      }
      if (transfers !== blocks) throw new Error('the reading missed a payment')
    })
  } finally {
    await rpc.close()
  }
}

/** Makes the requests, this many at a time, and parses the answers. */
async function again(origin: string, requests: readonly string[], concurrency: number): Promise<Took> {
  const connections = new Connections(origin, { connections: concurrency, pipelining: 1 })
  const headers = { 'content-type': 'application/json', 'x-again': '1' }
  const waiting = requests.values()
  const work = async () => {
    for (const body of waiting) {
      const answer = await connections.request({ method: 'POST', path: '/', headers, body })
      JSON.parse(await answer.body.text())
    }
  }
  try {
    return await timed(async () => {
      await Promise.all(Array.from({ length: concurrency }, work))
    })
  } finally {
    await connections.close()
  }
}
