// What this browser was about to pay, or has paid, stored before the wallet prompts. After a reload, a closed tab or a
// dropped page on a phone it leads back to the payment, so a buyer does not pay twice for one node.
import type { Payment } from '@node-ledger/client'
import { useSyncExternalStore } from 'react'
import { kept } from '../../kept.ts'

const KEY = 'node-ledger.intent'
/** An older intent is of no use, because the wallet's payments show the outcome. */
const AGE_MS_MAX = 24 * 3_600_000
/** This load of the page. */
const PAGE = performance.timeOrigin

export interface Intent {
  payer: string
  tierId: string
  priceWei: string
  /** Milliseconds since 1970, when the wallet prompted. */
  at: number
  /** Set once the wallet has sent. */
  txHash: string | null
  /** The wallet's next nonce before the prompt; null if it could not be read, or does not count what it sends. */
  nonce?: number | null
  /** The hashes of its recent payments that were already on record. */
  known?: readonly string[]
  /** The page that waits for the wallet's answer; null once there is none to wait for. */
  page?: number | null
  /** The wallet's error in place of a hash. */
  said?: string
}

/** True while this page waits for the wallet's answer. */
export const isAsking = (intent: Intent | null): boolean => intent?.page === PAGE

/** The intent of a wallet that is about to prompt. */
export const intentNow = (
  by: Pick<Intent, 'payer' | 'tierId' | 'priceWei' | 'nonce'>,
  paid: readonly Payment[] = [],
) => {
  const at = Date.now()
  const known = paid.filter((payment) => isPaidSince(payment, at)).map(({ txHash }) => txHash)
  return { ...by, at, known, txHash: null, page: PAGE } satisfies Intent
}

let last: { text: string | null; intent: Intent | null } = { text: null, intent: null }

/** The last intent of this browser; null if there is none, or none recent enough. */
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
  // For writes by another tab.
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

/** The same, kept current. */
export const useIntent = (): Intent | null => useSyncExternalStore(subscribe, readIntent)

/** Stores it; `null` deletes it. */
export function writeIntent(intent: Intent | null): void {
  if (intent === null) kept.removeItem(KEY)
  else kept.setItem(KEY, JSON.stringify(intent))
  for (const told of listeners) told()
}

/** Clock skew to expect between the payer's machine and the chain. */
const CLOCKS_MS = 2 * 60_000

/** True if a payment's block is at or after that moment by this browser's clock; milliseconds since 1970. */
export const isPaidSince = ({ paidAt }: Payment, atMs: number): boolean => (paidAt?.getTime() ?? 0) > atMs - CLOCKS_MS

/** The payment of an intent without a hash: the first of its payer since then, whatever the amount. */
export const sentSince = (payments: readonly Payment[] | undefined, { at, known }: Intent): string | undefined =>
  payments?.filter((payment) => isPaidSince(payment, at) && !known?.includes(payment.txHash)).at(-1)?.txHash
