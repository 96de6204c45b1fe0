// Follows a payment from its transfer to its node. Needs no wallet, only the hash.
import type { LedgerClient } from './client.ts'
import { LedgerError } from './errors.ts'
import { sleep } from './transport.ts'
import type { Hex, NodeDetail, Payment } from './types.ts'
import { watchPayment } from './watch.ts'

export interface FollowOptions {
  /** Called with each new state. `waiting`: the transfer is in no block that the service has seen. */
  onState?: (state: Payment['status'] | 'waiting', payment: Payment | null) => void
  /** Time between two claims, in milliseconds. Default 4,000, because the service allows 20 claims a minute. */
  pollMs?: number
  /** Time limit in milliseconds. Default 600,000. After that the payment still proceeds; follow it again with its hash. */
  timeoutMs?: number
  /** The payer to follow if a contract made several payments in one transaction. Default: the first. */
  from?: Hex
  signal?: AbortSignal
}

export interface FollowedPayment {
  payment: Payment
  /** The node that was minted; `null` if the payment is held, refunded or dismissed: see `payment.reason`. */
  node: NodeDetail | null
}

/** States that only the operator can change. */
const SETTLED = new Set<Payment['status']>(['minted', 'held', 'refunded', 'dismissed'])

/**
 * Waits until a payment has become a node, or is held. Makes the service read the chain immediately, and again every `pollMs`. If a stream can be
 * opened, events report what the ledger does in between. Throws a LedgerError: 400 if the transaction is not a payment; without a status if the time
 * is up.
 */
export async function followPayment(
  ledger: LedgerClient,
  txHash: Hex | string,
  options: FollowOptions = {},
): Promise<FollowedPayment> {
  const { from } = options
  const [payment] = await follow(ledger, txHash, options, (all) => [all.find((each) => each.from === from) ?? all[0]])
  if (!payment)
    throw new LedgerError('The transaction has no payment.', { status: 400, retryable: false, retryAfter: null })
  return payment
}

/** Waits in the same way for all payments that `from` made in one transaction. Returns them in the order of its inner calls. */
export function followPayments(
  ledger: LedgerClient,
  txHash: Hex | string,
  options: FollowOptions & { from: Hex },
): Promise<FollowedPayment[]> {
  return follow(ledger, txHash, options, (all) => all.filter(({ from }) => from === options.from))
}

type Chosen = (all: readonly Payment[]) => (Payment | undefined)[]

async function follow(
  ledger: LedgerClient,
  txHash: Hex | string,
  { onState, signal, pollMs = 4_000, timeoutMs = 600_000 }: FollowOptions,
  choose: Chosen,
): Promise<FollowedPayment[]> {
  const deadline = Date.now() + timeoutMs
  const call = signal ? { signal } : {}
  const stop = new AbortController()
  let changes: Changes | null = null
  const last: string[] = []
  const report = (payments: readonly Payment[]) => {
    for (const [at, payment] of (payments.length > 0 ? payments : [null]).entries()) {
      const state = payment?.status ?? 'waiting'
      if (state !== last[at]) onState?.(state, payment)
      last[at] = state
    }
  }
  let { claimed, waitMs } = await claim(ledger, txHash, call)
  try {
    for (;;) {
      const selection = claimed ? choose(claimed.payments ?? [claimed]).filter((payment) => payment !== undefined) : []
      if (claimed !== undefined) report(selection)
      if (selection.length > 0 && selection.every(({ status }) => SETTLED.has(status)))
        return Promise.all(selection.map(async (payment) => ({ payment, node: await nodeOf(ledger, payment, call) })))
      const leftMs = deadline - Date.now()
      if (leftMs <= 0) throw timeIsUp(txHash, last[0] ?? 'waiting')
      // A rate limit may ask for a wait beyond the deadline. Until then an event can still report the node.
      const pauseMs = Math.min(Math.max(pollMs, waitMs), leftMs)
      changes ??= new Changes(ledger, txHash, either(stop.signal, signal))
      const latest = await changes.next(pauseMs, signal)
      ;({ claimed, waitMs } = latest ? { claimed: latest, waitMs } : await claim(ledger, txHash, call))
    }
  } finally {
    stop.abort()
  }
}

const nodeOf = async (ledger: LedgerClient, { nodeId }: Payment, call: { signal?: AbortSignal }) =>
  nodeId === null ? null : ledger.getNode(nodeId, call)

/** The states of a payment, in the order in which the ledger reaches them. */
class Changes {
  #latest: Payment | null = null
  #wake = () => {}

  constructor(ledger: LedgerClient, txHash: string, signal: AbortSignal) {
    this.#listen(ledger, txHash, signal).catch(() => undefined)
  }

  async #listen(ledger: LedgerClient, txHash: string, signal: AbortSignal): Promise<void> {
    // If there is no stream, the claims poll often enough.
    for await (const payment of watchPayment(ledger, txHash, { signal, pollMs: Number.POSITIVE_INFINITY })) {
      if (payment === null) continue
      this.#latest = payment
      this.#wake()
    }
  }

  /** The next state; null if none came in `ms` milliseconds. */
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
  /** The payment; null while the service's provider has no block with the transaction; `undefined` if the service did not answer. */
  claimed: Payment | null | undefined
  /** Milliseconds to wait before the next claim, if the service asks for a wait. */
  waitMs: number
}

async function claim(ledger: LedgerClient, txHash: string, call: { signal?: AbortSignal }): Promise<Claimed> {
  try {
    // One attempt only, because the loop retries.
    return { claimed: await ledger.claimPayment(txHash, { ...call, attempts: 1 }), waitMs: 0 }
  } catch (error) {
    if (!(error instanceof LedgerError && error.retryable)) throw error
    return { claimed: error.status === 409 ? null : undefined, waitMs: (error.retryAfter ?? 0) * 1000 }
  }
}

function timeIsUp(txHash: string, state: string): LedgerError {
  const message = `The payment ${txHash} is still "${state}". It continues without you. Ask again later with this hash.`
  return new LedgerError(message, { status: null, retryable: true, retryAfter: null })
}
