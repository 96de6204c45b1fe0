// Reads per second of one service process, from its memo, compared with a bare node:http server that sends the same bytes and headers. `peers`
// compares what is read from the database.
import { connect, type Pool } from '../src/db/core/sql.ts'
import { createDatabase, type TestDatabase } from '../test/support/postgres.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { fillLedger, walletOfNode } from './lib/fill.ts'
import { inTurn, missingTools, requestRate } from './lib/load.ts'
import { perSecond } from './lib/numbers.ts'
import { serve, serveApi } from './lib/process.ts'
import { atLeast, atMost, notMeasured, type Row } from './lib/report.ts'

const NODES = 2_000
/** Credits and withdrawals of each node; also the default page size. */
const ENTRIES = 50
/** How many different pages we request from the memo. */
const KEPT_PAGES = 100
const GOAL = 0.5
/** Goal for a compressed answer, as a share of its bytes. */
const BYTES_GOAL = 0.2

export const reads: Bench = {
  name: 'reads',
  about:
    'Requests a second of one process, for pages of 50 credits and 50 withdrawals. Chain readings are left out: they are the speed of a provider.',
  isTimed: true,
  run: async (options) => {
    const missing = missingTools()
    if (missing !== null) return [notMeasured('reads', missing)]
    const { database, pool } = await openLedger(options)
    try {
      return await fromMemo(options, database.url, pool)
    } finally {
      await pool.end({ timeout: 1 })
      await database.drop()
    }
  },
}

interface Ledger {
  database: TestDatabase
  pool: Pool
}

async function openLedger({ progress }: BenchOptions): Promise<Ledger> {
  progress('filling a ledger')
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'bench' })
  await fillLedger(pool, { nodes: NODES, rounds: ENTRIES, withdrawingEvery: 1, withdrawals: ENTRIES })
  return { database, pool }
}

async function fromMemo(options: BenchOptions, url: string, pool: Pool): Promise<Row[]> {
  const page = { template: '/api/node/%d', maximum: KEPT_PAGES }
  const routes: { what: string; template: string; maximum: number; encoding?: 'br' }[] = [
    { what: '/api/node/:id, memoised', ...page },
    { what: '/api/node/:id, memoised, compressed', ...page, encoding: 'br' },
    { what: '/api/stats', template: '/api/stats', maximum: 1 },
    { what: '/api/nodes/:address', template: `/api/nodes/${await walletOfNode(pool, 1)}`, maximum: 1 },
  ]
  const pathsOf = ({ template, maximum }: (typeof routes)[number]) =>
    Array.from({ length: maximum }, (_, index) => template.replace('%d', String(index + 1)))
  const api = await serveApi(url, 'memoised')
  const bare = await serve('bare.ts', [api.origin, ...routes.flatMap(pathsOf)])
  try {
    const rows: Row[] = []
    for (const { what, ...asked } of routes) {
      const { ours, theirs } = await sideBySide(options, what, {
        ours: (sec) => requestRate(api.origin, asked, sec),
        theirs: (sec) => requestRate(bare.origin, asked, sec),
      })
      const peer = `bare node:http, same bytes: ${perSecond(theirs, 'requests')}`
      rows.push(atLeast(what, perSecond(ours, 'requests'), peer, ours / theirs, GOAL))
    }
    return [...rows, await bytesOnTheWire(api.origin)]
  } finally {
    await bare.stop()
    await api.stop()
  }
}

/** Bytes of a node's page with compression, divided by the bytes without. */
async function bytesOnTheWire(origin: string): Promise<Row> {
  const sizeFor = async (encoding: string) => {
    const { headers } = await fetch(`${origin}/api/node/1`, {
      method: 'HEAD',
      headers: { 'accept-encoding': encoding },
    })
    return Number(headers.get('content-length'))
  }
  const [packed, plain] = [await sizeFor('br'), await sizeFor('identity')]
  return atMost('bytes of a node’s page, compressed', String(packed), `as it is: ${plain}`, packed / plain, BYTES_GOAL)
}

/** Requests per second of both, measured in turn. */
async function sideBySide(
  { quick, progress }: BenchOptions,
  what: string,
  loads: Record<'ours' | 'theirs', (sec: number) => Promise<number>>,
): Promise<{ ours: number; theirs: number }> {
  const rates = await inTurn(loads, quick ? { runs: 1, sec: 1 } : { runs: 11, sec: 3 })
  progress(`${what}: done`)
  return rates
}
