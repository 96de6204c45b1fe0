// The service as its operator runs it, in its own process, on a database and a chain that a bench has created.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signalGroup } from '../../test/support/process-group.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { until } from '../../test/support/until.ts'
import type { World } from '../../test/support/world.ts'
import { firstMatch } from './process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START_MS = 120_000
const BANNER = /answers at (http:\S+)/

export interface Service {
  url: string
  /** The pid of the process that serves, not of a launcher before it. Linux only. */
  pid(): number
  stop(): Promise<void>
}

/** The settings for a service on a world's database, chain, factory and keys. */
export function settingsOn({ directUrl, chain, factory, at }: World): Record<string, string> {
  return {
    DATABASE_URL: directUrl,
    RPC_URL: chain.rpcUrl,
    CHAIN_ID: String(chain.chainId),
    FACTORY_ADDRESS: factory,
    START_BLOCK: '1',
    PAYMENT_ADDRESS: at(3),
    MINTER_PRIVATE_KEY: chain.accounts[1]?.privateKey ?? '',
    DISTRIBUTOR_PRIVATE_KEY: chain.accounts[2]?.privateKey ?? '',
  }
}

/** Starts a command of this repository and waits for the service's banner. */
export async function startService(command: readonly string[], settings: Record<string, string>): Promise<Service> {
  const [program = '', ...args] = command
  const home = temporaryDirectory()
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    DATA_DIR: join(home, 'data'),
    LOG_LEVEL: 'error',
    PORT: '0',
    CHAIN_PORT: '0',
    METRICS_PORT: 'off',
    ...settings,
  }
  // In its own process group, because if we stopped only npm, it would be up to npm to stop the service.
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const killIt = () => signalGroup(child.pid, 'SIGKILL')
  process.once('exit', killIt)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  ended.then(() => process.off('exit', killIt))
  const url = await firstMatch(child, BANNER, START_MS)
  return {
    url,
    pid: () => lastOf(child.pid ?? 0),
    async stop() {
      signalGroup(child.pid, 'SIGTERM')
      await ended
    },
  }
}

/** A launcher has one child. A service on the operator's database and chain has none. */
function lastOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return child ? lastOf(Number(child)) : pid
}

const MINTED_WAIT_MS = 300_000
const MINTED_POLL_MS = 100

/** Waits until the ledger has this many nodes. */
export async function minted({ pool }: World, count: number): Promise<void> {
  await until(
    `${count} nodes`,
    async () => (await pool`SELECT FROM nodes`).count >= count,
    MINTED_WAIT_MS,
    MINTED_POLL_MS,
  )
}
