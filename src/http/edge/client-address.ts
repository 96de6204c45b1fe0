// Finds a request's caller, for the rate limits: the socket's address, or, behind a trusted proxy, the nearest hop that is not
// one of ours. Owns the reading of addresses; believes no other header.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Most addresses that are remembered, each with its result. */
const KNOWN_MAX = 1_000
const ZERO = '0'.charCodeAt(0)
const NINE = '9'.charCodeAt(0)
const DOT = '.'.charCodeAt(0)
const NO_WORD = -1

/** A caller as the limits count them: an IPv4 address, or the /64 of an IPv6 one, in two words. */
export interface Client {
  family: 4 | 6
  high: number
  low: number
}

/** A caller as a key. */
export const clientKey = ({ family, high, low }: Client) => `${family} ${high} ${low}`

/**
 * Builds the finder. `trustedProxies` are CIDR networks or single addresses; throws on anything else.
 * @returns a function from the socket's address and the `x-forwarded-for` header to the caller.
 */
export function clientFinder(trustedProxies: readonly string[]): (peer: string, forwardedFor: string) => Client {
  const trusted = new BlockList()
  for (const network of trustedProxies) trust(trusted, network)
  const isTrusted = remembering((address) => trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'))
  const addressOf = remembering((peer) => plainAddress(peer) ?? '0.0.0.0')
  return (peer, forwardedFor) => {
    let nearest = addressOf(peer)
    if (trustedProxies.length === 0 || forwardedFor === '' || !isTrusted(nearest)) return clientOf(nearest)
    // A single proxy writes one hop, which is the caller.
    const only = ipv4Word(forwardedFor)
    if (only !== NO_WORD) return { family: 4, high: 0, low: only }
    const hops = forwardedFor.split(',')
    for (let left = hops.length - 1; left >= 0; left--) {
      const address = plainAddress(hops[left]?.trim() ?? '')
      // An entry that is no address was not written by a proxy of ours: everything left of it is the caller's invention.
      if (address === null) break
      nearest = address
      // The last one is the caller, even if it is a trusted address.
      if (left === 0 || !isTrusted(address)) break
    }
    return clientOf(nearest)
  }
}

/** Tests if a socket's address is that of a trusted proxy. */
export function proxyCheck(trustedProxies: readonly string[]): (peer: string) => boolean {
  const trusted = new BlockList()
  for (const network of trustedProxies) trust(trusted, network)
  return remembering((peer) => {
    const address = plainAddress(peer)
    return address !== null && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  })
}

/** The same few proxies bring all requests, and reading an address, or looking it up, takes longer than all else here. */
function remembering<T>(find: (address: string) => T): (address: string) => T {
  const known = new Map<string, T>()
  return (address) => {
    const before = known.get(address)
    if (before !== undefined) return before
    const found = find(address)
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(address, found)
    return found
  }
}

function trust(list: BlockList, network: string): void {
  const [text = '', bits, ...more] = network.split('/')
  const address = plainAddress(text)
  if (address === null || more.length > 0) throw new RangeError(`not a network: ${network}`)
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (bits === undefined) {
    list.addAddress(address, family)
    return
  }
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 'ipv4' ? 32 : 128))
    throw new RangeError(`not a network: ${network}`)
  list.addSubnet(address, Number(bits), family)
}

/** An address without port, brackets, zone and IPv4 mapping; null when it is none. */
function plainAddress(text: string): string | null {
  if (isIPv4(text)) return text
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1]
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1]
  const address = (bracketed ?? withPort ?? text).replace(/%.*$/, '')
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return null
  const words = ipv6Words(address)
  const mapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff
  if (!mapped) return address
  const [high = 0, low = 0] = words.slice(6)
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/** The caller at a plain address: one with a colon is of IPv6. */
function clientOf(address: string): Client {
  if (!address.includes(':')) return { family: 4, high: 0, low: ipv4Word(address) }
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Words(address)
  // One customer has at least a /64, and can use any address of it.
  return { family: 6, high: ((a << 16) | b) >>> 0, low: ((c << 16) | d) >>> 0 }
}

/** The 32 bits of an IPv4 address, read as isIPv4 reads it; NO_WORD of any other text. Digit by digit: splitting it takes ten times as long. */
function ipv4Word(address: string): number {
  let [word, part, digits, dots] = [0, 0, 0, 0]
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i)
    if (code === DOT) {
      if (digits === 0) return NO_WORD
      word = word * 256 + part
      part = 0
      digits = 0
      dots++
    } else {
      // A zero leads no other digit.
      if (code < ZERO || code > NINE || (digits > 0 && part === 0)) return NO_WORD
      part = part * 10 + code - ZERO
      if (part > 255) return NO_WORD
      digits++
    }
  }
  return dots === 3 && digits > 0 ? word * 256 + part : NO_WORD
}

/** The eight words of an address that isIPv6 has accepted. */
function ipv6Words(address: string): number[] {
  const withoutDots = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (dotted: string) => {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
    return [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(':')
  })
  const [head = '', tail] = withoutDots.split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)))
  if (tail === undefined) return words(head)
  const [before, after] = [words(head), words(tail)]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}
