// Readings as hooks: asked every so often, or live where the service tells changes by itself.
import type { LedgerClient } from '../client.ts'
import { sleep } from '../transport.ts'
import type { CanBuy, Hex, Payment, Quote, Stats, Tier } from '../types.ts'
import { type WatchedWallet, type WatchOptions, watchAddress, watchPayment } from '../watch.ts'
import { type Read, type Reading, useSource } from './source.ts'

export interface EveryOptions {
  /** Between two questions, in milliseconds. */
  everyMs?: number
}

type Call = { signal: AbortSignal }

/** Asks at once, and again every so often. */
function every<T>(ask: (call: Call) => Promise<T>, everyMs: number): Read<T> {
  return async (tell, fail, signal) => {
    while (!signal.aborted) {
      await ask({ signal }).then(tell, fail)
      await sleep(everyMs, signal).catch(() => undefined)
    }
  }
}

/** Tells each state that is watched. A refusal for good ends it. */
function each<T>(watch: (options: Call) => AsyncGenerator<T>): Read<T> {
  return async (tell, fail, signal) => {
    try {
      for await (const state of watch({ signal })) tell(state)
    } catch (error) {
      fail(error as Error)
    }
  }
}

/** Every tier as it is now, those off sale too. Every 30 seconds. */
export function useTiers(ledger: LedgerClient, { everyMs = 30_000 }: EveryOptions = {}): Reading<Tier[]> {
  return useSource(
    every((call) => ledger.getTiers(call), everyMs),
    [ledger, everyMs],
  )
}

/** Totals of the whole ledger. Every 30 seconds. */
export function useStats(ledger: LedgerClient, { everyMs = 30_000 }: EveryOptions = {}): Reading<Stats> {
  return useSource(
    every((call) => ledger.getStats(call), everyMs),
    [ledger, everyMs],
  )
}

/** Price and payment address of a tier (without one: the default tier). Every 10 seconds. */
export function useQuote(
  ledger: LedgerClient,
  tierId?: string,
  { everyMs = 10_000 }: EveryOptions = {},
): Reading<Quote> {
  return useSource(
    every((call) => ledger.getDeployQuote(tierId, call), everyMs),
    [ledger, tierId, everyMs],
  )
}

/** Whether a wallet's payment would become a node by itself; nothing is asked while there is no wallet. Every 5 seconds, past every cache. */
export function useCanBuy(
  ledger: LedgerClient,
  address: Hex | string | undefined,
  tierId?: string,
  { everyMs = 5_000 }: EveryOptions = {},
): Reading<CanBuy> {
  const ask = (wallet: string) => every((call) => ledger.canBuy(wallet, tierId, { ...call, fresh: true }), everyMs)
  return useSource(address === undefined ? null : ask(address), [ledger, address, tierId, everyMs])
}

/** A payment, live: `null` while the ledger does not know it. Nothing is asked without a hash. */
export function usePayment(
  ledger: LedgerClient,
  txHash: Hex | string | undefined,
  { pollMs }: Pick<WatchOptions, 'pollMs'> = {},
): Reading<Payment | null> {
  const watch = (hash: string) => each((call) => watchPayment(ledger, hash, { ...call, ...(pollMs && { pollMs }) }))
  return useSource(txHash === undefined ? null : watch(txHash), [ledger, txHash, pollMs])
}

/** What a wallet has paid and owns, live. Nothing is asked without an address. */
export function useOwner(
  ledger: LedgerClient,
  address: Hex | string | undefined,
  { pollMs }: Pick<WatchOptions, 'pollMs'> = {},
): Reading<WatchedWallet> {
  const watch = (of: string) => each((call) => watchAddress(ledger, of, { ...call, ...(pollMs && { pollMs }) }))
  return useSource(address === undefined ? null : watch(address), [ledger, address, pollMs])
}
