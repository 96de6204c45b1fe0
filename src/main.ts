// The command line. Translates between a person at a terminal and the rest: errors that tell what to do are printed as
// they are, anything else as the bug it is.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, StartError, startApp } from './app.ts'
import { runDeploy } from './cli/deploy.ts'
import { RebuildError, runRebuild } from './cli/rebuild.ts'
import { runResume } from './cli/resume.ts'
import { type Config, ConfigError, type GeneratedSecrets, loadConfig } from './config.ts'
import { EmbedError } from './embed/errors.ts'
import { type DataDirLock, lockDataDir } from './embed/lock.ts'
import { onParentGone } from './embed/parent.ts'
import { loadOrCreateSecrets } from './embed/secrets.ts'
import { armFailpoint, FailpointError } from './failpoint.ts'
import { createLog } from './log.ts'
import { migrateWhenUp } from './settle.ts'

/** A stop that takes longer than this ends hard: whoever asked for it would do so anyway. */
const STOP_MS = 30_000
/** A service whose launcher was killed notices at once and stops within this time, as a rule. */
const LOCK_WAIT_MS = 5_000
const LOCK_POLL_MS = 200
const USAGE = `Usage: node-ledger <command>

  start      run the service; with nothing configured, on an embedded database and chain
  deploy     put the factory on a chain of your own and print the settings for it
  migrate    bring the database of DATABASE_URL to the current schema
  rebuild    follow the chain anew into an empty database (REBUILD_DATABASE_URL, or --into <url>), and tell what differs
  resume     let the passes go on after a halt, once you have looked at why

Settings come from the environment; .env.example documents each of them.`

const readFile = (path: string) => readFileSync(path, 'utf8')

async function main([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case 'start':
      return await start()
    case 'deploy':
      return await runDeploy(rest, process.env, process)
    case 'migrate':
      return await migrateOnly()
    case 'rebuild':
      return await rebuildLedger(rest)
    case 'resume':
      return await resume()
    case 'help':
    case '--help':
      console.log(USAGE)
      return 0
    default:
      console.error(USAGE)
      return 2
  }
}

async function start(): Promise<number> {
  console.error('Node Ledger')
  const { config, lock } = await prepare()
  const log = createLog(config.log.level)
  for (const { setting, message } of config.hints) console.error(`  ${setting} ${message}.`)
  try {
    armFailpoint(process.env.NODE_LEDGER_FAILPOINT, config)
    const app = await startApp(config, log, (step) => console.error(`  ${step}`))
    console.error(banner(app, config))
    const { reason, code } = await untilStopped(app)
    console.error(`Stopping: ${reason}.`)
    await Promise.race([app.stop(), sleep(STOP_MS, undefined, { ref: false })])
    return code
  } finally {
    lock?.release()
  }
}

/** The configuration; outside production with generated secrets, and the data directory locked where it is used. */
async function prepare(): Promise<{ config: Config; lock: DataDirLock | null }> {
  const first = loadConfig(process.env, { readFile })
  if (first.production) return { config: first, lock: null }
  const lock = first.embedded.database || first.embedded.chain ? await lockPatiently(first.dataDir) : null
  try {
    const generated: GeneratedSecrets = loadOrCreateSecrets(first.dataDir, ['SESSION_SECRET', 'ADMIN_KEY', 'CRON_KEY'])
    return { config: loadConfig(process.env, { readFile, generated }), lock }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** The data directory's lock; a service that is just stopping is waited for. */
async function lockPatiently(dataDir: string): Promise<DataDirLock> {
  const deadline = Date.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      return await lockDataDir(dataDir)
    } catch (error) {
      if (!(error instanceof EmbedError) || Date.now() > deadline) throw error
      await sleep(LOCK_POLL_MS)
    }
  }
}

/** Waits for a reason to stop: a signal, a parent that went, an embedded part that ended. */
function untilStopped(app: App): Promise<{ reason: string; code: number }> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolve({ reason: `received ${signal}`, code: 0 }))
    }
    const launcher = Number(process.env.NODE_LEDGER_LAUNCHER_PID)
    onParentGone(launcher > 0 ? launcher : null, () =>
      resolve({ reason: 'the process that started it is gone', code: 0 }),
    )
    app.onPartExit((part) => resolve({ reason: `${part} ended by itself; start again to recover`, code: 1 }))
  })
}

function banner({ url, chain, chainId }: App, { embedded, schedule, secrets, dataDir }: Config): string {
  const lines = [
    '',
    `Node Ledger answers at ${url}`,
    `  tiers       ${url}/api/tiers`,
    `  chain       ${chain.publicRpcUrl ?? 'not public'} (chain id ${chainId})`,
    `  factory     ${chain.factory}`,
    `  payments    ${chain.paymentAddress ?? 'PAYMENT_ADDRESS is not set: nothing can be bought'}`,
  ]
  if (chain.demoToken) {
    lines.push(
      `  demo token  ${chain.demoToken}`,
      '',
      'Try: npm run demo            a buyer and an owner, step by step',
      '  or pay a tier from one of the accounts 5 to 19 of the well-known test mnemonic.',
      '  (Accounts 1 and 2 are the service’s own: a payment from them takes its nonces.)',
    )
  }
  if (embedded.database || embedded.chain) lines.push(`State is kept in ${dataDir}; remove it to begin anew.`)
  if (!schedule.timer) {
    const key = secrets.cronKey === null ? ' (set CRON_KEY first)' : ''
    lines.push(
      `The timer is off: have a scheduler call /api/cron/payments and /api/cron/credit every ${schedule.tickSec} s${key}.`,
    )
  }
  return `${lines.join('\n')}\n`
}

async function migrateOnly(): Promise<number> {
  const { database } = loadConfig(process.env, { readFile })
  if (!database.directUrl)
    throw new StartError('DATABASE_URL is not set: the embedded database migrates itself at start.')
  const applied = await migrateWhenUp(database.directUrl, (step) => console.error(`  ${step}`))
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The schema is current.')
  return 0
}

async function rebuildLedger(argv: readonly string[]): Promise<number> {
  const { REBUILD_DATABASE_URL } = process.env
  const into = argv[0] === '--into' ? argv[1] : REBUILD_DATABASE_URL
  if (!into) throw new RebuildError('Name an empty database: set REBUILD_DATABASE_URL, or add --into <url>.')
  const { config, lock } = await prepare()
  try {
    return await runRebuild(config, into, (line) => console.error(`  ${line}`))
  } finally {
    lock?.release()
  }
}

async function resume(): Promise<number> {
  const { database } = loadConfig(process.env, { readFile })
  if (!database.directUrl)
    throw new StartError('DATABASE_URL is not set: an embedded ledger that halts is begun anew by removing DATA_DIR.')
  return await runResume(database.directUrl, 'operator', console.log)
}

function isExpected(error: unknown): error is Error {
  return [ConfigError, EmbedError, StartError, RebuildError, FailpointError].some((kind) => error instanceof kind)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (isExpected(error)) console.error(error.message)
  else console.error('Node Ledger stopped on an error it did not expect:\n', error)
  process.exitCode = 1
}
process.exit()
