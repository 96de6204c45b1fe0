// Compares the cost of our database statements in a large ledger with a small one. Runs the statements of every public
// read and of a round's planning on ledgers side by side on one server, each statement on every ledger in turn. Also
// measures, in bytes, what a ledger's life adds to the database.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readCursor } from '../src/db/blocks/blocks.ts'
import { connect, type Pool } from '../src/db/core/sql.ts'
import { readBudgetNeed } from '../src/db/nodes/budget.ts'
import { readCohorts } from '../src/db/nodes/cohorts.ts'
import { lastRound } from '../src/db/nodes/rounds.ts'
import { readBuyerStanding } from '../src/db/reads/can-buy.ts'
import * as doctor from '../src/db/reads/doctor.ts'
import { readFigures } from '../src/db/reads/metrics.ts'
import * as reads from '../src/db/reads/public-api.ts'
import { readPaymentsIn, readPaymentsOf } from '../src/db/reads/public-payments.ts'
import { readNextRoundWei } from '../src/db/sends/funds.ts'
import { type Address, hash } from '../src/domain/units.ts'
import { planDueRound } from '../src/passes/steps/plan-round.ts'
import type { PassContext } from '../src/ports/contexts.ts'
import { createDatabase, SERVER_VARIABLE, startTestPostgres } from '../test/support/postgres.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { type Growth, measureBytes } from './lib/bytes.ts'
import { COHORTS, fillLedger } from './lib/fill.ts'
import { ms, quantile } from './lib/numbers.ts'
import { asIs, atMost, type Row } from './lib/report.ts'

/**
 * The smallest has as many rounds as an answer has rows, so answers are equally long in all. `withdrawingEvery: 2`
 * means that every second node, from the first, has withdrawn. Each size has enough of them to query.
 */
const SMALLEST = { nodes: 1_000, rounds: 50, withdrawingEvery: 2 }
/** The smallest twice: the difference between these two is noise, and so is an equally small one in the largest. */
const SIZES = [SMALLEST, SMALLEST, { nodes: 100_000, rounds: 1_000, withdrawingEvery: 100 }]
const FULL_SIZE = { nodes: 10_000_000, rounds: 100_000, withdrawingEvery: 100 }
const ROWS = 50
/** How many nodes we query in each ledger. All of them have withdrawn. */
const ASKED = 500
const GOAL = 1.3
/** The server for all sizes, as docs/SCALING.md requires it for the largest. The indexes that find single nodes fit into memory. */
const SERVER = { shared_buffers: '4GB', effective_cache_size: '12GB', random_page_cost: '1.1' }

interface Ledger {
  pool: Pool
  nodes: number
  rounds: number
  /** The nodes to query. */
  asked: { nodeId: number; owner: Address; payment: string }[]
  close(): Promise<void>
}

type Statement = (ledger: Ledger, node: Ledger['asked'][number]) => Promise<unknown>

const STATEMENTS: Readonly<Record<string, Statement>> = {
  '/api/stats': ({ pool }) => reads.readStats(pool),
  '/api/tiers': ({ pool }) => reads.readTiers(pool),
  '/api/nodes/:address': ({ pool }, { owner }) => reads.readNodesOf(pool, owner),
  '/api/node/:id': ({ pool }, { nodeId }) => reads.readNode(pool, BigInt(nodeId), ROWS),
  '/api/node/:id, by row id': ({ pool }, { nodeId }) => reads.readNode(pool, 1_000_000_000n + BigInt(nodeId), ROWS),
  '/api/distributions': ({ pool }) => reads.readDistributions(pool, ROWS),
  '/api/deploy-quote': ({ pool }) => reads.readQuote(pool, null),
  '/api/can-buy/:address': ({ pool }, { owner }) => readBuyerStanding(pool, owner, { tierNo: 1, allowlist: null }),
  '/api/nodes/sync': ({ pool }, { nodeId, owner }) => reads.readNodesById(pool, [BigInt(nodeId)], owner),
  '/api/payment/:hash': ({ pool }, { payment }) => readPaymentsIn(pool, hash(payment)),
  '/api/payments/:address': ({ pool }, { owner }) => readPaymentsOf(pool, owner, ROWS),
  '/api/cron/health': ({ pool }) => reads.readHealth(pool),
  '/metrics': ({ pool }) => readFigures(pool),
  'node-ledger doctor': ({ pool }) => readForDoctor(pool),
  [`planning a round of ${COHORTS} cohorts`]: ({ pool }) => plan(pool),
}

export const growth: Bench = {
  name: 'growth',
  about: `Time of the statements of every public read and of a round's planning, in the largest ledger by the smallest, of which there are two, to show what chance does; answers of ${ROWS} rows. Then bytes that a ledger's life adds to the database.`,
  isTimed: true,
  run: async (options) => {
    const bytes = await measureBytes(
      options.quick ? { blocks: 10, nodesEach: 1, rounds: 1 } : { blocks: 1_000, nodesEach: 60, rounds: 60 },
    )
    options.progress('a ledger’s life: done')
    return [...(await compareSizes(options)), ...bytes.map(bytesRow)]
  },
}

async function compareSizes(options: BenchOptions): Promise<Row[]> {
  const sizes = options.full ? [...SIZES, FULL_SIZE] : SIZES
  const ledgers: Ledger[] = []
  const server = options.full ? await startTestPostgres(SERVER) : null
  if (server) process.env[SERVER_VARIABLE] = server.url
  try {
    for (const size of sizes) {
      options.progress(`filling a ledger of ${shown(size.nodes)} nodes and ${shown(size.rounds)} rounds`)
      ledgers.push(await openLedger(size))
    }
    const rows: Row[] = []
    for (const [what, statement] of Object.entries(STATEMENTS)) {
      rows.push(...(await compare(what, statement, ledgers, options.quick ? 20 : 2_000)))
      options.progress(what)
    }
    return rows
  } finally {
    for (const ledger of ledgers) await ledger.close()
    if (server) delete process.env[SERVER_VARIABLE]
    await server?.stop()
  }
}

async function openLedger(size: typeof SMALLEST): Promise<Ledger> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'bench' })
  const close = async () => {
    await pool.end({ timeout: 1 })
    await database.drop()
  }
  try {
    await fillLedger(pool, { ...size, withdrawals: ROWS })
    // To read how long the server waits for pages that are not in memory.
    await pool`SET track_io_timing = on`
    const asked = await pool<Ledger['asked']>`
      SELECT n.node_id AS "nodeId", n.owner, p.tx_hash AS payment FROM nodes n JOIN payments p ON p.id = n.payment_id
      WHERE n.node_id = ANY(${drawn(size)}::bigint[]) ORDER BY md5(n.node_id::text)`
    return { pool, nodes: size.nodes, rounds: size.rounds, asked, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The numbers of nodes that have withdrawn, spread over the ledger. */
function drawn({ nodes, withdrawingEvery }: typeof SMALLEST): number[] {
  const step = Math.floor(nodes / withdrawingEvery / ASKED) * withdrawingEvery
  return Array.from({ length: ASKED }, (_, index) => index * step + 1)
}

/** Runs a statement on each ledger in turn, so that a slower machine affects all alike, and counts the pages that it touches. */
async function compare(what: string, statement: Statement, ledgers: readonly Ledger[], runs: number): Promise<Row[]> {
  const samples = ledgers.map((): number[] => [])
  const before = await Promise.all(ledgers.map(readPages))
  const collect = collector()
  // The first runs prepare the statement, and the database settles on a plan for it.
  const warmUp = 10
  for (let run = -warmUp; run < runs; run++) {
    for (const [index, ledger] of ledgers.entries()) {
      const node = ledger.asked[(run + warmUp) % ledger.asked.length]
      if (!node) throw new Error('no node to ask for')
      collect()
      const began = performance.now()
      await statement(ledger, node)
      if (run >= 0) samples[index]?.push(performance.now() - began)
    }
  }
  const after = await Promise.all(ledgers.map(readPages))
  const [smallest = [], another = [], largest = []] = [samples.at(0), samples.at(1), samples.at(-1)]
  const rows = [0.5, 0.99].map((share) => {
    const [small = 0, again = 0, large = 0] = [smallest, another, largest].map((times) => quantile(times, share))
    const name = share === 0.5 ? `${what}: median` : `${what}: p99`
    const against = `${shown(SMALLEST.nodes)} nodes: ${ms(small)}; another such: ${ms(again)}`
    return atMost(name, ms(large), against, large / small, GOAL)
  })
  const [few, many] = [pagesOfRun(0), pagesOfRun(-1)]
  rows.push(asIs(`${what}: pages a run`, shownPages(many), shownPages(few), many.touched / few.touched))
  return rows

  function pagesOfRun(place: number): Pages {
    const [from, to] = [before.at(place), after.at(place)]
    if (!from || !to) throw new Error('no ledger')
    const each = (key: keyof Pages) => (to[key] - from[key]) / (runs + warmUp)
    return { touched: each('touched'), read: each('read'), readMs: each('readMs') }
  }
}

/** Collects this process's young garbage between the runs, because its pauses are longer than most statements take. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (what: { type: 'minor' }) => void
  return () => gc({ type: 'minor' })
}

function shownPages({ touched, read, readMs }: Pages): string {
  const many = touched.toFixed(1)
  return read < 0.005 ? many : `${many}, ${read.toFixed(2)} not in memory: ${readMs.toFixed(2)} ms`
}

/** How many pages a database has read since its creation, how many of them from outside its memory, and how long these took. */
interface Pages {
  touched: number
  read: number
  readMs: number
}

async function readPages({ pool }: Ledger): Promise<Pages> {
  // Otherwise a connection reports its counts only once a second.
  await pool`SELECT pg_stat_force_next_flush()`
  const [pages] = await pool<Pages[]>`
    SELECT (blks_hit + blks_read)::float8 AS touched, blks_read::float8 AS read, blk_read_time AS "readMs"
    FROM pg_stat_database WHERE datname = current_database()`
  if (!pages) throw new Error('the database tells nothing of its pages')
  return pages
}

/** Those of the doctor's readings that could grow: counts, sums, and traces of a thief. */
async function readForDoctor(pool: Pool): Promise<void> {
  await doctor.readRuns(pool)
  await doctor.readHeldReasons(pool)
  await doctor.readRecentTrouble(pool, null)
  await doctor.readForeign(pool)
  await doctor.readTakenRefs(pool)
  await doctor.readUnusualCohorts(pool)
  await readNextRoundWei(pool)
  await readBudgetNeed(pool, (await readCursor(pool))?.time ?? 0)
}

/** Plans as the credit pass does: the cohorts, the round's number, terms and seeds of each due turn. */
async function plan(pool: Pool): Promise<void> {
  const cursor = await readCursor(pool)
  if (!cursor) throw new Error('the ledger has followed nothing')
  await readCohorts(pool)
  await lastRound(pool)
  const basis = { cursor, bounds: null, upTo: cursor.time }
  // Planning reads only those seeds from the chain that are older than the stored headers. There are none here.
  const { plan: planned } = await planDueRound({ pool } as PassContext, basis)
  if (planned.credits.length !== COHORTS) throw new Error('not every cohort was planned')
}

function bytesRow({ what, count, bytes, tables }: Growth): Row {
  const parts = tables.map(({ table, rows }) => `${rows.toFixed(2)} ${table}`).join(', ')
  return {
    what: `${shown(count)} × ${what}`,
    ours: `${Math.round(bytes)} bytes each`,
    peer: parts,
    ratio: null,
    goal: '',
    met: null,
  }
}

const shown = (count: number) => count.toLocaleString('en')
