// The smallest parts: an amount, a time, an address, a state. Every page shows facts through them, so that a missing
// reading never looks like zero.
import { type CSSProperties, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { Link } from 'wouter'
import {
  checksummed,
  dollars,
  ether,
  everyTime,
  exactTime,
  fewFigures,
  localTime,
  relativeTime,
  sentenceCase,
  short,
  shortEther,
  untilTime,
  zerosAfter,
} from '../format.ts'
import { usePrice } from '../ledger.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { CopyButton } from './copy.tsx'
import { InExplorer } from './explorer.tsx'

/** Shown if a reading failed. */
export function Unknown({ why = ui.facts.unchecked }: { why?: string }) {
  return <span className="unknown">{why}</span>
}

interface AmountProps {
  wei: bigint | null
  /** Leaves out the dollars. */
  plain?: boolean
  /** Shows every decimal. */
  exact?: boolean
  /** The most figures to show, if that is not as many as usual. */
  figures?: number
  /** Shows at least so many decimals, so that the amounts of a column line up. */
  places?: number | undefined
}

/** Amounts smaller than this are shown in wei, because they would be only zeros in ether. */
const GWEI = 10n ** 9n

/**
 * Ether rounded down to six decimals. A press shows the exact amount. Dollars are beside it if a price is known. `null`
 * means "not checked".
 */
export function Amount({ wei, plain = false, exact = false, figures, places }: AmountProps) {
  const price = usePrice()
  if (wei === null) return <Unknown />
  if (!exact && figures === undefined && wei !== 0n && wei > -GWEI && wei < GWEI)
    return <span className="amount">{fill(ui.facts.wei, { n: wei })}</span>
  const usd = plain ? null : dollars(wei, price.data ?? null)
  return (
    <span className="amount" translate="no">
      <span className="ether">
        <Digits wei={wei} exact={exact} figures={figures} places={places} /> ETH
      </span>
      {usd && <span className="usd"> ≈&nbsp;{usd}</span>}
    </span>
  )
}

/** A price in at most ten figures. A press shows it exactly. */
export const Price = ({ wei }: { wei: bigint }) => <Amount wei={wei} figures={10} />

/** How many characters fit in a line on a phone. */
const LINE_CHARS = 20

interface DigitsProps {
  wei: bigint
  exact: boolean
  figures: number | undefined
  places: number | undefined
}

function Digits({ wei, exact, figures, places }: DigitsProps) {
  const [all, setAll] = useState(false)
  const whole = ether(wei)
  const short = figures === undefined ? shortEther(wei) : fewFigures(whole, figures)
  const zeros = places === undefined || wei === 0n ? undefined : zerosAfter(short, places)
  if (exact || short === whole)
    return (
      <span className={whole.length > LINE_CHARS ? 'digits all' : 'digits'} data-zeros={zeros}>
        {whole}
      </span>
    )
  return (
    <button
      type="button"
      className={all ? 'digits more all' : 'digits more'}
      title={all ? undefined : fill(ui.facts.exactly, { amount: whole })}
      data-zeros={all ? undefined : zeros}
      aria-expanded={all}
      onClick={() => setAll(!all)}
    >
      {all ? whole : short}
    </button>
  )
}

interface TimeProps {
  at: Date | null
  /** The text shown if there is no time. It should show whether the time is yet to come, or unknown. */
  none?: string
  /**
   * True if the time may be in the future. Otherwise a past event is never shown in the future, whatever the clock
   * skew.
   */
  ahead?: boolean
}

/** A relative time. The exact time, in local time and UTC, is shown on hover and to assistive technology. */
export function Time({ at, none = '–', ahead = false }: TimeProps) {
  const now = useNow()
  if (at === null) return <span className="none">{none}</span>
  return (
    <time dateTime={at.toISOString()} title={everyTime(at)}>
      {relativeTime(ahead ? at : new Date(Math.min(at.getTime(), now)), now)}
    </time>
  )
}

/** Day and time to the second, in local time with UTC beside it. */
export function ExactTime({ at }: { at: Date }) {
  const local = localTime(at)
  return (
    <>
      {local && (
        <>
          {local}
          <br />
        </>
      )}
      {exactTime(at)}
    </>
  )
}

/** When a turn is due; if it is late, since when. */
export function Turn({ at }: { at: Date | null }) {
  const now = useNow()
  if (at === null) return <span className="none">–</span>
  return (
    <time dateTime={at.toISOString()} title={everyTime(at)}>
      {turnInWords(at, now)}
    </time>
  )
}

/** "in 3 hours", "any moment", "due 2 minutes ago". */
function turnInWords(at: Date, now: number): string {
  const ahead = relativeTime(at, now)
  return lateInWords(at, now) ?? (ahead === ui.time.now ? ui.time.soon : ahead)
}

/** "due 2 minutes ago", or "any moment"; null unless the turn is late. */
function lateInWords(at: Date, now: number): string | null {
  if (at.getTime() > now) return null
  const ago = relativeTime(at, now)
  return ago === ui.time.now ? ui.time.soon : fill(ui.time.due, { ago })
}

/** The time left until a turn, updated every second. If the turn is late, the time since it was due. */
export function Countdown({ to, isTurn = false }: { to: Date; isTurn?: boolean }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const span = untilTime(to, now)
  return (
    <time dateTime={to.toISOString()} title={everyTime(to)} className="countdown">
      {span === null ? (isTurn && lateInWords(to, now)) || ui.time.now : fill(ui.time.within, { span })}
    </time>
  )
}

/**
 * A shortened address, with the full address on hover, a copy button, and a link to its page here, or else in the
 * explorer.
 */
export function Address({ of, link = true }: { of: string | null; link?: boolean }) {
  if (of === null) return <Unknown why={ui.facts.unknown} />
  const whole = checksummed(of)
  const code = (
    <code title={whole} className="hex" translate="no">
      {short(whole)}
    </code>
  )
  return (
    <span className="nowrap">
      {link ? (
        <Link href={`/address/${of}`}>{code}</Link>
      ) : (
        <InExplorer kind="address" id={whole}>
          {code}
        </InExplorer>
      )}
      <CopyButton text={whole} what={ui.copy.address} />
    </span>
  )
}

/** An address or a hash in full. On a phone it breaks in its middle. */
export const Whole = ({ of }: { of: string }) => (
  <code className="whole" translate="no" style={{ '--half': `${Math.ceil(of.length / 2) + 1}ch` } as CSSProperties}>
    {of}
  </code>
)

/** A transaction's hash, with a link to its page in the explorer. */
export function Hash({ of }: { of: string | null }) {
  return <Digest of={of} what="transaction" />
}

/** Shortened bytes with a copy button. A transaction's hash links to the explorer. */
export function Digest({ of, what }: { of: string | null; what: 'transaction' | 'seed' }) {
  if (of === null) return <span className="none">–</span>
  const code = (
    <code title={of} className="hex" translate="no">
      {short(of)}
    </code>
  )
  return (
    <span className="nowrap">
      {what === 'seed' ? (
        code
      ) : (
        <InExplorer kind="tx" id={of}>
          {code}
        </InExplorer>
      )}
      <CopyButton text={of} what={ui.copy[what]} />
    </span>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'calm'

/** A state as a word, with a colour, and an icon for those who cannot see the colour. */
export function Mark({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`mark ${tone}`}>{typeof children === 'string' ? sentenceCase(children) : children}</span>
}

/** One clock for all times on a page. */
let now = Date.now()
const listeners = new Set<() => void>()
let timer: number | undefined
function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= window.setInterval(() => {
    now = Date.now()
    for (const notify of listeners) notify()
  }, 5_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** Milliseconds since 1970, updated every five seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)
