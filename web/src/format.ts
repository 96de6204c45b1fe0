// Formats amounts and times for the browser's locale, with English words like the pages. Ether is always exact; dollars beside it are approximate.
import { getAddress } from 'viem'
import { fill } from './words/message.ts'
import { ui } from './words/ui.ts'

const WEI_PER_ETHER = 10n ** 18n

/**
 * The separator between groups of three digits. Ether has a decimal point in every locale, because wallets expect one.
 * If the locale's own decimal mark is not a point, a narrow space separates groups, so an amount cannot be misread.
 */
const GROUP = (1.5).toLocaleString().includes('.') ? ',' : '\u202f'

/** Exact ether without trailing zeros, grouped in threes before the point: "1,234.000000000000000001". */
export function ether(wei: bigint, decimals = 18): string {
  const unit = decimals === 18 ? WEI_PER_ETHER : 10n ** BigInt(decimals)
  const size = wei < 0n ? -wei : wei
  const whole = (size / unit).toLocaleString('en-US').replaceAll(',', GROUP)
  const rest = (size % unit).toString().padStart(decimals, '0').replace(/0+$/, '')
  return `${wei < 0n ? '−' : ''}${whole}${rest && `.${rest}`}`
}

/** Exact ether without grouping, as fields and wallets accept it. */
export const plainEther = (wei: bigint): string => ether(wei).replaceAll(GROUP, '')

/** Ether as a number, only for drawing and for dollars. Text in ether is exact. */
export const etherAsNumber = (wei: bigint): number => Number(wei) / 1e18

/** A count or a block number. */
export const figure = (number: number | bigint): string => number.toLocaleString()

/** A limit of the contract is 2^32 - 1 if there is none, less what is used of it. No real limit comes near half of that. */
const NO_LIMIT = 2 ** 31

/** A number that may be a limit of the contract. */
export const limitFigure = (number: number | bigint): string => (number >= NO_LIMIT ? 'unlimited' : figure(number))

/** How many decimals we show at most. More are available on demand. */
export const DECIMALS_MAX = 6
/** How many digits we show at most. A line on a phone has no room for more, so we drop decimals. */
const DIGITS_MAX = 14

/**
 * Ether cut to at most six decimals. Not cut if only zeros would be left. Never rounded up, so the wallet really has
 * the amount shown.
 */
export function shortEther(wei: bigint, decimals = 18): string {
  const whole = ether(wei, decimals)
  const point = whole.indexOf('.')
  if (point < 0) return whole
  const short = whole.slice(0, point + 1 + placesOf(whole.slice(0, point))).replace(/\.$/, '')
  return /[1-9]/.test(short) ? short : whole
}

/** How many decimals we show after the digits before the point. */
const placesOf = (digits: string) =>
  Math.max(0, Math.min(DECIMALS_MAX, DIGITS_MAX - digits.replace(/[^0-9]/g, '').length))

/** The zeros that bring an amount to so many decimals, six if not said otherwise: ".000000" after "3", "00" after "3.1234". */
export function zerosAfter(amount: string, most = DECIMALS_MAX): string {
  const [digits = '', decimals] = amount.split('.')
  const zeros = '0'.repeat(Math.max(0, Math.min(most, placesOf(digits)) - (decimals ?? '').length))
  return decimals === undefined && zeros !== '' ? `.${zeros}` : zeros
}

/** How many decimals the longest of these amounts has, as we show them. */
export const placesIn = (amounts: readonly bigint[]): number =>
  Math.max(0, ...amounts.map((wei) => shortEther(wei).split('.')[1]?.length ?? 0))

/** An amount cut to at most so many figures, but never to only zeros. Never rounded up. */
export function fewFigures(amount: string, figures: number): string {
  const [, whole = amount, zeros = ''] = /^([^.]+)\.(0*)/.exec(amount) ?? []
  const places = Math.max(figures - whole.replace(/[^0-9]/g, '').length, whole === '0' ? zeros.length + 2 : 0)
  return amount.slice(0, whole.length + 1 + places).replace(/\.$/, '')
}

/** What a node got, in as few figures as tell it from another credit. */
export const creditInWords = (wei: bigint): string => fewFigures(ether(wei), 7)

const DOLLARS = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' })
const CENTS = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumSignificantDigits: 2 })

const HUGE = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 2,
})
/** Amounts above this are shown in trillions. */
const DOLLARS_MAX = 1e12

/** Dollars at a price per ether; null without a price. An amount below a cent shows its first significant digits. */
export function dollars(wei: bigint, usdPerEther: number | null): string | null {
  if (usdPerEther === null) return null
  const amount = etherAsNumber(wei) * usdPerEther
  if (Math.abs(amount) >= DOLLARS_MAX) return HUGE.format(amount)
  return amount !== 0 && Math.abs(amount) < 0.01 ? CENTS.format(amount) : DOLLARS.format(amount)
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "in 3 hours", "2 minutes ago"; "now" within ten seconds. */
export function relativeTime(time: Date, nowMs: number): string {
  const seconds = Math.round((time.getTime() - nowMs) / 1000)
  if (Math.abs(seconds) < 10) return ui.time.now
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit)
  }
  return RELATIVE.format(seconds, 'second')
}

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })

/** Day and time to the second, in UTC. */
export const exactTime = (time: Date): string => `${EXACT.format(time)} UTC`

/** The browser's time zone; null if it is UTC. */
function ownZone(): string | null {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone === 'UTC' ? null : zone
}

/** Day and time in the browser's own zone; null if that is UTC. */
export function localTime(time: Date): string | null {
  const zone = ownZone()
  if (zone === null) return null
  const here = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', timeZone: zone })
  return here.format(time)
}

/** Day and time to the second, in local time and UTC. */
export const everyTime = (time: Date): string => [localTime(time), exactTime(time)].filter(Boolean).join(' = ')

const MARKS = {
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  minute: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  second: new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }),
}

/** The label of a time below bars, in the browser's zone: the day, or the time of day as fine as a bar. */
export const timeMark = (time: Date, stepMs: number): string =>
  MARKS[stepMs < 60_000 ? 'second' : stepMs < 86_400_000 ? 'minute' : 'day'].format(time)

/** A span of whole seconds in its largest unit, for use after "every": "day", "6 hours". */
export function everySpan(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds % size === 0) ?? ['second', 1]
  const n = seconds / size
  return n === 1 ? unit : `${figure(n)} ${unit}s`
}

/** "0x1234…abcd". */
export const short = (hex: string): string => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex)

/** "1 node", "2 nodes". */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${figure(number)} ${number === 1 ? one : many}`

/** Basis points as a percentage, from ten on without decimals and never rounded up: 13953 is "139%". */
export const percent = (bps: number): string => `${(bps < 1_000 ? bps / 100 : Math.floor(bps / 100)).toLocaleString()}%`

/** Formats a tier's accrual: 15000 is "1.5×". */
export const times = (bps: number): string =>
  `${(bps / 10_000).toLocaleString(undefined, { maximumFractionDigits: 4 })}×`

/** A transaction's hash. */
export const HASH = /^0x[0-9a-fA-F]{64}$/

/** An account's or a contract's address. */
export const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Invisible characters that copied text may contain. */
const UNSEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
const NAMED = /(?:^|:|\/(?:address|tx)\/)(0x(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}))(?=$|[?#/]|@\d+(?:$|\?))/

/**
 * Extracts the hash or the address from `eth:0x…`, CAIP-10, a payment link or an explorer's URL. Returns any other text
 * without its invisible characters.
 */
export function cleanPaste(text: string): string {
  const visible = text.replace(UNSEEN, '').trim()
  return NAMED.exec(visible)?.[1] ?? visible
}

/** A checksummed address (EIP-55), as wallets show it. Returns anything else unchanged. */
export const checksummed = (address: string): string =>
  ADDRESS.test(address) ? getAddress(address.toLowerCase() as `0x${string}`) : address

/** The time left until a moment: "1:02:03" or "2:03"; above two days "3 days"; null once the moment has passed. */
export function untilTime(time: Date, nowMs: number): string | null {
  const seconds = Math.ceil((time.getTime() - nowMs) / 1000)
  if (seconds <= 0) return null
  if (seconds >= 2 * 86_400) return fill(ui.time.days, { n: Math.floor(seconds / 86_400) })
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const two = (part: number) => String(part).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** With a capital at the start. */
export const sentenceCase = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
