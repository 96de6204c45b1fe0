// Everything that the HTTP surface is given. It reads no environment, opens no connection and knows no key that
// can sign. The composition root builds this once from the configuration.
import type { Readings } from '../chain/port.ts'
import type { LedgerNotifications } from '../db/core/changes.ts'
import type { Pool } from '../db/core/sql.ts'
import type { Address } from '../domain/units.ts'
import type { Log } from '../lib/log.ts'
import type { OperatorDeps } from '../operator/act.ts'
import type { Passes, Syncer } from '../passes/outcomes.ts'
import type { ConnectionLimits, DroppedBecause } from './edge/connections.ts'
import type { StreamLimits } from './events/watches.ts'

export interface HttpDeps {
  /** The primary: for writes (used nonces, the shared price) and readings that must not lag (health, claims). */
  readonly sql: Pool
  /** The public reads; a replica where there is one, else the same pool as `sql`. */
  readonly readSql: Pool
  /** Says when memoised reads are stale. Null: nothing is memoised. */
  readonly changes: LedgerNotifications | null
  /** The chain's own word, null readings where it cannot be had. Null when there is no chain: every reading is null then. */
  readonly readings: Readings | null
  /** Null when the passes cannot run here (no chain): the cron routes and claims answer 503 then. */
  readonly passes: Passes | null
  /** Looks minted nodes up on chain. Null when there is no chain: sync answers 503 then. */
  readonly syncer: Syncer | null
  /** Parts for the operator's acts and readings. Null when there is no chain: they answer 503 then. */
  readonly operator: OperatorDeps | null
  /**
   * Asks the upstream for the ether price once; null when it said nothing usable. Called at most once a minute over all
   * instances. Null when no upstream is configured.
   */
  readonly priceFeed: (() => Promise<number | null>) | null
  /** EIP-55 spelling of an address. */
  readonly checksum: (address: Address) => string
  /**
   * The address (lower case) that signed `message` as an EIP-191 personal message, or null when the signature recovers to
   * none. Local, no RPC. Called with 65-byte signatures only, r and s in range, s low, v 27 or 28.
   */
  readonly recoverSigner: (message: string, signature: `0x${string}`) => Promise<Address | null>
  /**
   * Asks the chain whether a contract wallet (ERC-1271, ERC-6492) accepts the signature; null when it could not be asked.
   * Null itself unless SMART_WALLET_LOGIN is set.
   */
  readonly verifyContractWallet:
    | ((wallet: Address, message: string, signature: `0x${string}`) => Promise<boolean | null>)
    | null
  /**
   * Asks the providers whether a signature that was accepted proves the contract wallet to be somebody's, so that it may buy; null where it
   * does not. Null itself unless SMART_WALLET_LOGIN is set.
   */
  readonly proveContractWallet:
    | ((wallet: Address, message: string, signature: `0x${string}`) => Promise<{ deployed: boolean } | null>)
    | null
  /** Readiness: whether the provider is still on the configured chain; null when it could not be asked, which does not fail it. */
  readonly chainIdMatches: (() => Promise<boolean | null>) | null
  /** True once the service was asked to stop: it is not ready then, and keeps no connection. Left out: never. */
  readonly draining?: () => boolean
  /** Limits of connections. Left out: as many as the open files of this process allow. */
  readonly connections?: Partial<ConnectionLimits>
  /** Limits of event streams. Left out: by the limits of connections. */
  readonly streams?: Partial<StreamLimits>
  /** Counts every answer, every read of the memo, and dropped connections. Left out: no counting. */
  readonly meters?: HttpMeters
  readonly settings: HttpSettings
  /** Milliseconds since 1970 by the machine's clock: for sessions, nonces and displayed times. It may step, or stand. */
  readonly clock: () => number
  /** Monotonic milliseconds, for windows and the age of cached values. */
  readonly monotonicClock: () => number
  readonly log: Log
}

export interface HttpMeters {
  /** `route` is the route's pattern; null where no route was reached. */
  request(seen: { method: string; route: string | null; status: number; seconds: number }): void
  memo(result: 'hit' | 'miss' | 'joined'): void
  dropped(why: DroppedBecause): void
  /** The event streams that are open now. */
  streams(open: number): void
  wrongAdminKey?(): void
}

export interface HttpSettings {
  readonly chainId: number
  readonly factoryAddress: Address | null
  /** Public in the well-known document; null unless the operator means it to be public. */
  readonly publicRpcUrl: string | null
  /** True when the chain is the embedded one. */
  readonly embedded: boolean
  /** Tier that deploy-quote quotes; null: the first on sale. */
  readonly quoteTier: string | null
  /** Null when not configured. */
  readonly cronKey: string | null
  /** Empty when not configured. */
  readonly adminKeys: readonly AdminKey[]
  /** Signs new sessions and nonces. */
  readonly sessionSecret: string
  /** Still accepted while secrets are rotated. */
  readonly previousSessionSecret: string | null
  /** Origin the service is reached at, without a path: domain and URI of the sign-in message. */
  readonly publicUrl: string
  /** Networks whose `x-forwarded-for` is believed, as CIDR or single addresses. */
  readonly trustedProxies: readonly string[]
  /** Origins of the pages that may frame the public pages; with one there is a manifest for it. */
  readonly frameAncestors: readonly string[]
  /** Names, links and brand of this deployment. Left out: nothing of its own. */
  readonly site?: SiteSettings
  /** Cookies carry `Secure` and the `__Host-` prefix. */
  readonly production: boolean
  readonly staleAfterSec: number
  readonly tickSec: number
  readonly distMode: 'treasury' | 'swaps'
  /** Every setting with its effective value, secrets masked: for the operator's eyes. */
  readonly described: Readonly<Record<string, string | null>>
}

/** Texts and links of the pages; null where the operator says nothing and nothing is known. */
export interface SiteSettings {
  readonly chainName: string | null
  /** Without a slash at its end. */
  readonly explorerUrl: string | null
  readonly brand: {
    readonly name: string | null
    /** The text of an SVG. */
    readonly logo: string | null
    readonly color: string | null
    readonly contact: string | null
    readonly termsUrl: string | null
  }
}

export interface AdminKey {
  /** The actor in the audit log. */
  readonly label: string
  readonly key: string
}
