// What this browser was about to pay, or has paid, stored before the wallet prompts. It leads back to the payments
// after a reload, a closed tab or a page that a phone dropped. So a buyer does not pay twice for one node.
import type { Payment } from '@node-ledger/client'
import { useSyncExternalStore } from 'react'
import { kept } from '../../kept.ts'

const KEY = 'node-ledger.intent'
/** How long an intent is useful, in milliseconds. After that the wallet's payments show the outcome. */
const AGE_MS_MAX = 24 * 3_600_000
/** Identifies this load of the page. */
const PAGE = performance.timeOrigin

export interface Intent {
  payer: string
  tierId: string
  priceWei: string
  /** How many nodes the buyer wanted, one transfer each. */
  quantity: number
  /** How many of the nodes are paid for. */
  paid: number
  /** How many nodes the last prompt was for: more than one if their transfers go together. */
  asks: number
  /** The hashes of the transactions that were sent, in order. */
  sent: readonly string[]
  /** When the wallet last prompted, in milliseconds since 1970. */
  at: number
  /** True from a prompt until we know whether the wallet has sent. */
  isOpen: boolean
  /**
   * The wallet's next nonce before the prompt. Null if it could not be read, or if it does not count what the wallet
   * sends.
   */
  nonce?: number | null
  /** The hashes of the wallet's recent payments already on record, and of those that it has sent. */
  known?: readonly string[]
  /** The page that is paying; null once it has stopped. */
  page?: number | null
  /**
   * Why the next transfer is missing: the wallet's answer in place of a hash, or what kept the transfer from being
   * sent.
   */
  said?: string
  /** True if the buyer refused the transfer in the wallet. */
  isRefused?: boolean
  /** The hashes in `sent` whose payments are final. */
  over?: readonly string[]
}

/** True while this page waits for the wallet, or is about to ask it for the next transfer. */
export const isPrompting = (intent: Intent | null): boolean => intent?.page === PAGE

/** How many transfers are still to be made. */
export const restOf = ({ quantity, paid }: Intent): number => quantity - paid

/** The intent of a wallet that is about to prompt. */
export function intentNow(
  by: Pick<Intent, 'payer' | 'tierId' | 'priceWei' | 'quantity' | 'paid' | 'asks' | 'sent' | 'nonce'>,
  payments: readonly Payment[] = [],
): Intent {
  // Each prompt has its own time, so that no two prompts look the same.
  const at = Math.max(Date.now(), (readIntent()?.at ?? 0) + 1)
  const recent = payments.filter((payment) => isPaidSince(payment, at)).map(({ txHash }) => txHash)
  return { ...by, at, known: [...recent, ...by.sent], isOpen: true, page: PAGE }
}

/** The intent once the wallet has sent. The page continues if transfers are left. */
export function withSent({ said: _, ...intent }: Intent, txHash: string): Intent {
  const now = { ...intent, paid: intent.paid + intent.asks, sent: [...intent.sent, txHash], isOpen: false }
  return restOf(now) > 0 ? now : { ...now, page: null }
}

/** The intent once we know that the wallet sent nothing more; null if it has sent nothing at all. */
export const withoutLast = (intent: Intent, why: Pick<Intent, 'said' | 'isRefused'> = {}): Intent | null =>
  intent.sent.length === 0 ? null : { ...intent, said: '', isRefused: false, ...why, isOpen: false, page: null }

/**
 * Notes that all payments of a transaction are final. The intent is deleted once all of its payments are final and no
 * transfer is left.
 */
export function noteOver(txHash: string): void {
  const intent = readIntent()
  if (!intent?.sent.includes(txHash) || intent.over?.includes(txHash)) return
  const over = [...(intent.over ?? []), txHash]
  const isWhole = !intent.isOpen && restOf(intent) === 0 && intent.sent.every((hash) => over.includes(hash))
  writeIntent(isWhole ? null : { ...intent, over })
}

let last: { text: string | null; intent: Intent | null } = { text: null, intent: null }

/** The last intent of this browser; null if there is none, or it is too old. */
export function readIntent(): Intent | null {
  const text = kept.getItem(KEY)
  if (text !== last.text) last = { text, intent: parseIntent(text) }
  return last.intent && Date.now() - last.intent.at < AGE_MS_MAX ? last.intent : null
}

function parseIntent(text: string | null): Intent | null {
  try {
    const intent = JSON.parse(text ?? 'null') as Intent | null
    return Array.isArray(intent?.sent) ? intent : null
  } catch {
    return null
  }
}

const listeners = new Set<() => void>()
function subscribe(listener: () => void) {
  listeners.add(listener)
  // Another tab may write the intent.
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

/** The last intent, updated on every change. */
export const useIntent = (): Intent | null => useSyncExternalStore(subscribe, readIntent)

/** Stores the intent; `null` deletes it. */
export function writeIntent(intent: Intent | null): void {
  if (intent === null) kept.removeItem(KEY)
  else kept.setItem(KEY, JSON.stringify(intent))
  for (const notify of listeners) notify()
}

/** Clock skew to expect between the payer's machine and the chain. */
const CLOCKS_MS = 2 * 60_000

/** True if a payment's block is not before a moment of this browser's clock, in milliseconds since 1970. */
export const isPaidSince = ({ paidAt }: Payment, atMs: number): boolean => (paidAt?.getTime() ?? 0) > atMs - CLOCKS_MS

/** The payment of an open intent: its payer's first payment since the prompt, whatever the amount. */
export const sentSince = (
  payments: readonly Payment[] | undefined,
  { at, known: knownHashes }: Intent,
): string | undefined =>
  payments?.filter((payment) => isPaidSince(payment, at) && !knownHashes?.includes(payment.txHash)).at(-1)?.txHash
