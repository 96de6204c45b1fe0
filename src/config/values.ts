// Readers of single values: each turns a setting's text into a value of its type. Otherwise it notes the mistake and answers the fallback,
// so that the other settings are still checked. It must never repeat a URL or a secret.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { checksum } from '../chain/digest.ts'
import { type Address, address, type Hash, parseWei, type Wei, ZERO_ADDRESS } from '../domain/units.ts'
import type { SettingOf } from './names.ts'
import { type Source, shown } from './source.ts'

/** A day: few waits or pauses of the service should exceed it. */
export const DAY_SEC = 86_400
/** For settings that are ports. */
export const PORTS = { min: 0, max: 65_535, why: '0 takes any free port' }

export interface Bounds {
  readonly min: number
  readonly max: number
  /** The reason for these bounds; continues the sentence after them. */
  readonly why: string
}

/** A whole number within its bounds. */
export function readWhole<Fallback extends number | null>(
  source: Source,
  name: SettingOf<'port' | 'whole' | 'seconds'>,
  { min, max, why }: Bounds,
  fallback: Fallback,
): number | Fallback {
  const text = source.get(name)
  if (text === null) return fallback
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  source.refuse(name, `is ${shown(text)}: set it to a whole number from ${min} to ${max} (${why})`)
  return fallback
}

/** An amount of wei. */
export function readWei<Fallback extends Wei | null>(source: Source, name: SettingOf<'wei'>, fallback: Fallback) {
  const text = source.get(name)
  if (text === null) return fallback
  try {
    return parseWei(text)
  } catch {
    source.refuse(
      name,
      `is ${shown(text)}: set it to an amount of wei in decimal digits (0.001 ether is ${10n ** 15n})`,
    )
    return fallback
  }
}

const ON = ['true', 'on', '1']
const OFF = ['false', 'off', '0']

/** true, on or 1; false, off or 0. */
export function readSwitch(source: Source, name: SettingOf<'switch'>, fallback: boolean): boolean {
  const text = source.get(name)
  if (text === null) return fallback
  const word = text.toLowerCase()
  if (ON.includes(word)) return true
  if (OFF.includes(word)) return false
  source.refuse(name, `is ${shown(text)}: set it to true or false (or on, off)`)
  return fallback
}

/** One of a few words. */
export function readChoice<Choice extends string>(
  source: Source,
  name: SettingOf<'word'>,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  const text = source.get(name)
  if (text === null) return fallback
  const choice = choices.find((candidate) => candidate === text.toLowerCase())
  if (choice === undefined) source.refuse(name, `is ${shown(text)}: set it to one of ${choices.join(', ')}`)
  return choice ?? fallback
}

/** Text that `form` matches; `remedy` says how to set it otherwise. */
export function readText<Fallback extends string | null>(
  source: Source,
  name: SettingOf<'text'>,
  { form, remedy }: { form: RegExp; remedy: string },
  fallback: Fallback,
): string | Fallback {
  const text = source.get(name)
  if (text === null) return fallback
  if (form.test(text)) return text
  source.refuse(name, `is ${shown(text)}: ${remedy}`)
  return fallback
}

/** An address in any form people write: one case, or mixed case with the right EIP-55 checksum. Null when it is none. */
export function parseAddress(text: string): Address | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const digits = text.slice(2)
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  return mixed && checksum(address(text)) !== text ? null : address(text)
}

/** An address that is not the zero address. */
export function readAddress(source: Source, name: SettingOf<'address'>): Address | null {
  const text = source.get(name)
  if (text === null) return null
  const value = parseAddress(text)
  if (value === null) {
    source.refuse(name, `is ${shown(text)}: set it to 0x and 40 hex digits; in mixed case the checksum must be right`)
  } else if (value === ZERO_ADDRESS) {
    source.refuse(name, 'is the zero address, which has no owner')
    return null
  }
  return value
}

/** A hash, or null where the setting is not set. */
export function readHash(source: Source, name: SettingOf<'hash'>): Hash | null {
  const text = source.get(name)
  if (text === null) return null
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase() as Hash
  source.refuse(name, `is ${shown(text)}: set it to 0x and 64 hex digits`)
  return null
}

/** Order of the curve: a private key is a number below it, and not zero. */
const KEYS_MAX = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** A private key in any form people write, 0x or not; null when it is none. Callers never repeat the text. */
export function parsePrivateKey(text: string): `0x${string}` | null {
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(text)) return null
  const key = (text.startsWith('0x') ? text : `0x${text}`).toLowerCase() as `0x${string}`
  return BigInt(key) > 0n && BigInt(key) < KEYS_MAX ? key : null
}

/** A private key. */
export function readPrivateKey(source: Source, name: 'MINTER_PRIVATE_KEY' | 'DISTRIBUTOR_PRIVATE_KEY') {
  const text = source.get(name)
  const key = text === null ? null : parsePrivateKey(text)
  if (text !== null && key === null) source.refuse(name, 'is no private key: set it to 0x and 64 hex digits')
  return key
}

/** A URL of one of the schemes ("http:"); null when it is none. */
export function parseUrl(text: string, schemes: readonly string[]): URL | null {
  const url = URL.parse(text)
  return url !== null && schemes.includes(url.protocol) && url.hostname !== '' ? url : null
}

export const isHttp = (text: string) => parseUrl(text, ['http:', 'https:']) !== null

/** The URL of an HTTP service; null where none is set. */
export function readHttpUrl(source: Source, name: SettingOf<'url'>): string | null {
  return readHttpUrls(source, name, 1)[0] ?? null
}

/** URLs of HTTP services, separated by commas; or of others that `takes` takes, in its words and with its separator. */
export function readHttpUrls(
  source: Source,
  name: SettingOf<'url'>,
  countMax: number,
  { takes, form, separator }: { takes: (text: string) => boolean; form: string; separator: string | RegExp } = {
    ...{ takes: isHttp, form: 'http://… or https://…', separator: ',' },
  },
): string[] {
  const given = source.get(name)
  if (given === null) return []
  const texts = given
    .split(separator)
    .map((text) => text.trim())
    .filter((text) => text !== '')
  const wrong = texts.findIndex((text) => !takes(text))
  if (texts.length > countMax) source.refuse(name, `names ${texts.length} URLs, ${countMax} are the most`)
  else if (wrong >= 0 || texts.length === 0) {
    const which = texts.length > 1 ? `holds a text (number ${wrong + 1}) that is no URL` : 'is no URL'
    source.refuse(name, `${which}: set it to ${form}${countMax > 1 ? ', several with commas' : ''}`)
  } else return texts
  return []
}

/** Several hosts with commas, no host, and socket paths are all valid, so a general URL parser will not do. */
export const POSTGRES_URL = /^postgres(ql)?:\/\/(?:[^@/?#\s]*@)?[^@/?#\s]*(?:\/[^/?#\s]*)?(?:\?\S*)?$/

/** A PostgreSQL connection URL. */
export function readPostgresUrl(source: Source, name: SettingOf<'url'>): string | null {
  const text = source.get(name)
  if (text === null || POSTGRES_URL.test(text)) return text
  source.refuse(
    name,
    'is no PostgreSQL URL: set it to postgres://user:password@host:5432/database, with special characters of the password percent-encoded',
  )
  return null
}

/** Networks of proxies, as CIDR or single addresses. */
export function readNetworks(source: Source, name: SettingOf<'list'>): string[] {
  const networks = (source.get(name) ?? '').split(/[\s,]+/).filter((text) => text !== '')
  for (const network of networks) {
    const mistake = networkMistake(network)
    if (mistake !== null) source.refuse(name, `holds ${shown(network)}, ${mistake}`)
  }
  return networks
}

function networkMistake(network: string): string | null {
  const [ip = '', bits, ...more] = network.split('/')
  if (isIP(ip) === 0 || more.length > 0) return 'which is no network: write 10.0.0.0/8, 192.0.2.1 or fd00::/8'
  if (bits === undefined) return null
  if (bits === '0') return 'which is everybody: anyone could then choose the address that limits count'
  try {
    if (!/^[1-9][0-9]{0,2}$/.test(bits)) throw new RangeError('not a prefix length')
    new BlockList().addSubnet(ip, Number(bits), isIPv4(ip) ? 'ipv4' : 'ipv6')
    return null
  } catch {
    return `whose prefix is not between 1 and ${isIPv4(ip) ? 32 : 128}`
  }
}
