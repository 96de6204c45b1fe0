// Sends batches in the sizes that a provider accepts. If a batch fails in a way that a single call does not, the size is halved, down to single
// calls. It must never take a provider that is down for one that refuses batches.
import { RpcFault } from '../faults.ts'
import { isLimit, PausedFault, type Provider, type RpcCall, type RpcReply } from './provider.ts'

/** Calls in one request; geth's own limit is 1,000; hosted providers allow 100, 10, 3 or none. */
export const BATCH_MAX = 100
/** How long a halved size lasts before it doubles again, because a load balancer's bad moment must not end batching for good. */
const SMALL_MS = 60_000
/** The timeout of a single call after a batch without an answer in time. */
const TRIAL_MS = 1_000

const isLimited = (reply: RpcReply) => !reply.ok && isLimit(reply.error)

/** How many calls a provider accepts in one request now. */
function batchSize() {
  let size = BATCH_MAX
  let smallUntil = 0
  const set = (next: number) => {
    size = next
    smallUntil = performance.now() + SMALL_MS
  }
  return {
    now() {
      if (size < BATCH_MAX && performance.now() > smallUntil) set(Math.min(BATCH_MAX, size * 2))
      return size
    },
    shrinkTo: (most: number) => set(Math.min(size, most)),
  }
}

/** A provider that takes batches of any length. */
export function withBatches(provider: Provider): Provider {
  const size = batchSize()

  async function ask(calls: readonly RpcCall[], ms: number, most = BATCH_MAX): Promise<RpcReply[]> {
    const replies: RpcReply[] = []
    while (replies.length < calls.length)
      replies.push(...(await piece(calls.slice(replies.length, replies.length + Math.min(most, size.now())), ms)))
    return replies
  }

  async function piece(calls: readonly RpcCall[], ms: number): Promise<RpcReply[]> {
    const [first] = calls
    if (!first || calls.length === 1) return first ? [await provider.call(first, ms)] : []
    const half = Math.ceil(calls.length / 2)
    const began = performance.now()
    try {
      return await withoutLimits(calls, await provider.batch(calls, ms), { ms, half })
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error
      // If it let a batch hang, we do not wait for it twice.
      const isLate = performance.now() - began > ms / 2
      const answer = await callAfter(error, first, { ms: isLate ? Math.min(ms, TRIAL_MS) : ms, half })
      return [answer, ...(await ask(calls.slice(1), ms, half))]
    }
  }

  /** Sends the first call of a batch alone, after the batch's fault. Throws if the provider is down or busy for every call. */
  async function callAfter(fault: RpcFault, first: RpcCall, { ms, half }: { ms: number; half: number }) {
    if (fault.trouble === 'limit' && !(fault instanceof PausedFault)) size.shrinkTo(half)
    const answer = await provider.call(first, ms)
    if (isLimited(answer)) throw fault
    // An answer is too large because of what we asked, not because of how much.
    if (fault.trouble !== 'tooLarge') size.shrinkTo(half)
    return answer
  }

  /** Asks again, in smaller batches, for what a provider refused because a batch had too much in it. */
  async function withoutLimits(
    calls: readonly RpcCall[],
    replies: RpcReply[],
    { ms, half }: { ms: number; half: number },
  ): Promise<RpcReply[]> {
    const at = replies.flatMap((reply, index) => (isLimited(reply) ? [index] : []))
    const [first, ...others] = at.map((index) => calls[index] as RpcCall)
    if (!first) return replies
    size.shrinkTo(half)
    const answer = await provider.call(first, ms)
    const again = isLimited(answer) ? null : [answer, ...(await ask(others, ms, half))]
    return again ? replies.map((reply, index) => again[at.indexOf(index)] ?? reply) : replies
  }

  return { ...provider, batch: (calls, ms) => ask(calls, ms) }
}
