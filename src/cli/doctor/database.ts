// The checks of the database: whether it answers, is new enough, has our schema, and lets us use it, and whether locks and prepared statements are
// safe on the way to it.
import type { DatabasePart } from '../../boot/database.ts'
import { databaseFault } from '../../db/core/faults.ts'
import { compareMigrations, isLedger } from '../../db/core/migrate.ts'
import { tryWrite } from '../../db/core/passes.ts'
import { lookAtPooler } from '../../db/core/pooler.ts'
import { lookAtSession } from '../../db/core/session.ts'
import { connect, type Pool } from '../../db/core/sql.ts'
import { inTime } from '../../lib/deadline.ts'
import { KnownError, messageOf } from '../../lib/errors.ts'
import { type Checks, type Finding, reasonOf, runChecks } from './check.ts'

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

const REACHED: Checks<Examined> = {
  database: async ({ pool }) => {
    try {
      const [row] = await pool<{ version: string; number: number; user: string; name: string }[]>`
        SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
          current_user AS user, current_database() AS name`
      if (!row) throw new Error('it gave an empty answer')
      const { version, number, user, name } = row
      return {
        says: `PostgreSQL ${version.split(' ')[0]}, database ${name}, as ${user}`,
        fail: number < VERSION_MIN * 10_000 && `Use PostgreSQL ${VERSION_MIN} or later.`,
        reading: { version, user, database: name },
      }
    } catch (error) {
      const todo = 'Check that PostgreSQL runs, and that DATABASE_URL has its address and the right password.'
      return { says: reasonOf(error), fail: databaseFault(error)?.remedy ?? todo }
    }
  },
}

const CHECKS: Checks<Examined> = {
  'database.schema': async ({ pool }) => {
    const found = await compareMigrations(pool).catch((error: unknown) => {
      if (error instanceof KnownError) return error
      throw error
    })
    if (found instanceof KnownError) {
      const todo = 'Set DATABASE_URL to an empty database, or DATA_DIR to an empty folder if the database is embedded.'
      return { says: found.message, fail: todo }
    }
    const { applied, missing, unknown } = found
    if (missing.length > 0) {
      const says = applied.length === 0 ? 'there is no ledger yet' : `${missing.length} migrations are missing`
      return { says, fail: 'Run "node-ledger migrate", or start the service, which does so.', reading: found }
    }
    const newer = unknown.length > 0 ? `, and ${unknown.length} of a newer version, which is harmless` : ''
    return { says: `current: ${applied.length} migrations${newer}`, reading: found }
  },

  'database.rights': async ({ pool }) => {
    const [row] = await pool<{ create: boolean; locked: string[] }[]>`
      SELECT has_schema_privilege(current_schema(), 'CREATE') AS create, to_json(array(
        SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
          AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
            AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
        ORDER BY relname)) AS locked`
    if (!row) throw new Error('it gave an empty answer')
    const { create, locked } = row
    if (locked.length > 0) {
      const says = `no right to write ${locked.slice(0, 3).join(', ')}${locked.length > 3 ? ' and others' : ''}`
      return { says, fail: 'Make the user of DATABASE_URL the owner of the tables.', reading: row }
    }
    const todo = 'Migrate with another user, or give this one CREATE on the schema.'
    if (!create) return { says: 'may read and write, but not create tables', warn: todo, reading: row }
    return { says: 'may read, write and migrate', reading: row }
  },

  /** Tries a write and undoes it. If there is no ledger, there is nothing to write to, which database.schema reports. */
  'database.writes': async ({ pool }) => {
    if (!(await isLedger(pool))) return null
    try {
      await inTime('the database', WRITE_MS_MAX, tryWrite(pool))
      return 'takes writes'
    } catch (error) {
      const todo = 'See the runbook.'
      return { says: `rejects writes: ${messageOf(error)}`, fail: databaseFault(error)?.remedy ?? todo }
    }
  },

  'database.session': async ({ pool }) => {
    const found = await lookAtSession(pool)
    if (found.length === 0) return 'the role has the defaults that a ledger needs'
    return found.map(({ says, todo, fatal }) => (fatal ? { says, fail: todo } : { says, warn: todo }))
  },

  'database.connections': ({ part }) => lookAtPooler(part),

  'database.replica': async ({ part }) => (part.readUrl === part.url ? null : await lookAtReplica(part.readUrl)),

  'clock.database': async ({ pool }) => {
    const before = Date.now()
    const [row] = await pool<{ ms: number }[]>`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`
    const offsetMs = Math.round((row?.ms ?? 0) - (before + Date.now()) / 2)
    const todo = 'Synchronise both clocks (NTP), because sessions and leases depend on them.'
    return {
      says: `this machine and the database differ by ${Math.abs(offsetMs)} ms`,
      warn: Math.abs(offsetMs) > CLOCK_WARN_MS && todo,
      reading: { offsetMs },
    }
  },
}

/** Makes the checks of the database. If it does not answer, nothing else about it is checked. */
export async function lookAtDatabase(examined: Examined): Promise<Finding[]> {
  const reached = await runChecks(REACHED, examined)
  return reached[0]?.reading === null ? reached : [...reached, ...(await runChecks(CHECKS, examined))]
}

async function lookAtReplica(url: string) {
  const connection = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger doctor' })
  try {
    const [row] = await connection<{ replica: boolean; lagSec: number | null }[]>`
      SELECT pg_is_in_recovery() AS replica, CASE
        WHEN NOT pg_is_in_recovery() OR pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
        ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8 AS "lagSec"`
    const lagSec = row?.lagSec ?? 0
    const todo = 'Public reads are out of date: find out why the replica lags, or unset DATABASE_READ_URL.'
    return {
      says: row?.replica ? `a replica, ${Math.round(lagSec)} s behind` : 'a separate database, not a replica',
      warn: lagSec > REPLICA_LAG_WARN_SEC && todo,
      reading: row,
    }
  } catch (error) {
    const todo = 'Public reads fail: check that the replica runs, or unset DATABASE_READ_URL.'
    return { says: reasonOf(error), fail: todo }
  } finally {
    await connection.end({ timeout: 1 })
  }
}
