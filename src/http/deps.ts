// Everything that the HTTP surface needs, built once by the composition root from the configuration. The surface reads no environment, opens no
// connection, and has no key that can sign.

import type { LedgerNotifications } from '../db/core/changes.ts'
import type { Pool } from '../db/core/sql.ts'
import type { Address } from '../domain/units.ts'
import type { Log } from '../lib/log.ts'
import type { OperatorDeps } from '../operator/act.ts'
import type { Readings } from '../ports/contract.ts'
import type { Passes, Syncer } from '../ports/outcomes.ts'
import type { ConnectionLimits, DroppedBecause } from './edge/connections.ts'
import type { StreamLimits } from './events/watches.ts'

export interface HttpDeps {
  /** The primary: for writes (used nonces, the shared price) and readings that must not lag (health, claims). */
  readonly sql: Pool
  /** The public reads: a replica if there is one, else the same pool as `sql`. */
  readonly readSql: Pool
  /** Reports when memoised reads are stale. If null, nothing is memoised. */
  readonly changes: LedgerNotifications | null
  /** The chain's own readings; each is null if it failed, and none is late. */
  readonly readings: Readings
  readonly passes: Passes
  /** Looks up minted nodes on the chain. */
  readonly syncer: Syncer
  /** Parts for the operator's acts and readings. */
  readonly operator: OperatorDeps
  /**
   * Asks the upstream for the ether price once; null if it returned nothing usable. Called at most once a minute, counted over all instances. Null if
   * no upstream is configured.
   */
  readonly priceFeed: (() => Promise<number | null>) | null
  /** EIP-55 spelling of an address. */
  readonly checksum: (address: Address) => string
  /**
   * The address (lower case) that signed `message` as an EIP-191 personal message; null if the signature recovers to no address. Runs locally,
   * without RPC. We only pass canonical 65-byte signatures: r and s in range, s low, v 27 or 28.
   */
  readonly recoverSigner: (message: string, signature: `0x${string}`) => Promise<Address | null>
  /**
   * Asks the chain whether a contract wallet (ERC-1271, ERC-6492) accepts the signature; null if we could not reach the chain. The function itself is
   * null unless SMART_WALLET_LOGIN is set.
   */
  readonly verifyContractWallet:
    | ((wallet: Address, message: string, signature: `0x${string}`) => Promise<boolean | null>)
    | null
  /**
   * Asks the providers whether an accepted signature proves that someone controls the contract wallet, which may then buy; null if not. The function
   * itself is null unless SMART_WALLET_LOGIN is set.
   */
  readonly proveContractWallet:
    | ((wallet: Address, message: string, signature: `0x${string}`) => Promise<{ deployed: boolean } | null>)
    | null
  /** Whether the provider is still on the configured chain, for readiness. Throws if it does not answer, which does not fail readiness. */
  readonly chainIdMatches: () => Promise<boolean>
  /** True once the service is stopping. Then it is not ready, and keeps no connection open. Left out if it never stops. */
  readonly draining?: () => boolean
  /** Limits of connections. If left out, derived from how many files this process may open. */
  readonly connections?: Partial<ConnectionLimits>
  /** Limits of event streams. If left out, derived from the limits of connections. */
  readonly streams?: Partial<StreamLimits>
  /** Counts every answer, every read of the memo, and dropped connections. If left out, nothing is counted. */
  readonly meters?: HttpMeters
  readonly settings: HttpSettings
  /** Milliseconds since 1970 by the machine's clock, for sessions, nonces and displayed times. It may jump or stop. */
  readonly clock: () => number
  /** Monotonic milliseconds, for windows and the age of cached values. */
  readonly monotonicClock: () => number
  readonly log: Log
}

export interface HttpMeters {
  /** `route` is the route's pattern; null if none matched. */
  request(seen: { method: string; route: string | null; status: number; seconds: number }): void
  memo(result: 'hit' | 'miss' | 'joined'): void
  dropped(why: DroppedBecause): void
  /** Reports how many event streams are open. */
  streams(open: number): void
  wrongAdminKey?(): void
}

export interface HttpSettings {
  readonly chainId: number
  readonly factoryAddress: Address | null
  /** Published in the well-known document; null unless the operator wants it public. */
  readonly publicRpcUrl: string | null
  /** True if the chain is the embedded one. */
  readonly embedded: boolean
  /** The tier that deploy-quote quotes; null for the first on sale. */
  readonly quoteTier: string | null
  /** The key of the cron routes; null if not configured. */
  readonly cronKey: string | null
  /** The keys in ADMIN_KEY; empty if not configured. */
  readonly adminKeys: readonly AdminKey[]
  /** Signs new sessions and nonces. */
  readonly sessionSecret: string
  /** The previous secret, still accepted while secrets are rotated. */
  readonly previousSessionSecret: string | null
  /** Origin of the service's public URL, without a path: domain and URI of the sign-in message. */
  readonly publicUrl: string
  /** Networks whose `x-forwarded-for` we trust, as CIDR or single addresses. */
  readonly trustedProxies: readonly string[]
  /** Origins of the pages that may frame the public pages. If there is any, we serve a manifest for them. */
  readonly frameAncestors: readonly string[]
  /** This deployment's own names, links and brand. Left out if it has none. */
  readonly site?: SiteSettings
  /** True in production: cookies then carry `Secure` and the `__Host-` prefix. */
  readonly production: boolean
  readonly staleAfterSec: number
  readonly tickSec: number
  readonly distMode: 'treasury' | 'swaps'
  /** Every setting with its effective value, secrets masked. Only operators see it. */
  readonly described: Readonly<Record<string, string | null>>
}

/** Texts and links for the pages. Each is null if neither the operator nor the table of known chains provides it. */
export interface SiteSettings {
  readonly chainName: string | null
  /** The explorer's URL, without a trailing slash. */
  readonly explorerUrl: string | null
  readonly brand: {
    readonly name: string | null
    /** The logo, as the text of an SVG. */
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
