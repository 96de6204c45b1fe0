// The configuration as the rest of the program sees it: typed, checked, frozen. Holds no rule and no default.
import type { KmsAccess, KmsKey } from '../chain/send/kms/key.ts'
import type { ContractWalletMode } from '../domain/payers/payer.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'
import type { Choice } from '../domain/webhooks/choice.ts'
import type { SiteConfig } from './site/site.ts'
import type { Problem } from './source.ts'

export interface Config {
  /** NODE_ENV=production: nothing embedded runs, secrets must be strong, cookies are Secure. */
  readonly production: boolean
  /** The missing parts that the service embeds. Both false in production. */
  readonly embedded: { readonly database: boolean; readonly chain: boolean }
  /** Where embedded parts and generated secrets live. */
  readonly dataDir: string
  readonly http: HttpConfig
  readonly database: DatabaseConfig
  readonly chain: ChainConfig
  /** Names, links and brand that people are shown. */
  readonly site: SiteConfig
  readonly payments: PaymentsConfig
  readonly credit: CreditConfig
  readonly schedule: ScheduleConfig
  readonly secrets: SecretsConfig
  readonly keys: KeysConfig
  readonly webhooks: WebhooksConfig
  /** Null: no upstream, `usd` is null. */
  readonly price: { readonly url: string; readonly field: string } | null
  readonly log: { readonly level: LogLevel }
  /** What is worth a warning and no mistake: variables that resemble a setting, keys that the next release refuses. */
  readonly hints: readonly Problem[]
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export interface HttpConfig {
  readonly host: string
  /** 0 takes any free port, as metricsPort does. */
  readonly port: number
  readonly metricsHost: string
  /** Null: metrics are not served. */
  readonly metricsPort: number | null
  /** True when METRICS_PORT itself was set: then a taken port is a mistake and is reported. */
  readonly metricsPortSet: boolean
  /** Origin at which callers reach the service, without a trailing slash. */
  readonly publicUrl: string
  /** True when PUBLIC_URL itself was set: then the port in publicUrl must not be corrected. */
  readonly publicUrlSet: boolean
  /** CIDR networks or single addresses. */
  readonly trustedProxies: readonly string[]
  readonly smartWalletLogin: boolean
  /** Origins of the pages that may frame the public pages. */
  readonly frameAncestors: readonly string[]
}

/** All null when the database is embedded. */
export interface DatabaseConfig {
  readonly url: string | null
  /** For locks and LISTEN, past any pooler. */
  readonly directUrl: string | null
  readonly readUrl: string | null
  readonly prepare: boolean
}

export interface ChainConfig {
  /** Empty when the chain is embedded. */
  readonly rpcUrls: readonly string[]
  /** Public; null: there is none. */
  readonly publicRpcUrl: string | null
  /** Null: whatever the RPC says (development only), or embedded. */
  readonly chainId: number | null
  /** Null only when the chain is embedded. */
  readonly factoryAddress: Address | null
  /** Code hash of another version's factory that is trusted; null: only this version's. */
  readonly factoryCodeHash: Hash | null
  /** The sale's former factories; empty: there were none; null: not set. */
  readonly formerFactories: readonly Address[] | null
  /** First block to follow. Null only when the chain is embedded. */
  readonly startBlock: number | null
  /** `guarded`, `finalized`, or a number of confirmations. */
  readonly finality: 'guarded' | 'finalized' | number
  /** Seconds of block time after which a signed transaction can no longer be carried out. */
  readonly validForSec: number
  /** Caps of the gas price, in all and as a tip, wei. Null: the chain's defaults. */
  readonly feeCapWei: Wei | null
  readonly tipMaxWei: Wei | null
  /** Port of the embedded chain; 0 takes any free one. */
  readonly embeddedPort: number
}

export interface PaymentsConfig {
  /** Null: nothing can be bought, except on an embedded chain, which has a payments wallet. */
  readonly address: Address | null
  /** Null: the first tier on sale. */
  readonly quoteTier: string | null
  /** The values of the first tier; null: not set. */
  readonly priceGraceSec: number | null
  readonly holdingRetrySec: number | null
  /** The first mode of a ledger; null: not set. */
  readonly contractWallets: ContractWalletMode | null
}

export interface CreditConfig {
  readonly mode: 'treasury' | 'swaps'
  /** Terms for a ledger without terms; null: not set. */
  readonly named: {
    readonly payouts: boolean
    readonly minWei: Wei
    readonly maxWei: Wei
    readonly intervalSec: number
    readonly slotSec: number
  } | null
}

export interface ScheduleConfig {
  /** The threshold of low funds, in transactions that a signer account can pay for; 0: never low. */
  readonly fundsWarnTransactions: number
  /** Time between two runs of the passes. */
  readonly tickSec: number
  readonly staleAfterSec: number
  /** True if the built-in timer runs the passes. */
  readonly timer: boolean
}

export interface AdminKey {
  /** The actor in the audit log. */
  readonly label: string
  readonly key: string
}

export interface SecretsConfig {
  /** Null only outside production, when it is not set and none was generated. */
  readonly session: string | null
  readonly previousSession: string | null
  /** Empty: the operator's routes do not exist. */
  readonly adminKeys: readonly AdminKey[]
  readonly cronKey: string | null
}

/** Where a signer account's key is. The keystore's text and password, the private key, and what lets one in at a key management service are secret. */
export type KeyConfig =
  | { readonly kind: 'privateKey'; readonly privateKey: `0x${string}` }
  | { readonly kind: 'keystore'; readonly path: string; readonly text: string; readonly password: string }
  | { readonly kind: 'signer'; readonly url: string; readonly address: Address }
  | { readonly kind: 'kms'; readonly key: KmsKey; readonly address: Address }

export interface KeysConfig {
  /** Null: the service follows and reads, but mints nothing. An embedded chain brings its own key. */
  readonly minter: KeyConfig | null
  /** Null: no round is sent. An embedded chain brings its own key. */
  readonly distributor: KeyConfig | null
  /** How the service is let in at key management services. */
  readonly kms: KmsAccess
}

export interface WebhooksConfig {
  /** Endpoints for a ledger that never had any; empty: none. */
  readonly urls: readonly string[]
  /** `whsec_…`, the newest first; events carry a signature of each. */
  readonly secrets: readonly string[]
  /** True if receivers may be in private networks, and reached without TLS. */
  readonly allowPrivate: boolean
  /** The kinds of events of each endpoint, in the order of `urls`; null where the settings do not say. */
  readonly events: readonly Choice[] | null
}

/** Secrets that a service in development generates where they are not set. */
export interface GeneratedSecrets {
  readonly SESSION_SECRET: string
  readonly ADMIN_KEY: string
  readonly CRON_KEY: string
}
