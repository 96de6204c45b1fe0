// JSON-RPC over one or several providers. A read goes to the first healthy provider, and to the next one if that fails. A send goes to every provider
// exactly once. It must never retry a send, never take an error for "not there", and never log or throw more of a provider's URL than its host. It
// decides which provider to ask last, and for how long: inOrder (failed, lagging, contradictory), passOverLaggards, doubt. chain/evidence/reader.ts finds
// contradictions; follower/halt.ts (askOthers) and chain/factory/check-deployment.ts find providers on another chain.
import type { Dispatcher } from 'undici'
import type { Log } from '../../lib/log.ts'
import { orNull, RpcFault } from '../../ports/faults.ts'
import { withBatches } from './batches.ts'
import { metered, type ObserveRpc } from './metered.ts'
import { createProvider, type Provider, type RpcReply } from './provider.ts'
import { createReads, type ReadOptions, type Reads, resultOf } from './reads.ts'
import { count, header } from './wire.ts'

/** Long enough for a slow node to send a full block, and short enough for a pass to survive several timeouts. */
const TIMEOUT_MS = 15_000
/**
 * The timeout of a send, and of every attempt at a read except the last. A send may be cut short, because the next run broadcasts the same bytes
 * again. Most answers come immediately, so we do not wait for a slow one while another provider or connection may answer.
 */
const SHORT_TIMEOUT_MS = 4_000
/** The most bytes of an answer. A full block with its transactions has less than 10 MiB; so do logs and small batches. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024
const RETRY_PAUSE_MS = 100
/** For how long a provider that failed stays last in the order. */
const COOLDOWN_MS = 10_000
/** Seconds of block time. If a provider's newest block is older than another's by more than this, we ask that provider last. */
const LAG_SEC_MAX = 30
/** For how long a lagging provider stays last. */
const LAG_COOLDOWN_MS = 60_000
/** For how long a provider with contradictory answers stays last. It is longer than the interval between runs. */
const DOUBT_REST_MS = 300_000
/** The timeout for comparing heads. If a provider has not answered by then, we compare without it. */
const COMPARE_MS = 1_000

export type { RpcCall, RpcReply } from './provider.ts'
export { type ReadOptions, resultOf } from './reads.ts'

/** What one provider answered to a send. */
export type SendReply = { host: string } & (RpcReply | { ok: null; fault: RpcFault })

/** Reads that ask all providers, or only one. */
export interface RpcReads extends Reads {
  /** Moves providers to the end of the order if another provider on the same chain has a much newer block. Never throws. */
  passOverLaggards(): Promise<void>
  /**
   * Moves the first provider to the end of the order for a while. @returns its host; null if no other provider is healthy. `isFalse`: true if its
   * answer is false, so that any other provider is better, even if it is not healthy.
   */
  passOverFirst(options?: { isFalse?: boolean }): string | null
}

/** Reads from one provider only, for facts that must not depend on which provider answers first. */
export interface OneProvider extends RpcReads {
  /** May be logged. */
  readonly host: string
  /** Moves the provider to the end of the order for a while, because its answers are not reliable. */
  distrust(): void
}

export interface Rpc extends RpcReads {
  /** The hosts of the providers, in order. They may be logged. */
  readonly hosts: readonly string[]
  /** A reader of each provider alone, in order. */
  readonly providers: readonly OneProvider[]
  /** Sends the same call to every provider, once each, and returns what each of them answered. Never throws. */
  sendToAll(method: string, params: readonly unknown[]): Promise<SendReply[]>
  close(): Promise<void>
}

/** The answer of each provider; null for a ChainFault. */
export const ofEach = <Provider, T>(
  { providers }: { readonly providers: readonly Provider[] },
  read: (provider: Provider) => Promise<T>,
): Promise<(T | null)[]> => Promise.all(providers.map((provider) => orNull(read(provider))))

/**
 * Asks every provider one question, because one of them may be wrong or leave something out. If none of them answers, asks once more in the usual
 * order. `aside`: options for the questions to single providers. @returns every answer, at least one.
 */
export async function askEach<T>(
  rpc: Rpc,
  ask: (reads: RpcReads, options?: ReadOptions) => Promise<T>,
  aside?: ReadOptions,
): Promise<T[]> {
  const replies = rpc.providers.length === 1 ? [] : await ofEach(rpc, (one) => ask(one, aside))
  const answers: T[] = replies.filter((answer) => answer !== null)
  return answers.length > 0 ? answers : [await ask(rpc)]
}

export interface RpcOptions {
  /** The URLs, the preferred one first. */
  urls: readonly string[]
  log: Log
  /** Milliseconds for every attempt. By default, the last attempt at a read gets more time than the others. */
  timeoutMs?: number
  replyBytesMax?: number
  /** Milliseconds between two attempts at the same provider. */
  retryPauseMs?: number
  /** Makes the requests to a URL. By default, each URL has a connection pool. */
  dispatcherFor?: (url: string) => Dispatcher
  /** Called after each request to a provider. */
  observe?: ObserveRpc
}

/** Splits the value of `RPC_URL`: one URL, or several separated by commas. */
export function splitRpcUrls(text: string): string[] {
  return text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '')
}

/** Creates the client. Throws a TypeError if a URL is not http(s), or if there is none. */
export function createRpc(options: RpcOptions): Rpc {
  if (options.urls.length === 0) throw new TypeError('no RPC URL')
  const replyBytesMax = options.replyBytesMax ?? REPLY_BYTES_MAX
  const providers = options.urls.map((url) => {
    const dispatcher = options.dispatcherFor?.(url)
    const provider = createProvider({ url, replyBytesMax, ...(dispatcher && { dispatcher }) })
    return withBatches(metered(provider, options.observe))
  })
  const shortTimeoutMs = options.timeoutMs ?? SHORT_TIMEOUT_MS
  const cooldowns = new Map<Provider, number>()
  const doubtUntil = new Map<Provider, number>()
  const reading = {
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    shortTimeoutMs,
    retryPauseMs: options.retryPauseMs ?? RETRY_PAUSE_MS,
  }

  const isDoubted = (provider: Provider) => (doubtUntil.get(provider) ?? 0) > performance.now()
  const isHealthy = (provider: Provider) => !isDoubted(provider) && (cooldowns.get(provider) ?? 0) <= performance.now()

  /** Healthy providers first, then those that failed recently, then unreliable ones, the most recently found unreliable at the end. */
  function inOrder(): Provider[] {
    const rank = (of: Provider) => (isDoubted(of) ? 2 + (doubtUntil.get(of) ?? 0) : isHealthy(of) ? 0 : 1)
    return [...providers].sort((a, b) => rank(a) - rank(b))
  }

  /** The fault, if we should ask another provider. If every provider would fail in the same way, throws it. */
  function demote(provider: Provider, error: unknown): RpcFault {
    if (!(error instanceof RpcFault) || error.trouble === 'batch') throw error
    cooldowns.set(provider, performance.now() + COOLDOWN_MS)
    options.log.debug({ host: provider.host, kind: error.trouble }, error.message)
    return error
  }

  function doubt(provider: Provider): void {
    if (!isDoubted(provider))
      options.log.warn({ host: provider.host }, 'a provider gives contradictory answers, so it comes last')
    options.observe?.({ host: provider.host, method: 'several', outcome: 'contradictory', seconds: null })
    doubtUntil.set(provider, performance.now() + DOUBT_REST_MS)
  }

  const through = (order: () => Provider[], usual?: () => ReadOptions) =>
    createReads({ ...reading, order, demote, ...(usual && { usual }) })

  const alone = (provider: Provider): OneProvider => ({
    ...through(
      () => [provider],
      // If a provider failed recently and there are others, it gets one attempt with the short timeout.
      () => (providers.length === 1 || isHealthy(provider) ? {} : { attempts: 1, timeoutMs: shortTimeoutMs }),
    ),
    host: provider.host,
    async passOverLaggards() {},
    passOverFirst: () => null,
    distrust: () => doubt(provider),
  })

  async function passOverLaggards(): Promise<void> {
    if (providers.length === 1) return
    const heads = await Promise.all(providers.map((provider) => headOf(provider, options.timeoutMs ?? COMPARE_MS)))
    for (const [index, head] of heads.entries()) {
      const lags = heads.some(
        (other) => head && other?.chainId === head.chainId && other.time - head.time > LAG_SEC_MAX,
      )
      const provider = providers[index] as Provider
      if (!lags) continue
      if (isHealthy(provider))
        options.log.warn(
          { host: provider.host, block: head?.number },
          'a provider lags behind the others: the service asks it last',
        )
      cooldowns.set(provider, performance.now() + LAG_COOLDOWN_MS)
    }
  }

  function passOverFirst({ isFalse = false } = {}): string | null {
    const [first, second] = isFalse ? inOrder() : inOrder().filter(isHealthy)
    if (!first || !second) return null
    doubt(first)
    return first.host
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

/** The chain id and the newest block of a provider; null if it does not answer. */
async function headOf(
  provider: Provider,
  timeoutMs: number,
): Promise<{ chainId: number; number: number; time: number } | null> {
  try {
    const ask = async (method: string, params: readonly unknown[]) =>
      resultOf(method, await provider.call({ method, params }, timeoutMs))
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
