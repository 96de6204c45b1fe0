// Cold sync: blocks of 50 transactions, recorded once and served from memory, followed into an empty ledger; beside a bare undici making
// the very same requests at the concurrency that serves it best, parsing what comes and storing nothing.
import { Pool as Connections } from 'undici'
import { createRpc } from '../src/chain/rpc.ts'
import { connect } from '../src/db/sql.ts'
import { silentLog } from '../src/log.ts'
import type { Run } from '../src/passes/context.ts'
import { follow as followChain } from '../src/passes/steps/follow.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { contextOf, startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { median, perSecond } from './lib/numbers.ts'
import { type Served, serve } from './lib/process.ts'
import { PER_BLOCK, record } from './lib/recording.ts'
import { atLeast, type Row } from './lib/report.ts'

const BLOCKS = 2_000
const BLOCKS_FULL = 10_000
const BLOCKS_QUICK = 100
const CONCURRENCY = [4, 8, 16, 32]
const GOAL = 0.8
/** The bench follows alone and to the end. */
const RUN: Run = { checkLock: () => {}, outOfTime: () => false }

export const follow: Bench = {
  name: 'follow',
  about: `Blocks a second of a cold sync, ${PER_BLOCK} transactions in each, one of them a payment, from a recorded chain served from memory.`,
  run: async (options) => {
    const blocks = options.quick ? BLOCKS_QUICK : options.full ? BLOCKS_FULL : BLOCKS
    const world = await startWorld()
    let recorded: Served | undefined
    try {
      options.progress(`recording ${blocks.toLocaleString('en')} blocks`)
      recorded = await serve('recorded.ts', [...(await record(world, blocks)), String(world.chain.chainId)])
      return [await compare(options, world, recorded.origin, blocks)]
    } finally {
      await recorded?.stop()
      await world.close()
    }
  },
}

async function compare({ quick, progress }: BenchOptions, world: World, origin: string, blocks: number): Promise<Row> {
  const ours: number[] = []
  const limits: number[] = []
  for (let run = 0; run < (quick ? 1 : 3); run++) {
    ours.push(blocks / (await sync(world, origin, blocks)))
    // Asked once a sync, so that each run's are those of one.
    const asked = (await (await fetch(origin)).json()) as string[]
    const requests = asked.slice(0, asked.length / (run + 1))
    const rates: number[] = []
    for (const concurrency of CONCURRENCY) rates.push(blocks / (await again(origin, requests, concurrency)))
    limits.push(Math.max(...rates))
    progress(`run ${run + 1}: done`)
  }
  const peer = `bare undici, the same requests: ${perSecond(median(limits), 'blocks')}`
  return atLeast('cold sync', perSecond(median(ours), 'blocks'), peer, median(ours) / median(limits), GOAL)
}

/** Follows the recorded chain into an empty ledger. @returns seconds. */
async function sync({ chain, factory }: World, origin: string, blocks: number): Promise<number> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 5, prepare: true, applicationName: 'bench' })
  const rpc = createRpc({ urls: [origin], log: silentLog })
  try {
    const ctx = contextOf({ chain, rpc, pool, directUrl: database.url, factory })
    const began = performance.now()
    const { cursor } = await followChain(ctx, RUN)
    const took = performance.now() - began
    const [paid] = await pool<{ payments: number }[]>`SELECT count(*) AS payments FROM payments`
    if ((cursor?.number ?? 0) < blocks || paid?.payments !== blocks) throw new Error('the sync missed something')
    return took / 1000
  } finally {
    await rpc.close()
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

/** Makes the requests, so many at a time, and parses what is answered. @returns seconds. */
async function again(origin: string, requests: readonly string[], concurrency: number): Promise<number> {
  const connections = new Connections(origin, { connections: concurrency, pipelining: 1 })
  const headers = { 'content-type': 'application/json', 'x-again': '1' }
  const waiting = requests.values()
  const work = async () => {
    for (const body of waiting) {
      const answer = await connections.request({ method: 'POST', path: '/', headers, body })
      JSON.parse(await answer.body.text())
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: concurrency }, work))
  const took = performance.now() - began
  await connections.close()
  return took / 1000
}
