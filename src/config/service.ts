// The settings of the service itself, of its embedded parts and of its database. The origin that wallets see must never come from a request, because
// any client can choose its Host.
import { isIP } from 'node:net'
import { type Parse, type SettingGroup, shown } from './setting.ts'
import { networks, oneOf, onOff, PORTS, parseUrl, partsOf, postgresUrl, text, whole } from './values.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** A port, or `off` for none. */
const portOrOff: Parse<number | 'off'> = (input, ask) =>
  input.toLowerCase() === 'off' ? 'off' : whole({ ...PORTS, why: `${PORTS.why}; off serves no metrics` })(input, ask)

const host: Parse<string> = (input, ask) =>
  isIP(input) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(input)
    ? input
    : ask.refuse(`is ${shown(input)}: set it to the address to listen on, 127.0.0.1 or 0.0.0.0 for all, without a port`)

const publicOrigin: Parse<string> = (input, ask) => {
  const url = parseUrl(input, ['http:', 'https:'])
  const mistake = url === null ? 'is not a URL' : publicUrlMistake(url, ask.production)
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

/** Each entry must be a single origin. A site that may show a page in a frame can make people click on what they do not see. */
const frameAncestors: Parse<readonly string[]> = (input, ask) =>
  partsOf(input).map((part) => {
    const url = parseUrl(part, ['https:', 'http:'])
    const mistake = url === null || url.hostname.includes('*') ? 'which is not an origin' : ancestorMistake(url)
    if (mistake !== null) ask.refuse(`contains ${shown(part)}, ${mistake}: write https://app.safe.global`)
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
  text: 'The service connects straight to providers, receivers, signers and the source of prices. It ignores proxy settings in the environment, so a firewall has to let it reach these hosts.',
  settings: {
    NODE_ENV: {
      parse: oneOf(['production', 'development', 'test']),
      default: 'development',
      text: '`production`, `development` or `test`. In production nothing embedded runs, secrets must be strong, and the service does not read `.env`. Set it in the environment; `.env` cannot set `production`.',
    },
    LOG_LEVEL: {
      parse: oneOf(LOG_LEVELS),
      default: 'info',
      text: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    },
    HOST: { parse: host, default: '127.0.0.1', text: 'The address to listen on. 0.0.0.0 means every interface.' },
    PORT: { parse: whole(PORTS), default: '3000', text: 'The port to listen on; 0 takes any free one.' },
    METRICS_PORT: {
      parse: portOrOff,
      default: '9464',
      text: 'The port of the metrics (`GET /metrics`) at `HOST`; `off` serves none. They have their own port because they need not be public.',
    },
    PUBLIC_URL: {
      parse: publicOrigin,
      default: 'http://127.0.0.1:3000',
      otherwise: '`http://HOST:PORT`',
      example: 'https://nodes.example.org',
      text: 'The origin that wallets see. The sign-in message contains it, and operators’ passkeys belong to its host. Required in production unless `HOST` is a loopback address.',
    },
    TRUSTED_PROXIES: {
      parse: networks,
      example: '10.0.0.0/8,fd00::/8',
      text: 'Networks (CIDR) or addresses of proxies whose `x-forwarded-for` the service trusts, separated by commas.',
    },
    SMART_WALLET_LOGIN: {
      parse: onOff,
      default: 'false',
      text: 'Lets contract wallets (ERC-1271, ERC-6492) sign in. If `CONTRACT_WALLETS` is `proven`, signing in also proves them. Each attempt costs a call to the chain.',
    },
    FRAME_ANCESTORS: {
      parse: frameAncestors,
      example: 'https://app.safe.global',
      text: "Origins of pages that may show the public pages in a frame, separated by commas. With Safe's origin the service is a Safe App, and serves `/manifest.json`. No page can frame the console.",
    },
  },
} satisfies SettingGroup

export const EMBEDDED = {
  title: 'The embedded parts, if any run',
  settings: {
    DATA_DIR: {
      parse: text,
      default: '.node-ledger',
      text: 'The folder of the embedded database and chain, and of generated secrets. Only one service at a time may use it.',
    },
    CHAIN_PORT: { parse: whole(PORTS), default: '8545', text: 'The port of the embedded chain, on 127.0.0.1.' },
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
      text: 'PostgreSQL 15 or later, encoding UTF8. The service rejects parameters that its driver cannot honour (`channel_binding=require`, `schema`). With several hosts use `target_session_attrs`.',
    },
    DATABASE_DIRECT_URL: {
      parse: postgresUrl,
      secret: 'url',
      part: 'database',
      otherwise: '`DATABASE_URL`',
      text: 'The same database without a pooler, for locks and notifications.',
    },
    DATABASE_READ_URL: {
      parse: postgresUrl,
      secret: 'url',
      part: 'database',
      otherwise: '`DATABASE_URL`',
      text: 'A replica for public reads.',
    },
  },
} satisfies SettingGroup
