// The referral code with which this buyer came, from `?ref=CODE` on any page. This browser keeps it until the buyer has paid or removes it.
import { useSyncExternalStore } from 'react'
import { kept } from './kept.ts'

const KEY = 'node-ledger.referral'
const CODE = /^[a-z0-9_-]{1,32}$/

/** Keeps the code in the page's address, if there is one. */
export function keepReferral(): void {
  const code = new URLSearchParams(window.location.search).get('ref')?.toLowerCase()
  if (code && CODE.test(code)) kept.setItem(KEY, code)
}

const listeners = new Set<() => void>()
function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Forgets the code. */
export function removeReferral(): void {
  kept.removeItem(KEY)
  for (const notify of listeners) notify()
}

/** The code; null if there is none. */
export const useReferral = (): string | null => useSyncExternalStore(subscribe, () => kept.getItem(KEY))
