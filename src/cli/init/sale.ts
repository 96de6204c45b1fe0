// The first start of a new ledger, by `node-ledger init`. The service runs until the first tier is on sale and one node is bought as a trial. The
// deployer pays; the price goes to the operator's own payments wallet.
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { payFrom } from '../../chain/factory/deploy.ts'
import { parsePrivateKey } from '../../config/values.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { RefusedError, UnavailableError } from '../errors.ts'
import { MAIN } from './command.ts'
import type { Folder } from './folder.ts'

const POLL_MS = 500
/** How long we wait for the service: a new ledger has to follow all blocks since its factory's deployment. */
const READY_MS = 300_000
/** How long we wait for the first run of each pass. After that, `doctor` reports it. */
const TICK_MS = 30_000
/** How long we wait for the node: confirmations, a pass and a mint on a slow chain. */
const NODE_MS = 600_000

/** The passes' tick, in seconds. It is short because a person waits for them. */
const FIRST_TICK_SEC = '2'

/** Runs `body` while the folder's service answers at `url`. If it is not running, we start it and stop it afterwards. */
export async function besideService<T>(
  folder: Folder,
  env: NodeJS.ProcessEnv,
  body: (url: string) => Promise<T>,
): Promise<T> {
  const { PORT = '3000' } = env
  const url = `http://127.0.0.1:${PORT}`
  if (await isOurs(url, env)) return await body(url)
  const log = openSync(folder.at('first-start.log'), 'a', 0o600)
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: { ...env, TICK_SEC: FIRST_TICK_SEC },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  try {
    await waitFor(READY_MS, 'The service is not ready', async () => {
      if (hasEnded())
        throw new RefusedError(`The service did not start: see the last lines of ${folder.at('first-start.log')}.`)
      return (await answer(`${url}/readyz`))?.ok ? true : null
    })
    await waitFor(TICK_MS, 'No pass has run', () => lastTickAt(url)).catch(() => null)
    return await body(url)
  } finally {
    child.kill('SIGTERM')
    if (!hasEnded()) await exit
  }
}

async function lastTickAt(url: string): Promise<string | null> {
  const response = await answer(`${url}/api/cron/health`)
  return response?.ok ? ((await response.json()) as { lastTickAt: string | null }).lastTickAt : null
}

/** Whether the service of this ledger answers at `url`. Throws a RefusedError if another program does. */
async function isOurs(url: string, { FACTORY_ADDRESS }: NodeJS.ProcessEnv): Promise<boolean> {
  const response = await answer(`${url}/.well-known/node-ledger.json`)
  if (response === null) return false
  const { factoryAddress } = (await response.json().catch(() => ({}))) as { factoryAddress?: string }
  if (response.ok && factoryAddress === FACTORY_ADDRESS) return true
  throw new RefusedError(
    `Another program answers at ${url}: stop it, or set another PORT in settings.env. Then run the same command again.`,
  )
}

interface Purchase {
  rpcUrl: string
  deployerKey: string
  priceWei: bigint
  /** The payment of an earlier run; undefined if there was none. */
  paid: Hash | undefined
  /** Keeps the payment's hash, so that no later run pays again. */
  keep: (txHash: Hash) => void
}

/** Buys one node with the deployer's key, as any buyer does, unless an earlier run has paid. Returns the node's number. */
export async function buyOne(url: string, { rpcUrl, deployerKey, priceWei, paid, keep }: Purchase): Promise<string> {
  const privateKey = parsePrivateKey(deployerKey)
  if (privateKey === null)
    throw new RefusedError('There is no deployer key to pay with. Use one of your own wallets to buy a node.')
  // Pays to the wallet that the service shows, whatever the answers were, because no pass watches any other.
  const wellKnown = await answer(`${url}/.well-known/node-ledger.json`)
  const to = ((await wellKnown?.json().catch(() => null)) as { paymentAddress?: Address | null } | null)?.paymentAddress
  if (!to) throw new RefusedError('The ledger watches no payments wallet: enter one with "node-ledger wallets set".')
  const txHash = paid ?? (await payFrom({ rpcUrl, privateKey, to, valueWei: priceWei }))
  keep(txHash)
  return await waitFor(NODE_MS, `The payment ${txHash} has no node yet`, async () => {
    const response = await answer(`${url}/api/payment/${txHash}`)
    if (!response?.ok) return null
    const { status, reason, nodeId } = (await response.json()) as { status: string; reason?: string; nodeId?: string }
    if (status === 'held')
      throw new RefusedError(`The payment ${txHash} is held: ${reason}. See "ledger payments show".`)
    return nodeId ?? null
  })
}

async function answer(url: string): Promise<Response | null> {
  return await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
}

async function waitFor<T>(ms: number, late: string, look: () => Promise<T | null>): Promise<T> {
  for (const until = performance.now() + ms; performance.now() < until; await sleep(POLL_MS)) {
    const value = await look()
    if (value !== null) return value
  }
  throw new UnavailableError(`${late} after ${ms / 1000} seconds.`)
}
