// Reads through several providers: asks one after the other until an answer is acceptable. It must never take an error for "not there".
import { setTimeout as sleep } from 'node:timers/promises'
import { chunks } from '../../lib/parallel.ts'
import { RpcFault } from '../../ports/faults.ts'
import { mayPass } from './absence.ts'
import { BATCH_MAX } from './batches.ts'
import { isPossible } from './kinds.ts'
import { isLimit, isRevert, type Provider, type RpcCall, type RpcReply } from './provider.ts'

/** How often we try a read, over all providers: again after a connection that was closed during the request, or where a balancer's nodes lag. */
const READ_ATTEMPTS_MIN = 3
const READ_ATTEMPTS_MAX = 4

export interface ReadOptions {
  timeoutMs?: number
  /** Set to make fewer attempts than usual; with 1 we ask only the first provider. */
  attempts?: number
  /** As in `RpcCall`. */
  isPlausible?: RpcCall['isPlausible']
  /** The most bytes of an answer to a single call; by default the client's limit. A larger answer is a `tooLarge` fault. */
  bytesMax?: number
}

/** Reads that ask all providers, or only one. */
export interface Reads {
  /** The host of the provider that is first in order at present. It may be logged. */
  firstHost(): string
  /** Makes one read. A JSON-RPC error counts as an answer. Throws an RpcFault, which is retryable, if no provider answers. */
  call(method: string, params: readonly unknown[], options?: ReadOptions): Promise<RpcReply>
  /** Makes one read, and throws a JSON-RPC error as a fault. */
  request(method: string, params: readonly unknown[], options?: ReadOptions): Promise<unknown>
  /** Makes several reads; the answers have the same order. All answers are from one provider, except those of calls that we had to repeat. */
  batch(calls: readonly RpcCall[], options?: ReadOptions): Promise<RpcReply[]>
  /** Makes several reads, and throws JSON-RPC errors as faults. */
  requestAll(calls: readonly RpcCall[], options?: ReadOptions): Promise<unknown[]>
}

export interface ReadsOptions {
  /** The providers, best first. */
  order: () => readonly Provider[]
  /** The options of a read if the caller gives none. */
  usual?: () => ReadOptions
  /** Records that a provider failed. Returns the fault if we should ask another provider. Throws it if every provider would fail in the same way. */
  demote: (provider: Provider, error: unknown) => RpcFault
  /** Milliseconds for the last attempt, and for each attempt before it. */
  timeoutMs: number
  shortTimeoutMs: number
  /** Milliseconds between two attempts at the same provider. */
  retryPauseMs: number
}

export function createReads(options: ReadsOptions): Reads {
  async function call(method: string, params: readonly unknown[], read: ReadOptions = {}): Promise<RpcReply> {
    const question = (provider: Provider, ms: number) => provider.call({ method, params }, ms, read.bytesMax)
    return await ask(options, question, read, {
      worth: (reply) => isWorth({ method, isPlausible: read.isPlausible }, reply),
      passes: (reply) => mayLag(method, reply),
    })
  }

  async function batch(calls: readonly RpcCall[], read: ReadOptions = {}): Promise<RpcReply[]> {
    const replies: RpcReply[] = []
    for (const part of chunks(calls, BATCH_MAX)) {
      const question = (provider: Provider, ms: number) => provider.batch(part, ms)
      const worth = (answers: RpcReply[]) => answers.every((reply, index) => isWorth(part[index] as RpcCall, reply))
      const passes = () => false
      for (const [index, reply] of (await ask(options, question, read, { worth, passes })).entries()) {
        const { method, params, isPlausible } = part[index] as RpcCall
        const isFinal = options.order().length === 1 && (reply.ok ? !mayLag(method, reply) : isRevert(reply.error))
        const again = !isWorth({ method, isPlausible }, reply) && !isFinal && !isLimited(reply) && read.attempts !== 1
        replies.push(again ? await call(method, params, { ...read, isPlausible }) : reply)
      }
    }
    return replies
  }

  return {
    firstHost: () => (options.order()[0] as Provider).host,
    call,
    batch,
    async request(method, params, read) {
      return resultOf(method, await call(method, params, read))
    },
    async requestAll(calls, read) {
      const replies = await batch(calls, read)
      return replies.map((reply, index) => resultOf(calls[index]?.method ?? '', reply))
    },
  }
}

/** The attempts at one read: which provider to ask, and with what timeout. */
function attemptsOf(options: ReadsOptions, overrides: ReadOptions): { provider: Provider; timeoutMs: number }[] {
  const order = options.order()
  const read = { ...options.usual?.(), ...overrides }
  const attempts = Math.min(read.attempts ?? Math.max(READ_ATTEMPTS_MIN, order.length), READ_ATTEMPTS_MAX)
  const timeoutMs = read.timeoutMs ?? options.timeoutMs
  return Array.from({ length: attempts }, (_, attempt) => ({
    provider: order[attempt % order.length] as Provider,
    timeoutMs: attempt === attempts - 1 ? timeoutMs : Math.min(timeoutMs, options.shortTimeoutMs),
  }))
}

/**
 * Asks one provider after another until an answer is acceptable. If none is, returns the first answer; if no provider answers, throws the first
 * fault.
 */
async function ask<T>(
  options: ReadsOptions,
  question: (provider: Provider, timeoutMs: number) => Promise<T>,
  read: ReadOptions,
  { worth, passes }: { worth: (answer: T) => boolean; passes: (answer: T) => boolean },
): Promise<T> {
  const answers: T[] = []
  const faults: RpcFault[] = []
  const askedProviders = new Set<Provider>()
  for (const { provider, timeoutMs } of attemptsOf(options, read)) {
    if (askedProviders.has(provider)) {
      // If any provider has answered, we do not ask the same providers again, unless a node behind a balancer may just have lagged. What was too large
      // would be so again.
      if (!answers.every(passes) || faults.some(({ trouble }) => trouble === 'tooLarge')) break
      await sleep(options.retryPauseMs)
    }
    askedProviders.add(provider)
    try {
      const answer = await question(provider, timeoutMs)
      if (worth(answer)) return answer
      answers.push(answer)
    } catch (error) {
      if (error instanceof RpcFault) error.host ??= provider.host
      faults.push(options.demote(provider, error))
    }
  }
  if (answers.length > 0) return answers[0] as T
  throw faults[0] ?? new RpcFault('unreachable', 'no provider answered')
}

/**
 * False if another provider may know better: for every error, and for a result of another kind. In a batch, providers return "response too large" or an
 * internal error even for calls that succeed alone. What one of them calls invalid, such as a block by its hash, another one takes. And a revert is the
 * contract's only if each of them says so.
 */
const isWorth = (call: Pick<RpcCall, 'method' | 'isPlausible'>, reply: RpcReply) =>
  reply.ok && isPossible(call, reply.result)

/** What a node answers about a block that it does not have yet. */
const LAGS = /header not found|(unknown|no such) block|block .{0,80}not found/i

/** True if the node that answered may just lack a new block, or had an internal error, so that the same provider may answer rightly next. */
const mayLag = (method: string, reply: RpcReply): boolean =>
  reply.ok
    ? reply.result === null && method === 'eth_getBlockByNumber'
    : LAGS.test(reply.error.message) || (mayPass(reply.error) && !isLimit(reply.error))

const isLimited = (reply: RpcReply) => !reply.ok && isLimit(reply.error)

/** The result of a reply. Throws a JSON-RPC error as a fault. */
export function resultOf(method: string, reply: RpcReply): unknown {
  if (reply.ok) return reply.result
  const kind = isLimit(reply.error) ? 'limit' : 'error'
  throw new RpcFault(kind, `${method}: ${reply.error.message} (${reply.error.code})`, reply.error)
}
