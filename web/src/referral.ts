// The referral code that brought this buyer, by `?ref=CODE` of any page. This browser keeps it until it has paid or the buyer removes it.
import { useSyncExternalStore } from 'react'
import { kept } from './kept.ts'

const KEY = 'node-ledger.referral'
const CODE = /^[a-z0-9_-]{1,32}$/

/** Keeps the code of the page's address, if it has one. */
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
  for (const told of listeners) told()
}

/** The code; null without one. */
export const useReferral = (): string | null => useSyncExternalStore(subscribe, () => kept.getItem(KEY))
