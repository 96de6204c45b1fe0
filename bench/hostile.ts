// Measures the latency of /api/stats while hostile clients hold connections: they send headers and bodies slowly, hardly read answers, or send
// nothing. For comparison, the same requests without them. The hostile clients run in their own thread.
import { Worker } from 'node:worker_threads'
import { connect, type Pool } from '../src/db/core/sql.ts'
import { createDatabase } from '../test/support/postgres.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { type Figures, loadAt } from './lib/constant-rate.ts'
import { fillLedger } from './lib/fill.ts'
import type { Attack, Done, Manner } from './lib/hostile-worker.ts'
import { median, ms } from './lib/numbers.ts'
import { serveApi } from './lib/process.ts'
import { atMost, type Row } from './lib/report.ts'

const PER_SECOND = 100
const SEC = { quick: 2, real: 10 }
/** Pairs of a run without and a run with hostile clients; we compare the medians. */
const RUNS = { quick: 1, real: 3 }
const GOAL = 5
const ATTACKS: readonly { what: string; manner: Manner; connections: number }[] = [
  { what: '200 clients that send headers slowly', manner: 'headers', connections: 200 },
  { what: '200 clients that send bodies slowly', manner: 'bodies', connections: 200 },
  { what: '200 clients that read the largest file slowly', manner: 'readers', connections: 200 },
  { what: '2,000 connections that say nothing', manner: 'idle', connections: 2_000 },
]

export const hostile: Bench = {
  name: 'hostile',
  about: `GET /api/stats, ${PER_SECOND} requests a second, while strangers hold connections: its p99 beside that without them.`,
  isTimed: true,
  run: async (options) => {
    const database = await createDatabase()
    const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'bench' })
    try {
      return await measureAll(options, database.url, pool)
    } finally {
      await pool.end({ timeout: 1 })
      await database.drop()
    }
  },
}

async function measureAll(options: BenchOptions, url: string, pool: Pool): Promise<Row[]> {
  await fillLedger(pool, { nodes: 100, rounds: 5, withdrawingEvery: 2, withdrawals: 1 })
  const rows: Row[] = []
  for (const attack of ATTACKS) {
    // A new service for each kind of client, so that none affects the next.
    const api = await serveApi(url, 'memoised')
    try {
      rows.push(await measure(options, api.origin, attack))
    } finally {
      await api.stop()
    }
    options.progress(`${attack.what}: done`)
  }
  return rows
}

async function measure({ quick }: BenchOptions, origin: string, attack: (typeof ATTACKS)[number]): Promise<Row> {
  const sec = quick ? SEC.quick : SEC.real
  const probe = () =>
    loadAt({ origin, perSecond: PER_SECOND, sec, sorts: [{ name: 'stats', share: 1, paths: ['/api/stats'] }] })
  await probe()
  const alone: Figures[] = []
  const beside: Figures[] = []
  let held = 0
  let dropped = 0
  for (let run = 0; run < (quick ? RUNS.quick : RUNS.real); run++) {
    alone.push(await probe())
    const strangers = await startAttack({ port: Number(new URL(origin).port), ...attack })
    beside.push(await probe())
    const done = await strangers.stop()
    held = Math.max(held, done.open)
    dropped += done.dropped
  }
  const [ours, theirs] = [beside, alone].map((all) => median(all.map(({ p99 }) => p99))) as [number, number]
  const failed = beside.reduce((sum, { requests, statuses }) => sum + requests - (statuses.get(200) ?? 0), 0)
  const about = `${held} held at the end, ${dropped} dropped, ${failed} answers other than 200`
  return atMost(attack.what, `${ms(ours)}; ${about}`, `without them: ${ms(theirs)}`, ours / theirs, GOAL)
}

/** Resolves once all of them have connected. */
async function startAttack(attack: Attack): Promise<{ stop(): Promise<Done> }> {
  const worker = new Worker(new URL('./lib/hostile-worker.ts', import.meta.url), { workerData: attack })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  const message = <T>() => Promise.race([new Promise<T>((resolve) => worker.once('message', resolve)), failed])
  await message<'begun'>()
  return {
    async stop() {
      const done = message<Done>()
      worker.postMessage('stop')
      return done
    },
  }
}
