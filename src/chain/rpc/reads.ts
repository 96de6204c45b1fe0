// Reads through several providers: tries one after the other until an answer is acceptable. It must never mistake an error for "not there".
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcFault } from '../faults.ts'
import { BATCH_MAX } from './batches.ts'
import { chunks } from './parallel.ts'
import { isLimit, isRevert, type Provider, type RpcCall, type RpcReply } from './provider.ts'

/** Attempts at a read, over all providers. The second covers a connection that was closed during the request. */
const READ_ATTEMPTS_MIN = 2
const READ_ATTEMPTS_MAX = 4

export interface ReadOptions {
  /** For each attempt, milliseconds. */
  timeoutMs?: number
  /** Fewer attempts than usual; 1 means the first provider only. */
  attempts?: number
  /** Returns false for a result that another provider may improve on (a null block); then we ask the next one. */
  accept?: (result: unknown) => boolean
  /** The largest answer to a single call, in bytes; by default the client's limit. A larger one is a `tooLarge` fault. */
  bytesMax?: number
}

/** Reads, through all providers or through one. */
export interface Reads {
  /** The host of the provider that is first in order now; safe to log. */
  firstHost(): string
  /** One read. A JSON-RPC error counts as an answer. Throws RpcFault (retryable) if no provider answered. */
  call(method: string, params: readonly unknown[], options?: ReadOptions): Promise<RpcReply>
  /** One read that also turns a JSON-RPC error into a fault. */
  request(method: string, params: readonly unknown[], options?: ReadOptions): Promise<unknown>
  /** Several reads, answered in order by the same provider, except those that we have to repeat. */
  batch(calls: readonly RpcCall[], options?: ReadOptions): Promise<RpcReply[]>
  /** A batch that also turns JSON-RPC errors into faults. */
  requestAll(calls: readonly RpcCall[], options?: ReadOptions): Promise<unknown[]>
}

export interface ReadsOptions {
  /** The providers, best first. */
  order: () => readonly Provider[]
  /** The defaults of a read's options. */
  usual?: () => ReadOptions
  /** Records that a provider failed. Returns the fault if we should try another one; throws a fault that every provider would give. */
  demote: (provider: Provider, error: unknown) => RpcFault
  /** Timeouts of the last attempt, and of those before it, milliseconds. */
  timeoutMs: number
  shortTimeoutMs: number
  /** The pause between two attempts at the same provider, milliseconds. */
  retryPauseMs: number
}

/** Builds reads; see `Reads`. */
export function createReads(options: ReadsOptions): Reads {
  async function call(method: string, params: readonly unknown[], read: ReadOptions = {}): Promise<RpcReply> {
    const question = (provider: Provider, ms: number) => provider.call({ method, params }, ms, read.bytesMax)
    return await ask(options, question, read, worthOf(read))
  }

  async function batch(calls: readonly RpcCall[], read: ReadOptions = {}): Promise<RpcReply[]> {
    const replies: RpcReply[] = []
    const worth = worthOf(read)
    for (const part of chunks(calls, BATCH_MAX)) {
      const question = (provider: Provider, ms: number) => provider.batch(part, ms)
      const answers = await ask(options, question, read, (given) => given.every(worth))
      for (const [index, reply] of answers.entries()) {
        const { method, params } = part[index] as RpcCall
        replies.push(isWorthAsking(reply) && read.attempts !== 1 ? await call(method, params, read) : reply)
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

/** The attempts at one read: provider and timeout of each. */
function attemptsOf(options: ReadsOptions, given: ReadOptions): { provider: Provider; timeoutMs: number }[] {
  const order = options.order()
  const read = { ...options.usual?.(), ...given }
  const attempts = Math.min(read.attempts ?? Math.max(READ_ATTEMPTS_MIN, order.length), READ_ATTEMPTS_MAX)
  const timeoutMs = read.timeoutMs ?? options.timeoutMs
  return Array.from({ length: attempts }, (_, attempt) => ({
    provider: order[attempt % order.length] as Provider,
    timeoutMs: attempt === attempts - 1 ? timeoutMs : Math.min(timeoutMs, options.shortTimeoutMs),
  }))
}

/** Asks one provider after another until an answer is acceptable; else returns the first answer, else throws the first fault. */
async function ask<T>(
  options: ReadsOptions,
  question: (provider: Provider, timeoutMs: number) => Promise<T>,
  read: ReadOptions,
  worth: (answer: T) => boolean,
): Promise<T> {
  const answers: T[] = []
  const faults: RpcFault[] = []
  const asked = new Set<Provider>()
  for (const { provider, timeoutMs } of attemptsOf(options, read)) {
    if (asked.has(provider)) {
      // We do not repeat a call that some provider answered.
      if (answers.length > 0) break
      await sleep(options.retryPauseMs)
    }
    asked.add(provider)
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

const worthOf = (read: ReadOptions) => (reply: RpcReply) =>
  reply.ok ? (read.accept?.(reply.result) ?? true) : isFinal(reply)

/** The result, or the JSON-RPC error as a fault. */
export function resultOf(method: string, reply: RpcReply): unknown {
  if (reply.ok) return reply.result
  const kind = isLimit(reply.error) ? 'limit' : 'error'
  throw new RpcFault(kind, `${method}: ${reply.error.message} (${reply.error.code})`, reply.error)
}

/** An error that every provider would give: the contract reverted, or the request was invalid. */
function isFinal(reply: RpcReply): boolean {
  return !reply.ok && (isRevert(reply.error) || reply.error.code === -32602)
}

/**
 * An error that may come from the batch rather than the call. In a batch, providers return "response too large" or an internal error for calls that
 * succeed alone.
 */
function isWorthAsking(reply: RpcReply): boolean {
  return !reply.ok && !isFinal(reply) && !isLimit(reply.error)
}
