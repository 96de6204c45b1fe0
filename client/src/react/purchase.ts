// A purchase as a hook: what is asked, sent and followed, one at a time.
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { FollowedPayment, FollowOptions } from '../follow.ts'
import type { Hex, NodeDetail, Payment, Quote } from '../types.ts'

/** `idle`; `asking`: nothing is sent; then the payment's own states; `failed`: see `error`, and `txHash` for whether something was sent. */
export type PurchaseStep = 'idle' | 'asking' | 'waiting' | Payment['status'] | 'failed'

export interface PurchaseState {
  step: PurchaseStep
  /** Once the transfer is sent. Keep it: the payment can be followed by it. */
  txHash: Hex | null
  payment: Payment | null
  /** The node that was minted. */
  node: NodeDetail | null
  error: Error | null
}

/** What `buy` is to be given, besides what the caller gives it. */
export interface PurchaseHandlers extends Pick<FollowOptions, 'onState' | 'signal'> {
  onQuote: (quote: Quote) => void
  onSent: (txHash: Hex) => void
}

export interface Purchase extends PurchaseState {
  /** Buys, unless a purchase is under way. Call it from a press of the buyer's. */
  start: () => void
  /** Forgets what came of the last one. What was sent goes its way. */
  reset: () => void
}

const IDLE: PurchaseState = { step: 'idle', txHash: null, payment: null, node: null, error: null }

/** Runs one purchase at a time, and keeps what is known of it. */
function createPurchase() {
  let state = IDLE
  let run: ((handlers: PurchaseHandlers) => Promise<FollowedPayment>) | null = null
  let stop: AbortController | null = null
  const listeners = new Set<() => void>()
  const put = (change: Partial<PurchaseState>) => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }
  async function start(): Promise<void> {
    if (stop !== null || run === null) return
    const own = new AbortController()
    stop = own
    const told = (change: Partial<PurchaseState>) => {
      if (!own.signal.aborted) put(change)
    }
    put({ ...IDLE, step: 'asking' })
    try {
      const { payment, node } = await run({
        signal: own.signal,
        onQuote: () => undefined,
        onSent: (txHash) => told({ step: 'waiting', txHash }),
        onState: (step, payment) => told({ step, payment }),
      })
      told({ step: payment.status, payment, node })
    } catch (error) {
      told({ step: 'failed', error: error as Error })
    } finally {
      if (stop === own) stop = null
    }
  }
  return {
    get: () => state,
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    of: (next: typeof run) => {
      run = next
    },
    start: () => void start(),
    reset: () => {
      stop?.abort()
      stop = null
      put(IDLE)
    },
  }
}

/**
 * A purchase: `usePurchase((handlers) => buy(ledger, wallet, tierId, { priceWei, ...handlers }))`, with `buy` of `@node-ledger/client/viem`. Nothing is
 * asked of a wallet before `start` is called.
 */
export function usePurchase(run: (handlers: PurchaseHandlers) => Promise<FollowedPayment>): Purchase {
  const purchase = useMemo(createPurchase, [])
  useEffect(() => purchase.of(run))
  const state = useSyncExternalStore(purchase.subscribe, purchase.get, purchase.get)
  return { ...state, start: purchase.start, reset: purchase.reset }
}
