// The settings of the service itself, of its embedded parts and of its database. The origin that wallets see never comes from a request, because any
// client can choose its Host.
import { isIP } from 'node:net'
import { type Parse, type SettingGroup, shown } from './setting.ts'
import { networks, oneOf, onOff, PORTS, parseUrl, partsOf, postgresUrl, text, whole } from './values.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** `off` for none. */
const portOrOff: Parse<number | 'off'> = (given, ask) =>
  given.toLowerCase() === 'off' ? 'off' : whole({ ...PORTS, why: `${PORTS.why}; off serves no metrics` })(given, ask)

const host: Parse<string> = (given, ask) =>
  isIP(given) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(given)
    ? given
    : ask.refuse(`is ${shown(given)}: set it to the address to listen on, 127.0.0.1 or 0.0.0.0 for all, without a port`)

const publicOrigin: Parse<string> = (given, ask) => {
  const url = parseUrl(given, ['http:', 'https:'])
  const mistake = url === null ? 'is no URL' : publicUrlMistake(url, ask.production)
  if (mistake === null) return url?.origin ?? null
  return ask.refuse(`${mistake}: set it to an origin, like https://nodes.example.org`)
}

function publicUrlMistake(url: URL, production: boolean): string | null {
  if (url.username !== '' || url.password !== '') return 'carries a user or password'
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return 'has a path, query or fragment'
  if (production && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'is http, over which browsers keep no Secure cookie'
  }
  return null
}

/** Each must be one origin, because a site that frames a page can make people press what they do not see. */
const frameAncestors: Parse<readonly string[]> = (given, ask) =>
  partsOf(given).map((part) => {
    const url = parseUrl(part, ['https:', 'http:'])
    const mistake = url === null || url.hostname.includes('*') ? 'which is no origin' : ancestorMistake(url)
    if (mistake !== null) ask.refuse(`holds ${shown(part)}, ${mistake}: write https://app.safe.global`)
    return url?.origin ?? ''
  })

function ancestorMistake({ protocol, hostname, href, origin }: URL): string | null {
  if (href !== `${origin}/`) return 'which has more than an origin'
  return protocol === 'http:' && !isLoopback(hostname) ? 'which anyone on the way can change' : null
}

export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'))
}

export const SERVICE = {
  title: 'The service',
  text: 'It connects straight to providers, receivers, signers and the source of prices: a proxy that the environment names is not used. If a network lets nothing out but through a proxy, let these hosts through.',
  settings: {
    NODE_ENV: {
      parse: oneOf(['production', 'development', 'test']),
      default: 'development',
      text: '`production`, `development` or `test`. In production nothing embedded runs, secrets must be strong, and `.env` is not read. Set it in the environment: production is refused in `.env`.',
    },
    LOG_LEVEL: {
      parse: oneOf(LOG_LEVELS),
      default: 'info',
      text: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    },
    HOST: { parse: host, default: '127.0.0.1', text: 'Where the service listens. 0.0.0.0 is every interface.' },
    PORT: { parse: whole(PORTS), default: '3000', text: 'And its port; 0 takes any free one.' },
    METRICS_HOST: {
      parse: host,
      default: '127.0.0.1',
      text: 'Where metrics (`GET /metrics`) are served. They have a port of their own, so that they need not be public.',
    },
    METRICS_PORT: { parse: portOrOff, default: '9464', text: 'And their port; `off` serves none.' },
    PUBLIC_URL: {
      parse: publicOrigin,
      default: 'http://127.0.0.1:3000',
      otherwise: '`http://HOST:PORT`',
      example: 'https://nodes.example.org',
      text: 'The origin that wallets see: it stands in the message that people sign to sign in, and its host is what operators’ passkeys are made for. Required in production unless `HOST` is a loopback address.',
    },
    TRUSTED_PROXIES: {
      parse: networks,
      example: '10.0.0.0/8,fd00::/8',
      text: 'Networks (CIDR) or addresses of proxies whose `x-forwarded-for` is believed, with commas between them.',
    },
    SMART_WALLET_LOGIN: {
      parse: onOff,
      default: 'false',
      text: 'Whether contract wallets (ERC-1271, ERC-6492) can sign in, and prove themselves by it where `CONTRACT_WALLETS` is `proven`. Costs a call to the chain for each attempt.',
    },
    FRAME_ANCESTORS: {
      parse: frameAncestors,
      example: 'https://app.safe.global',
      text: "Origins of pages that may show the public pages in a frame, with commas between them. Safe's makes the service a Safe App, with its `/manifest.json`. The console is never framed.",
    },
  },
} satisfies SettingGroup

export const EMBEDDED = {
  title: 'The embedded parts, if any run',
  settings: {
    DATA_DIR: {
      parse: text,
      default: '.node-ledger',
      text: 'Where the embedded database and chain, and generated secrets, are kept. One service at a time.',
    },
    CHAIN_PORT: { parse: whole(PORTS), default: '8545', text: 'Port of the embedded chain, on 127.0.0.1.' },
  },
} satisfies SettingGroup

export const DATABASE = {
  title: 'The database',
  settings: {
    DATABASE_URL: {
      parse: postgresUrl,
      secret: 'url',
      part: 'database',
      otherwise: 'the embedded one; required in production',
      example: 'postgres://user:password@db.example.org:5432/node_ledger',
      required: 'set it to postgres://user:password@host:5432/database',
      text: 'PostgreSQL 15 or later, with the encoding UTF8. What the driver cannot keep to (`channel_binding=require`, `schema`) is refused by name; several hosts take `target_session_attrs`.',
    },
    DATABASE_DIRECT_URL: {
      parse: postgresUrl,
      secret: 'url',
      part: 'database',
      otherwise: '`DATABASE_URL`',
      text: 'The same database past any pooler, for locks and notifications.',
    },
    DATABASE_READ_URL: {
      parse: postgresUrl,
      secret: 'url',
      part: 'database',
      otherwise: '`DATABASE_URL`',
      text: 'A replica for the public reads.',
    },
    DATABASE_PREPARE: {
      parse: onOff,
      default: 'true',
      text: '`false` behind a transaction pooler that knows no prepared statements (PgBouncer before 1.21).',
    },
  },
} satisfies SettingGroup
