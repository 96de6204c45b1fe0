// The peers' programs. They are installed on first use from bench/peers, which has its own lockfile, so the product's
// own dependencies stay few.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findFreePort } from '../../packages/embed/port.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Served, startServer } from './process.ts'

const PEERS = fileURLToPath(new URL('../peers', import.meta.url))
const MODULES = join(PEERS, 'node_modules')
const NEXT = join(MODULES, 'next/dist/bin/next')
const PONDER = join(MODULES, 'ponder/dist/esm/bin/ponder.js')
/** Ponder starts at 20 requests per second and URL. We give it this many URLs, because otherwise we would measure only that limit. */
const PONDER_URLS = 200
/** The database schema of Ponder's tables. */
export const PONDER_SCHEMA = 'ponder'
const INDEX_MS = 180_000

const run = promisify(execFile)

/** The contract for Ponder to index, and its provider. */
export interface PonderTask {
  databaseUrl: string
  rpcOrigin: string
  chainId: number
  factory: string
  paymentsWallet: string
  /** Null if it is to follow the chain. */
  endBlock: number | null
}

/** Installs the peers if they are missing. Returns why it cannot; null if they are there. */
export async function installPeers(progress: (text: string) => void): Promise<string | null> {
  if (existsSync(NEXT) && existsSync(PONDER)) return null
  progress('installing the peers into bench/peers, once')
  try {
    // Uses the lockfile. `npm ci` would also require the packages for every other platform, which not every registry has.
    await run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: PEERS })
    return null
  } catch (error) {
    const lines = String(error).split('\n')
    return `npm install in bench/peers failed: ${lines.find((line) => line.startsWith('npm error')) ?? lines[0]}`
  }
}

/** Builds the Next.js service for production, and starts it on a database. */
export async function startNext(databaseUrl: string): Promise<Served> {
  const options = { cwd: join(PEERS, 'next'), env: { ...environment(), DATABASE_URL: databaseUrl } }
  await run(process.execPath, [NEXT, 'build'], options)
  const args = ['start', '-H', '127.0.0.1', '-p', '0']
  const { said, ...server } = await startServer([NEXT, ...args], /Local: +(http:\S+)/, options)
  return { origin: said, ...server }
}

/** Indexes with Ponder. @returns how long it reports to have taken, from its first request, and its server, which keeps answering. */
export async function indexWithPonder(task: PonderTask): Promise<Served & { tookMs: number }> {
  const urls = Array.from({ length: PONDER_URLS }, (_, index) => `${task.rpcOrigin}/${index}`)
  const says = /"Completed backfill indexing across all chains","duration":([\d.]+).*"endpoint":"\/ready"/s
  const { said, ...server } = await startPonder(task, urls, says)
  return { ...server, tookMs: Number(said) }
}

/** Lets Ponder index the existing blocks, and then follow the chain through one URL. */
export async function followWithPonder(task: PonderTask): Promise<Served> {
  return await startPonder(task, [task.rpcOrigin], /"endpoint":"(\/ready)"/)
}

async function startPonder(
  task: PonderTask,
  urls: readonly string[],
  says: RegExp,
): Promise<Served & { said: string }> {
  const port = await findFreePort()
  const env = {
    ...environment(),
    DATABASE_URL: task.databaseUrl,
    PONDER_RPC_URLS: urls.join(','),
    CHAIN_ID: String(task.chainId),
    FACTORY: task.factory,
    PAYMENTS_WALLET: task.paymentsWallet,
    END_BLOCK: task.endBlock === null ? '' : String(task.endBlock),
  }
  const args = ['start', '--schema', PONDER_SCHEMA, '-H', '127.0.0.1', '-p', String(port), '--log-format', 'json']
  const options = { cwd: join(PEERS, 'ponder'), env, waitMs: INDEX_MS }
  return { origin: `http://127.0.0.1:${port}`, ...(await startServer([PONDER, ...args], says, options)) }
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: temporaryDirectory(),
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    PONDER_TELEMETRY_DISABLED: '1',
  }
}
