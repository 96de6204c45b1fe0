// Databases for tests, on a real PostgreSQL. Each is a clone of one migrated template, or one that another test returned, emptied. The test runner
// starts the server and names it in the environment; a test file run alone starts its own.
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { type Postgres, startPostgres } from '../../packages/embed/postgres.ts'
import { holdLock, type LockName, withLock } from '../../src/db/core/locks.ts'
import { migrate } from '../../src/db/core/migrate.ts'
import { connect, inTransaction, type Pool, type Sql } from '../../src/db/core/sql.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { PassContext } from '../../src/ports/contexts.ts'
import { temporaryDirectory } from './temporary.ts'

/** The variable in which the runner passes the server's connection string to its tests. */
export const SERVER_VARIABLE = 'NODE_LEDGER_TEST_POSTGRES'
const TEMPLATE = 'ledger_template'
/** Name prefix of databases that tests have returned. */
const SPARE = 'spare_'
/** A new database has 10 MB. If a test has put much more into one, emptying it takes longer than creating another. */
const SPARE_BYTES_MAX = 30_000_000
/** Any number, but a different one for each purpose. */
const TEMPLATE_LOCK = 7_301_001
/** After a pool ends, the server closes its connections a moment later, or several on a busy machine. Only a leak takes this long. */
const DROP_WAIT_MS = 10_000
const DROP_POLL_MS = 20
/** Generous, because machines are slow at times. */
const LOCK_WAIT_MS = 60_000
const LOCK_POLL_MS = 20
const ADMIN_IDLE_SEC = 2

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** Drops it. Throws if a client is still connected, because then the test, or what it tests, has not closed its pool. */
  drop(): Promise<void>
}

/** A new migrated database, as the migrations leave it. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const ready = templates.get(server) ?? ensureTemplate(server)
  templates.set(server, ready)
  await ready
  const name = nextName()
  if (!(await takeSpare(server, name))) await create(server, name, TEMPLATE)
  return { name, url: withDatabase(server, name), drop: () => giveBack(server, name) }
}

export interface OpenDatabase extends AsyncDisposable {
  readonly name: string
  readonly url: string
  readonly pool: Pool
  /** Ends the pool and drops the database, as `await using` does. */
  close(): Promise<void>
}

/** A new migrated database, with a pool of `max` connections. */
export async function openDatabase(max = 1, { prepare = true }: { prepare?: boolean } = {}): Promise<OpenDatabase> {
  const database = await createDatabase()
  const pool = connect(database.url, { max, prepare, applicationName: 'test' })
  const close = async () => {
    await pool.end({ timeout: 1 })
    await database.drop()
  }
  return { name: database.name, url: database.url, pool, close, [Symbol.asyncDispose]: close }
}

/** Every row of the database, one digest per table. */
export async function digestsOfAll(pool: Pool): Promise<Record<string, string>> {
  const tables = await pool<{ tablename: string }[]>`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
  return await digestsOf(
    pool,
    tables.map(({ tablename }) => tablename),
  )
}

/** Every row of these tables, one digest per table. */
export async function digestsOf(pool: Pool, tables: readonly string[]): Promise<Record<string, string>> {
  const digestOf = (table: string) =>
    `SELECT '${table}' AS name, coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') AS digest FROM ${table} t`
  const rows = await pool.unsafe<{ name: string; digest: string }[]>(tables.map(digestOf).join(' UNION ALL '))
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
}

/** A database without tables, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = nextName()
  await create(server, name, 'template0')
  return { name, url: withDatabase(server, name), drop: () => drop(server, name) }
}

/** Starts a server for a whole test run and prepares its template. A bench may pass further settings. The caller stops it. */
export async function startTestPostgres(settings: Readonly<Record<string, string>> = {}): Promise<Postgres> {
  const server = await startPostgres({ dataDir: temporaryDirectory(), log: silentLog, durable: false, settings })
  // If a process ends without stopping the server, the guard alone would leave it running for a moment while its files disappear.
  process.once('exit', () => kill(server.pid))
  return server
}

/** Creates the migrated template on this server unless it exists. Several processes may try at once. */
export async function ensureTemplate(server: string): Promise<void> {
  await asAdmin(server, async (sql) => {
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`
    const [ready] = await sql`select from pg_database where datname = ${TEMPLATE}`
    if (ready) return
    // Under another name until it is complete, so that a run killed half way leaves no template.
    const unfinished = `${TEMPLATE}_new`
    await sql`drop database if exists ${sql(unfinished)} with (force)`
    await sql`create database ${sql(unfinished)} template template0`
    await migrate(withDatabase(server, unfinished))
    await asAdmin(withDatabase(server, unfinished), addEmptying)
    await sql`alter database ${sql(unfinished)} rename to ${sql(TEMPLATE)}`
  })
}

/**
 * Begins each of these while `hold` keeps a lock that all of them need, and commits once all wait for it, in this order. So each of them has read what it
 * reads before that lock, and none has gone further. Throws if one ends without waiting. `meanwhile` runs in the same transaction, once all wait.
 */
export async function meetAt<const Begin extends readonly (() => Promise<unknown>)[]>(
  pool: Pool,
  hold: (sql: Sql) => Promise<unknown>,
  begin: Begin,
  meanwhile: (sql: Sql) => Promise<unknown> = async () => {},
) {
  const begun: Promise<unknown>[] = []
  await inTransaction(pool, async (sql) => {
    await hold(sql)
    for (const one of begin) {
      begun.push(one())
      const ended = Promise.race(begun).then(() => Promise.reject(new Error('one ended without waiting for the lock')))
      await Promise.race([lockIsAwaited(pool, begun.length), ended])
    }
    await meanwhile(sql)
  })
  return (await Promise.all(begun)) as { [Place in keyof Begin]: Awaited<ReturnType<Begin[Place]>> }
}

/** Resolves once this many connections of the pool's database wait for another one's lock. Throws if they never do. */
async function lockIsAwaited(pool: Pool, by: number): Promise<void> {
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
/** The template of each server, created once. A run may use one server after another. */
const templates = new Map<string, Promise<void>>()
/** Connections to each server. */
const admins = new Map<string, postgres.Sql>()
let created = 0

async function serverUrl(): Promise<string> {
  const shared = process.env[SERVER_VARIABLE]
  if (shared !== undefined) return shared
  ownServer ??= startTestPostgres()
  const server = await ownServer
  server.unref()
  return server.url
}

function nextName(): string {
  return `test_${process.pid}_${++created}`
}

async function create(server: string, name: string, template: string): Promise<void> {
  const sql = adminOf(server)
  await sql`create database ${sql(name)} template ${sql(template)}`
}

/** Renames a returned database, so that no other process takes it as well. False if there is none. */
async function takeSpare(server: string, name: string): Promise<boolean> {
  const sql = adminOf(server)
  const spares = await sql<{ datname: string }[]>`select datname from pg_database where datname like ${`${SPARE}%`}`
  for (const { datname } of spares) {
    const taken = await sql`alter database ${sql(datname)} rename to ${sql(name)}`.then(
      () => true,
      () => false,
    )
    if (taken) return true
  }
  return false
}

/** Empties a database for the next test, which costs less than creating one. Drops it if a test changed its schema or filled it. */
async function giveBack(server: string, name: string): Promise<void> {
  const sql = adminOf(server)
  const leaks = await awaitClosed(sql, name)
  const reusable = leaks.length === 0 && (await asAdmin(withDatabase(server, name), empty))
  if (!reusable) return drop(server, name)
  await sql`alter database ${sql(name)} rename to ${sql(`${SPARE}${name}`)}`
}

/** True if it is again as the migrations left it. */
async function empty(sql: postgres.Sql): Promise<boolean> {
  // No trigger or foreign key may act on the deleted and restored rows.
  await sql`set session_replication_role = replica`
  const [row] = await sql<{ emptied: boolean }[]>`select fresh.empty_ledger() as emptied`
  return row?.emptied === true
}

/**
 * Adds a separate schema to the template: the migrations' rows, a digest of the ledger's schema, and a function that
 * restores a ledger to both, or returns false if the result would differ.
 */
async function addEmptying(sql: postgres.Sql): Promise<void> {
  const tables = await sql<{ name: string; columns: string }[]>`
    select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
    from information_schema.columns c join pg_tables t on t.schemaname = table_schema and t.tablename = table_name
    where table_schema = 'public' and is_generated = 'NEVER' group by 1 order by 1`
  const [digest] = await sql.unsafe(`select ${SCHEMA_DIGEST} as value`)
  const filled: { name: string; columns: string }[] = []
  for (const table of tables) {
    const rows = await sql`select from ${sql(table.name)} limit 1`
    if (rows.count > 0) filled.push(table)
  }
  await sql.unsafe(`
    create schema fresh;
    create table fresh.sequences as
      select schemaname, sequencename, start_value, last_value from pg_sequences where schemaname = 'public';
    ${filled.map(({ name, columns }) => `create table fresh.${name} as select ${columns} from public.${name};`).join('\n')}
    create function fresh.empty_ledger() returns boolean language plpgsql as $$ begin
      if ${SCHEMA_DIGEST} <> '${digest?.value}' or pg_database_size(current_database()) > ${SPARE_BYTES_MAX} then
        return false;
      end if;
      ${tables.map(({ name }) => `delete from public.${name};`).join('\n')}
      ${filled.map(putBack).join('\n')}
      perform setval(format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value), last_value is not null)
        from fresh.sequences;
      return true;
    end $$`)
}

const putBack = ({ name, columns }: { name: string; columns: string }) =>
  `insert into public.${name} (${columns}) overriding system value select ${columns} from fresh.${name};`

/** Names, columns, constraints, indexes and triggers, and whether the triggers are on. */
const SCHEMA_DIGEST = `(select md5(string_agg(part, ';' order by part)) from (
  select format('%s %s', relname, relkind) as part from pg_class where relnamespace = 'public'::regnamespace
  union all select format('%s.%s %s %s', attrelid, attname, atttypid, attnotnull) from pg_attribute
    where attnum > 0 and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
  union all select format('%s %s %s', tgrelid, tgname, tgenabled) from pg_trigger
  union all select format('%s %s', conrelid, conname) from pg_constraint where connamespace = 'public'::regnamespace
  union all select format('%s %s', proname, md5(prosrc)) from pg_proc where pronamespace = 'public'::regnamespace) parts)`

async function drop(server: string, name: string): Promise<void> {
  const sql = adminOf(server)
  const leaks = await awaitClosed(sql, name)
  await sql`drop database if exists ${sql(name)} with (force)`
  if (leaks.length > 0)
    throw new Error(`Connections left open at the end of a test; they last ran: ${leaks.join(' | ')}`)
}

/** Waits until its connections are closed. Resolves with the last statements of those that stay open. */
async function awaitClosed(sql: postgres.Sql, name: string): Promise<string[]> {
  const deadline = Date.now() + DROP_WAIT_MS
  let open = await connections(sql, name)
  while (open.length > 0 && Date.now() < deadline) {
    await sleep(DROP_POLL_MS)
    open = await connections(sql, name)
  }
  return open
}

async function connections(sql: postgres.Sql, name: string): Promise<string[]> {
  const rows = await sql<{ query: string }[]>`select query from pg_stat_activity where datname = ${name}`
  return rows.map(({ query }) => query.replaceAll(/\s+/g, ' ').slice(0, 100))
}

/**
 * One connection to the server for all of this process's queries, because opening one costs more than most queries. It
 * closes when idle, so it keeps no process alive.
 */
function adminOf(server: string): postgres.Sql {
  const sql =
    admins.get(server) ?? postgres(server, { max: 1, idle_timeout: ADMIN_IDLE_SEC, onnotice: () => undefined })
  admins.set(server, sql)
  return sql
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
    // It has stopped already.
  }
}

/** The passes' locks in a world, each on one connection that lives as long as the world. The service connects per run, but a test has hundreds. */
export interface KeptLocks {
  take: PassContext['lock']
  close(): Promise<void>
}

export function keptLocks(directUrl: string): KeptLocks {
  const connections = new Map<LockName, Pool>()
  // A session that already holds a lock would get it again, so a second caller uses a separate connection.
  const held = new Set<LockName>()
  return {
    async take(name, body) {
      if (held.has(name)) return await withLock(directUrl, name, body)
      held.add(name)
      const connection = connections.get(name) ?? connect(directUrl, { max: 1, prepare: true, applicationName: 'test' })
      connections.set(name, connection)
      try {
        return await holdLock(connection, name, body)
      } finally {
        await connection`SELECT pg_advisory_unlock_all()`
        held.delete(name)
      }
    },
    close: async () => {
      for (const connection of connections.values()) await connection.end({ timeout: 1 })
    },
  }
}
