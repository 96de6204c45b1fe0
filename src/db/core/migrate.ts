// Brings a database to the schema that this code needs. Migrations only go forward. Each file runs once, in one transaction, under an advisory lock,
// so several instances may start together. Refuses a file that changed after it ran.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { codeOf, KnownError, messageOf } from '../../lib/errors.ts'
import { lookAtSession } from './session.ts'
import { connect, inTransaction, type Sql } from './sql.ts'

/** The service's own migrations. */
export const MIGRATIONS = new URL('../../../migrations/', import.meta.url)
/** Any constant will do, as long as nothing else in this database uses it. */
const LOCK_KEY = 7_340_001

/** The database holds a ledger of an unreleased checkout. Nothing in it was changed. */
export class UnreleasedLedgerError extends KnownError {
  override readonly name = 'UnreleasedLedgerError'

  constructor() {
    super(
      'fatal',
      'this ledger belongs to an unreleased checkout; its refunds, releases and deny list are not on the chain, so export them with that checkout first',
    )
  }
}

/** The database belongs to another program, or is unfit for a ledger. Nothing in it was changed. */
class UnfitDatabaseError extends KnownError {
  override readonly name = 'UnfitDatabaseError'

  constructor(why: string) {
    super('refused', `The database cannot hold a ledger: ${why}`)
  }
}

const OF_ANOTHER = 'Give the ledger its own empty database.'
/** A table, a type or a function of that name already exists. */
const TAKEN = ['42P07', '42710', '42723']

export interface Migration {
  name: string
  sql: string
  checksum: string
}

/** Reads the migrations of a folder in order. Throws if numbers are missing or duplicated. */
export async function readMigrations(folder = MIGRATIONS): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name, i) => {
      if (Number(name.slice(0, 4)) !== i + 1)
        throw new Error(`migrations must be numbered without gaps; ${name} is out of order`)
      const sql = await readFile(new URL(name, folder), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * Applies the missing migrations.
 * @returns the names of the migrations that it applied; empty if the schema was current.
 * @throws if the database has a migration that this code knows with another checksum; an UnreleasedLedgerError if that is the first migration; an
 * UnfitDatabaseError if the database is unfit for a ledger.
 */
export async function migrate(databaseUrl: string, folder = MIGRATIONS): Promise<string[]> {
  const pool = connect(databaseUrl, { max: 1, prepare: false, applicationName: 'node-ledger migrate' })
  try {
    return await inTransaction(pool, async (sql) => {
      const [unfit] = (await lookAtSession(sql)).filter(({ fatal }) => fatal)
      if (unfit) throw new UnfitDatabaseError(`${unfit.says}. ${unfit.todo}`)
      await sql`SELECT pg_advisory_xact_lock(${LOCK_KEY})`
      return applyMissing(sql, await readMigrations(folder))
    })
  } finally {
    await pool.end({ timeout: 5 })
  }
}

async function applyMissing(sql: Sql, migrations: Migration[]): Promise<string[]> {
  const checksums = await readRecorded(sql)
  assertReleased(checksums, migrations)
  await sql`CREATE TABLE IF NOT EXISTS migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  const names: string[] = []
  for (const { name, sql: text, checksum } of migrations) {
    if (checksums.get(name) === checksum) continue
    if (checksums.has(name))
      throw new Error(`migration ${name} was changed after it was applied to this database; write a new one instead`)
    await sql.unsafe(text).catch((error: unknown) => {
      const isTaken = checksums.size === 0 && TAKEN.includes(codeOf(error) ?? '')
      throw isTaken ? new UnfitDatabaseError(`${messageOf(error)}. ${OF_ANOTHER}`) : error
    })
    await sql`INSERT INTO migrations (name, checksum) VALUES (${name}, ${checksum})`
    names.push(name)
  }
  return names
}

/** The checksums of the recorded migrations, by name, in name order. */
async function readRecorded(sql: Sql): Promise<Map<string, string>> {
  const columns = await sql<{ name: string }[]>`
    SELECT attname::text AS name FROM pg_attribute WHERE attrelid = to_regclass('migrations') AND attnum > 0`
  if (columns.count === 0) return new Map()
  if (!['name', 'checksum'].every((ours) => columns.some(({ name }) => name === ours)))
    throw new UnfitDatabaseError(`its table "migrations" belongs to another program. ${OF_ANOTHER}`)
  const rows = await sql<{ name: string; checksum: string }[]>`SELECT name, checksum FROM migrations ORDER BY name`
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** Every release has the same first migration. If a ledger's first migration is different, it belongs to no release. */
function assertReleased(checksums: ReadonlyMap<string, string>, [first]: readonly Migration[]): void {
  if (checksums.size > 0 && first && checksums.get(first.name) !== first.checksum) throw new UnreleasedLedgerError()
}

/** True if there is a ledger, even with an older schema. Throws an UnreleasedLedgerError if it belongs to no release. */
export async function isLedger(sql: Sql): Promise<boolean> {
  return (await compareMigrations(sql)).applied.length > 0
}

/**
 * Compares the migrations of this code with those of a database: applied, missing, and from newer code.
 * @throws an UnreleasedLedgerError if the database holds a ledger of an unreleased checkout.
 */
export async function compareMigrations(
  sql: Sql,
): Promise<{ applied: string[]; missing: string[]; unknown: string[] }> {
  const [checksums, migrations] = [await readRecorded(sql), await readMigrations()]
  assertReleased(checksums, migrations)
  const names = migrations.map(({ name }) => name)
  return {
    applied: names.filter((name) => checksums.has(name)),
    missing: names.filter((name) => !checksums.has(name)),
    unknown: [...checksums.keys()].filter((name) => !names.includes(name)),
  }
}

/** True if every migration of this code has been applied. Newer ones do not matter, because old code can read a newer schema. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  return (await compareMigrations(sql)).missing.length === 0
}
