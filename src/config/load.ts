// Turns the environment into the configuration, once, at start-up: every setting by name, with all mistakes reported together. It must never read the
// clock, the network or process.env, and never put a secret into a message.
import { isIP } from 'node:net'
import { KnownError } from '../lib/errors.ts'
import { type Config, derive } from './derived.ts'
import { isSecret, SETTING, SETTINGS, type SettingName, type Settings } from './names.ts'
import { checkRules } from './rules.ts'
import { maskUrl, type Setting } from './setting.ts'
import { openSource, type Problem, type ReadFile, type Source } from './source.ts'
import { SETTING_GROUPS } from './table.ts'

export { type Config, type KeyConfig, modeOn, siteOn } from './derived.ts'
export type { Problem, ReadFile } from './source.ts'

/** Secrets that a service in development generates if they are not set. */
export type GeneratedSecrets = Readonly<Record<'SESSION_SECRET' | 'ADMIN_KEY' | 'CRON_KEY', string>>

export interface LoadOptions {
  /** Reads `.env` and the files that NAME_FILE settings name. For example `(path) => readFileSync(path, 'utf8')`. */
  readonly readFile: ReadFile
  /** Values for secrets that are not set. Ignored in production. If this is left out, secrets that are not set are null. */
  readonly secrets?: GeneratedSecrets
}

/** All mistakes in the settings. The message lists them for people. */
export class ConfigError extends KnownError {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]
  readonly hints: readonly Problem[]

  constructor(problems: readonly Problem[], hints: readonly Problem[]) {
    const line = ({ setting, message }: Problem) => `  ${setting} ${message}`
    super('usage', ['Invalid settings:', ...problems.map(line), ...hints.map(line)].join('\n'))
    this.problems = problems
    this.hints = hints
  }
}

/**
 * Reads the settings. In development (NODE_ENV not set) it reads `.env` too; a variable of the environment wins over the same one in `.env`.
 * @throws a ConfigError with all mistakes.
 */
export function loadConfig(env: NodeJS.ProcessEnv, options: LoadOptions): Config {
  const { config, problems } = inspectConfig(env, options)
  if (problems.length > 0) throw new ConfigError(problems, config.hints)
  return config
}

/** Reads the settings together with their mistakes, for display. An invalid setting gets its default. Never throws. */
export function inspectConfig(
  env: NodeJS.ProcessEnv,
  { readFile, secrets }: LoadOptions,
): { config: Config; problems: readonly Problem[] } {
  const source = openSource(env, readFile)
  const production = source.environment === 'production'
  const embeddedParts = {
    database: !production && !source.isSet('DATABASE_URL'),
    chain: !production && !source.isSet('RPC_URL'),
  }
  const read = readValues(source, { isEmbedded: embeddedParts.chain, ...(production || !secrets ? {} : { secrets }) })
  const values: Settings = {
    ...read,
    // These defaults depend on other settings.
    NODE_ENV: source.environment,
    PUBLIC_URL: source.get('PUBLIC_URL') === null ? originOf(read) : read.PUBLIC_URL,
    DATABASE_DIRECT_URL: read.DATABASE_DIRECT_URL ?? read.DATABASE_URL,
    DATABASE_READ_URL: read.DATABASE_READ_URL ?? read.DATABASE_URL,
    START_BLOCK: read.START_BLOCK ?? (embeddedParts.chain ? null : 0),
  }
  checkRules(values, source, embeddedParts)
  const namedSettings = SETTINGS.filter((name) => source.isSet(name))
  const config = {
    ...values,
    production,
    embedded: embeddedParts,
    namedSettings,
    ...derive(values),
    hints: source.hints,
  }
  return { config: freeze(config), problems: source.problems }
}

interface Reading {
  /** True if the chain is embedded. */
  readonly isEmbedded?: boolean
  readonly secrets?: Partial<Record<string, string>>
}

/** Parses every setting that is set, and takes the defaults for the others. */
function readValues(source: Source, { isEmbedded = false, secrets = {} }: Reading): Settings {
  const values: Record<string, unknown> = {}
  for (const { settings } of SETTING_GROUPS) {
    for (const [name, setting] of Object.entries(settings) as [SettingName, Setting][]) {
      const usual = secrets[name] ?? (isEmbedded ? setting.embedded : undefined) ?? setting.default
      values[name] = readOne(source, name, setting, usual ?? null)
    }
  }
  return values as Settings
}

function readOne(
  source: Source,
  name: SettingName,
  { parse, required: whyRequired }: Setting,
  usual: string | null,
): unknown {
  const production = source.environment === 'production'
  const ask = {
    production,
    refuse: (message: string) => {
      source.refuse(name, message)
      return null
    },
    warn: (message: string) => source.warn(name, message),
    file: () => source.file(name),
  }
  // `openSource` has already checked it.
  const text = name === 'NODE_ENV' ? null : source.get(name)
  if (production && whyRequired && !source.isSet(name)) {
    ask.refuse(`is required in production${isSecret(name) ? ` (or ${name}_FILE)` : ''}: ${whyRequired}`)
  }
  return (text === null ? null : parse(text, ask)) ?? (usual === null ? null : parse(usual, ask))
}

const WILDCARD_HOSTS = ['0.0.0.0', '::']

/** The service's own address, for when PUBLIC_URL is not set. */
function originOf({ HOST, PORT }: Settings): string {
  const host = WILDCARD_HOSTS.includes(HOST) ? '127.0.0.1' : HOST
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${PORT}`
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const entry of Object.values(value)) freeze(entry)
  }
  return value
}

/** Every setting (without its NAME_FILE form) and its effective value as text; null if it has none. */
export function describeConfig(config: Config): Record<SettingName, string | null> {
  const texts = Object.fromEntries(SETTINGS.map((name) => [name, textOf(name, config)]))
  for (const role of ['MINTER', 'DISTRIBUTOR'] as const) {
    // The embedded chain has a key of its own, which we list, masked, unless the settings name a key that is kept elsewhere.
    const own = `${role}_PRIVATE_KEY` as const
    const key = role === 'MINTER' ? config.keys.minter : config.keys.distributor
    if (key !== null && key.kind !== 'privateKey') texts[own] = null
  }
  return texts as Record<SettingName, string | null>
}

function textOf(name: SettingName, config: Config): string | null {
  const { secret, part, show } = SETTING[name]
  const value = config[name]
  if (value === null) return part && config.embedded[part] ? 'embedded' : null
  if (show) return show(value as never)
  const texts = (Array.isArray(value) ? value : [value]).map((one) =>
    secret ? masked(String(one), secret) : String(one),
  )
  return texts.join(',')
}

const masked = (text: string, secret: true | 'url') => (secret === 'url' ? maskUrl(text) : '***')
