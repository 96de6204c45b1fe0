// Whose request it is, for the rate limits: the socket's address, or, behind a trusted proxy, the nearest hop that is not
// one of ours. Owns the reading of addresses; believes no header of anybody else.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** A caller as the limits count him: an IPv4 address, or the /64 of an IPv6 one, in two words. */
export interface Client {
  family: 4 | 6
  high: number
  low: number
}

/**
 * Builds the finder. `trustedProxies` are CIDR networks or single addresses; throws on anything else.
 * @returns a function from the socket's address and the `x-forwarded-for` header to the caller.
 */
export function clientFinder(trustedProxies: readonly string[]): (peer: string, forwardedFor: string) => Client {
  const trusted = new BlockList()
  for (const network of trustedProxies) trust(trusted, network)
  const isTrusted = (address: string) => trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  return (peer, forwardedFor) => {
    let nearest = plainAddress(peer) ?? '0.0.0.0'
    if (trustedProxies.length === 0 || forwardedFor === '' || !isTrusted(nearest)) return clientOf(nearest)
    for (const hop of forwardedFor.split(',').reverse()) {
      const address = plainAddress(hop.trim())
      // What is no address was not written by a proxy of ours: everything left of it is the caller's invention.
      if (address === null) break
      nearest = address
      if (!isTrusted(address)) break
    }
    return clientOf(nearest)
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

function clientOf(address: string): Client {
  if (isIPv4(address)) {
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
    return { family: 4, high: 0, low: ((a << 24) | (b << 16) | (c << 8) | d) >>> 0 }
  }
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Words(address)
  // One customer has at least a /64 to himself, and can use any address of it.
  return { family: 6, high: ((a << 16) | b) >>> 0, low: ((c << 16) | d) >>> 0 }
}

/** The eight words of an address that isIPv6 has accepted. */
function ipv6Words(address: string): number[] {
  const withoutDots = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((word) => word.toString(16)).join(':'),
  )
  const [head = '', tail] = withoutDots.split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)))
  if (tail === undefined) return words(head)
  const [before, after] = [words(head), words(tail)]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}
