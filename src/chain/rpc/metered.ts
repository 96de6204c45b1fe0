// Measures the time and the outcome of each request to a provider. It does not change the requests.
import { RpcFault } from '../../ports/faults.ts'
import { isPossible } from './kinds.ts'
import type { Provider, RpcCall, RpcReply } from './provider.ts'

/**
 * What it reports of a request. `method` is `batch` if there are several calls. `outcome` is `ok`, `error` (a JSON-RPC error), `malformed` (no result
 * that the method has), or the kind of the fault. Of answers that contradict each other or the chain, `seconds` is null, because they took none of their own.
 */
export type ObserveRpc = (seen: { host: string; method: string; outcome: string; seconds: number | null }) => void

/** Wraps a provider. Without an observer, it returns the provider unchanged. */
export function metered(provider: Provider, observe?: ObserveRpc): Provider {
  if (!observe) return provider
  const { host } = provider
  const measure = async <T>(method: string, request: () => Promise<T>, outcomeOf: (reply: T) => string): Promise<T> => {
    const startedAt = performance.now()
    let outcome = 'unreachable'
    try {
      const reply = await request()
      outcome = outcomeOf(reply)
      return reply
    } catch (error) {
      if (error instanceof RpcFault) outcome = error.trouble
      throw error
    } finally {
      observe({ host, method, outcome, seconds: (performance.now() - startedAt) / 1000 })
    }
  }
  return {
    host,
    call: (call, ...limits) =>
      measure(
        call.method,
        () => provider.call(call, ...limits),
        (reply) => (reply.ok ? (isMalformed(call, reply) ? 'malformed' : 'ok') : 'error'),
      ),
    batch: (calls, ms) =>
      measure(
        'batch',
        () => provider.batch(calls, ms),
        (replies) => (replies.some((reply, index) => isMalformed(calls[index] as RpcCall, reply)) ? 'malformed' : 'ok'),
      ),
    close: () => provider.close(),
  }
}

const isMalformed = (call: RpcCall, reply: RpcReply) =>
  reply.ok && reply.result != null && !isPossible(call, reply.result)
