// The composition root: builds all parts from the configuration and connects them. Nothing here decides anything about money. Parts stop in reverse
// order, even if one of them fails to stop.
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { checksum } from '../chain/digest.ts'
import { createReadings } from '../chain/pages/readings.ts'
import { createWalletProver, createWalletVerifier, recoverSigner } from '../chain/pages/wallets.ts'
import { createRpc, type Rpc } from '../chain/rpc/rpc.ts'
import { count } from '../chain/rpc/wire.ts'
import { claimer } from '../claims/claim.ts'
import { createSyncer } from '../claims/sync.ts'
import { type Config, describeConfig, siteOn } from '../config/load.ts'
import { listenForChanges } from '../db/core/changes.ts'
import { mayPass } from '../db/core/faults.ts'
import { connect, type Pool } from '../db/core/sql.ts'
import type { HttpDeps } from '../http/deps.ts'
import { createServer } from '../http/server.ts'
import { within } from '../lib/deadline.ts'
import { kindOf, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { metered } from '../metrics/meters.ts'
import type { MetricsDeps } from '../metrics/readings.ts'
import { createMetrics, type Metrics } from '../metrics/server.ts'
import { creditPass } from '../passes/credit.ts'
import { paymentsPass } from '../passes/payments.ts'
import { createScheduler } from '../passes/scheduler.ts'
import type { Passes } from '../ports/outcomes.ts'
import { fetchEthUsd } from '../price/eth-usd.ts'
import { startPriceHistory } from '../price/price.ts'
import { adoptEndpoints, startWebhooks } from '../webhooks/worker.ts'
import { loadEmbedded } from './embedded.ts'
import { type ChainPart, openParts, type Parts, signersOf } from './parts.ts'
import { operatorDeps, passContext } from './pass-context.ts'
import {
  chainPreflight,
  checkBeforeMigrating,
  checkPooler,
  migrateWhenUp,
  openLedgerChain,
  StartError,
} from './preflight.ts'

export { operatorDeps } from './pass-context.ts'

/** Connections in the pool. That is enough for reads at full speed on a small machine, and few enough for a shared database. */
const POOL_MAX = 10
/** Every statement of the service finishes within this time. If a database server has not answered by then, it is gone. */
const READ_IDLE_TIMEOUT_MS = 120_000
/** How long a start waits for the chain. After that the service starts without it and serves the ledger. */
const CHAIN_WAIT_MS = 15_000
/**
 * How long, after a request to stop, the service still serves but reports that it is not ready. In that time load balancers notice, and requests in
 * flight get their answers. In development there is no load balancer.
 */
const DRAIN_MS = { production: 5_000, development: 100 }

export interface App {
  /** URL at which the service is reached. */
  url: string
  /** URL of the metrics; null if they are not served. */
  metricsUrl: string | null
  chain: ChainPart
  chainId: number
  /** Calls `listener` when an embedded part exits unexpectedly. The service cannot continue without that part. */
  onPartExit(listener: (what: string) => void): void
  /** Finishes the work in flight, then stops everything. */
  stop(): Promise<void>
}

interface Outside {
  readonly log: Log
  readonly onProgress: (step: string) => void
}

/** Starts the service. Throws a ConfigError, KnownError or StartError; its message explains what to do. */
export async function startApp(config: Config, { log, onProgress }: Outside): Promise<App> {
  const stack = new AsyncDisposableStack()
  try {
    const finalConfig = await choosePorts(config)
    const parts = await openParts(finalConfig, log, onProgress)
    stack.defer(() => parts.stop())
    const app = await build({ config: finalConfig, log, onProgress, stack }, parts)
    return { ...app, onPartExit: parts.onExit, stop: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

/** A start in progress. `stack` can stop whatever it has started. */
interface Start extends Outside {
  readonly config: Config
  readonly stack: AsyncDisposableStack
}

async function build(
  start: Start,
  { database, chain }: Parts,
): Promise<Pick<App, 'url' | 'metricsUrl' | 'chain' | 'chainId'>> {
  const { config, log, onProgress, stack } = start
  const metrics = createMetrics(log)
  const { meters } = metrics
  const openRpc = (): Rpc => {
    const rpc = createRpc({ urls: chain.rpcUrls, log, observe: meters.rpc })
    stack.defer(() => rpc.close())
    return rpc
  }
  const rpc = openRpc()
  onProgress('migrating the database')
  const before = () => checkBeforeMigrating(database.directUrl, chain, rpc)
  await migrateWhenUp(database.directUrl, onProgress, { before })
  const prepares = config.embedded.database ? { url: true, readUrl: true } : await checkPooler(database)
  const open = (url: string, name: string, prepare: boolean): Pool => {
    const options = { max: POOL_MAX, prepare, applicationName: name, readIdleTimeoutMs: READ_IDLE_TIMEOUT_MS }
    const pool = connect(url, options)
    stack.defer(() => pool.end({ timeout: 5 }))
    return pool
  }
  const pool = open(database.url, 'node-ledger', prepares.url)
  const readPool =
    database.readUrl === database.url ? pool : open(database.readUrl, 'node-ledger reads', prepares.readUrl)

  onProgress('checking chain and factory')
  const ledgerChain = await openLedgerChain(pool, chain, rpc)
  const { reader, chainId } = ledgerChain
  // Every run of a pass begins with this check. Until the check has succeeded once, runs do nothing.
  const preflight = chainPreflight(config, pool, ledgerChain, (line) => {
    log.warn(line)
    onProgress(line)
  })
  const ctx = passContext(config, log, { pool, directUrl: database.directUrl, chain: ledgerChain, preflight })
  await preflightOrServe(preflight, onProgress)

  const payments = metered('payments', meters, paymentsPass(ctx))
  const credit = metered('credit', meters, creditPass(ctx))
  const scheduler = createScheduler({ payments, credit }, config.TICK_SEC, log)
  const runPayments = scheduler.payments
  const passes: Passes = { payments: runPayments, credit, claim: claimer(ctx, runPayments) }
  const changes = listenForChanges(database.directUrl, log)
  stack.defer(() => changes.close())

  // Done before any pass runs, so that the endpoints miss no event.
  await adoptEndpoints(pool, config.webhooks)
  const sending = { allowPrivate: config.webhooks.allowPrivate, publicUrl: config.PUBLIC_URL }
  const webhooks = startWebhooks({ pool, ...sending, log, observe: meters.delivery })
  stack.defer(() => webhooks.stop())
  changes.subscribe(() => webhooks.wake())

  // Requests have an RPC client of their own. So the passes' bulk reads never delay requests, and requests never take the passes' slots.
  const readRpc = openRpc()
  const readings = createReadings({ rpc: readRpc, factory: chain.factory, distributor: signersOf(chain).distributor })

  onProgress('starting to serve')
  let draining = false
  const server = createServer({
    ...httpDeps(start, chain, chainId),
    sql: pool,
    readSql: readPool,
    changes,
    readings,
    meters,
    passes,
    syncer: createSyncer(ctx, runPayments),
    operator: operatorDeps(ctx, readPool),
    draining: () => draining,
    ...walletChecks(config, readRpc),
    chainIdMatches: chainIdMatches(readRpc, chainId),
  })
  stack.defer(() => server.close())
  await listen(server, config)
  stack.defer(async () => {
    draining = true
    await sleep(config.production ? DRAIN_MS.production : DRAIN_MS.development)
  })
  keepPrices(start, pool)
  if (config.SCHEDULER) stack.defer(scheduler.start())
  const metricsUrl = await serveMetrics(start, metrics, {
    pool,
    chain: reader,
    readings,
    minter: ctx.minter,
    distributor: ctx.distributor,
  })
  const { port } = server.server.address() as AddressInfo
  return { metricsUrl, url: `http://${config.HOST}:${port}`, chain, chainId }
}

/** Stores the ether price of each hour, if a price source is configured. */
function keepPrices({ config: { price }, stack, log }: Start, pool: Pool): void {
  if (!price) return
  const prices = startPriceHistory(pool, () => fetchEthUsd(price), log)
  stack.defer(() => prices.stop())
}

/** We only log it if the metrics' default port is taken, because the service must run anyway. */
async function serveMetrics(
  { config, onProgress, stack }: Start,
  metrics: Metrics,
  deps: MetricsDeps,
): Promise<string | null> {
  const { HOST: host, METRICS_PORT: port } = config
  if (port === 'off') return null
  try {
    const server = await metrics.serve({ host, port }, deps)
    stack.defer(() => server.close())
    return server.url
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem = code === 'EADDRINUSE' ? `port ${port} is taken` : message
    const remedy = 'Set METRICS_PORT to another one (0 takes any free one, off serves none).'
    if (config.namedSettings.includes('METRICS_PORT'))
      throw new StartError(`Metrics cannot be served: ${problem}. ${remedy}`, 'refused')
    onProgress(`metrics are not served: ${problem}. ${remedy}`)
    return null
  }
}

/** Runs the preflight, but does not wait for it for long: if the chain does not answer, people must still be able to read the ledger. */
async function preflightOrServe(preflight: () => Promise<unknown>, onProgress: (step: string) => void): Promise<void> {
  const outcome = preflight().then(
    () => null,
    (error: unknown) => error,
  )
  const failure = await within(CHAIN_WAIT_MS, outcome, () => new StartError('no answer yet', 'retryable'))
  if (failure === null) return
  if (kindOf(failure) !== 'retryable' && !mayPass(failure)) throw failure
  onProgress(`the chain does not answer yet: ${messageOf(failure).split('\n').at(-1)?.trim()}`)
  onProgress('serving the ledger; the passes start once the chain answers')
}

/** What the HTTP server needs to know of the settings. */
function httpDeps(
  { config, log }: Start,
  chain: ChainPart,
  chainId: number,
): Pick<HttpDeps, 'priceFeed' | 'checksum' | 'recoverSigner' | 'settings' | 'clock' | 'monotonicClock' | 'log'> {
  const { price, SESSION_SECRET: sessionSecret } = config
  if (sessionSecret === null) throw new StartError('SESSION_SECRET is required: set it to 32 characters or more.')
  return {
    priceFeed: price && (() => fetchEthUsd(price)),
    checksum,
    recoverSigner,
    settings: {
      chainId,
      factoryAddress: chain.factory,
      publicRpcUrl: chain.publicRpcUrl,
      embedded: chain.demoToken !== null,
      quoteTier: config.QUOTE_TIER,
      cronKey: config.CRON_KEY,
      adminKeys: config.ADMIN_KEY ?? [],
      sessionSecret,
      previousSessionSecret: config.SESSION_SECRET_PREVIOUS,
      publicUrl: config.PUBLIC_URL,
      trustedProxies: config.TRUSTED_PROXIES ?? [],
      frameAncestors: config.FRAME_ANCESTORS ?? [],
      site: siteOn(config, chainId),
      production: config.production,
      staleAfterSec: config.staleAfterSec,
      tickSec: config.TICK_SEC,
      distMode: config.DIST_MODE,
      described: describeConfig(config),
    },
    clock: Date.now,
    monotonicClock: () => performance.timeOrigin + performance.now(),
    log,
  }
}

/**
 * Checks all ports before anything starts, and names every port that is taken. If PORT is 0, picks a free port, and PUBLIC_URL's default then names
 * that one.
 */
async function choosePorts(config: Config): Promise<Config> {
  const { PORT, HOST, PUBLIC_URL, METRICS_PORT, namedSettings } = config
  const others: [name: string, port: number, host: string][] = []
  // The metrics' default port is not checked: the service must run even if that port is taken.
  if (METRICS_PORT !== 'off' && namedSettings.includes('METRICS_PORT'))
    others.push(['METRICS_PORT', METRICS_PORT, HOST])
  // If a killed service left its chain behind, that chain holds the port. This start will stop it, so we do not check the port.
  if (config.embedded.chain && !(await (await loadEmbedded()).isChainLeft(config.DATA_DIR)))
    others.push(['CHAIN_PORT', config.CHAIN_PORT, '127.0.0.1'])
  const probes = await Promise.all([tryPort('PORT', PORT, HOST), ...others.map((one) => tryPort(...one))])
  const refusals = probes.flatMap(({ refusal }) => refusal ?? [])
  if (refusals.length > 0) throw new StartError(refusals.join('\n'), 'refused')
  const port = probes[0]?.port ?? PORT
  const isNamed = namedSettings.includes('PUBLIC_URL')
  return { ...config, PORT: port, PUBLIC_URL: isNamed ? PUBLIC_URL : PUBLIC_URL.replace(/:\d+$/, `:${port}`) }
}

/** Listens on a port briefly to find out whether it is free. */
async function tryPort(name: string, port: number, host: string): Promise<{ port: number; refusal: string | null }> {
  const probe = createNetServer()
  try {
    await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(port, host, resolve))
    const { port: boundPort } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    return { port: boundPort, refusal: null }
  } catch (error) {
    return { port, refusal: portRefusal(name, port, error as NodeJS.ErrnoException) }
  }
}

const portRefusal = (name: string, port: number, { code, message }: NodeJS.ErrnoException) =>
  code === 'EADDRINUSE'
    ? `Port ${port} is taken. Stop the program that uses it, or set ${name} to another one.`
    : `Cannot listen on port ${port}: ${message}. Set ${name} and its host to an address this machine has.`

async function listen(server: ReturnType<typeof createServer>, { HOST: host, PORT: port }: Config): Promise<void> {
  await server.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(portRefusal('PORT', port, error), error.code === 'EADDRINUSE' ? 'refused' : 'fatal')
  })
}

/** True if the provider is on this chain. Throws a ChainFault if it does not answer. */
const chainIdMatches = (rpc: Rpc, chainId: number) => () =>
  rpc.request('eth_chainId', []).then((id) => count(id, 'chain id') === chainId)

/** The checks of contract wallets that sign in; null if they may not sign in. */
const walletChecks = ({ SMART_WALLET_LOGIN }: Config, rpc: Rpc) => ({
  verifyContractWallet: SMART_WALLET_LOGIN ? createWalletVerifier(rpc) : null,
  proveContractWallet: SMART_WALLET_LOGIN ? createWalletProver(rpc) : null,
})
