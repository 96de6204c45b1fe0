// Looks at the database: does it answer, is it new enough, does it have our schema, may we use it, are locks and prepared
// statements safe on the way to it.
import type { DatabasePart } from '../../boot/database.ts'
import { compareMigrations, isLedger, UnreleasedLedgerError } from '../../db/core/migrate.ts'
import { tryWrite } from '../../db/core/passes.ts'
import { isPooled } from '../../db/core/pooler.ts'
import { connect, type Pool } from '../../db/core/sql.ts'
import { inTime } from '../../lib/deadline.ts'
import { messageOf } from '../../lib/errors.ts'
import { type Finding, fail, look, ok, reasonOf, warn } from './finding.ts'

/** The PostgreSQL version that the migrations are written for. */
const VERSION_MIN = 15
/** Between two machines that keep their time by the network. */
const CLOCK_WARN_MS = 5_000
/** The time for a try of a write, which waits two seconds for a lock at most. */
const WRITE_MS_MAX = 5_000
/** A replica that answers with what was a minute ago shows owners wrong balances. */
const REPLICA_LAG_WARN_SEC = 60

/** `prepare`: whether the service prepares statements on the pooled connection. */
export async function lookAtDatabase(part: DatabasePart, pool: Pool, prepare: boolean): Promise<Finding[]> {
  const reached = await look('database', () => reach(pool))
  if (reached.some(({ verdict }) => verdict === 'unknown')) {
    const says = reached[0]?.says.replace('could not look: ', '') ?? ''
    return [fail('database', says, 'See that PostgreSQL runs, and that DATABASE_URL names it with the right password.')]
  }
  return [
    ...reached,
    ...(await look('database.schema', () => lookAtSchema(pool))),
    ...(await look('database.rights', () => lookAtRights(pool))),
    ...(await look('database.writes', () => lookAtWrites(pool))),
    ...(await look('database.connections', () => lookAtPooler(part, prepare))),
    ...(part.readUrl === part.url ? [] : await look('database.replica', () => lookAtReplica(part.readUrl))),
    ...(await look('clock.database', () => lookAtClock(pool))),
  ]
}

async function reach(pool: Pool): Promise<Finding> {
  const [row] = await pool<{ version: string; number: number; user: string; name: string }[]>`
    SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
      current_user AS user, current_database() AS name`
  if (!row) throw new Error('it answered nothing')
  const { version, number, user, name } = row
  const reading = { version, user, database: name }
  const says = `PostgreSQL ${version.split(' ')[0]}, database ${name}, as ${user}`
  if (number >= VERSION_MIN * 10_000) return ok('database', says, reading)
  return fail('database', says, `Use PostgreSQL ${VERSION_MIN} or later.`, reading)
}

async function lookAtSchema(pool: Pool): Promise<Finding> {
  const found = await compareMigrations(pool).catch((error: unknown) => {
    if (error instanceof UnreleasedLedgerError) return error
    throw error
  })
  if (found instanceof UnreleasedLedgerError) {
    const todo =
      'Then set DATABASE_URL to an empty database, or DATA_DIR to an empty folder if the database is embedded.'
    return fail('database.schema', found.message, todo)
  }
  const { applied, missing, unknown } = found
  if (missing.length > 0) {
    const says = applied.length === 0 ? 'there is no ledger yet' : `${missing.length} migrations are missing`
    return fail('database.schema', says, 'Run "node-ledger migrate", or start the service, which does so.', found)
  }
  const newer = unknown.length > 0 ? `, and ${unknown.length} of a newer version, which does no harm` : ''
  return ok('database.schema', `current: ${applied.length} migrations${newer}`, found)
}

async function lookAtRights(pool: Pool): Promise<Finding> {
  const [row] = await pool<{ create: boolean; locked: string[] }[]>`
    SELECT has_schema_privilege(current_schema(), 'CREATE') AS create, to_json(array(
      SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
          AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      ORDER BY relname)) AS locked`
  if (!row) throw new Error('it answered nothing')
  if (row.locked.length > 0) {
    const says = `no right to write ${row.locked.slice(0, 3).join(', ')}${row.locked.length > 3 ? ' and others' : ''}`
    return fail('database.rights', says, 'Make the user of DATABASE_URL the owner of the tables.', row)
  }
  if (row.create) return ok('database.rights', 'may read, write and migrate', row)
  return warn(
    'database.rights',
    'may read and write, but make no tables',
    'Migrate with another user, or give this one CREATE on the schema.',
    row,
  )
}

/** Tries a write, which is undone. Without a ledger there is nothing to write to: database.schema says so. */
async function lookAtWrites(pool: Pool): Promise<Finding[]> {
  if (!(await isLedger(pool))) return []
  try {
    await inTime('the database', WRITE_MS_MAX, tryWrite(pool))
    return [ok('database.writes', 'takes writes')]
  } catch (error) {
    const says = `takes no writes: ${messageOf(error)}`
    return [fail('database.writes', says, 'docs/RUNBOOK.md, "NodeLedgerPassFaults", says what to look at.')]
  }
}

async function lookAtPooler({ url, directUrl }: DatabasePart, prepare: boolean): Promise<Finding[]> {
  const pooled = await isPooled(url)
  const direct = url === directUrl ? pooled : await isPooled(directUrl)
  const reading = { pooled, directPooled: direct, prepare }
  const findings: Finding[] = []
  if (direct) {
    const todo = 'Set DATABASE_DIRECT_URL to PostgreSQL itself, past the pooler.'
    findings.push(
      fail('database.connections', 'locks and notifications go through a pooler, where they get lost', todo, reading),
    )
  }
  if (pooled && prepare) {
    const todo = 'Set DATABASE_PREPARE=false, unless your pooler knows prepared statements (PgBouncer from 1.21 on).'
    findings.push(warn('database.connections', 'statements are prepared behind a pooler', todo, reading))
  }
  if (findings.length > 0) return findings
  return [ok('database.connections', pooled ? 'pooled; locks go past the pooler' : 'straight to PostgreSQL', reading)]
}

async function lookAtReplica(url: string): Promise<Finding> {
  const connection = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger doctor' })
  try {
    const [row] = await connection<{ replica: boolean; lagSec: number | null }[]>`
      SELECT pg_is_in_recovery() AS replica, CASE
        WHEN NOT pg_is_in_recovery() OR pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
        ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8 AS "lagSec"`
    const says = row?.replica
      ? `a replica, ${Math.round(row.lagSec ?? 0)} s behind`
      : 'no replica, a database of its own'
    if ((row?.lagSec ?? 0) <= REPLICA_LAG_WARN_SEC) return ok('database.replica', says, row)
    return warn(
      'database.replica',
      says,
      'Public reads are old: see what keeps the replica back, or unset DATABASE_READ_URL.',
      row,
    )
  } catch (error) {
    const todo = 'Public reads fail: see that the replica runs, or unset DATABASE_READ_URL.'
    return fail('database.replica', reasonOf(error), todo)
  } finally {
    await connection.end({ timeout: 1 })
  }
}

async function lookAtClock(pool: Pool): Promise<Finding> {
  const before = Date.now()
  const [row] = await pool<{ ms: number }[]>`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`
  const offsetMs = Math.round((row?.ms ?? 0) - (before + Date.now()) / 2)
  const says = `this machine and the database differ by ${Math.abs(offsetMs)} ms`
  if (Math.abs(offsetMs) <= CLOCK_WARN_MS) return ok('clock.database', says, { offsetMs })
  return warn('clock.database', says, 'Have both keep their time by the network (NTP): sessions and leases go by it.', {
    offsetMs,
  })
}
