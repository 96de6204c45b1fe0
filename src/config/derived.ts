// What is derived from several settings: the keys that send, the terms of a new ledger, the webhook endpoints. The settings are already parsed.
import type { KmsKey } from '../chain/send/kms/key.ts'
import type { TermsContent } from '../domain/rounds/terms.ts'
import type { FirstSaleTerms } from '../domain/tiers.ts'
import type { Address } from '../domain/units.ts'
import { ALL, type Choice } from '../domain/webhooks/choice.ts'
import { KNOWN_CHAINS } from './known-chains.ts'
import type { SettingName, Settings } from './names.ts'
import type { Problem } from './source.ts'

/** The configuration as the program sees it: every setting by its name, and what is derived from the settings. */
export interface Config extends Settings {
  /** NODE_ENV=production: nothing embedded runs, secrets must be strong, cookies are Secure. */
  readonly production: boolean
  /** True for a part that is missing, so that the service embeds it. Both are false in production. */
  readonly embedded: { readonly database: boolean; readonly chain: boolean }
  /** The names of the settings that the operator has set, as opposed to defaults. */
  readonly namedSettings: readonly SettingName[]
  readonly keys: KeysConfig
  readonly webhooks: WebhooksConfig
  /** Credit terms for a ledger that has none; null if the settings do not name any. */
  readonly namedTerms: TermsContent | null
  readonly firstSaleTerms: FirstSaleTerms
  /** The worker counts as stale if its last good run is older than this, in seconds. */
  readonly staleAfterSec: number
  /** Where to get the price of ether, and the field to read there; null if not set. Without it, all `usd` fields are null. */
  readonly price: { readonly url: string; readonly field: string } | null
  /** Warnings rather than mistakes: variables that look like a misspelt setting, settings of earlier releases, keys that the next one will refuse. */
  readonly hints: readonly Problem[]
}

/** Where a signer account's key is. The private key is secret, and so is the signer's URL. */
export type KeyConfig =
  | { readonly kind: 'privateKey'; readonly privateKey: `0x${string}` }
  | { readonly kind: 'signer'; readonly url: string; readonly address: Address }
  | { readonly kind: 'kms'; readonly key: KmsKey; readonly address: Address }

export interface KeysConfig {
  /** Null if the service only follows and reads, and mints nothing. An embedded chain brings its own key. */
  readonly minter: KeyConfig | null
  /** Null if the service sends no rounds. An embedded chain brings its own key. */
  readonly distributor: KeyConfig | null
}

export interface WebhooksConfig {
  /** URLs for a ledger that never had endpoints; empty if there are none. */
  readonly urls: readonly string[]
  /** Signing secrets (`whsec_…`), the newest first. An event is signed with every one of them. */
  readonly secrets: readonly string[]
  /** True if receivers may be in private networks, and may do without TLS. */
  readonly allowPrivate: boolean
  /** The kinds of events for each endpoint, in the order of `urls`; null if not set. */
  readonly events: readonly Choice[] | null
}

/** A run may take longer than a tick, and a scheduler may be late, so we allow for some. */
const STALE_TICKS = 5
/** A provider may be away for this long before anybody must look. */
const STALE_SEC_MIN = 300

/** Derives what depends on several settings. */
export function derive(
  values: Settings,
): Pick<Config, 'keys' | 'webhooks' | 'namedTerms' | 'firstSaleTerms' | 'staleAfterSec' | 'price'> {
  const { PRICE_URL: url, PRICE_FIELD: field } = values
  return {
    keys: {
      minter: keyOf(values, 'MINTER'),
      distributor: keyOf(values, 'DISTRIBUTOR'),
    },
    webhooks: webhooksOf(values),
    namedTerms: termsOf(values),
    firstSaleTerms: { priceGraceSec: values.PRICE_GRACE_SEC, holdingRetrySec: values.HOLDING_RETRY_SEC },
    staleAfterSec: Math.max(STALE_SEC_MIN, STALE_TICKS * values.TICK_SEC),
    price: url === null || field === null ? null : { url, field },
  }
}

function keyOf(values: Settings, role: 'MINTER' | 'DISTRIBUTOR'): KeyConfig | null {
  const { [`${role}_PRIVATE_KEY` as const]: privateKey, [`${role}_SIGNER_URL` as const]: url } = values
  const { [`${role}_KMS_KEY` as const]: key, [`${role}_ADDRESS` as const]: address } = values
  if (privateKey) return { kind: 'privateKey', privateKey }
  if (url && address) return { kind: 'signer', url, address }
  return key && address && { kind: 'kms', key, address }
}

/** The terms that the settings name; null unless all of them are set. */
export function termsOf(values: Settings): TermsContent | null {
  const { DIST_ENABLED: payouts, CREDIT_MIN_WEI: minWei, CREDIT_MAX_WEI: maxWei } = values
  const { CREDIT_INTERVAL_SEC: intervalSec, CREDIT_SLOT_SEC: slotSec } = values
  const isNamed = payouts !== null && minWei !== null && maxWei !== null && intervalSec !== null && slotSec !== null
  return isNamed ? { payouts, minWei, maxWei, intervalSec, slotSec } : null
}

function webhooksOf(values: Settings): WebhooksConfig {
  const urls = values.WEBHOOK_URL ?? []
  const choices = values.WEBHOOK_EVENTS
  return {
    urls,
    secrets: values.WEBHOOK_SECRET ?? [],
    allowPrivate: values.WEBHOOK_ALLOW_PRIVATE,
    // If there is a single choice, it applies to all endpoints. If there are several, each applies to one endpoint, in order.
    events: choices && urls.length > 0 ? urls.map((_, i) => choices[i] ?? choices[0] ?? [ALL]) : null,
  }
}

/** What blocks of a chain are worth, if we know it; otherwise each ledger finds that out. */
export const modeOn = (chainId: number) => KNOWN_CHAINS.get(chainId)?.mode ?? null

/** What people see: the chain's name, if we know its id; the explorer of the settings, or else the one that we know; the seller. */
export function siteOn(config: Settings, chainId: number) {
  const knownChain = KNOWN_CHAINS.get(chainId)
  return {
    chainName: knownChain?.name ?? null,
    explorerUrl: config.EXPLORER_URL ?? knownChain?.explorerUrl ?? null,
    brand: {
      name: config.BRAND_NAME,
      logo: config.BRAND_LOGO?.svg ?? null,
      color: config.BRAND_COLOR,
      contact: config.BRAND_CONTACT,
      termsUrl: config.TERMS_URL,
    },
  }
}
