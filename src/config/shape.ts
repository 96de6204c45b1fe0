// The configuration as the rest of the program sees it: typed, checked, frozen. Holds no rule and no default.
import type { Address, Hash, Wei } from '../domain/units.ts'
import type { Problem } from './source.ts'

export interface Config {
  /** NODE_ENV=production: nothing embedded runs, secrets must be strong, cookies are Secure. */
  readonly production: boolean
  /** Which missing parts the service brings itself. Both false in production. */
  readonly embedded: { readonly database: boolean; readonly chain: boolean }
  /** Where embedded parts and generated secrets live. */
  readonly dataDir: string
  readonly http: HttpConfig
  readonly database: DatabaseConfig
  readonly chain: ChainConfig
  readonly payments: PaymentsConfig
  readonly credit: CreditConfig
  readonly schedule: ScheduleConfig
  readonly secrets: SecretsConfig
  readonly keys: KeysConfig
  readonly webhooks: WebhooksConfig
  /** Null: no upstream, `usd` is null. */
  readonly price: { readonly url: string; readonly field: string } | null
  readonly log: { readonly level: LogLevel }
  /** Variables that look like a mistyped setting: worth a warning, no mistake. */
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
  /** True when METRICS_PORT itself was set: then a taken port is a mistake to be told, and no accident. */
  readonly metricsPortSet: boolean
  /** Origin that callers reach the service at, without a slash at the end. */
  readonly publicUrl: string
  /** True when PUBLIC_URL itself was set: then the port in publicUrl is not ours to correct. */
  readonly publicUrlSet: boolean
  /** CIDR networks or single addresses. */
  readonly trustedProxies: readonly string[]
  readonly smartWalletLogin: boolean
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
  /** Shown to everybody; null: none is. */
  readonly publicRpcUrl: string | null
  /** Null: whatever the RPC says (development only), or embedded. */
  readonly chainId: number | null
  /** Null only when the chain is embedded. */
  readonly factoryAddress: Address | null
  /** Code hash of a factory of another version that is trusted by name; null: only this version's. */
  readonly factoryCodeHash: Hash | null
  /** Factories that the sale has had before this one; empty: there was none; null: not said. */
  readonly formerFactories: readonly Address[] | null
  /** First block to follow. Null only when the chain is embedded. */
  readonly startBlock: number | null
  /** `guarded`, `finalized`, or a number of confirmations. */
  readonly finality: 'guarded' | 'finalized' | number
  /** Seconds of block time after which a transaction that was signed can no longer be carried out. */
  readonly validForSec: number
  /** Most that is offered per gas, in all and as a tip, wei. Null: what is usual on the chain. */
  readonly feeCapWei: Wei | null
  readonly tipMaxWei: Wei | null
  /** Port of the embedded chain; 0 takes any free one. */
  readonly embeddedPort: number
}

export interface PaymentsConfig {
  /** Null: nothing can be bought, unless the chain is embedded, which has a payments wallet. */
  readonly address: Address | null
  /** Null: the first tier on sale. */
  readonly quoteTier: string | null
  /** What the first tier is entered with; null: not named. */
  readonly priceGraceSec: number | null
  readonly holdingRetrySec: number | null
}

export interface CreditConfig {
  readonly mode: 'treasury' | 'swaps'
  /** Terms for a ledger that has none; null: the environment names none. */
  readonly named: {
    readonly payouts: boolean
    readonly minWei: Wei
    readonly maxWei: Wei
    readonly intervalSec: number
    readonly slotSec: number
  } | null
}

export interface ScheduleConfig {
  /** A sender's funds are low when they pay for fewer transactions than this; 0: never. */
  readonly fundsWarnTransactions: number
  /** Time between two runs of the passes. */
  readonly tickSec: number
  readonly staleAfterSec: number
  /** Whether the built-in timer runs the passes. */
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
  /** Empty: the operator's routes are not there. */
  readonly adminKeys: readonly AdminKey[]
  readonly cronKey: string | null
}

/** Where a key that sends is. The keystore's text and password, and the private key, are secret. */
export type KeyConfig =
  | { readonly kind: 'privateKey'; readonly privateKey: `0x${string}` }
  | { readonly kind: 'keystore'; readonly path: string; readonly text: string; readonly password: string }
  | { readonly kind: 'signer'; readonly url: string; readonly address: Address }

export interface KeysConfig {
  /** Null: the service follows and reads, but mints nothing (when the chain is embedded, its own key is used). */
  readonly minter: KeyConfig | null
  /** Null: no round is sent (when the chain is embedded, its own key is used). */
  readonly distributor: KeyConfig | null
}

export interface WebhooksConfig {
  /** Endpoints for a ledger that never had any; empty: none are named. */
  readonly urls: readonly string[]
  /** `whsec_…`, the newest first; events carry a signature of each. */
  readonly secrets: readonly string[]
  /** Whether receivers may be in private networks, and spoken to without TLS. */
  readonly allowPrivate: boolean
}

/** What a service in development makes for itself when it is not set. */
export interface GeneratedSecrets {
  readonly SESSION_SECRET: string
  readonly ADMIN_KEY: string
  readonly CRON_KEY: string
}
