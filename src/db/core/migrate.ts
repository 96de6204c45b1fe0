// Brings a database to the schema this code needs: forward only, each file once, in one transaction, under an advisory lock so that several
// instances may start at once. A file that changed after it ran is refused.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { KnownError } from '../../lib/errors.ts'
import { connect, inTransaction, type Sql } from './sql.ts'

const FOLDER = new URL('../../../migrations/', import.meta.url)
/** The first migration of the first version, whose contract and ledger are unknown to this one. */
const FIRST_VERSION = '0001_ledger.sql'
/** Any constant will do, as long as nothing else in this database uses it. */
const LOCK_KEY = 7_340_001

/** The database holds a ledger of the first version. Nothing in it was changed. */
export class FirstVersionError extends KnownError {
  override readonly name = 'FirstVersionError'

  constructor() {
    super(
      'fatal',
      'This database holds a ledger of the first version of Node Ledger, which belongs to a contract of the first version. Nothing was changed. Set DATABASE_URL (or DATA_DIR, where the database is embedded) to an empty one, and leave this one to the version that wrote it.',
    )
  }
}

export interface Migration {
  name: string
  sql: string
  checksum: string
}

/** Reads the migrations in order. Throws when numbers are missing or doubled. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name, i) => {
      if (Number(name.slice(0, 4)) !== i + 1)
        throw new Error(`migrations must be numbered without gaps; ${name} is out of order`)
      const sql = await readFile(new URL(name, FOLDER), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * Applies what is missing.
 * @returns the names of the migrations applied now; empty when the schema was current.
 * @throws when the database holds a migration this code does not know under that checksum; a FirstVersionError for one of the first version.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const pool = connect(databaseUrl, { max: 1, prepare: false, applicationName: 'node-ledger migrate' })
  try {
    return await inTransaction(pool, async (sql) => {
      await sql`SELECT pg_advisory_xact_lock(${LOCK_KEY})`
      if ((await compareMigrations(sql)).unknown.includes(FIRST_VERSION)) throw new FirstVersionError()
      return applyMissing(sql, await readMigrations())
    })
  } finally {
    await pool.end({ timeout: 5 })
  }
}

async function applyMissing(sql: Sql, migrations: Migration[]): Promise<string[]> {
  await sql`CREATE TABLE IF NOT EXISTS migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  const done = new Map(
    (await sql<{ name: string; checksum: string }[]>`SELECT name, checksum FROM migrations`).map((row) => [
      row.name,
      row.checksum,
    ]),
  )
  const applied: string[] = []
  for (const { name, sql: text, checksum } of migrations) {
    const recorded = done.get(name)
    if (recorded === checksum) continue
    if (recorded)
      throw new Error(`migration ${name} was changed after it was applied to this database; write a new one instead`)
    await sql.unsafe(text)
    await sql`INSERT INTO migrations (name, checksum) VALUES (${name}, ${checksum})`
    applied.push(name)
  }
  return applied
}

/** True if there is a ledger of this version, even with an older schema. */
export async function isLedger(sql: Sql): Promise<boolean> {
  return (await compareMigrations(sql)).applied.length > 0
}

/** Compares the migrations of this code with those of a database: applied, missing, and from newer code. */
export async function compareMigrations(
  sql: Sql,
): Promise<{ applied: string[]; missing: string[]; unknown: string[] }> {
  const [row] = await sql<{ present: boolean }[]>`SELECT to_regclass('migrations') IS NOT NULL AS present`
  const rows = row?.present ? await sql<{ name: string }[]>`SELECT name FROM migrations ORDER BY name` : []
  const done = rows.map(({ name }) => name)
  const known = (await readMigrations()).map(({ name }) => name)
  return {
    applied: known.filter((name) => done.includes(name)),
    missing: known.filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !known.includes(name)),
  }
}

/** True when every migration of this code has been applied. Newer ones do not matter: old code reads a newer schema. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  return (await compareMigrations(sql)).missing.length === 0
}
