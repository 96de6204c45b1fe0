// The command `node-ledger start`: runs the service until it is stopped. Reports progress on stderr; stdout is for the log.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, startApp } from '../../boot/app.ts'
import { type Embedded, loadEmbedded } from '../../boot/embedded.ts'
import { loadOrCreateSecrets } from '../../boot/secrets.ts'
import { type Config, type GeneratedSecrets, loadConfig } from '../../config/load.ts'
import { within } from '../../lib/deadline.ts'
import { armFailpoint } from '../../lib/failpoint.ts'
import { writeFileAtomic } from '../../lib/files.ts'
import { createLog } from '../../lib/log.ts'
import { onParentGone } from '../../lib/parent.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { readableLine } from '../log-line.ts'

/** If stopping takes longer than this, the process exits immediately, because a supervisor would kill it anyway. */
const STOP_MS = 30_000
type DataDirLock = Awaited<ReturnType<Embedded['lockDataDir']>>

/** How long we wait for the lock. A service whose launcher was killed notices immediately, and usually stops within this time. */
const LOCK_WAIT_MS = 5_000
const LOCK_POLL_MS = 200
/** After this time a service has compiled everything that it needs at start. */
const COMPILED_MS = 10_000

/** The demo, which exists only in a checkout. */
const DEMO = new URL('../../../scripts/demo.ts', import.meta.url)

/** Runs the command: 0 if it was stopped, 1 if it could not start or continue. */
export async function start({ io, out }: Call): Promise<ExitCode> {
  out.say('Node Ledger')
  const { config, lock } = await prepare(io.env)
  // On a terminal the log is lines for people; otherwise it is JSON.
  const readable = (line: string) => void io.stdout.write(`${readableLine(line.trimEnd())}\n`)
  const log = createLog(config.LOG_LEVEL, io.stdout.isTTY ? readable : null)
  for (const { setting, message } of config.hints) out.say(`  ${setting} ${message}.`)
  try {
    const { NODE_LEDGER_FAILPOINT, NODE_LEDGER_LAUNCHER_PID } = io.env
    armFailpoint(NODE_LEDGER_FAILPOINT, config)
    const app = await startApp(config, { log, onProgress: (step) => out.say(`  ${step}`) })
    // Commands on this machine read this file, because the port may differ from the one in the settings.
    if (lock) writeFileAtomic(join(config.DATA_DIR, 'url'), app.url)
    out.say(banner(app, config))
    if (out.json) await out.result({ url: app.url, chainId: app.chainId, factoryAddress: app.chain.factory }, '')
    // Otherwise the cache (about 9 MB) would stay in memory until the end. If the process is killed, it would never be written.
    setTimeout(flushCompileCache, COMPILED_MS).unref()
    const { reason, code } = await untilStopped(app, Number(NODE_LEDGER_LAUNCHER_PID), io.stdin.isTTY === true)
    out.say(`Stopping: ${reason}.`)
    await within(STOP_MS, app.stop(), () => {})
    return code
  } finally {
    if (lock) rmSync(join(config.DATA_DIR, 'url'), { force: true })
    lock?.release()
  }
}

interface Prepared {
  readonly config: Config
  readonly lock: DataDirLock | null
}

/** The configuration. Outside production it includes generated secrets; if the data directory is used, we lock it. */
async function prepare(env: NodeJS.ProcessEnv): Promise<Prepared> {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const first = loadConfig(env, { readFile })
  if (first.production) return { config: first, lock: null }
  const lock = first.embedded.database || first.embedded.chain ? await lockPatiently(first.DATA_DIR) : null
  try {
    const secrets: GeneratedSecrets = loadOrCreateSecrets(first.DATA_DIR, ['SESSION_SECRET', 'ADMIN_KEY', 'CRON_KEY'])
    return { config: loadConfig(env, { readFile, secrets }), lock }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** The data directory's lock. If a service is just stopping, waits for it. */
async function lockPatiently(dataDir: string): Promise<DataDirLock> {
  const { EmbedError, lockDataDir } = await loadEmbedded()
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

/** Waits for a reason to stop: a signal, a parent that is gone, or an embedded part that has exited. */
function untilStopped(app: App, launcher: number, hasTerminal: boolean): Promise<{ reason: string; code: ExitCode }> {
  return new Promise((resolve) => {
    // Closing a terminal ends the programs in it. Without a terminal, as under nohup, we ignore the signal.
    if (!hasTerminal) process.on('SIGHUP', () => {})
    for (const signal of ['SIGINT', 'SIGTERM', ...(hasTerminal ? (['SIGHUP'] as const) : [])] as const) {
      process.on(signal, () => resolve({ reason: `received ${signal}`, code: EXIT.done }))
    }
    onParentGone(launcher > 0 ? launcher : null, () =>
      resolve({ reason: 'the process that started it is gone', code: EXIT.done }),
    )
    app.onPartExit((part) =>
      resolve({ reason: `${part} stopped unexpectedly; start again to recover`, code: EXIT.negative }),
    )
  })
}

/** Where to find the key that the console asks for. */
function keyPlace({ namedSettings, ADMIN_KEY }: Pick<Config, 'namedSettings' | 'ADMIN_KEY'>, dataDir: string): string {
  if (namedSettings.includes('ADMIN_KEY')) return 'sign in with a key of ADMIN_KEY'
  if (ADMIN_KEY === null) return 'sign in with a key of the ledger: "node-ledger admin-keys create" makes one'
  return `sign in with the key that is ADMIN_KEY in ${join(dataDir, 'secrets.json')}`
}

function banner(
  { url, metricsUrl, chain, chainId }: App,
  { embedded: embeddedParts, DATA_DIR, ...config }: Config,
): string {
  const lines = [
    '',
    `Node Ledger answers at ${url}`,
    `  pages       ${url}/ (nodes), ${url}/buy, ${url}/console, ${url}/docs`,
    `  console     ${keyPlace(config, DATA_DIR)}`,
    `  metrics     ${metricsUrl ?? 'not served'}`,
    `  chain       ${chain.publicRpcUrl ?? 'not public'} (chain id ${chainId})`,
    `  factory     ${chain.factory}`,
    `  payments    ${chain.paymentAddress ?? 'PAYMENT_ADDRESS is not set: nothing can be bought'}`,
  ]
  if (chain.demoToken) {
    lines.push(
      `  demo token  ${chain.demoToken}`,
      '',
      ...(existsSync(DEMO) ? ['Try: npm run demo            a buyer and an owner, step by step'] : []),
      'Try: npx node-ledger doctor  check everything',
      '  or pay a tier from one of the accounts 5 to 19 of the well-known test mnemonic.',
      '  (Accounts 1 and 2 are the service’s own: a payment from them takes its nonces.)',
    )
  }
  if (embeddedParts.database || embeddedParts.chain)
    lines.push(`State is kept in ${DATA_DIR}; remove it to start over.`)
  if (!config.SCHEDULER) {
    const key = config.CRON_KEY === null ? ' (set CRON_KEY first)' : ''
    lines.push(
      `The timer is off: have a scheduler call /api/cron/payments and /api/cron/credit every ${config.TICK_SEC} s${key}.`,
    )
  }
  return `${lines.join('\n')}\n`
}
