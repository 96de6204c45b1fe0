// Sends batches in the sizes that a provider accepts. If a batch fails and a single call does not, the size is halved, down to single calls. It must
// never take a provider that is down for one that rejects batches.
import { RpcFault } from '../../ports/faults.ts'
import { isLimit, PausedFault, type Provider, type RpcCall, type RpcReply } from './provider.ts'

/** The most calls in one request. geth's own limit is 1,000; hosted providers allow 100, 10, 3 or none. */
export const BATCH_MAX = 100
/** How long a halved size lasts before it doubles again. So a brief failure of a load balancer does not end batching for ever. */
const SMALL_MS = 60_000
/** The timeout of the single call that we make after a batch timed out. */
const TRIAL_MS = 1_000

const isLimited = (reply: RpcReply) => !reply.ok && isLimit(reply.error)

/** How many calls a provider accepts in one request, as far as we know. */
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

/** Wraps a provider so that it takes batches of any length. */
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
      // If the batch got no answer in time, we do not wait that long again.
      const isLate = performance.now() - began > ms / 2
      const answer = await callAfter(error, first, { ms: isLate ? Math.min(ms, TRIAL_MS) : ms, half })
      return [answer, ...(await ask(calls.slice(1), ms, half))]
    }
  }

  /** Sends the first call of a failed batch alone. Throws the batch's fault if the provider is down, or too busy for any call. */
  async function callAfter(fault: RpcFault, first: RpcCall, { ms, half }: { ms: number; half: number }) {
    if (fault.trouble === 'limit' && !(fault instanceof PausedFault)) size.shrinkTo(half)
    const answer = await provider.call(first, ms)
    if (isLimited(answer)) throw fault
    // If the answer was too large, that is due to these calls. So the size for later calls stays as it is.
    if (fault.trouble !== 'tooLarge') size.shrinkTo(half)
    return answer
  }

  /** Repeats, in smaller batches, the calls that the provider rejected because the batch was too large. */
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
