// Parsers of single values. Each turns the text of a setting into a value of its type, or notes the mistake. They must never repeat a URL or a
// secret.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { parseAddress } from '../chain/digest.ts'
import { type Address, type Hash, parseWei, type Wei, ZERO_ADDRESS } from '../domain/units.ts'
import { readDatabaseUrl } from '../lib/database-url.ts'
import { type Parse, shown } from './setting.ts'

/** A day, in seconds: the upper bound of most waits and pauses. */
export const DAY_SEC = 86_400
export const PORTS = { min: 0, max: 65_535, why: '0 takes any free port' }

export interface Bounds {
  readonly min: number
  readonly max: number
  /** The reason for these bounds; it is appended to them in a message. */
  readonly why: string
}

/** Any text. */
export const text: Parse<string> = (input) => input

/** A whole number within bounds. */
export const whole =
  ({ min, max, why }: Bounds): Parse<number> =>
  (input, ask) => {
    const value = /^(0|[1-9][0-9]{0,15})$/.test(input) ? Number(input) : Number.NaN
    if (value >= min && value <= max) return value
    return ask.refuse(`is ${shown(input)}: set it to a whole number from ${min} to ${max} (${why})`)
  }

export const wei: Parse<Wei> = (input, ask) => {
  try {
    return parseWei(input)
  } catch {
    return ask.refuse(`is ${shown(input)}: set it to an amount of wei in decimal digits (0.001 ETH is ${10n ** 15n})`)
  }
}

const ON = ['true', 'on', '1']
const OFF = ['false', 'off', '0']

/** true, on or 1; false, off or 0. */
export const onOff: Parse<boolean> = (input, ask) => {
  const word = input.toLowerCase()
  if (ON.includes(word) || OFF.includes(word)) return ON.includes(word)
  return ask.refuse(`is ${shown(input)}: set it to true or false (or on, off)`)
}

/** One of a few words. */
export const oneOf =
  <const Choice extends string>(choices: readonly Choice[]): Parse<Choice> =>
  (input, ask) =>
    choices.find((candidate) => candidate === input.toLowerCase()) ??
    ask.refuse(`is ${shown(input)}: set it to one of ${choices.join(', ')}`)

/** Text that `form` matches; if it does not, `remedy` explains how to set it. */
export const formed =
  ({ form, remedy }: { form: RegExp; remedy: string }): Parse<string> =>
  (input, ask) =>
    form.test(input) ? input : ask.refuse(`is ${shown(input)}: ${remedy}`)

/** An address that is not the zero address. */
export const account: Parse<Address> = (input, ask) => {
  const value = parseAddress(input)
  if (value === ZERO_ADDRESS) return ask.refuse('is the zero address, which has no owner')
  return (
    value ?? ask.refuse(`is ${shown(input)}: set it to 0x and 40 hex digits; in mixed case the checksum must be right`)
  )
}

export const hash: Parse<Hash> = (input, ask) =>
  /^0x[0-9a-fA-F]{64}$/.test(input)
    ? (input.toLowerCase() as Hash)
    : ask.refuse(`is ${shown(input)}: set it to 0x and 64 hex digits`)

/** The order of the curve: a private key is a number above zero and below this. */
const KEYS_MAX = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** A private key in any form that people write, with or without 0x; null if the text is no key. Callers must never repeat the text. */
export function parsePrivateKey(text: string): `0x${string}` | null {
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(text)) return null
  const key = (text.startsWith('0x') ? text : `0x${text}`).toLowerCase() as `0x${string}`
  return BigInt(key) > 0n && BigInt(key) < KEYS_MAX ? key : null
}

/** A URL with one of these schemes ("http:"); null if the text is no such URL. */
export function parseUrl(text: string, schemes: readonly string[]): URL | null {
  const url = URL.parse(text)
  return url !== null && schemes.includes(url.protocol) && url.hostname !== '' ? url : null
}

export const isHttp = (text: string) => parseUrl(text, ['http:', 'https:']) !== null

/** URLs separated by commas. By default they are of HTTP services; `takes` can accept other kinds, and give another separator. */
export const httpUrls =
  (
    countMax: number,
    { takes, form, separator }: { takes: (text: string) => boolean; form: string; separator: string | RegExp } = {
      takes: isHttp,
      form: 'http://… or https://…',
      separator: ',',
    },
  ): Parse<readonly string[]> =>
  (input, ask) => {
    const urls = partsOf(input, separator)
    const wrong = urls.findIndex((url) => !takes(url))
    if (urls.length > countMax) return ask.refuse(`has ${urls.length} URLs, but at most ${countMax} are allowed`)
    if (wrong < 0 && urls.length > 0) return urls
    const which = urls.length > 1 ? `has an entry (number ${wrong + 1}) that is not a URL` : 'is not a URL'
    return ask.refuse(`${which}: set it to ${form}${countMax > 1 ? ', several separated by commas' : ''}`)
  }

/** The URL of an HTTP service. */
export const httpUrl: Parse<string> = (input, ask) => httpUrls(1)(input, ask)?.[0] ?? null

/** The parts of a list that are not empty, without white space around them. */
export const partsOf = (input: string, separator: string | RegExp = /[\s,]+/): string[] =>
  input
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** A PostgreSQL connection URL that the driver can honour. */
export const postgresUrl: Parse<string> = (input, ask) => {
  const url = readDatabaseUrl(input)
  return 'mistake' in url ? ask.refuse(url.mistake) : input
}

/** Networks of proxies, as CIDR or single addresses. */
export const networks: Parse<readonly string[]> = (input, ask) => {
  const entries = partsOf(input)
  for (const network of entries) {
    const mistake = networkMistake(network)
    if (mistake !== null) ask.refuse(`contains ${shown(network)}, ${mistake}`)
  }
  return entries
}

function networkMistake(network: string): string | null {
  const [ip = '', bits, ...more] = network.split('/')
  if (isIP(ip) === 0 || more.length > 0) return 'which is not a network: write 10.0.0.0/8, 192.0.2.1 or fd00::/8'
  if (bits === undefined) return null
  if (bits === '0') return 'which means everyone, so any caller could choose the address that the limits count'
  try {
    if (!/^[1-9][0-9]{0,2}$/.test(bits)) throw new RangeError('not a prefix length')
    new BlockList().addSubnet(ip, Number(bits), isIPv4(ip) ? 'ipv4' : 'ipv6')
    return null
  } catch {
    return `whose prefix is not between 1 and ${isIPv4(ip) ? 32 : 128}`
  }
}
