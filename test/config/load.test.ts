import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, describeConfig, type GeneratedSecrets, loadConfig } from '../../src/config/load.ts'
import { SECRET_SETTINGS, SETTINGS } from '../../src/config/names.ts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const LOWER = ADDRESS.toLowerCase()
const CODE_HASH = `0x${'c0'.repeat(32)}`
const KEY_A = `0x${'8f3c21d5e6b7a904'.repeat(4)}`
const KEY_B = `0x${'1d5e6b7a9048f3c2'.repeat(4)}`
const SECRET_A = 'f1d3e5a7c9b8064215738a9c0bde4f62'
const SECRET_B = '5738a9c0bde4f62f1d3e5a7c9b806421'
const SECRET_C = 'c0bde4f62f1d3e5a7c9b8064215738a9'
const GENERATED: GeneratedSecrets = { SESSION_SECRET: SECRET_A, ADMIN_KEY: SECRET_B, CRON_KEY: SECRET_C }

/** The minimum that production starts with. */
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://ledger:pa55@db.internal:5432/ledger',
  RPC_URL: 'https://rpc.example.org/v1/apikey-1234',
  CHAIN_ID: '1',
  FACTORY_ADDRESS: ADDRESS,
  FACTORY_CODE_HASH: CODE_HASH,
  FORMER_FACTORIES: 'none',
  START_BLOCK: '19000000',
  SESSION_SECRET: SECRET_A,
}
/** The same chain and database from a development machine. */
const EXTERNAL = { RPC_URL: 'http://127.0.0.1:9999', FACTORY_ADDRESS: ADDRESS, DATABASE_URL: 'postgres://localhost/x' }
const NAMED = {
  ...{ DIST_ENABLED: 'true', CREDIT_MIN_WEI: '1', CREDIT_MAX_WEI: '2' },
  ...{ CREDIT_INTERVAL_SEC: '86400', CREDIT_SLOT_SEC: '3600' },
}

type Env = Record<string, string>
type Files = Record<string, string>

function load(env: Env, files: Files = {}, secrets?: GeneratedSecrets) {
  const readFile = (path: string) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return text
  }
  return loadConfig(env, secrets ? { readFile, secrets } : { readFile })
}

function mistakes(env: Env, files: Files = {}): ConfigError {
  try {
    load(env, files)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  assert.fail(`accepted: ${JSON.stringify(env)}`)
}

/** Asserts that the loader rejects exactly these settings, and the first one in these words. */
function refused(env: Env, settings: string | string[], words: RegExp, files: Files = {}): void {
  const { problems } = mistakes(env, files)
  assert.deepEqual(
    problems.map(({ setting }) => setting),
    [settings].flat(),
    problems.map(({ message }) => message).join('\n'),
  )
  assert.match(problems[0]?.message ?? '', words)
}

describe('with nothing set', () => {
  test('both parts are embedded, with values that show something within a minute', () => {
    const config = load({})
    assert.deepEqual(config.embedded, { database: true, chain: true })
    assert.equal(config.production, false)
    assert.deepEqual(
      Object.entries(config).flatMap(([name, value]) => (/^[A-Z]/.test(name) && value !== null ? [[name, value]] : [])),
      Object.entries({
        NODE_ENV: 'development',
        LOG_LEVEL: 'info',
        ...{ HOST: '127.0.0.1', PORT: 3000, METRICS_PORT: 9464 },
        PUBLIC_URL: 'http://127.0.0.1:3000',
        SMART_WALLET_LOGIN: false,
        ...{ DATA_DIR: '.node-ledger', CHAIN_PORT: 8545 },
        ...{ TRUST_PROVIDER: false, FINALITY: 'guarded' },
        ...{ PRICE_GRACE_SEC: 900, HOLDING_RETRY_SEC: 3600, CONTRACT_WALLETS: 'hold' },
        ...{ DIST_ENABLED: true, DIST_MODE: 'treasury' },
        ...{ CREDIT_MIN_WEI: 500_000_000_000_000n, CREDIT_MAX_WEI: 1_500_000_000_000_000n },
        ...{ CREDIT_INTERVAL_SEC: 60, CREDIT_SLOT_SEC: 10 },
        ...{ SCHEDULER: true, TICK_SEC: 3 },
        WEBHOOK_ALLOW_PRIVATE: false,
      }),
    )
    assert.deepEqual(config.namedSettings, [])
    assert.deepEqual(config.namedTerms, {
      ...{ payouts: true, minWei: 500_000_000_000_000n, maxWei: 1_500_000_000_000_000n },
      ...{ intervalSec: 60, slotSec: 10 },
    })
    assert.equal(config.price, null)
  })

  test('secrets are the generated ones, or null when none were generated', () => {
    const secrets = load({}, {}, GENERATED)
    assert.equal(secrets.SESSION_SECRET, SECRET_A)
    assert.deepEqual(secrets.ADMIN_KEY, [{ label: 'admin', key: SECRET_B }])
    assert.equal(secrets.CRON_KEY, SECRET_C)
    const without = load({})
    assert.deepEqual([without.SESSION_SECRET, without.ADMIN_KEY, without.CRON_KEY], [null, null, null])
  })

  test('a setting wins over a generated value', () => {
    const secrets = load({ CRON_KEY: 'my-cron-key', ADMIN_KEY: 'me:my-admin-key' }, {}, GENERATED)
    assert.equal(secrets.CRON_KEY, 'my-cron-key')
    assert.deepEqual(secrets.ADMIN_KEY, [{ label: 'me', key: 'my-admin-key' }])
  })
})

test('each missing URL is embedded by itself', () => {
  assert.deepEqual(load({ DATABASE_URL: 'postgres://localhost/x' }).embedded, { database: false, chain: true })
  assert.deepEqual(load({ RPC_URL: 'http://127.0.0.1:9999', FACTORY_ADDRESS: LOWER }).embedded, {
    database: true,
    chain: false,
  })
})

test('a chain that is not embedded has the careful defaults', () => {
  const { namedTerms, TICK_SEC, staleAfterSec, SCHEDULER, START_BLOCK, CHAIN_ID } = load(EXTERNAL)
  assert.deepEqual([namedTerms, TICK_SEC, staleAfterSec, SCHEDULER], [null, 60, 300, false])
  assert.deepEqual([START_BLOCK, CHAIN_ID], [0, null])
})

test('production embeds and generates nothing, and every setting arrives in its place', () => {
  const config = load(
    {
      ...PRODUCTION,
      HOST: '0.0.0.0',
      PORT: '8080',
      METRICS_PORT: '9000',
      PUBLIC_URL: 'https://nodes.example.org/',
      TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1 fd00::/8',
      SMART_WALLET_LOGIN: 'on',
      FRAME_ANCESTORS: 'https://app.safe.global, https://safe.example:8443/',
      DATA_DIR: '/var/lib/x',
      DATABASE_DIRECT_URL: 'postgresql://direct/ledger',
      DATABASE_READ_URL: 'postgres://replica/ledger?sslmode=require',
      RPC_URL: 'https://one.example.org, https://two.example.org/key',
      PUBLIC_RPC_URL: 'https://public.example.org',
      FINALITY: '12',
      FEE_CAP_WEI: '40000000000',
      TIP_MAX_WEI: '100000000',
      PAYMENT_ADDRESS: '0xFB6916095CA1DF60BB79CE92CE3EA74C37C5D359',
      ...{ QUOTE_TIER: 'basic', PRICE_GRACE_SEC: '120', HOLDING_RETRY_SEC: '0' },
      CONTRACT_WALLETS: 'Proven',
      DIST_ENABLED: 'true',
      DIST_MODE: 'swaps',
      CREDIT_MIN_WEI: '1',
      CREDIT_MAX_WEI: '200000000000000000',
      CREDIT_INTERVAL_SEC: '7200',
      CREDIT_SLOT_SEC: '600',
      TICK_SEC: '30',
      SCHEDULER: '1',
      MINTER_PRIVATE_KEY: KEY_A.slice(2).toUpperCase(),
      DISTRIBUTOR_PRIVATE_KEY: KEY_B,
      SESSION_SECRET_PREVIOUS: SECRET_B,
      ADMIN_KEY: `anna:${SECRET_B}x,bert.k:${SECRET_C}y,${SECRET_A}z`,
      CRON_KEY: SECRET_C,
      PRICE_URL: 'https://price.example.org/?key=abc',
      PRICE_FIELD: 'result.price.0',
      LOG_LEVEL: 'warn',
      WEBHOOK_URL: 'https://hooks.example.org/x',
      ...{ WEBHOOK_SECRET: `whsec_${'c2Vj'.repeat(8)}`, WEBHOOK_EVENTS: 'payment.held' },
    },
    {},
    GENERATED,
  )
  assert.deepEqual(config, {
    ...load(PRODUCTION),
    namedSettings: config.namedSettings,
    HOST: '0.0.0.0',
    PORT: 8080,
    METRICS_PORT: 9000,
    PUBLIC_URL: 'https://nodes.example.org',
    TRUSTED_PROXIES: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
    SMART_WALLET_LOGIN: true,
    FRAME_ANCESTORS: ['https://app.safe.global', 'https://safe.example:8443'],
    DATA_DIR: '/var/lib/x',
    DATABASE_URL: PRODUCTION.DATABASE_URL,
    DATABASE_DIRECT_URL: 'postgresql://direct/ledger',
    DATABASE_READ_URL: 'postgres://replica/ledger?sslmode=require',
    RPC_URL: ['https://one.example.org', 'https://two.example.org/key'],
    PUBLIC_RPC_URL: 'https://public.example.org',
    CHAIN_ID: 1,
    FACTORY_ADDRESS: LOWER,
    FACTORY_CODE_HASH: CODE_HASH,
    FORMER_FACTORIES: [],
    START_BLOCK: 19_000_000,
    FINALITY: 12,
    FEE_CAP_WEI: 40_000_000_000n,
    TIP_MAX_WEI: 100_000_000n,
    PAYMENT_ADDRESS: '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359',
    ...{ QUOTE_TIER: 'basic', PRICE_GRACE_SEC: 120, HOLDING_RETRY_SEC: 0, CONTRACT_WALLETS: 'proven' },
    firstSaleTerms: { priceGraceSec: 120, holdingRetrySec: 0 },
    DIST_MODE: 'swaps',
    ...{ DIST_ENABLED: true, CREDIT_MIN_WEI: 1n, CREDIT_MAX_WEI: 200_000_000_000_000_000n },
    ...{ CREDIT_INTERVAL_SEC: 7200, CREDIT_SLOT_SEC: 600 },
    namedTerms: {
      ...{ payouts: true, minWei: 1n, maxWei: 200_000_000_000_000_000n },
      ...{ intervalSec: 7200, slotSec: 600 },
    },
    ...{ TICK_SEC: 30, SCHEDULER: true },
    ...{ MINTER_PRIVATE_KEY: KEY_A, DISTRIBUTOR_PRIVATE_KEY: KEY_B },
    ...{ SESSION_SECRET: SECRET_A, SESSION_SECRET_PREVIOUS: SECRET_B, CRON_KEY: SECRET_C },
    ADMIN_KEY: [
      { label: 'anna', key: `${SECRET_B}x` },
      { label: 'bert.k', key: `${SECRET_C}y` },
      { label: 'admin', key: `${SECRET_A}z` },
    ],
    ...{ PRICE_URL: 'https://price.example.org/?key=abc', PRICE_FIELD: 'result.price.0', LOG_LEVEL: 'warn' },
    WEBHOOK_URL: ['https://hooks.example.org/x'],
    ...{ WEBHOOK_SECRET: [`whsec_${'c2Vj'.repeat(8)}`], WEBHOOK_EVENTS: [['payment.held']] },
    keys: {
      minter: { kind: 'privateKey', privateKey: KEY_A },
      distributor: { kind: 'privateKey', privateKey: KEY_B },
    },
    webhooks: {
      urls: ['https://hooks.example.org/x'],
      secrets: [`whsec_${'c2Vj'.repeat(8)}`],
      ...{ allowPrivate: false, events: [['payment.held']] },
    },
    price: { url: 'https://price.example.org/?key=abc', field: 'result.price.0' },
  })
  assert.deepEqual([config.production, config.embedded, config.hints], [true, { database: false, chain: false }, []])
})

test('in production a missing setting stays unset, even if a value was generated', () => {
  const secrets = load(PRODUCTION, {}, GENERATED)
  assert.deepEqual([secrets.ADMIN_KEY, secrets.CRON_KEY], [null, null])
})

test('the configuration cannot be changed, not even deep inside', () => {
  const config = load({}, {}, GENERATED)
  assert.throws(() => Object.assign(config, { PORT: 1 }), TypeError)
  assert.throws(() => Object.assign(config.ADMIN_KEY?.[0] ?? {}, { key: 'x' }), TypeError)
})

describe('refused in production', () => {
  const parts = ['DATABASE_URL', 'RPC_URL', 'CHAIN_ID', 'FACTORY_ADDRESS', 'START_BLOCK', 'SESSION_SECRET'] as const
  for (const part of parts) {
    test(`${part} missing, or empty`, () => {
      const { [part]: _, ...rest } = PRODUCTION
      refused(rest, part, /required in production/)
      refused({ ...PRODUCTION, [part]: ' ' }, part, /required in production/)
    })
  }

  test('all problems are reported together', () => {
    const { problems } = mistakes({ NODE_ENV: 'production' })
    assert.deepEqual(
      problems.map(({ setting }) => setting),
      [...parts],
    )
  })

  const weak: [string, string, RegExp][] = [
    ['one character over and over', 'a'.repeat(64), /repeats/],
    ['a short block over and over', 'f1d3e5a7c9b8'.repeat(4), /repeats/],
    ['few different characters', '01101001011010010110100101101001100', /repeats/],
    ['a sequence', '0123456789abcdefghijklmnopqrstuvwxyz', /well-known/],
    ['a placeholder', 'please-change-me-to-something-random', /well-known/],
    ['a development value', 'dev-secret-7f31ba9d0c44e2a58b16f3d9', /well-known/],
    ['a tutorial value', 'keyboard cat keyboard dog keyboard fox', /well-known/],
  ]
  for (const [what, secret, words] of weak) {
    test(`a secret that is ${what}`, () => {
      refused({ ...PRODUCTION, SESSION_SECRET: secret }, 'SESSION_SECRET', words)
      refused({ ...PRODUCTION, SESSION_SECRET_PREVIOUS: secret }, 'SESSION_SECRET_PREVIOUS', words)
      const key = secret.replaceAll(' ', '-')
      refused({ ...PRODUCTION, CRON_KEY: key }, 'CRON_KEY', words)
      refused({ ...PRODUCTION, ADMIN_KEY: `anna:${key}` }, 'ADMIN_KEY', words)
    })
  }

  test("every development chain's keys, and small numbers", () => {
    for (const { privateKey } of DEVELOPMENT_ACCOUNTS) {
      refused({ ...PRODUCTION, MINTER_PRIVATE_KEY: privateKey }, 'MINTER_PRIVATE_KEY', /well-known/)
      refused(
        { ...PRODUCTION, DISTRIBUTOR_PRIVATE_KEY: privateKey.toUpperCase().slice(2) },
        'DISTRIBUTOR_PRIVATE_KEY',
        /well-known/,
      )
    }
    refused({ ...PRODUCTION, MINTER_PRIVATE_KEY: `0x${'0'.repeat(63)}1` }, 'MINTER_PRIVATE_KEY', /well-known/)
    assert.equal(DEVELOPMENT_ACCOUNTS.length, 20)
    load({ ...EXTERNAL, MINTER_PRIVATE_KEY: DEVELOPMENT_ACCOUNTS[1]?.privateKey ?? '' })
  })

  test('a public address without TLS, and none at all for a service that others reach', () => {
    refused({ ...PRODUCTION, PUBLIC_URL: 'http://nodes.example.org' }, 'PUBLIC_URL', /is http/)
    for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'web']) {
      refused({ ...PRODUCTION, HOST }, 'PUBLIC_URL', /required in production/)
    }
    assert.equal(load({ ...PRODUCTION, PUBLIC_URL: 'http://localhost:3000' }).PUBLIC_URL, 'http://localhost:3000')
    assert.equal(load(PRODUCTION).PUBLIC_URL, 'http://127.0.0.1:3000')
  })
})

describe('refused wherever it is set', () => {
  // One row per rule: the values, the rejected settings, and words of the message.
  const rows: [string, Env, string | string[], RegExp][] = [
    ['an unknown environment', { ...PRODUCTION, NODE_ENV: 'prod' }, 'NODE_ENV', /production, development or test/],
    ['a port that is none', { PORT: '65536' }, 'PORT', /0 to 65535/],
    ['a port in words', { PORT: 'http' }, 'PORT', /whole number/],
    ['a number in another notation', { PORT: '0x50' }, 'PORT', /whole number/],
    ['a number with a leading zero', { PORT: '08080' }, 'PORT', /whole number/],
    ['a fraction', { TICK_SEC: '1.5' }, 'TICK_SEC', /whole number/],
    ['a negative number', { METRICS_PORT: '-1' }, 'METRICS_PORT', /whole number/],
    ['two parts on one port', { METRICS_PORT: '3000' }, 'METRICS_PORT', /3000, and so is PORT/],
    ['the chain on the port of HTTP', { CHAIN_PORT: '3000' }, 'CHAIN_PORT', /3000, and so is PORT/],
    ['the chain on the port of metrics', { CHAIN_PORT: '9464' }, 'CHAIN_PORT', /so is METRICS_PORT/],
    ['a host with a port', { HOST: '127.0.0.1:3000' }, 'HOST', /without a port/],
    ['a host that is a URL', { HOST: 'http://localhost' }, 'HOST', /without a port/],
    ['a public URL that is none', { PUBLIC_URL: 'nodes.example.org' }, 'PUBLIC_URL', /is not a URL/],
    ['a public URL of another scheme', { PUBLIC_URL: 'ftp://nodes.example.org' }, 'PUBLIC_URL', /is not a URL/],
    ['a public URL with a path', { PUBLIC_URL: 'https://example.org/nodes' }, 'PUBLIC_URL', /path/],
    ['a public URL with a query', { PUBLIC_URL: 'https://example.org/?a=1' }, 'PUBLIC_URL', /path/],
    ['a public URL with a user', { PUBLIC_URL: 'https://u@example.org' }, 'PUBLIC_URL', /user/],
    ['a proxy that is no address', { TRUSTED_PROXIES: '10.0.0.0/8,proxy' }, 'TRUSTED_PROXIES', /"proxy"/],
    ['a network too narrow', { TRUSTED_PROXIES: '10.0.0.0/33' }, 'TRUSTED_PROXIES', /between 1 and 32/],
    ['an IPv6 network too narrow', { TRUSTED_PROXIES: 'fd00::/129' }, 'TRUSTED_PROXIES', /between 1 and 128/],
    ['a network with two prefixes', { TRUSTED_PROXIES: '10.0.0.0/8/8' }, 'TRUSTED_PROXIES', /not a network/],
    ['trust in everybody', { TRUSTED_PROXIES: '0.0.0.0/0' }, 'TRUSTED_PROXIES', /everyone/],
    ['a frame of anyone', { FRAME_ANCESTORS: 'https://*' }, 'FRAME_ANCESTORS', /not an origin/],
    ['a frame of any name of a site', { FRAME_ANCESTORS: 'https://*.safe.global' }, 'FRAME_ANCESTORS', /not an origin/],
    ['a frame of a page', { FRAME_ANCESTORS: 'https://app.safe.global/x' }, 'FRAME_ANCESTORS', /more than an origin/],
    ['a frame without TLS', { FRAME_ANCESTORS: 'http://app.safe.global' }, 'FRAME_ANCESTORS', /anyone on the way/],
    ['a switch in other words', { SMART_WALLET_LOGIN: 'yes please' }, 'SMART_WALLET_LOGIN', /true or false/],
    ['a log level that is none', { LOG_LEVEL: 'verbose' }, 'LOG_LEVEL', /trace, debug/],
    ['a database URL of another kind', { DATABASE_URL: 'mysql://localhost/x' }, 'DATABASE_URL', /PostgreSQL URL/],
    [
      'a database URL with a raw # in its password',
      { DATABASE_URL: 'postgres://u:a#b@h/x' },
      'DATABASE_URL',
      /percent/,
    ],
    [
      'a direct URL without a database',
      { DATABASE_DIRECT_URL: 'postgres://h/x' },
      'DATABASE_DIRECT_URL',
      /DATABASE_URL/,
    ],
    [
      'a read URL without a database',
      { DATABASE_READ_URL: 'postgres://h/x' },
      'DATABASE_READ_URL',
      /DATABASE_URL is not/,
    ],
    ['an RPC of another scheme', { ...EXTERNAL, RPC_URL: 'ws://localhost:1' }, 'RPC_URL', /is not a URL/],
    ['one bad RPC of two', { ...EXTERNAL, RPC_URL: 'http://a.example,b.example' }, 'RPC_URL', /number 2/],
    ['only commas for an RPC', { ...EXTERNAL, RPC_URL: ' , ' }, 'RPC_URL', /is not a URL/],
    ['too many RPCs', { ...EXTERNAL, RPC_URL: Array(9).fill('http://a.example').join() }, 'RPC_URL', /at most 8/],
    ['several public RPCs', { PUBLIC_RPC_URL: 'http://a.example,http://b.example' }, 'PUBLIC_RPC_URL', /at most 1/],
    ['a user in the public RPC', { PUBLIC_RPC_URL: 'http://u@a.example' }, 'PUBLIC_RPC_URL', /everyone/],
    ['a password in the public RPC', { PUBLIC_RPC_URL: 'http://u:p@a.example' }, 'PUBLIC_RPC_URL', /everyone/],
    ['a chain without its factory', { RPC_URL: 'http://a.example' }, 'FACTORY_ADDRESS', /required with RPC_URL/],
    ['a factory without its chain', { FACTORY_ADDRESS: ADDRESS }, 'FACTORY_ADDRESS', /RPC_URL is not/],
    ['a start without its chain', { START_BLOCK: '5' }, 'START_BLOCK', /RPC_URL is not/],
    ['a chain id without its chain', { CHAIN_ID: '1' }, 'CHAIN_ID', /RPC_URL is not set/],
    ['a chain id of nothing', { ...EXTERNAL, CHAIN_ID: '0' }, 'CHAIN_ID', /whole number from 1/],
    ['a start in hex', { ...EXTERNAL, START_BLOCK: '0x10' }, 'START_BLOCK', /whole number/],
    ['a factory that is no address', { ...EXTERNAL, FACTORY_ADDRESS: `${ADDRESS}0` }, 'FACTORY_ADDRESS', /40 hex/],
    ['a code hash that is none', { ...EXTERNAL, FACTORY_CODE_HASH: '0x12' }, 'FACTORY_CODE_HASH', /64 hex/],
    [
      'a former factory that is no address',
      { ...EXTERNAL, FORMER_FACTORIES: `${ADDRESS},no` },
      'FORMER_FACTORIES',
      /none/,
    ],
    ['the zero address as factory', { ...EXTERNAL, FACTORY_ADDRESS: `0x${'0'.repeat(40)}` }, 'FACTORY_ADDRESS', /zero/],
    ['a finality of nothing', { FINALITY: '0' }, 'FINALITY', /guarded, finalized/],
    ['a finality in other words', { FINALITY: 'safe' }, 'FINALITY', /guarded, finalized/],
    ['far too many confirmations', { FINALITY: '10000' }, 'FINALITY', /9999/],
    ['a mistyped payments address', { PAYMENT_ADDRESS: ADDRESS.replace('5aA', '5aa') }, 'PAYMENT_ADDRESS', /checksum/],
    ['the factory as payments wallet', { ...EXTERNAL, PAYMENT_ADDRESS: LOWER }, 'PAYMENT_ADDRESS', /factory itself/],
    ['a tier that cannot be', { QUOTE_TIER: 'Basic!' }, 'QUOTE_TIER', /tier's id/],
    ['a grace shorter than a quote lives', { PRICE_GRACE_SEC: '119' }, 'PRICE_GRACE_SEC', /caches/],
    ['an unknown mode of contract wallets', { CONTRACT_WALLETS: 'some' }, 'CONTRACT_WALLETS', /hold, proven, all/],
    ['an endless retry', { HOLDING_RETRY_SEC: '604801' }, 'HOLDING_RETRY_SEC', /604800/],
    ['an unknown way to pay', { DIST_MODE: 'donations' }, 'DIST_MODE', /treasury, swaps/],
    [
      'a switch without terms',
      { ...EXTERNAL, DIST_ENABLED: 'true' },
      ['CREDIT_MIN_WEI', 'CREDIT_MAX_WEI', 'CREDIT_INTERVAL_SEC', 'CREDIT_SLOT_SEC'],
      /, or none/,
    ],
    ['terms without a switch', { ...EXTERNAL, ...NAMED, DIST_ENABLED: '' }, 'DIST_ENABLED', /, or none/],
    ['terms without a schedule', { ...EXTERNAL, ...NAMED, CREDIT_SLOT_SEC: '' }, 'CREDIT_SLOT_SEC', /, or none/],
    ['turns that pay nothing', { CREDIT_MIN_WEI: '0' }, 'CREDIT_MIN_WEI', /terms set --zero/],
    ['an amount in ether', { CREDIT_MIN_WEI: '0.0005' }, 'CREDIT_MIN_WEI', /in decimal digits/],
    ['a range upside down', { CREDIT_MIN_WEI: '2', CREDIT_MAX_WEI: '1' }, 'CREDIT_MAX_WEI', /less than CREDIT_MIN_WEI/],
    ['a slot that does not divide', { CREDIT_SLOT_SEC: '7' }, 'CREDIT_SLOT_SEC', /does not divide/],
    ['a slot longer than the interval', { CREDIT_SLOT_SEC: '120' }, 'CREDIT_SLOT_SEC', /does not divide/],
    [
      'too many cohorts',
      { CREDIT_INTERVAL_SEC: '512', CREDIT_SLOT_SEC: '2' },
      'CREDIT_SLOT_SEC',
      /256 cohorts.*3 or more/,
    ],
    ['an interval of nothing', { CREDIT_INTERVAL_SEC: '0' }, 'CREDIT_INTERVAL_SEC', /from 1/],
    ['a key that is none', { MINTER_PRIVATE_KEY: '0x1234' }, 'MINTER_PRIVATE_KEY', /64 hex/],
    ['a key of zero', { MINTER_PRIVATE_KEY: '0'.repeat(64) }, 'MINTER_PRIVATE_KEY', /64 hex/],
    ['a key beyond the curve', { DISTRIBUTOR_PRIVATE_KEY: 'f'.repeat(64) }, 'DISTRIBUTOR_PRIVATE_KEY', /64 hex/],
    [
      'one key for both',
      { MINTER_PRIVATE_KEY: KEY_A, DISTRIBUTOR_PRIVATE_KEY: KEY_A },
      'DISTRIBUTOR_PRIVATE_KEY',
      /two/,
    ],
    ['a short session secret', { SESSION_SECRET: SECRET_A.slice(1) }, 'SESSION_SECRET', /31 .*least 32/],
    ['a short previous one', { SESSION_SECRET_PREVIOUS: 'x' }, 'SESSION_SECRET_PREVIOUS', /1 characters/],
    [
      'a rotation that is none',
      { SESSION_SECRET: SECRET_A, SESSION_SECRET_PREVIOUS: SECRET_A },
      'SESSION_SECRET_PREVIOUS',
      /itself/,
    ],
    ['the cron key as admin key', { CRON_KEY: SECRET_B, ADMIN_KEY: SECRET_B }, 'CRON_KEY', /elsewhere/],
    ['the session secret as cron key', { CRON_KEY: SECRET_B, SESSION_SECRET: SECRET_B }, 'CRON_KEY', /elsewhere/],
    ['the session secret as admin key', { ADMIN_KEY: SECRET_B, SESSION_SECRET: SECRET_B }, 'ADMIN_KEY', /sign in as/],
    ['a key with a space', { CRON_KEY: 'two words' }, 'CRON_KEY', /header/],
    ['a key with a comma', { CRON_KEY: 'two,words' }, 'CRON_KEY', /header/],
    ['a label without a key', { ADMIN_KEY: 'anna:' }, 'ADMIN_KEY', /header/],
    ['a label twice', { ADMIN_KEY: 'anna:first-key,anna:other-key' }, 'ADMIN_KEY', /label twice/],
    ['a label of our own', { ADMIN_KEY: 'pass:first-key' }, 'ADMIN_KEY', /uses itself/],
    ['two bare keys', { ADMIN_KEY: 'first-key,other-key' }, 'ADMIN_KEY', /label twice/],
    ['a key of two labels', { ADMIN_KEY: 'anna:first-key,bert:first-key' }, 'ADMIN_KEY', /key twice/],
    ['a price without its field', { PRICE_URL: 'https://a.example' }, 'PRICE_FIELD', /PRICE_URL needs/],
    ['a field without its price', { PRICE_FIELD: 'usd' }, 'PRICE_URL', /PRICE_FIELD needs/],
    ['a field that is no path', { PRICE_URL: 'https://a.example', PRICE_FIELD: 'a..b' }, 'PRICE_FIELD', /path/],
    ['a price of another scheme', { PRICE_URL: 'file:///etc/passwd', PRICE_FIELD: 'a' }, 'PRICE_URL', /not a URL/],
  ]
  for (const [what, env, settings, words] of rows) test(what, () => refused(env, settings, words))

  test('more operator keys than people', () => {
    const keys = Array.from({ length: 51 }, (_, i) => `p${i}:key-of-${i}`)
    refused({ ADMIN_KEY: keys.join() }, 'ADMIN_KEY', /at most 50/)
    assert.equal(load({ ADMIN_KEY: keys.slice(1).join() }).ADMIN_KEY?.length, 50)
  })

  test('a range with which a node could outgrow its place on the contract within a century', () => {
    const turns = (100n * 31_557_600n) / 3600n + 1n
    const mostWei = (2n ** 80n - 1n) / turns
    const env = {
      ...{ ...EXTERNAL, ...NAMED, CREDIT_MIN_WEI: '1' },
      ...{ CREDIT_INTERVAL_SEC: '3600', CREDIT_MAX_WEI: mostWei.toString() },
    }
    load(env)
    refused(
      { ...env, CREDIT_MAX_WEI: (mostWei + 1n).toString() },
      'CREDIT_MAX_WEI',
      new RegExp(`80 bits.*${mostWei} is`),
    )
    assert.ok((mostWei + 1n) * turns >= 2n ** 80n)
  })
})

describe('the sources of settings', () => {
  test('every secret can be read from a file, without the line ending, and no other setting can', () => {
    for (const name of SECRET_SETTINGS) {
      // A key is in one place only, so the two senders have theirs in this setting's place.
      const [role = ''] = /^(MINTER|DISTRIBUTOR)(?=_SIGNER)/.exec(name) ?? []
      const keys: Env = { MINTER_PRIVATE_KEY: KEY_A, DISTRIBUTOR_PRIVATE_KEY: KEY_B }
      if (role) delete keys[`${role}_PRIVATE_KEY`]
      if (name.endsWith('_SIGNER_URL')) keys[`${role}_ADDRESS`] = ADDRESS
      const { [name]: value = 'https://a.example', ...rest } = {
        ...PRODUCTION,
        DATABASE_DIRECT_URL: 'postgres://h/x',
        DATABASE_READ_URL: 'postgres://h/x',
        ...keys,
        WEBHOOK_URL: 'https://hooks.example.org',
        WEBHOOK_SECRET: `whsec_${'c2Vj'.repeat(8)}`,
        SESSION_SECRET_PREVIOUS: SECRET_B,
        ADMIN_KEY: `anna:${SECRET_B}x`,
        CRON_KEY: SECRET_C,
        PRICE_FIELD: 'usd',
        PRICE_URL: 'https://price.example',
      } as Env
      const direct = load({ ...rest, [name]: value })
      const files = { '/run/it': `${value}\r\n` }
      assert.deepEqual(load({ ...rest, [`${name}_FILE`]: '/run/it' }, files), direct, name)
    }
    const { hints, METRICS_PORT } = load({ METRICS_PORT_FILE: '/run/it' }, { '/run/it': '1' })
    assert.equal(METRICS_PORT, 9464)
    assert.match(hints[0]?.message ?? '', /only secrets/)
  })

  test('a file can list several operators, one a line', () => {
    const secrets = load({ ADMIN_KEY_FILE: '/k' }, { '/k': 'anna:first-key\nbert:key:of:two\n' })
    assert.deepEqual(secrets.ADMIN_KEY, [
      { label: 'anna', key: 'first-key' },
      { label: 'bert', key: 'key:of:two' },
    ])
  })

  test('a secret and its file cannot both be set', () => {
    refused({ CRON_KEY: 'first-key', CRON_KEY_FILE: '/k' }, 'CRON_KEY', /both set/, { '/k': 'first-key' })
  })

  test('a file that is missing or empty is a mistake, not an unset secret', () => {
    refused({ DATABASE_URL_FILE: '/nowhere' }, 'DATABASE_URL', /"\/nowhere" \(ENOENT\)/)
    refused({ DATABASE_URL_FILE: '/k' }, 'DATABASE_URL', /is empty, because the file/, { '/k': '\n' })
  })

  test('.env is read in development, and the environment wins over it', () => {
    const files = { '.env': 'PORT=4000\nLOG_LEVEL=debug\n# HOST=x\nCRON_KEY_FILE=/k\n', '/k': 'first-key' }
    const config = load({ LOG_LEVEL: 'warn', HOST: '' }, files)
    assert.deepEqual([config.PORT, config.LOG_LEVEL, config.HOST], [4000, 'warn', '127.0.0.1'])
    assert.equal(config.CRON_KEY, 'first-key')
    assert.equal(load({ PORT: '5000', NODE_ENV: 'development' }, files).PORT, 5000)
    assert.equal(load({ CRON_KEY: 'other-key' }, files).CRON_KEY, 'other-key')
  })

  test('.env is not read in production or under test', () => {
    const files = { '.env': 'PORT=4000' }
    assert.equal(load(PRODUCTION, files).PORT, 3000)
    assert.equal(load({ NODE_ENV: 'test' }, files).PORT, 3000)
  })

  test('.env cannot make it production', () => {
    refused({}, 'NODE_ENV', /set it in the environment/, { '.env': 'NODE_ENV=production' })
  })

  test('a .env that is there but cannot be read is a mistake', () => {
    const readFile = () => {
      throw Object.assign(new Error('no'), { code: 'EACCES' })
    }
    assert.throws(() => loadConfig({}, { readFile }), /\.env cannot be read \(EACCES\)/)
  })
})

test('a mistyped name is reported, with other mistakes and without any', () => {
  const error = mistakes({ RPC_URL: 'http://a.example', FACTORY_ADRESS: ADDRESS })
  assert.match(error.message, /FACTORY_ADDRESS is required/)
  assert.match(error.message, /FACTORY_ADRESS is not a setting: did you mean FACTORY_ADDRESS\?/)
  const names = [
    'PAYMENTS_ADDRESS',
    'SESSION_SECERT',
    'DATABASE_URL_FLIE',
    'TRUSTED_PROXY',
    'HOME',
    'PATH',
    'npm_command',
  ]
  assert.deepEqual(
    load(Object.fromEntries(names.map((name) => [name, 'x']))).hints.map(({ setting }) => setting),
    ['PAYMENTS_ADDRESS', 'SESSION_SECERT', 'TRUSTED_PROXY'],
  )
})

test('defaults follow the settings they hang on', () => {
  assert.equal(load({ HOST: '0.0.0.0', PORT: '81' }).PUBLIC_URL, 'http://127.0.0.1:81')
  assert.equal(load({ HOST: '::1', PORT: '81' }).PUBLIC_URL, 'http://[::1]:81')
  const { DATABASE_DIRECT_URL, DATABASE_READ_URL } = load({ DATABASE_URL: 'postgres://one/x' })
  assert.deepEqual([DATABASE_DIRECT_URL, DATABASE_READ_URL], ['postgres://one/x', 'postgres://one/x'])
  assert.equal(load({ CHAIN_ID: '31337' }).CHAIN_ID, 31337)
  assert.equal(load({ FINALITY: 'Finalized' }).FINALITY, 'finalized')
  load({ PORT: '0', METRICS_PORT: '0', CHAIN_PORT: '0' })
  load({ ...EXTERNAL, PORT: '8545' })
  for (const url of ['postgres:///x?host=/run/pg', 'postgres://u:p%23@[::1]:5432/x']) {
    assert.equal(load({ DATABASE_URL: url }).DATABASE_URL, url)
  }
})

test('a value just within a bound is accepted', () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const rows: Env[] = [
    { PORT: '65535' },
    { LOG_LEVEL: 'WARN' },
    { CREDIT_MIN_WEI: '7', CREDIT_MAX_WEI: '7' },
    { CREDIT_INTERVAL_SEC: '255', CREDIT_SLOT_SEC: '1' },
    { CREDIT_INTERVAL_SEC: '30', CREDIT_SLOT_SEC: '10', TICK_SEC: '30' },
    { MINTER_PRIVATE_KEY: (order - 1n).toString(16) },
    { ADMIN_KEY: 'anna:first-key, bert:other-key' },
    { ...PRODUCTION, HOST: 'localhost' },
    { ...PRODUCTION, HOST: '::1' },
    { ...PRODUCTION, HOST: '127.8.8.8' },
    { ...PRODUCTION, PUBLIC_URL: 'http://[::1]:3000' },
    { ...PRODUCTION, SESSION_SECRET: 'a7k3m9z1z3a7k1m9m9a7z1k3k3z1a7m9' },
  ]
  for (const env of rows) load(env)
  refused({ MINTER_PRIVATE_KEY: order.toString(16) }, 'MINTER_PRIVATE_KEY', /64 hex/)
})

test('a long value is cut before it is repeated', () => {
  const { message } = mistakes({ PORT: 'x'.repeat(61) })
  assert.ok(message.includes(`"${'x'.repeat(60)}…"`), message)
  assert.ok(mistakes({ PORT: 'x'.repeat(60) }).message.includes(`"${'x'.repeat(60)}"`))
})

test('a start without settings describes what is embedded and what is missing', () => {
  const described = describeConfig(load({}))
  const embedded = Object.entries(described).filter(([, value]) => value === 'embedded')
  assert.deepEqual(embedded.map(([name]) => name).sort(), [
    'CHAIN_ID',
    'DATABASE_DIRECT_URL',
    'DATABASE_READ_URL',
    'DATABASE_URL',
    'DISTRIBUTOR_PRIVATE_KEY',
    'FACTORY_ADDRESS',
    'MINTER_PRIVATE_KEY',
    'PAYMENT_ADDRESS',
    'RPC_URL',
    'START_BLOCK',
  ])
  const none = Object.entries(described).filter(([, value]) => value === null)
  const expected = `
    ADMIN_KEY BRAND_COLOR BRAND_CONTACT BRAND_LOGO BRAND_NAME CRON_KEY DISTRIBUTOR_ADDRESS DISTRIBUTOR_KMS_KEY DISTRIBUTOR_SIGNER_URL EXPLORER_URL FACTORY_CODE_HASH FEE_CAP_WEI
    FORMER_FACTORIES FRAME_ANCESTORS MINTER_ADDRESS MINTER_KMS_KEY MINTER_SIGNER_URL PRICE_FIELD PRICE_URL PUBLIC_RPC_URL QUOTE_TIER SESSION_SECRET SESSION_SECRET_PREVIOUS TERMS_URL TIP_MAX_WEI
    TRUSTED_PROXIES WEBHOOK_EVENTS WEBHOOK_SECRET WEBHOOK_URL`
  assert.deepEqual(none.map(([name]) => name).sort(), expected.trim().split(/\s+/))
  assert.equal(describeConfig(load({ ...EXTERNAL, RPC_URL: 'http://h:1/' })).RPC_URL, 'http://h:1')
})

test('no secret is printed, neither by the description nor by a complaint', () => {
  const marker = 'Zq7TopSecretMarker'
  const env = {
    ...PRODUCTION,
    DATABASE_URL: `postgres://user:${marker}@db.example:5432/ledger?x=${marker}`,
    DATABASE_READ_URL: `postgres://${marker}@db.example/${marker}`,
    RPC_URL: `https://u:${marker}@rpc.example/${marker},https://rpc2.example?key=${marker}`,
    SESSION_SECRET: `${marker}${SECRET_A}`,
    SESSION_SECRET_PREVIOUS: `${marker}${SECRET_B}`,
    ADMIN_KEY: `anna:${marker}${SECRET_B},${marker}${SECRET_C}`,
    CRON_KEY: `${marker}cron${SECRET_C}`,
    PRICE_URL: `https://price.example/${marker}`,
    MINTER_SIGNER_URL: `https://u:${marker}@signer.example/${marker}`,
    MINTER_ADDRESS: ADDRESS,
    WEBHOOK_URL: `https://hooks.example/${marker}`,
    WEBHOOK_SECRET: `whsec_${Buffer.from(`${marker}${marker}`).toString('base64')}`,
    PRICE_FIELD: 'usd',
    DISTRIBUTOR_PRIVATE_KEY: KEY_B,
  }
  const described = describeConfig(load(env))
  const text = JSON.stringify(described)
  for (const secret of [marker, KEY_B.slice(2)]) assert.ok(!text.includes(secret), text)
  assert.equal(described.DATABASE_URL, 'postgres://***@db.example:5432/***')
  assert.equal(described.RPC_URL, 'https://***@rpc.example/***,https://rpc2.example/***')
  assert.equal(described.ADMIN_KEY, 'anna:***,admin:***')
  const odd = describeConfig(
    load({ ...EXTERNAL, RPC_URL: `https://u:p@${marker}@rpc.example/x,https://@rpc2.example` }),
  )
  assert.equal(odd.RPC_URL, 'https://***@rpc.example/***,https://rpc2.example')
  assert.deepEqual(Object.keys(described).sort(), [...SETTINGS].sort())

  const bad = Object.fromEntries(SECRET_SETTINGS.map((name) => [name, `  ${marker} `]))
  const error = mistakes({ ...PRODUCTION, ...bad, PUBLIC_RPC_URL: `http://u:${marker}@x.example` })
  assert.ok(error.problems.length >= SECRET_SETTINGS.length)
  assert.ok(!error.message.includes(marker), error.message)
})
