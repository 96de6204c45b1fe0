// JSON-RPC over one or several providers: reads go to the first that is well and on to the next when it is not, sends go
// to every one exactly once. It must never retry a send, never take an error for "not there", and never log or throw
// more of a provider's URL than its host.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Log } from '../lib/log.ts'
import { RpcFault } from './faults.ts'
import { metered, type ObserveRpc } from './metered.ts'
import { chunks } from './parallel.ts'
import { createProvider, isLimit, isRevert, type Provider, type RpcCall, type RpcReply } from './provider.ts'
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
/** Calls in one request; geth's own limit is 1,000, hosted providers go down to 100 or less (then ours shrinks). */
const BATCH_MAX = 100
/** Attempts at a read over all providers. One repetition rides out a connection that was closed under us. */
const READ_ATTEMPTS_MIN = 2
const READ_ATTEMPTS_MAX = 4
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
/** How long batches stay small after one was refused: a balancer's bad moment must not cost batching for good. */
const SMALL_BATCHES_MS = 60_000

export type { RpcCall, RpcReply } from './provider.ts'

export interface ReadOptions {
  /** For each attempt. */
  timeoutMs?: number
  /** Fewer attempts than usual; 1 means the first provider only. */
  attempts?: number
  /** A result that another provider may know better (a block that is null) is asked of the next one. */
  accept?: (result: unknown) => boolean
}

/** What one provider made of a send. */
export type SendReply = { host: string } & (RpcReply | { ok: null; fault: RpcFault })

export interface Rpc {
  /** Hosts of the providers, in order; safe to log. */
  readonly hosts: readonly string[]
  /** One read. A JSON-RPC error is an answer; throws RpcFault (retryable) when no provider answered. */
  call(method: string, params: readonly unknown[], options?: ReadOptions): Promise<RpcReply>
  /** One read whose JSON-RPC error is a fault, too. */
  request(method: string, params: readonly unknown[], options?: ReadOptions): Promise<unknown>
  /** Several reads, answered in order by the same provider unless one has to be asked again. */
  batch(calls: readonly RpcCall[], options?: ReadOptions): Promise<RpcReply[]>
  /** A batch whose JSON-RPC errors are faults, too. */
  requestAll(calls: readonly RpcCall[], options?: ReadOptions): Promise<unknown[]>
  /** Has providers whose newest block is much older than another's on the same chain asked last. Never throws. */
  passOverLaggards(): Promise<void>
  /** Has the provider that is asked first asked last for a while. False where no other one is well. */
  passOverFirst(): boolean
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
  const retryPauseMs = options.retryPauseMs ?? RETRY_PAUSE_MS
  const providers = options.urls.map((url) => {
    const dispatcher = options.dispatcherFor?.(url)
    return metered(createProvider({ url, replyBytesMax, ...(dispatcher && { dispatcher }) }), options.observe)
  })
  const usualTimeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const shortTimeoutMs = options.timeoutMs ?? SHORT_TIMEOUT_MS
  const restUntil = new Map<Provider, number>()
  let batchMax = BATCH_MAX
  let smallUntil = 0

  const isRested = (provider: Provider) => (restUntil.get(provider) ?? 0) <= performance.now()

  function inOrder(): Provider[] {
    const rested = providers.filter(isRested)
    return [...rested, ...providers.filter((provider) => !rested.includes(provider))]
  }

  /** The attempts at one read: whom to ask, and how long to wait. */
  function attemptsOf(read: ReadOptions): { provider: Provider; timeoutMs: number }[] {
    const order = inOrder()
    const attempts = Math.min(read.attempts ?? Math.max(READ_ATTEMPTS_MIN, order.length), READ_ATTEMPTS_MAX)
    const timeoutMs = read.timeoutMs ?? usualTimeoutMs
    return Array.from({ length: attempts }, (_, attempt) => ({
      provider: order[attempt % order.length] as Provider,
      timeoutMs: attempt === attempts - 1 ? timeoutMs : Math.min(timeoutMs, shortTimeoutMs),
    }))
  }

  /** Asks provider after provider until one gives an answer worth keeping; else the first answer, else the first fault. */
  async function ask<T>(
    question: (provider: Provider, timeoutMs: number) => Promise<T>,
    read: ReadOptions,
    worth: (answer: T) => boolean,
  ): Promise<T> {
    const answers: T[] = []
    const faults: RpcFault[] = []
    for (const [attempt, { provider, timeoutMs }] of attemptsOf(read).entries()) {
      if (attempt >= providers.length) {
        // An answer that was no fault is not asked for twice.
        if (answers.length > 0) break
        await sleep(retryPauseMs)
      }
      try {
        const answer = await question(provider, timeoutMs)
        if (worth(answer)) return answer
        answers.push(answer)
      } catch (error) {
        faults.push(passOver(provider, error))
      }
    }
    if (answers.length > 0) return answers[0] as T
    throw faults[0] ?? new RpcFault('unreachable', 'no provider answered')
  }

  /** The fault for which another provider is asked; throws what no other provider mends. */
  function passOver(provider: Provider, error: unknown): RpcFault {
    if (!(error instanceof RpcFault) || error.trouble === 'batch' || error.trouble === 'tooLarge') throw error
    restUntil.set(provider, performance.now() + REST_MS)
    options.log.debug({ host: provider.host, kind: error.trouble }, error.message)
    return error
  }

  const worthOf = (read: ReadOptions) => (reply: RpcReply) =>
    reply.ok ? (read.accept?.(reply.result) ?? true) : isFinal(reply)

  async function call(method: string, params: readonly unknown[], read: ReadOptions = {}): Promise<RpcReply> {
    return await ask((provider, ms) => provider.call({ method, params }, ms), read, worthOf(read))
  }

  /** One request's worth of calls, halved for as long as the provider finds it too much. */
  async function piece(calls: readonly RpcCall[], read: ReadOptions): Promise<RpcReply[]> {
    const [only] = calls
    if (calls.length === 1 && only) return [await call(only.method, only.params, read)]
    try {
      const worth = worthOf(read)
      return await ask(
        (provider, ms) => provider.batch(calls, ms),
        read,
        (replies) => replies.every(worth),
      )
    } catch (error) {
      if (!(error instanceof RpcFault) || (error.trouble !== 'batch' && error.trouble !== 'tooLarge')) throw error
      const half = Math.ceil(calls.length / 2)
      if (error.trouble === 'batch') {
        batchMax = Math.max(1, Math.min(batchMax, half))
        smallUntil = performance.now() + SMALL_BATCHES_MS
      }
      return [...(await piece(calls.slice(0, half), read)), ...(await piece(calls.slice(half), read))]
    }
  }

  async function batch(calls: readonly RpcCall[], read: ReadOptions = {}): Promise<RpcReply[]> {
    const replies: RpcReply[] = []
    if (performance.now() > smallUntil) batchMax = BATCH_MAX
    for (const part of chunks(calls, batchMax)) {
      for (const [index, reply] of (await piece(part, read)).entries()) {
        const { method, params } = part[index] as RpcCall
        replies.push(isWorthAsking(reply) && read.attempts !== 1 ? await call(method, params, read) : reply)
      }
    }
    return replies
  }

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
    options.log.warn({ host: first.host }, 'what a provider answers does not fit together: it is asked last')
    restUntil.set(first, performance.now() + DOUBT_REST_MS)
    return true
  }

  return {
    passOverLaggards,
    passOverFirst,
    hosts: providers.map((provider) => provider.host),
    call,
    batch,
    async request(method, params, read) {
      return resultOf(method, await call(method, params, read))
    },
    async requestAll(calls, read) {
      const replies = await batch(calls, read)
      return replies.map((reply, index) => resultOf(calls[index]?.method ?? '', reply))
    },
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

/** The result, or the JSON-RPC error as a fault. */
export function resultOf(method: string, reply: RpcReply): unknown {
  if (reply.ok) return reply.result
  const kind = isLimit(reply.error) ? 'limit' : 'error'
  throw new RpcFault(kind, `${method}: ${reply.error.message} (${reply.error.code})`, reply.error)
}

/** An error that every provider would give: the contract refused, or the question was wrong. */
function isFinal(reply: RpcReply): boolean {
  return !reply.ok && (isRevert(reply.error) || reply.error.code === -32602)
}

/**
 * An error of the batch's making rather than of the call's: within a batch, providers answer single calls with "response
 * too large" or an internal error that the call alone would not have met.
 */
function isWorthAsking(reply: RpcReply): boolean {
  return !reply.ok && !isFinal(reply) && !isLimit(reply.error)
}
