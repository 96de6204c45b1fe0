// Reads where the service listens, and the origin that wallets see. It must never take the origin from a request: any client can choose its
// Host.
import { isIP } from 'node:net'
import type { SettingOf } from './names.ts'
import type { HttpConfig } from './shape.ts'
import { type Source, shown } from './source.ts'
import { PORTS, parseUrl, readNetworks, readSwitch, readWhole } from './values.ts'

const WILDCARD_HOSTS = ['0.0.0.0', '::']

export function readHttp(source: Source): HttpConfig {
  const host = readHost(source, 'HOST')
  const port = readWhole(source, 'PORT', PORTS, 3000)
  return {
    host,
    port,
    metricsHost: readHost(source, 'METRICS_HOST'),
    metricsPort: readMetricsPort(source),
    metricsPortSet: source.isSet('METRICS_PORT'),
    publicUrl: readPublicUrl(source, host, port),
    publicUrlSet: source.isSet('PUBLIC_URL'),
    trustedProxies: readNetworks(source, 'TRUSTED_PROXIES'),
    smartWalletLogin: readSwitch(source, 'SMART_WALLET_LOGIN', false),
    frameAncestors: readFrameAncestors(source),
  }
}

/** `off` for none. */
function readMetricsPort(source: Source): number | null {
  if (source.get('METRICS_PORT')?.toLowerCase() === 'off') return null
  return readWhole(source, 'METRICS_PORT', { ...PORTS, why: `${PORTS.why}; off serves no metrics` }, 9464)
}

function readHost(source: Source, name: SettingOf<'host'>): string {
  const text = source.get(name)
  if (text === null) return '127.0.0.1'
  if (isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text)) return text
  source.refuse(
    name,
    `is ${shown(text)}: set it to the address to listen on, 127.0.0.1 or 0.0.0.0 for all, without a port`,
  )
  return '127.0.0.1'
}

/** The origin in the sign-in message: never guessed from a request, whose Host any client can choose. */
function readPublicUrl(source: Source, host: string, port: number): string {
  const production = source.environment === 'production'
  const text = source.get('PUBLIC_URL')
  if (text === null) {
    const wildcard = WILDCARD_HOSTS.includes(host)
    if (production && !isLoopback(host)) {
      source.refuse(
        'PUBLIC_URL',
        `is required in production when HOST is ${host}: set it to the https://… that wallets see`,
      )
    }
    const named = wildcard ? '127.0.0.1' : host
    return `http://${isIP(named) === 6 ? `[${named}]` : named}:${port}`
  }
  const url = parseUrl(text, ['http:', 'https:'])
  const mistake = url === null ? 'is no URL' : publicUrlMistake(url, production)
  if (mistake !== null) source.refuse('PUBLIC_URL', `${mistake}: set it to an origin, like https://nodes.example.org`)
  return url?.origin ?? ''
}

function publicUrlMistake(url: URL, production: boolean): string | null {
  if (url.username !== '' || url.password !== '') return 'carries a user or password'
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return 'has a path, query or fragment'
  if (production && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'is http, over which browsers keep no Secure cookie'
  }
  return null
}

/** Each one origin: who may frame a page can have people press what they do not see. */
function readFrameAncestors(source: Source): string[] {
  const texts = (source.get('FRAME_ANCESTORS') ?? '').split(/[\s,]+/).filter((text) => text !== '')
  return texts.map((text) => {
    const url = parseUrl(text, ['https:', 'http:'])
    const mistake = url === null || url.hostname.includes('*') ? 'which is no origin' : ancestorMistake(url)
    if (mistake !== null)
      source.refuse('FRAME_ANCESTORS', `holds ${shown(text)}, ${mistake}: write https://app.safe.global`)
    return url?.origin ?? ''
  })
}

function ancestorMistake({ protocol, hostname, href, origin }: URL): string | null {
  if (href !== `${origin}/`) return 'which has more than an origin'
  return protocol === 'http:' && !isLoopback(hostname) ? 'which anyone on the way can change' : null
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))
}
