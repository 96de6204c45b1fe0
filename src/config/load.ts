// Turns the environment into the configuration, once, at start-up: every setting by name, all mistakes reported together. Owns the defaults
// and the rules between settings. It must never read the clock, the network or process.env by itself, and never put a secret into a
// message.
import { CONTRACT_WALLET_MODES } from '../domain/payers/payer.ts'
import { GRACE_SEC_MAX, GRACE_SEC_MIN, HOLDING_RETRY_SEC_MAX, TIER_ID_FORM } from '../domain/tiers.ts'
import { KnownError } from '../lib/errors.ts'
import { readChain } from './chain.ts'
import { readCredit, readSchedule } from './credit.ts'
import { readHttp } from './http.ts'
import { readKeys } from './keys/keys.ts'
import { readKmsAccess } from './keys/kms.ts'
import { isSecret, type SettingName } from './names.ts'
import { readSecrets } from './secrets.ts'
import type { ChainConfig, Config, DatabaseConfig, GeneratedSecrets, LogLevel, PaymentsConfig } from './shape.ts'
import { readSite } from './site/site.ts'
import { openSource, type Problem, type ReadFile, type Source } from './source.ts'
import { readAddress, readChoice, readHttpUrl, readPostgresUrl, readSwitch, readText, readWhole } from './values.ts'
import { readWebhooks } from './webhooks.ts'

export { describeConfig } from './describe.ts'
export type { AdminKey, Config, GeneratedSecrets, KeyConfig, WebhooksConfig } from './shape.ts'
export { siteOn } from './site/site.ts'
export type { Problem, ReadFile } from './source.ts'

export interface LoadOptions {
  /** Reads `.env` and the files of NAME_FILE, as `(path) => readFileSync(path, 'utf8')` does. */
  readonly readFile: ReadFile
  /** Replaces unset secrets, outside production only. Without it they are null. */
  readonly generated?: GeneratedSecrets
}

/** All mistakes in the settings. The message lists them for people. */
export class ConfigError extends KnownError {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  readonly hints: readonly Problem[]

  constructor(problems: readonly Problem[], hints: readonly Problem[]) {
    const line = ({ setting, message }: Problem) => `  ${setting} ${message}`
    super('usage', ['The settings are not right:', ...problems.map(line), ...hints.map(line)].join('\n'))
    this.problems = problems
    this.hints = hints
  }
}

export const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Reads the settings. In development (NODE_ENV not set) `.env` is read too, and the environment wins over it.
 * @throws ConfigError with every mistake at once.
 */
export function loadConfig(env: NodeJS.ProcessEnv, options: LoadOptions): Config {
  const { config, problems } = inspectConfig(env, options)
  if (problems.length > 0) throw new ConfigError(problems, config.hints)
  return config
}

/** How the service is let in at a key management service, by itself. Throws a ConfigError with every mistake at once. */
export function loadKmsAccess(env: NodeJS.ProcessEnv, { readFile }: LoadOptions): ReturnType<typeof readKmsAccess> {
  const source = openSource(env, readFile)
  const access = readKmsAccess(source, { needed: true })
  if (source.problems.length > 0) throw new ConfigError(source.problems, source.hints)
  return access
}

/** The settings with their mistakes, for display: a mistaken setting has its default. Throws nothing. */
export function inspectConfig(
  env: NodeJS.ProcessEnv,
  { readFile, generated }: LoadOptions,
): { config: Config; problems: readonly Problem[] } {
  const source = openSource(env, readFile)
  const production = source.environment === 'production'
  const embedded = {
    database: !production && !source.isSet('DATABASE_URL'),
    chain: !production && !source.isSet('RPC_URL'),
  }
  if (production) requireParts(source)
  const chain = readChain(source, embedded.chain)
  const schedule = readSchedule(source, embedded.chain)
  const config: Config = {
    production,
    embedded,
    dataDir: source.get('DATA_DIR') ?? '.node-ledger',
    http: readHttp(source),
    database: readDatabase(source),
    chain,
    site: readSite(source),
    payments: readPayments(source, chain),
    credit: readCredit(source, embedded.chain),
    schedule,
    secrets: readSecrets(source, generated),
    keys: readKeys(source),
    webhooks: readWebhooks(source),
    price: readPrice(source),
    log: { level: readChoice(source, 'LOG_LEVEL', LOG_LEVELS, 'info') },
    hints: source.hints,
  }
  checkPorts(source, config)
  return { config: freeze(config), problems: source.problems }
}

/** In production nothing is embedded, so every part must be named. */
function requireParts(source: Source): void {
  const parts: [SettingName, string][] = [
    ['DATABASE_URL', 'set it to postgres://user:password@host:5432/database'],
    ['RPC_URL', "set it to your chain provider's https://… (several with commas)"],
    ['CHAIN_ID', 'set it to the id of the chain; "node-ledger deploy" prints it'],
    ['FACTORY_ADDRESS', 'set it to the factory; "node-ledger deploy" puts one on the chain and prints it'],
    ['START_BLOCK', 'set it to the block of the factory\'s deployment; "node-ledger deploy" prints it'],
  ]
  for (const [name, remedy] of parts) {
    if (!source.isSet(name)) source.refuse(name, `is required in production${orFile(name)}: ${remedy}`)
  }
}

function orFile(name: SettingName): string {
  return isSecret(name) ? ` (or ${name}_FILE)` : ''
}

function readDatabase(source: Source): DatabaseConfig {
  const url = readPostgresUrl(source, 'DATABASE_URL')
  for (const name of ['DATABASE_DIRECT_URL', 'DATABASE_READ_URL'] as const) {
    if (source.isSet(name) && !source.isSet('DATABASE_URL')) {
      source.refuse(name, 'is set but DATABASE_URL is not: set that one, too, or remove it')
    }
  }
  return {
    url,
    directUrl: readPostgresUrl(source, 'DATABASE_DIRECT_URL') ?? url,
    readUrl: readPostgresUrl(source, 'DATABASE_READ_URL') ?? url,
    prepare: readSwitch(source, 'DATABASE_PREPARE', true),
  }
}

function readPayments(source: Source, chain: ChainConfig): PaymentsConfig {
  const paymentAddress = readAddress(source, 'PAYMENT_ADDRESS')
  if (paymentAddress !== null && paymentAddress === chain.factoryAddress) {
    source.refuse('PAYMENT_ADDRESS', 'is the factory itself: set it to a wallet of your own that takes plain transfers')
  }
  return {
    address: paymentAddress,
    quoteTier: readText(
      source,
      'QUOTE_TIER',
      { form: TIER_ID_FORM, remedy: "set it to a tier's id, like basic" },
      null,
    ),
    priceGraceSec: readWhole(
      source,
      'PRICE_GRACE_SEC',
      {
        min: GRACE_SEC_MIN,
        max: GRACE_SEC_MAX,
        why: 'a quote may live in caches for 120 seconds, and its price must still buy',
      },
      null,
    ),
    holdingRetrySec: readWhole(
      source,
      'HOLDING_RETRY_SEC',
      { min: 0, max: HOLDING_RETRY_SEC_MAX, why: 'after it a payment whose holding cannot be read is held' },
      null,
    ),
    contractWallets: source.isSet('CONTRACT_WALLETS')
      ? readChoice(source, 'CONTRACT_WALLETS', CONTRACT_WALLET_MODES, 'hold')
      : null,
  }
}

function readPrice(source: Source): Config['price'] {
  const url = readHttpUrl(source, 'PRICE_URL')
  const fieldForm = /^[^.\s]+(\.[^.\s]+){0,15}$/
  const remedy = 'set it to the path of the number, like ethereum.usd'
  const field = readText(source, 'PRICE_FIELD', { form: fieldForm, remedy }, null)
  const both = { PRICE_URL: 'PRICE_FIELD', PRICE_FIELD: 'PRICE_URL' } as const
  for (const name of ['PRICE_URL', 'PRICE_FIELD'] as const) {
    if (source.isSet(both[name]) && !source.isSet(name)) source.refuse(name, `is missing: it belongs to ${both[name]}`)
  }
  return url === null || field === null ? null : { url, field }
}

/** Otherwise the clash would only show when the second part fails to listen. */
function checkPorts(source: Source, { http, chain, embedded }: Config): void {
  const ports: [SettingName, number][] = [['PORT', http.port]]
  if (http.metricsPort !== null) ports.push(['METRICS_PORT', http.metricsPort])
  if (embedded.chain) ports.push(['CHAIN_PORT', chain.embeddedPort])
  for (const [i, [name, port]] of ports.entries()) {
    const other = ports.slice(0, i).find(([, taken]) => taken === port && port !== 0)
    if (other !== undefined) source.refuse(name, `is ${port}, and so is ${other[0]}: set them to different ports`)
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const entry of Object.values(value)) freeze(entry)
  }
  return value
}
