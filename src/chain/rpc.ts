// JSON-RPC over one or several providers: reads go to the first that is well and on to the next when it is not, sends go
// to every one exactly once. It must never retry a send, never take an error for "not there", and never log or throw
// more of a provider's URL than its host.
import type { Dispatcher } from 'undici'
import type { Log } from '../lib/log.ts'
import { RpcFault } from './faults.ts'
import { metered, type ObserveRpc } from './metered.ts'
import { createProvider, type Provider, type RpcReply } from './provider.ts'
import { batchSize, createReads, type ReadOptions, type Reads, resultOf } from './reads.ts'
import { count, header } from './wire.ts'

/** Long enough for a full block from a slow node, short enough that a pass outlives several. */
const TIMEOUT_MS = 15_000
/**
 * Of every attempt at a read but its last, and of a send, whose bytes the next run hands over again: what is usually answered at
 * once is not waited for when somebody else, or another connection, may answer it.
 */
const SHORT_TIMEOUT_MS = 4_000
/** A full block with its transactions stays below 10 MiB; logs and small batches too. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024
const RETRY_PAUSE_MS = 100
/** How long a provider that failed is asked last. */
const REST_MS = 10_000
/** A provider whose newest block is older than another's by more than this, in seconds of block time, is asked last. */
const LAG_SEC_MAX = 30
/** For so long, unless it is looked at again before. */
const LAG_REST_MS = 60_000
/** One whose answers do not fit together is asked last for so long: longer than from one run to the next. */
const DOUBT_REST_MS = 300_000
/** One that does not say at once where it stands is not compared. */
const COMPARE_MS = 1_000

export type { RpcCall, RpcReply } from './provider.ts'
export { type ReadOptions, resultOf } from './reads.ts'

/** What one provider made of a send. */
export type SendReply = { host: string } & (RpcReply | { ok: null; fault: RpcFault })

/** Reads, through all providers or through one. */
export interface RpcReads extends Reads {
  /** Has providers whose newest block is much older than another's on the same chain asked last. Never throws. */
  passOverLaggards(): Promise<void>
  /** Has the provider that is asked first asked last for a while. False where no other one is well. */
  passOverFirst(): boolean
}

/** Reads through one provider alone: for what must not rest on the word of whichever one answers first. */
export interface OneProvider extends RpcReads {
  /** Safe to log. */
  readonly host: string
  /** Has it asked last for a while: what it answers cannot be relied on. */
  distrust(): void
}

export interface Rpc extends RpcReads {
  /** Hosts of the providers, in order; safe to log. */
  readonly hosts: readonly string[]
  /** The same providers one by one, in order. */
  readonly providers: readonly OneProvider[]
  /** Hands the same call to every provider, once each, and reports on each. Never throws. */
  sendToAll(method: string, params: readonly unknown[]): Promise<SendReply[]>
  close(): Promise<void>
}

export interface RpcOptions {
  /** In order of preference. */
  urls: readonly string[]
  log: Log
  /** For every attempt; unless given, the last one at a read gets more time than the others. */
  timeoutMs?: number
  replyBytesMax?: number
  /** Between two attempts at a read of the same provider, milliseconds. */
  retryPauseMs?: number
  /** What carries requests to a URL; a pool of connections each unless given. */
  dispatcherFor?: (url: string) => Dispatcher
  /** Told of each request to a provider. */
  observe?: ObserveRpc
}

/** Splits what `RPC_URL` may hold: one URL or several, separated by commas. */
export function splitRpcUrls(text: string): string[] {
  return text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '')
}

/** Builds the client. Throws TypeError when a URL is not http(s) or none is given. */
export function createRpc(options: RpcOptions): Rpc {
  if (options.urls.length === 0) throw new TypeError('no RPC URL')
  const replyBytesMax = options.replyBytesMax ?? REPLY_BYTES_MAX
  const providers = options.urls.map((url) => {
    const dispatcher = options.dispatcherFor?.(url)
    return metered(createProvider({ url, replyBytesMax, ...(dispatcher && { dispatcher }) }), options.observe)
  })
  const usualTimeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const shortTimeoutMs = options.timeoutMs ?? SHORT_TIMEOUT_MS
  const restUntil = new Map<Provider, number>()
  const doubtUntil = new Map<Provider, number>()
  const reading = {
    timeoutMs: usualTimeoutMs,
    shortTimeoutMs,
    retryPauseMs: options.retryPauseMs ?? RETRY_PAUSE_MS,
    batches: batchSize(),
  }

  const isDoubted = (provider: Provider) => (doubtUntil.get(provider) ?? 0) > performance.now()
  const isRested = (provider: Provider) => !isDoubted(provider) && (restUntil.get(provider) ?? 0) <= performance.now()

  /** Those that are well, those that failed lately, and last those whose answers cannot be relied on. */
  function inOrder(): Provider[] {
    const rank = (provider: Provider) => (isDoubted(provider) ? 2 : isRested(provider) ? 0 : 1)
    return [...providers].sort((a, b) => rank(a) - rank(b))
  }

  /** The fault for which another provider is asked; throws what no other provider mends. */
  function passOver(provider: Provider, error: unknown): RpcFault {
    if (!(error instanceof RpcFault) || error.trouble === 'batch' || error.trouble === 'tooLarge') throw error
    restUntil.set(provider, performance.now() + REST_MS)
    options.log.debug({ host: provider.host, kind: error.trouble }, error.message)
    return error
  }

  function doubt(provider: Provider): void {
    if (!isDoubted(provider))
      options.log.warn({ host: provider.host }, 'what a provider answers does not fit together: it is asked last')
    doubtUntil.set(provider, performance.now() + DOUBT_REST_MS)
  }

  const through = (order: () => Provider[], usual?: () => ReadOptions) =>
    createReads({ ...reading, order, passOver, ...(usual && { usual }) })

  const alone = (provider: Provider): OneProvider => ({
    ...through(
      () => [provider],
      // One of several that failed lately is not waited for.
      () => (providers.length === 1 || isRested(provider) ? {} : { attempts: 1, timeoutMs: shortTimeoutMs }),
    ),
    host: provider.host,
    async passOverLaggards() {},
    passOverFirst: () => false,
    distrust: () => doubt(provider),
  })

  async function passOverLaggards(): Promise<void> {
    if (providers.length === 1) return
    const heads = await Promise.all(providers.map(headOf))
    for (const [index, head] of heads.entries()) {
      const lags = heads.some(
        (other) => head && other?.chainId === head.chainId && other.time - head.time > LAG_SEC_MAX,
      )
      const provider = providers[index] as Provider
      if (!lags) continue
      if (isRested(provider))
        options.log.warn(
          { host: provider.host, block: head?.number },
          'a provider lags behind the others: it is asked last',
        )
      restUntil.set(provider, performance.now() + LAG_REST_MS)
    }
  }

  function passOverFirst(): boolean {
    const [first, second] = providers.filter(isRested)
    if (!first || !second) return false
    doubt(first)
    return true
  }

  return {
    ...through(inOrder),
    passOverLaggards,
    passOverFirst,
    hosts: providers.map((provider) => provider.host),
    providers: providers.map(alone),
    async sendToAll(method, params) {
      return await Promise.all(
        providers.map(async (provider): Promise<SendReply> => {
          try {
            return { host: provider.host, ...(await provider.call({ method, params }, shortTimeoutMs)) }
          } catch (error) {
            const fault =
              error instanceof RpcFault ? error : new RpcFault('unreachable', `${provider.host}: send failed`)
            return { host: provider.host, ok: null, fault }
          }
        }),
      )
    },
    async close() {
      await Promise.all(providers.map((provider) => provider.close()))
    },
  }
}

/** Where a provider stands, and on which chain; null where it does not say. */
async function headOf(provider: Provider): Promise<{ chainId: number; number: number; time: number } | null> {
  try {
    const ask = async (method: string, params: readonly unknown[]) =>
      resultOf(method, await provider.call({ method, params }, COMPARE_MS))
    const [chainId, latest] = await Promise.all([
      ask('eth_chainId', []),
      ask('eth_getBlockByNumber', ['latest', false]),
    ])
    const { number, time } = header(latest)
    return { chainId: count(chainId, 'chain id'), number, time }
  } catch {
    return null
  }
}
