// Finds a request's caller, for the rate limits. This is the socket's address or, behind a trusted proxy, the nearest hop that is not one of our
// proxies. Owns the parsing of addresses, and trusts no other header.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** A caller as the limits count them: an IPv4 address, or the /64 network of an IPv6 address. */
export type Client = string

/**
 * Builds the finder. `trustedProxies` are CIDR networks or single addresses; throws on anything else.
 * @returns a function from the socket's address and the `x-forwarded-for` header to the caller.
 */
export function clientFinder(trustedProxies: readonly string[]): (peer: string, forwardedFor: string) => Client {
  const isTrusted = proxyCheck(trustedProxies)
  return (peer, forwardedFor) => {
    let nearest = plainAddress(peer) ?? '0.0.0.0'
    if (trustedProxies.length === 0 || forwardedFor === '' || !isTrusted(nearest)) return clientOf(nearest)
    const hops = forwardedFor.split(',')
    for (let index = hops.length - 1; index >= 0; index--) {
      const address = plainAddress(hops[index]?.trim() ?? '')
      // Our proxies write only addresses, so the caller invented this entry and everything to its left.
      if (address === null) break
      nearest = address
      // The leftmost entry is the caller, even if it is a trusted address.
      if (index === 0 || !isTrusted(address)) break
    }
    return clientOf(nearest)
  }
}

/** Tests whether a socket's address is that of a trusted proxy. */
export function proxyCheck(trustedProxies: readonly string[]): (peer: string) => boolean {
  const proxies = new BlockList()
  for (const network of trustedProxies) trust(proxies, network)
  return (peer) => {
    const address = plainAddress(peer)
    return address !== null && proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
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

/** An address without port, brackets, zone and IPv4 mapping; null if the text is not an address. */
function plainAddress(text: string): string | null {
  if (isIPv4(text)) return text
  const inBrackets = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1]
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1]
  const address = (inBrackets ?? withPort ?? text).replace(/%.*$/, '')
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return null
  const words = ipv6Words(address)
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff
  if (!isMapped) return address
  const [high = 0, low = 0] = words.slice(6)
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/** The caller at a plain address. An address with a colon is IPv6. */
function clientOf(address: string): Client {
  if (!address.includes(':')) return address
  // A customer gets at least a /64, and can use any address in it.
  return ipv6Words(address)
    .slice(0, 4)
    .map((word) => word.toString(16))
    .join(':')
}

/** The eight words of an address that isIPv6 has accepted. */
function ipv6Words(address: string): number[] {
  const withoutDots = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (quad: string) => {
    const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number)
    return [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(':')
  })
  const [head = '', tail] = withoutDots.split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)))
  if (tail === undefined) return words(head)
  const [before, after] = [words(head), words(tail)]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}
