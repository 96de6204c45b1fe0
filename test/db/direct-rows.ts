// Rows in a real database, for the comparison of a statement with its model. They are written directly, without triggers and foreign keys, and taken
// back after each case.
import { connect, type Pool, poolWithin, type Sql } from '../../src/db/core/sql.ts'
import { createDatabase } from '../support/postgres.ts'

/** A time as so many seconds from the case's own now, by the database's clock. */
class FromNow {
  readonly seconds: number
  constructor(seconds: number) {
    this.seconds = seconds
  }
}
type Value = string | number | bigint | boolean | null | FromNow
export type Row = Record<string, Value>
/** The rows of each table, by its name. */
export type Rows = Record<string, Row[]>

export interface Tables {
  /** Runs reads on a ledger that has these rows, and those of the migrations, and no others. */
  within<T>(rows: Rows, read: (sql: Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A pool for code that opens one snapshot for its reads: it reads within the case's transaction, which is one already. */
export function snapshotsIn(sql: Sql): Pool {
  const within = new Proxy(sql, {
    apply(target, _this, [texts, ...values]: [TemplateStringsArray, ...never[]]) {
      if (texts[0]?.startsWith('SET TRANSACTION')) return Promise.resolve([])
      return target(texts, ...values)
    },
  })
  return { begin: (_level: string, body: (sql: Sql) => Promise<unknown>) => body(within) } as never
}

/** A pool within the case's transaction, in which this happens before the first transaction: by another instance, as it were. */
export function poolAfter(sql: Sql, happens: (sql: Sql) => Promise<unknown>, pool: Pool = poolWithin(sql)) {
  let isOver = false
  const begin = async (...args: unknown[]) => {
    if (!isOver) await happens(sql)
    isOver = true
    return await (pool.begin as (...all: unknown[]) => Promise<unknown>)(...args)
  }
  return new Proxy(pool, { get: (target, name, self) => (name === 'begin' ? begin : Reflect.get(target, name, self)) })
}

/** A pool that keeps what is sent within its transactions. */
export function recording(sql: Sql, sent: string[]) {
  const pool = poolWithin(sql)
  const recorder = (inner: Sql): Sql =>
    new Proxy(inner, {
      apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
        if (Array.isArray(args[0]) && 'raw' in args[0]) sent.push(args[0].join('?'))
        return Reflect.apply(target as never, self, args)
      },
    })
  const begin = (body: (sql: Sql) => Promise<unknown>) => pool.begin(((inner: Sql) => body(recorder(inner))) as never)
  return new Proxy(pool, {
    get: (target, name) =>
      name === 'begin' ? (...args: unknown[]) => begin(args.at(-1) as never) : Reflect.get(target, name),
  })
}

/** How often other instances heard that the ledger has changed. */
export const noticesIn = (sent: readonly string[]): number =>
  sent.filter((text) => text.startsWith('NOTIFY ledger')).length

class Undone extends Error {}

/** Plans that a small table gets only by chance: with them, a subquery may run once per row. */
const RARE_PLANS = ['hashjoin', 'mergejoin', 'hashagg', 'sort', 'material']
  .map((way) => `SET LOCAL enable_${way} = off;`)
  .join(' ')

export async function openTables(): Promise<Tables> {
  const database = await createDatabase()
  const pool: Pool = connect(database.url, { max: 1, prepare: true, applicationName: 'test' })
  let cases = 0
  return {
    async within(rows, read) {
      const found: { value: Awaited<ReturnType<typeof read>> }[] = []
      await pool
        .begin(async (sql) => {
          // No answer may depend on the plan.
          const plans = cases++ % 2 === 0 ? '' : RARE_PLANS
          await sql.unsafe(`${plans} SET LOCAL session_replication_role = replica; ${Object.entries(rows).map(insertion).join(' ')}
            SET LOCAL session_replication_role = origin`)
          found.push({ value: await read(sql) })
          throw new Undone()
        })
        .catch((error: unknown) => {
          if (!(error instanceof Undone)) throw error
        })
      const [one] = found
      if (one === undefined) throw new Error('nothing was read')
      return one.value
    },
    async close() {
      await pool.end({ timeout: 1 })
      await database.drop()
    },
  }
}

/** One statement for all rows of a table. A column that a row lacks has its default. */
function insertion([table, rows]: [string, Row[]]): string {
  if (rows.length === 0) return ''
  // The migrations make its one row.
  if (table === 'ledger_state') {
    const sets = rows.flatMap((row) => Object.entries(row)).map(([name, value]) => `${name} = ${literal(value)}`)
    return `UPDATE ledger_state SET ${sets.join(', ')};`
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = rows.map((row) => `(${columns.map((name) => literal(row[name])).join(', ')})`)
  return `INSERT INTO ${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE VALUES ${lines.join(', ')};`
}

function literal(value: Value | undefined): string {
  if (value === undefined) return 'DEFAULT'
  if (value === null) return 'NULL'
  if (value instanceof FromNow) return `now() + interval '${value.seconds} seconds'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

export const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`
export const account = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`
export const at = (sec: number): string => new Date(sec * 1_000).toISOString()
export const fromNow = (seconds: number) => new FromNow(seconds)
