// Connections to PostgreSQL and how its values look in TypeScript: int8 is a number that must be safe, numeric a bigint
// (every numeric in the ledger is a whole number of wei), timestamps are Date. Wei goes in as a decimal string.
import postgres from 'postgres'

/** A pool, or a transaction on it: what every function of this folder takes first. */
export type Sql = postgres.Sql<ValueTypes> | postgres.TransactionSql<ValueTypes>
/** A pool, which can begin transactions. */
export type Pool = postgres.Sql<ValueTypes>
type ValueTypes = { int8: number; numeric: bigint }

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
}

export interface PoolOptions {
  /** Connections at most. */
  max: number
  /** False behind a transaction pooler that knows no prepared statements. */
  prepare: boolean
  /** Shown in pg_stat_activity. */
  applicationName: string
}

/** Opens a pool. Nothing connects before the first query. */
export function connect(url: string, options: PoolOptions): Pool {
  return postgres(url, {
    max: options.max,
    prepare: options.prepare,
    types,
    onnotice: () => {},
    connect_timeout: 5,
    connection: { application_name: options.applicationName, TimeZone: 'UTC' },
  }) as unknown as Pool
}

/** True for an error that says the database could not be reached or ended the connection: answer 503, try again later. */
export function isDatabaseDown(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return false
  // Class 08 connection, 53 resources, 57P operator intervention, 58 system error; the rest are the client's and Node's own.
  return (
    /^(08|53|57P|58)/.test(code) ||
    [
      'CONNECTION_CLOSED',
      'CONNECTION_ENDED',
      'CONNECTION_DESTROYED',
      'CONNECT_TIMEOUT',
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ENOENT',
      'ETIMEDOUT',
      'ENOTFOUND',
      'EAI_AGAIN',
    ].includes(code)
  )
}

/**
 * Rows as one JSON parameter for jsonb_to_recordset: a bulk insert is one statement whatever its size. bigint becomes a decimal
 * string, which numeric and domain columns read back exactly.
 */
export function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** Runs `body` in a transaction on a pool. */
export function inTransaction<T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> {
  return pool.begin((sql) => body(sql)) as Promise<T>
}
