// Decides to which addresses a webhook may be sent: only public addresses, unless the operator allows others. This way a URL cannot reach anything
// that only this machine can reach. We check the address of the connection, after the look-up. So it is no use if a name resolves differently the
// second time.
import { type LookupAddress, lookup } from 'node:dns'
import { lookup as lookupHost } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** IPv4 ranges without hosts on the public internet (RFC 6890 and the RFCs that it lists). */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/**
 * We reject IPv6 addresses outside the only block with public hosts, and ranges within the block that lead elsewhere or nowhere. Teredo (in 2001::/23)
 * and 6to4 (2002::/16) stay rejected, because both tunnels are out of use. So does NAT64 for local use (64:ff9b:1::/48, RFC 8215): it may lead to
 * private networks, and the address does not show where in it the IPv4 address is.
 */
const PUBLIC_V6 = '2000::/3'
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
/** IPv6 addresses that end in the IPv4 address to which they lead: through NAT64 (RFC 6052), as all do in an IPv6-only network, and mapped ones. */
const ENDS_IN_V4 = ['64:ff9b::/96', '::ffff:0:0/96']

const refused = listOf([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6])
const globalV6 = listOf([PUBLIC_V6])
const endsInV4 = listOf(ENDS_IN_V4)

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [ip = '', bits] = network.split('/')
    list.addSubnet(ip, Number(bits), isIP(ip) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** True if an IP address is a host on the public internet. */
export function isPublicAddress(ip: string): boolean {
  switch (isIP(ip)) {
    case 4:
      return !refused.check(ip, 'ipv4')
    case 6:
      if (endsInV4.check(ip, 'ipv6')) return isPublicAddress(lastFourBytes(ip))
      return globalV6.check(ip, 'ipv6') && !refused.check(ip, 'ipv6')
    default:
      return false
  }
}

/** The end of an IPv6 address as an IPv4 address. */
function lastFourBytes(ip: string): string {
  const groups = new URL(`http://[${ip}]`).hostname.slice(1, -1).split(':').slice(-2)
  const numbers = groups.map((group) => Number.parseInt(group || '0', 16))
  return numbers.flatMap((number) => [number >> 8, number & 255]).join('.')
}

/** A target that this instance's settings do not allow. */
export class TargetError extends Error {
  override readonly name = 'TargetError'

  constructor(host: string, why = 'is at a private address') {
    super(`${host} ${why}: not sent (WEBHOOK_ALLOW_PRIVATE=true allows it)`)
  }
}

/** Throws a TargetError if the host is itself a private address. Names are checked when they are looked up. */
export function assertNoPrivateLiteral(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new TargetError(host)
}

/** True if a URL leads only to the public internet. Throws the look-up's error if its host has no address. */
export async function isPublicTarget(url: URL): Promise<boolean> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return isPublicAddress(host)
  return (await lookupHost(host, { all: true })).every(({ address }) => isPublicAddress(address))
}

/** Looks names up as node:dns does, but fails for a name with any private address, so the connection is never made. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? []
    if (error || !first) return callback(error ?? new TargetError(hostname), [])
    if (addresses.some(({ address }) => !isPublicAddress(address))) return callback(new TargetError(hostname), [])
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
