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
  const stop = new AbortController()
  const call = { signal: signal ? AbortSignal.any([stop.signal, signal]) : stop.signal }
  const last: string[] = []
  /** Reports new states. @returns the payments, once all are settled. */
  const take = (payment: Payment | null): Payment[] | null => {
    const all = payment ? choose(payment.payments ?? [payment]).filter((one) => one !== undefined) : []
    for (const [at, one] of (all.length > 0 ? all : [null]).entries()) {
      const state = one?.status ?? 'waiting'
      if (state !== last[at]) onState?.(state, one)
      last[at] = state
    }
    return all.length > 0 && all.every(({ status }) => SETTLED.has(status)) ? all : null
  }
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const claims = async () => {
    for (;;) {
      const { claimed, waitMs } = await claim(ledger, txHash, call)
      const payments = claimed === undefined ? null : take(claimed)
      if (payments) return payments
      const leftMs = deadline - Date.now()
      if (leftMs <= 0) throw timeIsUp(txHash, last[0] ?? 'waiting')
      begin()
      // A rate limit may ask for a wait beyond the deadline. Until then an event can still report the node.
      await sleep(Math.min(Math.max(pollMs, waitMs), leftMs), call.signal)
    }
  }
  // Most payments that are followed again need no stream. If there is none, the claims poll often enough.
  const events = async () => {
    await begun
    for await (const payment of watchPayment(ledger, txHash, { ...call, pollMs: Number.POSITIVE_INFINITY })) {
      const payments = payment && take(payment)
      if (payments) return payments
    }
    return never
  }
  try {
    const payments = await Promise.race([claims(), events().catch(() => never)])
    const only = signal ? { signal } : {}
    return await Promise.all(payments.map(async (payment) => ({ payment, node: await nodeOf(ledger, payment, only) })))
  } finally {
    stop.abort()
  }
}

const never = new Promise<never>(() => undefined)

const nodeOf = async (ledger: LedgerClient, { nodeId }: Payment, call: { signal?: AbortSignal }) =>
  nodeId === null ? null : ledger.getNode(nodeId, call)

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
