// Follows a payment from its transfer to its node. Needs no wallet: anyone who has the hash may.
import type { LedgerClient } from './client.ts'
import { LedgerError } from './errors.ts'
import { sleep } from './transport.ts'
import type { Hex, NodeDetail, Payment } from './types.ts'

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
 * Waits until a payment has become a node, or is held. Throws a LedgerError: 400 for a transaction that is no payment;
 * without a status when the time is up.
 */
export async function followPayment(
  ledger: LedgerClient,
  txHash: Hex | string,
  options: FollowOptions = {},
): Promise<FollowedPayment> {
  const { onState, signal, from, pollMs = 4_000, timeoutMs = 600_000 } = options
  const deadline = Date.now() + timeoutMs
  const call = signal ? { signal } : {}
  let last: string | null = null
  for (;;) {
    const claimed = await stateOf(ledger, txHash, call)
    const payment = claimed?.payments?.find((each) => each.from === from) ?? claimed
    const state = payment?.status ?? 'waiting'
    if (state !== last) onState?.(state, payment)
    last = state
    if (payment && SETTLED.has(payment.status)) {
      const node = payment.nodeId === null ? null : await ledger.getNode(payment.nodeId, call)
      return { payment, node }
    }
    if (Date.now() + pollMs > deadline) throw timeIsUp(txHash, state)
    await sleep(pollMs, signal)
  }
}

/** Null while the service's node does not have the transaction in a block. */
async function stateOf(ledger: LedgerClient, txHash: string, call: { signal?: AbortSignal }): Promise<Payment | null> {
  try {
    // The loop is the retry.
    return await ledger.claimPayment(txHash, { ...call, attempts: 1 })
  } catch (error) {
    if (error instanceof LedgerError && error.retryable) return null
    throw error
  }
}

function timeIsUp(txHash: string, state: string): LedgerError {
  const message = `The payment ${txHash} is still "${state}". It goes its way by itself; ask again later with this hash.`
  return new LedgerError(message, { status: null, retryable: true, retryAfter: null })
}
