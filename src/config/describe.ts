// The configuration in a printable form for operators: by setting, secrets masked. It must never let through a secret, or the part of a URL
// that may be one.
import { firstSaleTerms } from '../domain/tiers.ts'
import { choiceText } from '../domain/webhooks/choice.ts'
import type { SettingName } from './names.ts'
import type { Config, KeyConfig } from './shape.ts'
import { describeSite } from './site/site.ts'

/** Every setting (except its NAME_FILE form) with its effective value as text; null where there is none. */
export function describeConfig(config: Config): Record<SettingName, string | null> {
  const { http, site, database, chain, payments, credit, schedule, secrets, keys, webhooks, price } = config
  const part = (embedded: boolean, text: string | null) => (embedded ? 'embedded' : text)
  return {
    NODE_ENV: config.production ? 'production' : 'development',
    LOG_LEVEL: config.log.level,
    HOST: http.host,
    PORT: String(http.port),
    METRICS_HOST: http.metricsPort === null ? null : http.metricsHost,
    METRICS_PORT: http.metricsPort === null ? 'off' : String(http.metricsPort),
    PUBLIC_URL: http.publicUrl,
    TRUSTED_PROXIES: http.trustedProxies.length > 0 ? http.trustedProxies.join(',') : null,
    SMART_WALLET_LOGIN: String(http.smartWalletLogin),
    FRAME_ANCESTORS: http.frameAncestors.length > 0 ? http.frameAncestors.join(',') : null,
    ...describeSite(site),
    DATA_DIR: config.dataDir,
    CHAIN_PORT: config.embedded.chain ? String(chain.embeddedPort) : null,
    DATABASE_URL: part(config.embedded.database, maskUrl(database.url)),
    DATABASE_DIRECT_URL: part(config.embedded.database, maskUrl(database.directUrl)),
    DATABASE_READ_URL: part(config.embedded.database, maskUrl(database.readUrl)),
    DATABASE_PREPARE: String(database.prepare),
    RPC_URL: part(config.embedded.chain, chain.rpcUrls.map(maskUrl).join(',')),
    PUBLIC_RPC_URL: chain.publicRpcUrl,
    CHAIN_ID: part(config.embedded.chain, numberText(chain.chainId)),
    FACTORY_ADDRESS: part(config.embedded.chain, chain.factoryAddress),
    FACTORY_CODE_HASH: chain.factoryCodeHash,
    FORMER_FACTORIES: listText(chain.formerFactories),
    START_BLOCK: part(config.embedded.chain, numberText(chain.startBlock)),
    FINALITY: String(chain.finality),
    VALID_FOR_SEC: String(chain.validForSec),
    FEE_CAP_WEI: chain.feeCapWei?.toString() ?? null,
    TIP_MAX_WEI: chain.tipMaxWei?.toString() ?? null,
    PAYMENT_ADDRESS: payments.address ?? part(config.embedded.chain, null),
    QUOTE_TIER: payments.quoteTier,
    PRICE_GRACE_SEC: String(firstSaleTerms(payments).priceGraceSec),
    HOLDING_RETRY_SEC: String(firstSaleTerms(payments).holdingRetrySec),
    CONTRACT_WALLETS: payments.contractWallets ?? 'hold',
    DIST_ENABLED: credit.named && String(credit.named.payouts),
    DIST_MODE: credit.mode,
    CREDIT_MIN_WEI: numberText(credit.named?.minWei ?? null),
    CREDIT_MAX_WEI: numberText(credit.named?.maxWei ?? null),
    CREDIT_INTERVAL_SEC: numberText(credit.named?.intervalSec ?? null),
    CREDIT_SLOT_SEC: numberText(credit.named?.slotSec ?? null),
    TICK_SEC: String(schedule.tickSec),
    STALE_AFTER_SEC: String(schedule.staleAfterSec),
    SCHEDULER: schedule.timer ? 'on' : 'off',
    ...describeKey('MINTER', keys.minter, config.embedded.chain),
    ...describeKey('DISTRIBUTOR', keys.distributor, config.embedded.chain),
    ...describeKms(keys.kms),
    FUNDS_WARN_TRANSACTIONS: String(schedule.fundsWarnTransactions),
    SESSION_SECRET: mask(secrets.session),
    SESSION_SECRET_PREVIOUS: mask(secrets.previousSession),
    ADMIN_KEY: secrets.adminKeys.length > 0 ? secrets.adminKeys.map(({ label }) => `${label}:***`).join(',') : null,
    CRON_KEY: mask(secrets.cronKey),
    PRICE_URL: maskUrl(price?.url ?? null),
    PRICE_FIELD: price?.field ?? null,
    ...describeWebhooks(webhooks),
  }
}

function describeWebhooks({ urls, secrets, allowPrivate, events }: Config['webhooks']) {
  const named = urls.length > 0
  return {
    WEBHOOK_URL: named ? urls.map(maskUrl).join(',') : null,
    WEBHOOK_SECRET: named ? secrets.map(mask).join(',') : null,
    WEBHOOK_EVENTS: events?.map(choiceText).join('/') ?? null,
    WEBHOOK_ALLOW_PRIVATE: named || allowPrivate ? String(allowPrivate) : null,
  }
}

function describeKey<Role extends 'MINTER' | 'DISTRIBUTOR'>(role: Role, key: KeyConfig | null, embedded: boolean) {
  const shown = {
    [`${role}_PRIVATE_KEY`]: key?.kind === 'privateKey' ? '***' : key === null && embedded ? 'embedded' : null,
    [`${role}_KEYSTORE`]: key?.kind === 'keystore' ? key.path : null,
    [`${role}_KEYSTORE_PASSWORD`]: key?.kind === 'keystore' ? '***' : null,
    [`${role}_SIGNER_URL`]: key?.kind === 'signer' ? maskUrl(key.url) : null,
    [`${role}_KMS_KEY`]: key?.kind === 'kms' ? key.key.name : null,
    [`${role}_ADDRESS`]: key?.kind === 'signer' || key?.kind === 'kms' ? key.address : null,
  }
  return shown as Record<
    `${Role}_${'PRIVATE_KEY' | 'KEYSTORE' | 'KEYSTORE_PASSWORD' | 'SIGNER_URL' | 'KMS_KEY' | 'ADDRESS'}`,
    string | null
  >
}

function describeKms({ aws, google }: Config['keys']['kms']) {
  return {
    AWS_ACCESS_KEY_ID: mask(aws.given.accessKeyId),
    AWS_SECRET_ACCESS_KEY: mask(aws.given.secretAccessKey),
    AWS_SESSION_TOKEN: mask(aws.given.sessionToken),
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: null,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: maskUrl(aws.containerUrl),
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: aws.containerTokenFile,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: aws.metadataUrl,
    AWS_ENDPOINT_URL_KMS: maskUrl(aws.endpoint),
    GOOGLE_APPLICATION_CREDENTIALS: google.accountFile,
    GCE_METADATA_HOST: google.metadataHost,
    CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS: maskUrl(google.endpoint),
  }
}

function numberText(value: number | bigint | null): string | null {
  return value === null ? null : value.toString()
}

function mask(secret: string | null): string | null {
  return secret === null ? null : '***'
}

/** Scheme and host only: user, password, path and query may each carry a key. */
function maskUrl(text: string | null): string | null {
  if (text === null) return null
  const [, scheme, credentials = '', hosts = '', rest = ''] =
    /^([a-z]+:\/\/)(?:([^/?#]*)@)?([^/?#]*)(.*)$/s.exec(text) ?? []
  if (scheme === undefined) return '***'
  return `${scheme}${credentials === '' ? '' : '***@'}${hosts}${rest === '' || rest === '/' ? '' : '/***'}`
}

/** Null where it was not set; an empty list is set by a word of its own. */
function listText(values: readonly string[] | null): string | null {
  return values && (values.join(',') || 'none')
}
