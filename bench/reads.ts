// Reads per second of one process of the service. A node's page (50 credits, 50 withdrawals) read from the database each time, beside
// pgbench with the very same statement; what the memo holds, beside a bare node:http server sending the same bytes and headers. First the
// statements that answer by what rows carry, in a ledger whose rows do and in one whose rows do not, and the bytes that this takes.
import { connect, type Pool } from '../src/db/core/sql.ts'
import { readDistributions, readNode } from '../src/db/reads/public-api.ts'
import { createDatabase, type TestDatabase } from '../test/support/postgres.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { cannotHold, withOwnCore } from './lib/cores.ts'
import { COHORTS, fillLedger, walletOfNode } from './lib/fill.ts'
import { inTurn, missingTools, requestRate, statementRate } from './lib/load.ts'
import { ms, perSecond } from './lib/numbers.ts'
import { serve, serveApi } from './lib/process.ts'
import { CONNECTIONS } from './lib/reads-setup.ts'
import { asIs, atLeast, atMost, notMeasured, type Row } from './lib/report.ts'

const NODES = 2_000
/** Credits and withdrawals of each node; also the default page size. */
const ENTRIES = 50
/** Different pages asked for where the memo holds them. */
const KEPT_PAGES = 100
const GOAL = 0.9
/** Where server and load take their time from the same two cores. */
const SHARED_GOAL = 0.8
const PAGE_GOAL = 0.35
const DISTRIBUTIONS_GOAL = 0.1
/** Of the bytes of an answer, compressed. */
const BYTES_GOAL = 0.2
const NOT_MEMOISED = '/api/node/:id, not memoised'

export const reads: Bench = {
  name: 'reads',
  about:
    'Requests a second of one process, for pages of 50 credits and 50 withdrawals. Chain readings are left out: they are the speed of a provider.',
  isTimed: true,
  run: async (options) => {
    const missing = missingTools()
    if (missing !== null) return [notMeasured('reads', missing)]
    const [now, before] = [await openLedger(options, { answers: true }), await openLedger(options, { answers: false })]
    try {
      const { database, pool } = now
      return [
        ...(await besideBefore(options, now, before)),
        ...(await bytesOfAnswers(now, before)),
        await fromDatabaseApart(options, database.url, pool),
        await fromDatabase(options, { how: 'all cores shared', goal: SHARED_GOAL }, database.url, pool),
        ...(await fromMemo(options, database.url, pool)),
      ]
    } finally {
      for (const { pool, database } of [now, before]) {
        await pool.end({ timeout: 1 })
        await database.drop()
      }
    }
  },
}

interface Ledger {
  database: TestDatabase
  pool: Pool
}

async function openLedger({ progress }: BenchOptions, { answers }: { answers: boolean }): Promise<Ledger> {
  progress(`filling a ledger whose rows carry ${answers ? 'their answers' : 'none'}`)
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'bench' })
  await fillLedger(pool, { nodes: NODES, rounds: ENTRIES, withdrawingEvery: 1, withdrawals: ENTRIES, answers })
  return { database, pool }
}

/** Time of a statement over one connection where rows carry their answers, by its time where each is made of its columns. */
async function besideBefore(options: BenchOptions, now: Ledger, before: Ledger): Promise<Row[]> {
  const page = `\\set id random(1, ${NODES})\n${await nodeStatement(now.pool)};\n`
  const rounds = `${await distributionsStatement(now.pool)};\n`
  const rows: Row[] = []
  for (const [what, script, goal] of [
    ['statement of a node’s page', page, PAGE_GOAL],
    ['statement of /api/distributions', rounds, DISTRIBUTIONS_GOAL],
  ] as const) {
    const rates = await sideBySide(options, what, {
      ours: (sec) => statementRate(now.database.url, script, 1, sec),
      theirs: (sec) => statementRate(before.database.url, script, 1, sec),
    })
    const [ours, theirs] = [1000 / rates.ours, 1000 / rates.theirs]
    rows.push(atMost(what, ms(ours), `made of its columns: ${ms(theirs)}`, ours / theirs, goal))
  }
  return [...rows, await sendingAlone(options, now, rounds)]
}

/** What no way of making it can save: as many bytes as a page of distributions has, sent without being made of anything. */
async function sendingAlone(options: BenchOptions, { database, pool }: Ledger, rounds: string): Promise<Row> {
  const bytes = Buffer.byteLength(await readDistributions(pool, ENTRIES))
  const rates = await sideBySide(options, 'as many bytes alone', {
    ours: (sec) => statementRate(database.url, `SELECT repeat('x', ${bytes});\n`, 1, sec),
    theirs: (sec) => statementRate(database.url, rounds, 1, sec),
  })
  const [ours, theirs] = [1000 / rates.ours, 1000 / rates.theirs]
  return asIs(
    `sending ${bytes.toLocaleString('en')} bytes alone`,
    ms(ours),
    `as distributions: ${ms(theirs)}`,
    ours / theirs,
  )
}

/** Bytes of a row with its indexes, in both ledgers. */
async function bytesOfAnswers(now: Ledger, before: Ledger): Promise<Row[]> {
  const rows: Row[] = []
  for (const [table, what] of [
    ['turns', 'a cohort’s credit'],
    ['withdrawals', 'a withdrawal'],
    ['rounds', `a round of ${COHORTS} cohorts`],
  ] as const) {
    const [ours, theirs] = [await bytesOfRow(now.pool, table), await bytesOfRow(before.pool, table)]
    rows.push(asIs(`bytes of ${what}`, `${ours} with its answer`, `without: ${theirs}`, ours / theirs))
  }
  return rows
}

async function bytesOfRow(pool: Pool, table: 'turns' | 'withdrawals' | 'rounds'): Promise<number> {
  await pool`VACUUM FULL ${pool(table)}`
  const [row] = await pool<{ bytes: number }[]>`
    SELECT (pg_total_relation_size(${table}::regclass) / (SELECT count(*) FROM ${pool(table)}))::int AS bytes`
  return row?.bytes ?? 0
}

/**
 * With the database on a core of its own. Else the server and the load's generator take time from it that pgbench, which is next to
 * nothing, leaves it, and the ratio tells how many cores there are.
 */
async function fromDatabaseApart(options: BenchOptions, url: string, pool: Pool): Promise<Row> {
  const how = 'the database on a core of its own'
  const missing = cannotHold()
  if (missing !== null) return notMeasured(`${NOT_MEMOISED}, ${how}`, missing)
  return withOwnCore(pool, () => fromDatabase(options, { how, goal: GOAL }, url, pool))
}

async function fromDatabase(
  options: BenchOptions,
  { how, goal }: { how: string; goal: number },
  url: string,
  pool: Pool,
): Promise<Row> {
  const script = `\\set id random(1, ${NODES})\n${await nodeStatement(pool)};\n`
  const api = await serveApi(url, 'plain')
  try {
    const { ours, theirs } = await sideBySide(options, `a node’s page, from the database, ${how}`, {
      ours: (sec) => requestRate(api.origin, { template: '/api/node/%d', maximum: NODES }, sec),
      theirs: (sec) => statementRate(url, script, CONNECTIONS, sec),
    })
    const peer = `pgbench -M prepared, ${CONNECTIONS} connections too: ${perSecond(theirs, 'statements')}`
    return atLeast(`${NOT_MEMOISED}, ${how}`, perSecond(ours, 'requests'), peer, ours / theirs, goal)
  } finally {
    await api.stop()
  }
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

/** Bytes of a node's page for who takes it compressed, by those for who does not. */
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

/** Requests and statements a second of both, measured in turn. */
async function sideBySide(
  { quick, progress }: BenchOptions,
  what: string,
  loads: Record<'ours' | 'theirs', (sec: number) => Promise<number>>,
): Promise<{ ours: number; theirs: number }> {
  const rates = await inTurn(loads, quick ? { runs: 1, sec: 1 } : { runs: 11, sec: 3 })
  progress(`${what}: done`)
  return rates
}

/** The statement of a node's page as the server prepared it, with its parameters as pgbench writes them. */
async function nodeStatement(pool: Pool): Promise<string> {
  const page = await readNode(pool, 1n, ENTRIES)
  const credits = JSON.parse(String(page?.credits ?? '[]')) as unknown[]
  const withdrawals = JSON.parse(String(page?.withdrawals ?? '[]')) as unknown[]
  if (credits.length !== ENTRIES || withdrawals.length !== ENTRIES)
    throw new Error('the page is not as long as it should be')
  const statement = await preparedStatement(pool, 'AS withdrawals')
  return statement.replaceAll(/\$\d+/g, ':id')
}

async function distributionsStatement(pool: Pool): Promise<string> {
  const rounds = JSON.parse(await readDistributions(pool, ENTRIES)) as unknown[]
  if (rounds.length !== ENTRIES) throw new Error('there are not as many distributions as there should be')
  return preparedStatement(pool, 'r.answer')
}

/** The only statement that the connection prepared with these words, with its limits filled in. */
async function preparedStatement(pool: Pool, words: string): Promise<string> {
  const rows = await pool<{ statement: string }[]>`SELECT statement FROM pg_prepared_statements`
  const [found, ...others] = rows.filter(({ statement }) => statement.includes(words))
  if (!found || others.length > 0) throw new Error(`not one statement with "${words}" was prepared`)
  return found.statement.replaceAll(/LIMIT \$\d+\)/g, `LIMIT ${ENTRIES})`)
}
