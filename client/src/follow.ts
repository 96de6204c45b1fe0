// Follows a payment from its transfer to its node. Needs no wallet: anyone who has the hash may.
import type { LedgerClient } from './client.ts'
import { LedgerError } from './errors.ts'
import { sleep } from './transport.ts'
import type { Hex, NodeDetail, Payment } from './types.ts'
import { watchPayment } from './watch.ts'

export interface FollowOptions {
  /** Called with each state that differs from the one before; `waiting`: not in a block that the service has seen. */
  onState?: (state: Payment['status'] | 'waiting', payment: Payment | null) => void
  /** Between two questions, in milliseconds. Default 4,000: claims are limited to 20 a minute. */
  pollMs?: number
  /** Time limit in milliseconds. Default 600,000. The payment proceeds regardless; follow it again with its hash. */
  timeoutMs?: number
  /** The payer to follow, where a contract made several payments in one transaction. Default: the first. */
  from?: Hex
  signal?: AbortSignal
}

export interface FollowedPayment {
  payment: Payment
  /** The node that was minted; `null` when the payment is held, refunded or dismissed: see `payment.reason`. */
  node: NodeDetail | null
}

/** States that no pass changes: what follows is the operator's decision, or nothing. */
const SETTLED = new Set<Payment['status']>(['minted', 'held', 'refunded', 'dismissed'])

/**
 * Waits until a payment has become a node, or is held. It has the service look at the chain, at first and every so often, and hears of what the
 * ledger does meanwhile by events, where a stream can be had. Throws a LedgerError: 400 for a transaction that is no payment; without a status
 * when the time is up.
 */
export async function followPayment(
  ledger: LedgerClient,
  txHash: Hex | string,
  options: FollowOptions = {},
): Promise<FollowedPayment> {
  const { onState, signal, from, pollMs = 4_000, timeoutMs = 600_000 } = options
  const deadline = Date.now() + timeoutMs
  const call = signal ? { signal } : {}
  const stop = new AbortController()
  let changes: Changes | null = null
  let last: string | null = null
  let { claimed, waitMs } = await claim(ledger, txHash, call)
  try {
    for (;;) {
      const payment = claimed?.payments?.find((each) => each.from === from) ?? claimed
      const state = payment?.status ?? 'waiting'
      if (state !== last && claimed !== undefined) {
        onState?.(state, payment ?? null)
        last = state
      }
      if (payment && SETTLED.has(payment.status)) {
        const node = payment.nodeId === null ? null : await ledger.getNode(payment.nodeId, call)
        return { payment, node }
      }
      const pauseMs = Math.max(pollMs, waitMs)
      if (Date.now() + pauseMs > deadline) throw timeIsUp(txHash, last ?? state)
      changes ??= new Changes(ledger, txHash, either(stop.signal, signal))
      const told = await changes.next(pauseMs, signal)
      ;({ claimed, waitMs } = told ? { claimed: told, waitMs } : await claim(ledger, txHash, call))
    }
  } finally {
    stop.abort()
  }
}

/** The states of a payment, as the ledger comes to them. */
class Changes {
  #latest: Payment | null = null
  #wake = () => {}

  constructor(ledger: LedgerClient, txHash: string, signal: AbortSignal) {
    this.#listen(ledger, txHash, signal).catch(() => undefined)
  }

  async #listen(ledger: LedgerClient, txHash: string, signal: AbortSignal): Promise<void> {
    // Without a stream the claims ask often enough.
    for await (const payment of watchPayment(ledger, txHash, { signal, pollMs: Number.POSITIVE_INFINITY })) {
      if (payment === null) continue
      this.#latest = payment
      this.#wake()
    }
  }

  /** The next state; null where none came in that time. */
  async next(ms: number, signal?: AbortSignal): Promise<Payment | null> {
    const over = new AbortController()
    this.#wake = () => over.abort()
    if (this.#latest === null) await sleep(ms, either(over.signal, signal)).catch(() => signal?.throwIfAborted())
    const latest = this.#latest
    this.#latest = null
    return latest
  }
}

const either = (one: AbortSignal, other?: AbortSignal) => (other ? AbortSignal.any([one, other]) : one)

interface Claimed {
  /** Null while the service's node does not have the transaction in a block; `undefined`: the service did not say. */
  claimed: Payment | null | undefined
  /** Milliseconds to wait before the next claim, where the service asks for that. */
  waitMs: number
}

async function claim(ledger: LedgerClient, txHash: string, call: { signal?: AbortSignal }): Promise<Claimed> {
  try {
    // The loop is the retry.
    return { claimed: await ledger.claimPayment(txHash, { ...call, attempts: 1 }), waitMs: 0 }
  } catch (error) {
    if (!(error instanceof LedgerError && error.retryable)) throw error
    return { claimed: error.status === 409 ? null : undefined, waitMs: (error.retryAfter ?? 0) * 1000 }
  }
}

function timeIsUp(txHash: string, state: string): LedgerError {
  const message = `The payment ${txHash} is still "${state}". It goes its way by itself; ask again later with this hash.`
  return new LedgerError(message, { status: null, retryable: true, retryAfter: null })
}
