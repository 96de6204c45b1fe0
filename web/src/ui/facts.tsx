// The smallest parts: an amount, a time, an address, a state. Every page shows these facts through them, so that a missing
// reading never looks like zero anywhere.
import { type ReactNode, useSyncExternalStore } from 'react'
import { Link } from 'wouter'
import { dollars, ether, exactTime, relativeTime, short } from '../format.ts'
import { usePrice } from '../ledger.ts'
import { CopyButton } from './copy.tsx'

/** Stands where a reading could not be taken. */
export function Unknown({ why = 'could not be checked' }: { why?: string }) {
  return <span className="unknown">{why}</span>
}

/** So many decimals stand out; the rest is there, smaller. */
const LEADING_DECIMALS = 6

/** Exact ether, and dollars beside it where a price is known. `null`: could not be checked. */
export function Amount({ wei, plain = false }: { wei: bigint | null; plain?: boolean }) {
  const price = usePrice()
  if (wei === null) return <Unknown />
  const usd = plain ? null : dollars(wei, price.data ?? null)
  const exact = ether(wei)
  const point = exact.indexOf('.')
  const leading = point < 0 ? exact : exact.slice(0, point + 1 + LEADING_DECIMALS)
  return (
    <span className="amount">
      <span className="ether">
        {leading}
        <span className="tail">{exact.slice(leading.length)}</span> ETH
      </span>
      {usd && <span className="usd"> ≈&nbsp;{usd}</span>}
    </span>
  )
}

/** Relative, the exact time on hover and for assistive technology. `null`: not yet, or unknown; say which. */
export function Time({ at, none = '–' }: { at: Date | null; none?: string }) {
  const now = useNow()
  if (at === null) return <span className="none">{none}</span>
  return (
    <time dateTime={at.toISOString()} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  )
}

/** An address, short, with the whole of it on hover, a way to copy it, and a link to its page. */
export function Address({ of, link = true }: { of: string | null; link?: boolean }) {
  if (of === null) return <Unknown why="unknown" />
  const shown = (
    <code title={of} className="hex">
      {short(of)}
    </code>
  )
  return (
    <span className="nowrap">
      {link ? <Link href={`/address/${of}`}>{shown}</Link> : shown}
      <CopyButton text={of} what="address" />
    </span>
  )
}

/** A transaction's hash. The service knows no explorer; it can be copied into one. */
export function Hash({ of }: { of: string | null }) {
  if (of === null) return <span className="none">–</span>
  return (
    <span className="nowrap">
      <code title={of} className="hex">
        {short(of)}
      </code>
      <CopyButton text={of} what="transaction hash" />
    </span>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'calm'

/** A state in a word, by colour and by a sign that needs no colour. */
export function Mark({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`mark ${tone}`}>{children}</span>
}

/** One clock for all times on a page. */
let now = Date.now()
const listeners = new Set<() => void>()
let timer: number | undefined
function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= window.setInterval(() => {
    now = Date.now()
    for (const told of listeners) told()
  }, 5_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** Milliseconds since 1970, updated every five seconds. */
const useNow = (): number => useSyncExternalStore(subscribe, () => now)
