// The objects that commands work on: the settings, and their database and chain. With nothing configured those are the parts of the
// service that runs in this directory; a command never starts any of its own.
import { readFileSync } from 'node:fs'
import { attachChain, attachDatabase, type DatabasePart, type OpenedChain } from '../boot/parts.ts'
import { ledgerContext, operatorDeps, passContext } from '../boot/pass-context.ts'
import { assertLedgerIsOurs, checkChain, openLedgerChain } from '../boot/preflight.ts'
import { createGovernanceReader } from '../chain/read/governance.ts'
import { createRpc } from '../chain/rpc/rpc.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { POSTGRES_URL } from '../config/values.ts'
import { isMigrated } from '../db/core/migrate.ts'
import { connect, type Pool } from '../db/core/sql.ts'
import { silentLog } from '../lib/log.ts'
import type { Actor, OperatorDeps } from '../operator/act.ts'
import type { OwnerDeps } from '../operator/owner.ts'
import type { PassContext } from '../passes/context.ts'
import type { Call } from './command.ts'
import { RefusedError, UnavailableError, UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { userName } from './user.ts'

/** One command does one thing at a time; a streamed export and what it looks up beside it take two. */
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

/** The empty database that a call names, by --into or by a variable that other users of the machine cannot see. Throws a UsageError without one. */
export function emptyDatabaseUrl({ io: { env }, values }: Pick<Call, 'io' | 'values'>, variable: string): string {
  const url = values.into ?? env[variable]
  if (!url) throw new UsageError(`Name an empty database: set ${variable}, or add --into <url>.`)
  if (POSTGRES_URL.test(url)) return url
  throw new UsageError('That is no PostgreSQL URL: name the database as postgres://user:password@host:5432/database.')
}

/** Connections that are open while a command runs; always closed again. */
export interface OpenDatabase {
  readonly config: Config
  readonly database: DatabasePart
  readonly pool: Pool
}

/** Runs `body` on the ledger's database. Throws an UnavailableError or RefusedError where there is no ledger to work on. */
export async function withDatabase<T>(io: Io, body: (ledger: OpenDatabase) => Promise<T>): Promise<T> {
  const config = readSettings(io)
  const database = await attachDatabase(config)
  if (!database) throw noService(config, 'DATABASE_URL')
  await using stack = new AsyncDisposableStack()
  const pool = openPool(database.url, stack)
  if (!(await isMigrated(pool)))
    throw new RefusedError(
      'The database has no ledger of this version: run "node-ledger migrate", or start the service, which does so.',
    )
  return await body({ config, database, pool })
}

/** The same with the chain: for the operator's acts and readings, which can send nothing. */
export async function withOperator<T>(
  io: Io,
  body: (deps: OperatorDeps, ledger: OpenDatabase) => Promise<T>,
): Promise<T> {
  return await withChain(io, async ({ ledger, chain, stack }) => {
    const { config, pool, database } = ledger
    const { url, readUrl } = database
    const readPool = readUrl === url ? pool : openPool(readUrl, stack)
    const { minter, distributor } = chain.part
    const ctx = ledgerContext(config, silentLog, { pool, chain })
    return await body(operatorDeps({ ...ctx, minter, distributor }, readPool), ledger)
  })
}

/** The same for previews of what the contract's owner may sign. */
export async function withOwnerPreviews<T>(io: Io, body: (deps: OwnerDeps) => Promise<T>): Promise<T> {
  return await withChain(io, async ({ ledger: { pool }, chain: { rpc, part } }) =>
    body({ pool, governance: createGovernanceReader(rpc, part.factory) }),
  )
}

/** The same for a pass, with the keys; settings, database and chain are held against each other first. */
export async function withPasses<T>(io: Io, body: (ctx: PassContext, ledger: OpenDatabase) => Promise<T>): Promise<T> {
  return await withChain(io, async ({ ledger, chain }) => {
    const { config, pool, database } = ledger
    const facts = await checkChain(chain)
    await assertLedgerIsOurs(pool, chain)
    const opened = { pool, directUrl: database.directUrl, chain, preflight: async () => facts }
    return await body(passContext(config, silentLog, opened), ledger)
  })
}

/** A ledger with its chain; `stack` closes what is opened besides. */
interface LedgerOnChain {
  readonly ledger: OpenDatabase
  readonly chain: OpenedChain
  readonly stack: AsyncDisposableStack
}

async function withChain<T>(io: Io, body: (opened: LedgerOnChain) => Promise<T>): Promise<T> {
  return await withDatabase(io, async (ledger) => {
    const { config, pool } = ledger
    const part = await attachChain(config)
    if (!part) throw noService(config, 'RPC_URL')
    await using stack = new AsyncDisposableStack()
    const rpc = createRpc({ urls: part.rpcUrls, log: silentLog })
    stack.defer(() => rpc.close())
    return await body({ ledger, chain: await openLedgerChain(pool, part, rpc), stack })
  })
}

/** The error where the settings name no database or chain, and no running service has one. */
export function noService({ dataDir }: Config, setting: 'DATABASE_URL' | 'RPC_URL'): UnavailableError {
  return new UnavailableError(
    `No service runs in this directory (DATA_DIR is ${dataDir}), and ${setting} is not set. Start the service with "npm start", or set ${setting}.`,
  )
}

function openPool(url: string, stack: AsyncDisposableStack): Pool {
  // Without prepared statements, a command works through any pooler.
  const pool = connect(url, { max: POOL_MAX, prepare: false, applicationName: 'node-ledger command' })
  stack.defer(() => pool.end({ timeout: 5 }))
  return pool
}
