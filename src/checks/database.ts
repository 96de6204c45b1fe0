// The checks of the database: whether it answers, is new enough, has our schema, and lets us use it, and whether locks and prepared statements are
// safe on the way to it.
import type { DatabasePart } from '../boot/database.ts'
import { databaseFault } from '../db/core/faults.ts'
import { compareMigrations, isLedger } from '../db/core/migrate.ts'
import { tryWrite } from '../db/core/passes.ts'
import { lookAtPooler } from '../db/core/pooler.ts'
import { lookAtSession } from '../db/core/session.ts'
import { connect, type Pool } from '../db/core/sql.ts'
import { inTime } from '../lib/deadline.ts'
import { KnownError, messageOf } from '../lib/errors.ts'
import { type Checks, check, checkEach, type Finding, ofLedger, reasonOf, runChecks } from './check.ts'

/** The PostgreSQL version that the migrations are written for. */
const VERSION_MIN = 15
/** Clock skew to expect between two NTP-synchronised machines. */
const CLOCK_WARN_MS = 5_000
/** The time limit for a test write. It waits at most two seconds for a lock. */
const WRITE_MS_MAX = 5_000
/** We warn if a replica is this far behind, because owners would see wrong balances. */
const REPLICA_LAG_WARN_SEC = 60

interface Examined {
  readonly part: DatabasePart
  readonly pool: Pool
}

export const REACHED: Checks<Examined> = {
  database: check('NodeLedgerDatabaseUnreadable', readServer, (server) => {
    if (server instanceof Error) {
      const todo = 'Check that PostgreSQL runs, and that DATABASE_URL has its address and the right password.'
      return { says: reasonOf(server), fail: databaseFault(server)?.remedy ?? todo }
    }
    const { version, number, user, database } = server
    return {
      says: `PostgreSQL ${version.split(' ')[0]}, database ${database}, as ${user}`,
      fail: number < VERSION_MIN * 10_000 && `Use PostgreSQL ${VERSION_MIN} or later.`,
    }
  }),
}

export const DATABASE_CHECKS: Checks<Examined> = {
  'database.schema': check(null, readMigrations, (migrations) => {
    if (migrations instanceof KnownError) {
      const todo = 'Set DATABASE_URL to an empty database, or DATA_DIR to an empty folder if the database is embedded.'
      return { says: migrations.message, fail: todo }
    }
    const { applied: appliedMigrations, missing, unknown } = migrations
    if (missing.length > 0) {
      const says =
        appliedMigrations.length === 0 ? 'there is no ledger yet' : `${missing.length} migrations are missing`
      return { says, fail: 'Run "node-ledger migrate", or start the service, which migrates.' }
    }
    const newer = unknown.length > 0 ? `, and ${unknown.length} of a newer version, which is harmless` : ''
    return `current: ${appliedMigrations.length} migrations${newer}`
  }),

  'database.rights': check(null, readRights, ({ create, locked: lockedTables }) => {
    if (lockedTables.length > 0) {
      const says = `no permission to write ${lockedTables.slice(0, 3).join(', ')}${lockedTables.length > 3 ? ' and others' : ''}`
      return { says, fail: 'Make the user of DATABASE_URL the owner of the tables.' }
    }
    if (create) return 'may read, write and migrate'
    const todo = 'Migrate with another user, or give this one CREATE on the schema.'
    return { says: 'may read and write, but not create tables', warn: todo }
  }),

  /** If there is no ledger, there is nothing to write to, which database.schema reports. */
  'database.writes': check('NodeLedgerPassFaults', writeAndUndo, (outcome) => {
    if (outcome instanceof Error)
      return {
        says: `rejects writes: ${messageOf(outcome)}`,
        fail: databaseFault(outcome)?.remedy ?? 'See the runbook.',
      }
    return outcome ? 'accepts writes' : null
  }),

  'database.session': checkEach(
    null,
    ofLedger(lookAtSession),
    'the role has the defaults that a ledger needs',
    ({ says, todo, fatal }) => ({ says, [fatal ? 'fail' : 'warn']: todo }),
  ),

  'database.connections': check(
    null,
    ({ part }) => lookAtPooler(part),
    (finding) => finding,
  ),

  'database.replica': check(null, readLag, (replica) => {
    if (replica === null) return null
    if (replica instanceof Error) {
      const todo = 'Public reads fail: check that the replica runs, or unset DATABASE_READ_URL.'
      return { says: reasonOf(replica), fail: todo }
    }
    const { isReplica, lagSec } = replica
    const todo = 'Public reads are out of date: find out why the replica lags, or unset DATABASE_READ_URL.'
    return {
      says: isReplica ? `a replica, ${Math.round(lagSec ?? 0)} s behind` : 'a separate database, not a replica',
      warn: (lagSec ?? 0) > REPLICA_LAG_WARN_SEC && todo,
    }
  }),

  'clock.database': check(null, ofLedger(readOffsetMs), (offsetMs) => ({
    says: `this machine and the database differ by ${Math.abs(offsetMs)} ms`,
    warn:
      Math.abs(offsetMs) > CLOCK_WARN_MS &&
      'Synchronise both clocks (NTP), because sessions and leases depend on them.',
  })),
}

/** Makes the checks of the database. If it does not answer, nothing else about it is checked. */
export async function lookAtDatabase(context: Examined): Promise<Finding[]> {
  const findings = await runChecks(REACHED, context)
  return findings[0]?.reading === null ? findings : [...findings, ...(await runChecks(DATABASE_CHECKS, context))]
}

async function readServer({ pool }: Examined) {
  try {
    const [row] = await pool<{ version: string; number: number; user: string; database: string }[]>`
      SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
        current_user AS user, current_database() AS database`
    return row ?? new Error('it gave an empty answer')
  } catch (error) {
    return error as Error
  }
}

function readMigrations({ pool }: Examined) {
  return compareMigrations(pool).catch((error: unknown) => {
    if (error instanceof KnownError) return error
    throw error
  })
}

async function readRights({ pool }: Examined) {
  const [row] = await pool<{ create: boolean; locked: string[] }[]>`
    SELECT has_schema_privilege(current_schema(), 'CREATE') AS create, to_json(array(
      SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
          AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      ORDER BY relname)) AS locked`
  if (!row) throw new Error('it gave an empty answer')
  return row
}

/** Tries a write and undoes it. False if there is no ledger. */
async function writeAndUndo({ pool }: Examined): Promise<boolean | Error> {
  if (!(await isLedger(pool))) return false
  return await inTime('the database', WRITE_MS_MAX, tryWrite(pool)).then(
    () => true,
    (error: Error) => error,
  )
}

async function readOffsetMs(pool: Pool): Promise<number> {
  const before = Date.now()
  const [row] = await pool<{ ms: number }[]>`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`
  return Math.round((row?.ms ?? 0) - (before + Date.now()) / 2)
}

/** How far a replica is behind; null if public reads use no other database. */
async function readLag({ part: { url, readUrl } }: Examined) {
  if (readUrl === url) return null
  const connection = connect(readUrl, { max: 1, prepare: false, applicationName: 'node-ledger doctor' })
  try {
    const [row] = await connection<{ isReplica: boolean; lagSec: number | null }[]>`
      SELECT pg_is_in_recovery() AS "isReplica", CASE
        WHEN NOT pg_is_in_recovery() OR pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
        ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8 AS "lagSec"`
    return row ?? null
  } catch (error) {
    return error as Error
  } finally {
    await connection.end({ timeout: 1 })
  }
}
