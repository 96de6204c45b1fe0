// Databases for tests, on a real PostgreSQL: each a clone of one migrated template. The test runner starts the server
// and names it in the environment; a test file that is run by itself starts its own.
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { migrate } from '../../src/db/migrate.ts'
import type { Pool } from '../../src/db/sql.ts'
import { type Postgres, startPostgres } from '../../src/embed/postgres.ts'
import { silentLog } from '../../src/lib/log.ts'
import { temporaryDirectory } from './temporary.ts'

/** Where the runner tells its tests the server's connection string. */
export const SERVER_VARIABLE = 'NODE_LEDGER_TEST_POSTGRES'
const TEMPLATE = 'ledger_template'
/** Any number; one per purpose. */
const TEMPLATE_LOCK = 7_301_001
/** A pool that was ended closes its connections on the server a moment later; on a busy machine several. Only a leak takes all of it. */
const DROP_WAIT_MS = 10_000
const DROP_POLL_MS = 20
/** Generous, since machines are slow at times. */
const LOCK_WAIT_MS = 60_000
const LOCK_POLL_MS = 20

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Drops it. Throws when someone is still connected: the test, or what it tests, has not closed its pool. */
  drop(): Promise<void>
}

/** A migrated database of the caller's own; about 20 ms. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const ready = templates.get(server) ?? ensureTemplate(server)
  templates.set(server, ready)
  await ready
  return create(server, TEMPLATE)
}

/** A database without a single table, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return create(await serverUrl(), 'template0')
}

/** Starts a server for a whole test run and prepares its template. The caller stops it. */
export async function startTestPostgres(): Promise<Postgres> {
  const server = await startPostgres({ dataDir: temporaryDirectory(), log: silentLog, durable: false })
  // For a process that ends without stopping it; the guard alone would leave it a moment in which its files go.
  process.once('exit', () => kill(server.pid))
  return server
}

/** Makes the migrated template on this server, unless it is there. Several processes may try at once. */
export async function ensureTemplate(server: string): Promise<void> {
  await asAdmin(server, async (sql) => {
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`
    const [ready] = await sql`select from pg_database where datname = ${TEMPLATE}`
    if (ready) return
    // Under another name until it is whole: a run that is killed half way leaves no template.
    const unfinished = `${TEMPLATE}_new`
    await sql`drop database if exists ${sql(unfinished)} with (force)`
    await sql`create database ${sql(unfinished)} template template0`
    await migrate(withDatabase(server, unfinished))
    await sql`alter database ${sql(unfinished)} rename to ${sql(TEMPLATE)}`
  })
}

/** Resolves once this many connections of the pool's database wait for a lock of another one. Throws when they never do. */
export async function lockIsAwaited(pool: Pool, by = 1): Promise<void> {
  const deadline = Date.now() + LOCK_WAIT_MS
  for (;;) {
    const waiting = await pool`
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    if (waiting.count >= by) return
    if (Date.now() > deadline) throw new Error(`${waiting.count} waited for a lock, not ${by}`)
    await sleep(LOCK_POLL_MS)
  }
}

let ownServer: Promise<Postgres> | undefined
/** The template of each server, made once: a run may go from one server to the next. */
const templates = new Map<string, Promise<void>>()
let created = 0

async function serverUrl(): Promise<string> {
  const shared = process.env[SERVER_VARIABLE]
  if (shared !== undefined) return shared
  ownServer ??= startTestPostgres()
  const server = await ownServer
  server.unref()
  return server.url
}

async function create(server: string, template: string): Promise<TestDatabase> {
  const name = `test_${process.pid}_${++created}`
  await asAdmin(server, (sql) => sql`create database ${sql(name)} template ${sql(template)}`)
  return { name, url: withDatabase(server, name), drop: () => drop(server, name) }
}

async function drop(server: string, name: string): Promise<void> {
  const leaks = await asAdmin(server, async (sql) => {
    const deadline = Date.now() + DROP_WAIT_MS
    let open = await connections(sql, name)
    while (open.length > 0 && Date.now() < deadline) {
      await sleep(DROP_POLL_MS)
      open = await connections(sql, name)
    }
    await sql`drop database if exists ${sql(name)} with (force)`
    return open
  })
  if (leaks.length > 0)
    throw new Error(`Connections left open at the end of a test; they last ran: ${leaks.join(' | ')}`)
}

async function connections(sql: postgres.Sql, name: string): Promise<string[]> {
  const rows = await sql<{ query: string }[]>`select query from pg_stat_activity where datname = ${name}`
  return rows.map(({ query }) => query.replaceAll(/\s+/g, ' ').slice(0, 100))
}

async function asAdmin<T>(server: string, run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(server, { max: 1, onnotice: () => undefined })
  try {
    return await run(sql)
  } finally {
    await sql.end()
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Stopped already.
  }
}
