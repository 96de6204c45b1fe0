// What this browser was about to pay, or has paid: written down before the wallet is asked. A reload, a closed tab or a phone that dropped the
// page then leads back to the payment, and a buyer does not pay twice for one node.
import type { Payment } from '@node-ledger/client'
import { useSyncExternalStore } from 'react'
import { kept } from '../../kept.ts'

const KEY = 'node-ledger.intent'
/** Past it, an intent is of no use: the payments of the wallet show what came of it. */
const AGE_MS_MAX = 24 * 3_600_000
/** This load of the page. */
const PAGE = performance.timeOrigin

export interface Intent {
  payer: string
  tierId: string
  priceWei: string
  /** Milliseconds since 1970, when the wallet was asked. */
  at: number
  /** Once the wallet has sent it. */
  txHash: string | null
  /** The wallet's next nonce before it was asked; null if that could not be read, or tells nothing of what it sends. */
  nonce?: number | null
  /** The hashes of its payments that were on record then and are as young. */
  known?: readonly string[]
  /** The page that waits for the wallet's answer; null once there is none to wait for. */
  page?: number | null
  /** What the wallet said in place of a hash. */
  said?: string
}

/** True while this page waits for the wallet's answer. */
export const isAsking = (intent: Intent | null): boolean => intent?.page === PAGE

/** The intent of a wallet that is about to be asked. */
export const intentNow = (
  by: Pick<Intent, 'payer' | 'tierId' | 'priceWei' | 'nonce'>,
  paid: readonly Payment[] = [],
) => {
  const at = Date.now()
  const known = paid.filter((payment) => isPaidSince(payment, at)).map(({ txHash }) => txHash)
  return { ...by, at, known, txHash: null, page: PAGE } satisfies Intent
}

let last: { text: string | null; intent: Intent | null } = { text: null, intent: null }

/** The last intent of this browser; null if there is none, or none that is young enough. */
export function readIntent(): Intent | null {
  const text = kept.getItem(KEY)
  if (text !== last.text) last = { text, intent: parsed(text) }
  return last.intent && Date.now() - last.intent.at < AGE_MS_MAX ? last.intent : null
}

function parsed(text: string | null): Intent | null {
  try {
    return JSON.parse(text ?? 'null') as Intent | null
  } catch {
    return null
  }
}

const listeners = new Set<() => void>()
function subscribe(listener: () => void) {
  listeners.add(listener)
  // What another tab writes.
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

/** The same, kept current. */
export const useIntent = (): Intent | null => useSyncExternalStore(subscribe, readIntent)

/** Writes it down; `null` forgets it. */
export function writeIntent(intent: Intent | null): void {
  if (intent === null) kept.removeItem(KEY)
  else kept.setItem(KEY, JSON.stringify(intent))
  for (const told of listeners) told()
}

/** The payer's clock and the chain's may differ by as much. */
const CLOCKS_MS = 2 * 60_000

/** True for a payment in a block of that moment or later, as this browser's clock has it; milliseconds since 1970. */
export const isPaidSince = ({ paidAt }: Payment, atMs: number): boolean => (paidAt?.getTime() ?? 0) > atMs - CLOCKS_MS

/** What became of an intent whose hash is not known: the first payment of its payer since, of whatever amount. */
export const sentSince = (payments: readonly Payment[] | undefined, { at, known }: Intent): string | undefined =>
  payments?.filter((payment) => isPaidSince(payment, at) && !known?.includes(payment.txHash)).at(-1)?.txHash
