// Connections to PostgreSQL, and how we read its values: int8 becomes a number and must be a safe integer, numeric a bigint (every numeric in the
// ledger is a whole number of wei), and timestamps a Date. Wei goes in as a decimal string.
import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { type DatabaseUrl, readDatabaseUrl } from '../../lib/database-url.ts'
import { codeOf, KnownError } from '../../lib/errors.ts'
import { toJson } from '../../lib/json.ts'
import { isReadOnly } from './faults.ts'
import { socketsThatHear } from './socket.ts'

/** A pool, or a transaction on it: the first argument of every function in this folder. */
export type Sql = postgres.Sql<ValueTypes> | postgres.TransactionSql<ValueTypes>
/** A pool, which can begin transactions. */
export type Pool = postgres.Sql<ValueTypes>
/** A fragment of a statement, made by the same tag. */
export type Fragment = postgres.Fragment
/** A fragment that names columns, typed as the rows that it returns. */
export type Columns<Row extends object> = postgres.PendingQuery<Row[]>
type ValueTypes = { int8: number; numeric: bigint }

type ValueTypeDefinitions = Record<keyof ValueTypes, postgres.PostgresType>

const types = {
  int8: {
    to: 20,
    from: [20],
    serialize: (value: number | bigint) => value.toString(),
    parse: (text: string) => {
      const value = Number(text)
      if (!Number.isSafeInteger(value)) throw new RangeError(`an int8 beyond 2^53 came from the database: ${text}`)
      return value
    },
  },
  numeric: {
    to: 1700,
    from: [1700],
    serialize: (value: bigint) => value.toString(),
    parse: (text: string) => BigInt(text),
  },
  // bool[], int2[], int4[], int8[], text[], numeric[] as parameters. Without these, the driver asks each new connection for all array types, and if
  // the connection is lost during that query, the process ends, because nothing awaits its promise. Statements return lists as JSON.
  ...Object.fromEntries([1000, 1005, 1007, 1016, 1009, 1231].map((oid) => [`array${oid}`, arrayType(oid)])),
}

function arrayType(oid: number) {
  return {
    to: oid,
    from: [oid],
    serialize: (items: readonly unknown[]) => `{${items.map(elementOf).join(',')}}`,
    parse: (text: string) => {
      throw new TypeError(`the database returned an array, but statements must return lists as JSON: ${text}`)
    },
  }
}

/** An element of an array, as PostgreSQL reads it. Storing a range of blocks writes thousands of them. */
function elementOf(item: unknown): string {
  if (item === null) return 'NULL'
  if (typeof item === 'number' || typeof item === 'bigint') return String(item)
  const text = String(item)
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`
}

export interface PoolOptions {
  /** The maximum number of connections. */
  max: number
  /** False behind a transaction pooler that does not support prepared statements. */
  prepare: boolean
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** How long the client waits on a silent connection, even with a statement in progress; no limit by default. */
  readIdleTimeoutMs?: number
}

/**
 * How long the server lets a session idle inside a transaction before it ends it and frees its locks. By then the process is stopped or its host is
 * gone.
 */
const TRANSACTION_SILENCE_MS = 60_000
/** The code parses results under these settings, whatever the role's defaults. A pooler passes these on; session.ts checks the others. */
const SESSION = { TimeZone: 'UTC', DateStyle: 'ISO, MDY', standard_conforming_strings: 'on' }

/** The driver's options for a URL. Throws a KnownError if the driver cannot honour it. */
export function placeOf(text: string) {
  const url = readDatabaseUrl(text)
  if ('mistake' in url) throw new KnownError('fatal', `The database's URL ${url.mistake}.`)
  const { hosts, ports, path, database, user, password, session } = url
  return {
    host: [...hosts],
    port: [...ports],
    // As libpq does, we use no TLS on a local socket.
    ssl: path === null && tlsOf(url),
    ...(path && { path }),
    ...(database && { database }),
    ...(user && { user }),
    ...(password && { password }),
    ...(session && { target_session_attrs: session }),
  }
}

/** As in libpq: a root certificate is always checked, whatever the mode, and only verify-full checks the host name. */
function tlsOf({ tls: { mode, rootCert, cert, key } }: DatabaseUrl) {
  if (['disable', 'false'].includes(mode) && rootCert === undefined) return false
  if (['allow', 'prefer', 'require'].includes(mode) && rootCert === undefined && cert === undefined) return mode
  const checksName = mode !== 'verify-ca' && (mode !== 'require' || rootCert === undefined || rootCert === 'system')
  return {
    ...(rootCert !== undefined && rootCert !== 'system' && { ca: certificate(rootCert) }),
    ...(cert !== undefined && { cert: certificate(cert) }),
    ...(key !== undefined && { key: certificate(key) }),
    rejectUnauthorized: rootCert !== undefined || /^verify/.test(mode) || mode === 'true',
    ...(!checksName && { checkServerIdentity: () => undefined }),
  }
}

function certificate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new KnownError(
      'fatal',
      `The database's URL refers to the file ${path}, which cannot be read (${codeOf(error)}).`,
    )
  }
}

/** Opens a pool. Nothing connects before the first query. */
export function connect(url: string, options: PoolOptions): Pool {
  const place = placeOf(url)
  const { parameters, pooled: isPooled } = readDatabaseUrl(url) as DatabaseUrl
  const open = () =>
    postgres({
      ...place,
      max: options.max,
      prepare: options.prepare && !isPooled,
      types: types as unknown as ValueTypeDefinitions,
      fetch_types: false,
      onnotice: () => {},
      connect_timeout: 5,
      ...(options.readIdleTimeoutMs && { socket: socketsThatHear(options.readIdleTimeoutMs) }),
      // The default grows to 20 s, which would make every outage that much longer.
      backoff: () => 0.25,
      connection: {
        ...parameters,
        application_name: options.applicationName,
        ...SESSION,
      },
    } as unknown as postgres.Options<Record<string, never>>) as unknown as Pool
  return renewing(open)
}

/** How often, at most, a pool replaces all its sessions because they are read-only. */
const RENEW_MS = 1_000

/**
 * A pool that replaces its sessions once one of them rejects a write as read-only, or ends. A session keeps the state it began with: it may be on a
 * standby that the name pointed to for a while, or have a default that was changed since. And if a connection of postgres 3.4 ends while a statement
 * waits to be written, it connects again but never writes anything (https://github.com/porsager/postgres/issues/1154), so none is used again. Work in
 * the old sessions finishes there.
 */
function renewing(open: () => Pool): Pool {
  let [pool, openedAt] = [open(), performance.now()]
  const note = (from: Pool, error: unknown) => {
    const isStale = isReadOnly(error) && performance.now() - openedAt >= RENEW_MS
    if (from !== pool || !(isStale || isSessionLost(error))) return
    ;[pool, openedAt] = [open(), performance.now()]
    from.end().catch(() => {})
  }
  const watch = <T>(from: Pool, query: T): T => {
    // A statement runs when it is awaited, so nothing may be chained to it here.
    const statement = query as { reject?: (error: unknown) => void }
    const { reject } = statement
    if (typeof reject !== 'function') return query
    statement.reject = (error) => {
      note(from, error)
      reject(error)
    }
    return query
  }
  return new Proxy(pool, {
    apply: (_target, self, args) => watch(pool, Reflect.apply(pool as never, self, args)),
    get(_target, name) {
      const from = pool
      const value = Reflect.get(from, name)
      if (name === 'unsafe') return (...args: unknown[]) => watch(from, Reflect.apply(value, from, args))
      if (name !== 'begin') return value
      return (...args: unknown[]) => {
        const running: Promise<unknown> = Reflect.apply(value, from, args)
        running.catch((error) => note(from, error))
        return running
      }
    },
  })
}

/** True if the error means that the row already exists in that table. */
export function isDuplicate(error: unknown, table: string): boolean {
  return codeOf(error) === '23505' && (error as { table_name?: unknown }).table_name === table
}

/**
 * Rows as one JSON parameter for jsonb_to_recordset, so a bulk insert is one statement whatever its size. A bigint becomes a decimal string, which
 * numeric and domain columns read back exactly.
 */
export function jsonRows(rows: readonly object[]): string {
  return toJson(rows)
}

/**
 * One field of all rows, as a parameter for unnest. For hundreds of rows the database needs a fifth less time than with `jsonRows`. The values are
 * text, because the driver takes a list's type from its first item. The field must not be null in any row.
 */
export function column<Key extends string>(
  rows: readonly { readonly [key in Key]: string | number | bigint | boolean }[],
  key: Key,
): string[] {
  return rows.map((row) => String(row[key]))
}

/** Client and server codes that mean the connection itself is gone, or about to go. */
const CONNECTION_LOST = /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT|57P0[1-5]|25P0[34])$/
/** Those with which a pool of ours that was closed answers. */
const POOL_CLOSED = /^CONNECTION_(ENDED|DESTROYED)$/

function isConnectionLost(error: unknown): boolean {
  return CONNECTION_LOST.test(codeOf(error) ?? '')
}

const isSessionLost = (error: unknown) => isConnectionLost(error) && !POOL_CLOSED.test(codeOf(error) ?? '')

/** Runs `body` in a transaction on a pool. Rejects if the connection is lost on the way; then we do not know whether the commit happened. */
export function inTransaction<T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> {
  // After a lost connection, postgres 3.4 writes ROLLBACK, or any other statement, to a closed socket, and the TypeError crashes the process. It does
  // reject `begin` as soon as the connection closes; after that we must not give it another statement.
  let isLost = false
  const silence = () => new Promise<never>(() => {})
  // The role's default might be another isolation level.
  const running = pool.begin('isolation level read committed', async (sql) => {
    try {
      // Goes out with the body's first statement, so it costs no round trip of its own. Set for this transaction only, because a pooler would pass a
      // connection's setting on to others.
      const limit = sql.unsafe(`SET LOCAL idle_in_transaction_session_timeout = ${TRANSACTION_SILENCE_MS}`)
      limit.execute().catch(() => {})
      const result = await body(refusing(sql, () => isLost))
      return isLost ? await silence() : result
    } catch (error) {
      if (isLost || isConnectionLost(error)) return await silence()
      throw error
    }
  }) as Promise<T>
  return running.catch((error: unknown) => {
    isLost = true
    throw error
  })
}

/** Runs `body` in a transaction and rolls it back. @returns what it returned. */
export async function inUndoneTransaction<T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> {
  let answer: { of: T } | null = null
  const undo = new Error('undone on purpose')
  try {
    await inTransaction(pool, async (sql) => {
      answer = { of: await body(sql) }
      throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
  const { of } = answer as unknown as { of: T }
  return of
}

/**
 * Makes a transaction look like a pool, for a function that begins its own transactions. Each of those becomes a savepoint, and commits or rolls back
 * with the outer transaction.
 */
export function poolWithin(sql: Sql): Pool {
  const begin = (...args: unknown[]) =>
    (sql as postgres.TransactionSql<ValueTypes>).savepoint(args.at(-1) as (sql: Sql) => unknown)
  return new Proxy(sql as Pool, {
    get: (target, name, self) => (name === 'begin' ? begin : Reflect.get(target, name, self)),
  })
}

/** True for a transaction that looks like a pool. */
export const isWithin = (pool: Pool): boolean => 'savepoint' in pool

/** The transaction's handle, which rejects statements once the connection is lost. */
function refusing<T extends Sql>(sql: T, isLost: () => boolean): T {
  return new Proxy(sql, {
    apply(target, self, args: unknown[]) {
      const [first] = args
      const isStatement = Array.isArray(first) && 'raw' in first
      if (!isStatement || !isLost()) return Reflect.apply(target as never, self, args)
      const refusal = Promise.reject(Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' }))
      // A fragment of a statement is never awaited.
      refusal.catch(() => {})
      return refusal
    },
  })
}
