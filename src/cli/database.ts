// The settings and the database that commands work on. If nothing is configured, this is the database of the service that runs in this directory; a
// command never starts a service. For commands that also need the chain, see chain.ts.
import { readFileSync } from 'node:fs'
import { attachDatabase, type DatabasePart } from '../boot/database.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { isMigrated } from '../db/core/migrate.ts'
import { connect, type Pool } from '../db/core/sql.ts'
import { readDatabaseUrl } from '../lib/database-url.ts'
import type { Actor, EnvironmentKeys, LedgerPart, ReachedAt } from '../operator/act.ts'
import { keyDigest } from '../operator/acts/keys/secret.ts'
import type { Call } from './command.ts'
import { RefusedError, UnavailableError, UsageError } from './errors.ts'
import { type Io, userName } from './io.ts'

/** How many connections a command opens at most. It does one thing at a time; a streamed export and its look-ups take two connections. */
const POOL_MAX = 3

const readFile = (path: string) => readFileSync(path, 'utf8')

/** The settings. Throws a ConfigError with every mistake. */
export function readSettings({ env }: Io): Config {
  return loadConfig(env, { readFile })
}

/** The actor for the audit log. */
export function actorHere(): Actor {
  return { name: `cli:${userName() || (process.getuid?.() ?? 'unknown')}`, requestId: null }
}

/**
 * The URL of the empty database, from --into or from a variable. Other users of the machine cannot see the variable. Throws a UsageError if neither
 * is set.
 */
export function emptyDatabaseUrl({ io: { env }, values }: Pick<Call, 'io' | 'values'>, variable: string): string {
  const url = values.into ?? env[variable]
  if (!url) throw new UsageError(`Give an empty database: set ${variable}, or add --into <url>.`)
  const read = readDatabaseUrl(url)
  if ('mistake' in read) throw new UsageError(`That URL ${read.mistake}.`)
  return url
}

/** Connections that are open while a command runs, and are always closed afterwards. */
export interface OpenDatabase {
  readonly config: Config
  readonly database: DatabasePart
  readonly pool: Pool
}

/** Runs `body` on the ledger's database. Throws an UnavailableError or a RefusedError if there is no ledger. */
export async function withDatabase<T>(io: Io, body: (ledger: OpenDatabase) => Promise<T>): Promise<T> {
  const config = readSettings(io)
  const database = await attachDatabase(config)
  if (!database) throw noService(config, 'DATABASE_URL')
  await using stack = new AsyncDisposableStack()
  const pool = openPool(database.url, stack)
  if (!(await isMigrated(pool)))
    throw new RefusedError(
      'The database has no ledger of this version: run "node-ledger migrate", or start the service, which migrates.',
    )
  return await body({ config, database, pool })
}

/** The parts of the settings that acts and readings need. */
export const settingsPart = ({ ADMIN_KEY, PUBLIC_URL }: Config): EnvironmentKeys & ReachedAt => ({
  environmentKeys: (ADMIN_KEY ?? []).map(keyDigest),
  publicUrl: PUBLIC_URL,
})

/** Runs `body` on the ledger, for acts and readings that need no chain. */
export const withLedger = <T>(io: Io, body: (deps: LedgerPart) => Promise<T>): Promise<T> =>
  withDatabase(io, ({ config, pool }) => body({ pool, ...settingsPart(config) }))

/** The error to throw if the settings name no database or chain, and no running service has one. */
export function noService({ DATA_DIR }: Config, setting: 'DATABASE_URL' | 'RPC_URL'): UnavailableError {
  return new UnavailableError(
    `No service runs in this directory (DATA_DIR is ${DATA_DIR}), and ${setting} is not set. Start the service with "npm start", or set ${setting}.`,
  )
}

/** Opens connections that `stack` closes. */
export function openPool(url: string, stack: AsyncDisposableStack): Pool {
  // Without prepared statements, a command works through any pooler.
  const pool = connect(url, { max: POOL_MAX, prepare: false, applicationName: 'node-ledger command' })
  stack.defer(() => pool.end({ timeout: 5 }))
  return pool
}
