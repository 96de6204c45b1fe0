// The names of all settings, and which of them may hold a secret. Every other list of them (.env.example, docs/SETTINGS.md)
// is held to this one by a test. It must never hold a value.

/** Settings whose value is shown as it is. */
export const PLAIN_SETTINGS = [
  'NODE_ENV',
  'LOG_LEVEL',
  'HOST',
  'PORT',
  'METRICS_HOST',
  'METRICS_PORT',
  'PUBLIC_URL',
  'TRUSTED_PROXIES',
  'SMART_WALLET_LOGIN',
  'DATA_DIR',
  'CHAIN_PORT',
  'DATABASE_PREPARE',
  'PUBLIC_RPC_URL',
  'CHAIN_ID',
  'FACTORY_ADDRESS',
  'FACTORY_CODE_HASH',
  'FORMER_FACTORIES',
  'START_BLOCK',
  'FINALITY',
  'VALID_FOR_SEC',
  'FEE_CAP_WEI',
  'TIP_MAX_WEI',
  'PAYMENT_ADDRESS',
  'QUOTE_TIER',
  'PRICE_GRACE_SEC',
  'HOLDING_RETRY_SEC',
  'MINTER_KEYSTORE',
  'MINTER_ADDRESS',
  'DISTRIBUTOR_KEYSTORE',
  'DISTRIBUTOR_ADDRESS',
  'FUNDS_WARN_TRANSACTIONS',
  'DIST_ENABLED',
  'DIST_MODE',
  'CREDIT_MIN_WEI',
  'CREDIT_MAX_WEI',
  'CREDIT_INTERVAL_SEC',
  'CREDIT_SLOT_SEC',
  'TICK_SEC',
  'STALE_AFTER_SEC',
  'SCHEDULER',
  'PRICE_FIELD',
  'WEBHOOK_ALLOW_PRIVATE',
] as const

/** Settings that are or may hold a secret (a URL may carry a password or a key): never shown, and read from NAME_FILE too. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'RPC_URL',
  'MINTER_PRIVATE_KEY',
  'MINTER_KEYSTORE_PASSWORD',
  'MINTER_SIGNER_URL',
  'DISTRIBUTOR_PRIVATE_KEY',
  'DISTRIBUTOR_KEYSTORE_PASSWORD',
  'DISTRIBUTOR_SIGNER_URL',
  'SESSION_SECRET',
  'SESSION_SECRET_PREVIOUS',
  'ADMIN_KEY',
  'CRON_KEY',
  'PRICE_URL',
  'WEBHOOK_URL',
  'WEBHOOK_SECRET',
] as const

export type PlainSetting = (typeof PLAIN_SETTINGS)[number]
export type SecretSetting = (typeof SECRET_SETTINGS)[number]
export type SettingName = PlainSetting | SecretSetting

export const SETTINGS: readonly SettingName[] = [...PLAIN_SETTINGS, ...SECRET_SETTINGS]

export function isSecret(name: SettingName): name is SecretSetting {
  return (SECRET_SETTINGS as readonly string[]).includes(name)
}

/** Names shorter than this lie too close to other programs' variables (HOST to HOME) to be guessed at. */
const GUESSED_LENGTH_MIN = 8
/** Letters that a slip changes; long names leave room for one more (PROXY for PROXIES). */
const editsMax = (name: string) => (name.length >= 12 ? 3 : 2)

/** The setting that an unknown variable was probably meant to be, or null. */
export function likelyMeant(name: string): SettingName | null {
  const base = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name
  if (base.length < GUESSED_LENGTH_MIN) return null
  const near = SETTINGS.filter((known) => known.length >= GUESSED_LENGTH_MIN)
    .map((known) => ({ known, edits: editsBetween(base, known) }))
    .sort((a, b) => a.edits - b.edits)[0]
  return near !== undefined && near.edits <= editsMax(base) ? near.known : null
}

/** How many letters must be added, dropped or changed to get from one word to the other. */
export function editsBetween(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const change = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      row[j] = Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
    }
    previous = row
  }
  return previous[to.length] ?? 0
}
