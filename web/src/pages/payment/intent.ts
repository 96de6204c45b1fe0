// What this browser was about to pay, or has paid: written down before the wallet is asked. A reload, a closed tab or a phone that dropped the
// page then leads back to the payment, and a buyer does not pay twice for one node.
import type { Payment } from '@node-ledger/client'

const KEY = 'node-ledger.intent'
/** Past it, an intent is of no use: the payments of the wallet show what came of it. */
const AGE_MS_MAX = 24 * 3_600_000

export interface Intent {
  payer: string
  tierId: string
  priceWei: string
  /** Milliseconds since 1970, when the wallet was asked. */
  at: number
  /** Once the wallet has sent it. */
  txHash: string | null
}

/** The last intent of this browser; null if there is none, or none that is young enough. */
export function readIntent(): Intent | null {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Intent | null
    return kept && Date.now() - kept.at < AGE_MS_MAX ? kept : null
  } catch {
    return null
  }
}

/** Writes it down; `null` forgets it. A browser that keeps nothing goes on without. */
export function writeIntent(intent: Intent | null): void {
  try {
    if (intent === null) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify(intent))
  } catch {
    // Private windows, and storage that is full or switched off.
  }
}

/** The payer's clock and the chain's may differ by as much. */
const CLOCKS_MS = 2 * 60_000

/** True for a payment in a block of that moment or later, as this browser's clock has it; milliseconds since 1970. */
export const isPaidSince = ({ paidAt }: Payment, atMs: number): boolean => (paidAt?.getTime() ?? 0) > atMs - CLOCKS_MS

/** What became of an intent whose hash was lost: the first payment of that price since. */
export const sentSince = (payments: readonly Payment[] | undefined, { priceWei, at }: Intent): string | undefined =>
  payments?.filter((payment) => payment.valueWei === BigInt(priceWei) && isPaidSince(payment, at)).at(-1)?.txHash
