// The rules between settings: which belong together, and which exclude each other. The parsers (table.ts) check each setting on its own. If a setting
// already has a mistake, it is not checked here.

import { refuseTerms } from '../domain/rounds/terms.ts'
import { isSigned } from '../domain/webhooks/receiver.ts'
import { type Config, termsOf } from './derived.ts'
import type { SettingName, Settings } from './names.ts'
import { isLoopback } from './service.ts'
import type { Source } from './source.ts'
import { BETWEEN_CHOICES, REMEDY } from './webhooks.ts'

const EMBEDDED_CHAIN_ID = 31_337

/** Notes every mistake that concerns more than one setting. */
export function checkRules(values: Settings, source: Source, embeddedParts: Config['embedded']): void {
  checkPublicUrl(values, source)
  checkDatabase(source)
  checkChain(values, source, embeddedParts.chain)
  checkWallet(values, source)
  checkTerms(values, source, embeddedParts.chain)
  checkSecrets(values, source)
  checkPlaces(source, 'MINTER')
  checkPlaces(source, 'DISTRIBUTOR')
  checkTwoKeys(values, source)
  checkWebhooks(values, source)
  checkPrice(source)
  checkPorts(values, source, embeddedParts.chain)
}

/** We do not take the origin of the sign-in message from a request, because any client can choose its Host. */
function checkPublicUrl({ HOST }: Settings, source: Source): void {
  if (source.get('PUBLIC_URL') !== null || source.environment !== 'production' || isLoopback(HOST)) return
  source.refuse(
    'PUBLIC_URL',
    `is required in production when HOST is ${HOST}: set it to the https://… that wallets see`,
  )
}

function checkDatabase(source: Source): void {
  for (const name of ['DATABASE_DIRECT_URL', 'DATABASE_READ_URL'] as const) {
    if (source.isSet(name) && !source.isSet('DATABASE_URL')) {
      source.refuse(name, 'is set but DATABASE_URL is not: set that one, too, or remove it')
    }
  }
}

/** The embedded chain has its own factory and chain id. So settings that name others were meant for a real chain. */
function checkChain({ CHAIN_ID }: Settings, source: Source, isEmbedded: boolean): void {
  if (!isEmbedded) {
    if (source.environment === 'production' || !source.isSet('RPC_URL') || source.isSet('FACTORY_ADDRESS')) return
    source.refuse(
      'FACTORY_ADDRESS',
      'is required with RPC_URL: "node-ledger deploy" deploys a factory and prints its address',
    )
    return
  }
  const remedy = 'set RPC_URL to a node of that chain, or remove this setting to use the embedded one'
  for (const name of ['FACTORY_ADDRESS', 'START_BLOCK'] as const) {
    if (source.isSet(name)) source.refuse(name, `is set but RPC_URL is not: ${remedy}`)
  }
  if (CHAIN_ID !== null && CHAIN_ID !== EMBEDDED_CHAIN_ID) {
    source.refuse(
      'CHAIN_ID',
      `is ${CHAIN_ID} but RPC_URL is not set, and the embedded chain's is ${EMBEDDED_CHAIN_ID}: ${remedy}`,
    )
  }
}

function checkWallet({ PAYMENT_ADDRESS, FACTORY_ADDRESS }: Settings, source: Source): void {
  if (PAYMENT_ADDRESS !== null && PAYMENT_ADDRESS === FACTORY_ADDRESS) {
    source.refuse(
      'PAYMENT_ADDRESS',
      'is the factory itself: set it to a wallet of your own that accepts plain transfers',
    )
  }
}

/** The settings that make up the credit terms, by their field. Either all of them are set, or none. */
const TERMS = {
  payouts: 'DIST_ENABLED',
  minWei: 'CREDIT_MIN_WEI',
  maxWei: 'CREDIT_MAX_WEI',
  intervalSec: 'CREDIT_INTERVAL_SEC',
  slotSec: 'CREDIT_SLOT_SEC',
} as const
const NAMES: Readonly<Record<string, string>> = { ...TERMS, zero: '"node-ledger terms set --zero"' }
/** We know neither the contract nor the tiers yet. The start checks with these too. */
const LIMITS = { leastIntervalSec: 1, payoutBps: [], zeroAllowed: false }

/** Checks the credit terms. On an embedded chain they have defaults. */
function checkTerms(values: Settings, source: Source, isEmbedded: boolean): void {
  const names = Object.values(TERMS)
  const missing = names.filter((name) => !source.isSet(name))
  if (!isEmbedded && missing.length < names.length)
    for (const name of missing)
      source.refuse(
        name,
        `is missing: set all of ${names.join(', ')}, or none, because together they are the terms of a new ledger`,
      )
  const terms = termsOf(values)
  if (terms === null || !source.isFine(...names)) return
  for (const { field, text } of refuseTerms(terms, LIMITS, (name) => NAMES[name] ?? name))
    source.refuse(TERMS[field], text)
}

/** A secret that leaks must not also give access as another secret. */
function checkSecrets(values: Settings, source: Source): void {
  const { SESSION_SECRET: session, SESSION_SECRET_PREVIOUS: previous, CRON_KEY: cronKey } = values
  const adminKeys = (values.ADMIN_KEY ?? []).map(({ key }) => key)
  if (session !== null && session === previous) {
    source.refuse('SESSION_SECRET_PREVIOUS', 'is SESSION_SECRET itself: remove it, or set it to the previous secret')
  }
  if (cronKey !== null && (cronKey === session || adminKeys.includes(cronKey))) {
    source.refuse(
      'CRON_KEY',
      'is also used elsewhere, so the operator of the scheduler would know that secret: use another',
    )
  }
  if (session !== null && adminKeys.includes(session)) {
    source.refuse('ADMIN_KEY', 'is also SESSION_SECRET, so every operator could sign in as any wallet: use another')
  }
}

/** Checks that a key is in one place, and that the settings for that place are complete. */
function checkPlaces(source: Source, role: 'MINTER' | 'DISTRIBUTOR'): void {
  const places = [`${role}_PRIVATE_KEY`, `${role}_SIGNER_URL`, `${role}_KMS_KEY`] as const
  const [first, second] = places.filter((name) => source.isSet(name))
  if (first && second) source.refuse(second, `and ${first} are both set: keep only one of them`)
  const owner = source.isSet(`${role}_KMS_KEY`) ? (`${role}_KMS_KEY` as const) : (`${role}_SIGNER_URL` as const)
  const name = `${role}_ADDRESS` as const
  if (source.isSet(owner) && !source.isSet(name)) source.refuse(name, `is missing: ${owner} needs it`)
  if (source.isSet(name) && !source.isSet(owner)) source.refuse(name, `is set but ${owner} is not: set both or neither`)
}

/** Here we compare settings of one kind. At start, the accounts of both keys are compared wherever the keys are. */
function checkTwoKeys(values: Settings, source: Source): void {
  for (const kind of ['PRIVATE_KEY', 'ADDRESS'] as const) {
    const [own, other] = [`DISTRIBUTOR_${kind}`, `MINTER_${kind}`] as const
    if (values[own] !== null && values[own] === values[other])
      source.refuse(own, `is also ${other}: use two accounts, one for each role`)
  }
}

function checkWebhooks(values: Settings, source: Source): void {
  const { WEBHOOK_URL, WEBHOOK_EVENTS, WEBHOOK_ALLOW_PRIVATE } = values
  const urls = WEBHOOK_URL ?? []
  if (urls.some(isSigned) && !source.isSet('WEBHOOK_SECRET'))
    source.refuse('WEBHOOK_SECRET', `is missing: receivers verify your events with it. To set it, ${REMEDY}`)
  for (const name of ['WEBHOOK_SECRET', 'WEBHOOK_EVENTS'] as const)
    if (source.isSet(name) && !source.isSet('WEBHOOK_URL')) source.refuse('WEBHOOK_URL', `is missing: ${name} needs it`)
  if (!WEBHOOK_ALLOW_PRIVATE && urls.some((url) => url.startsWith('http:'))) {
    source.refuse(
      'WEBHOOK_URL',
      'is not https: use https://…, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network',
    )
  }
  const choices = WEBHOOK_EVENTS?.length ?? 0
  if (urls.length > 0 && choices > 1 && choices !== urls.length)
    source.refuse(
      'WEBHOOK_EVENTS',
      `has ${choices} choices for ${urls.length} endpoints: give one for all of WEBHOOK_URL, or one for each in its order, separated by ${BETWEEN_CHOICES}`,
    )
}

function checkPrice(source: Source): void {
  for (const [name, other] of [
    ['PRICE_URL', 'PRICE_FIELD'],
    ['PRICE_FIELD', 'PRICE_URL'],
  ] as const)
    if (source.isSet(other) && !source.isSet(name)) source.refuse(name, `is missing: ${other} needs it`)
}

/** Checked here, because otherwise a clash would show only when the second part fails to listen. */
function checkPorts({ PORT, METRICS_PORT, CHAIN_PORT }: Settings, source: Source, embeddedChain: boolean): void {
  const ports: [SettingName, number][] = [['PORT', PORT]]
  if (METRICS_PORT !== 'off') ports.push(['METRICS_PORT', METRICS_PORT])
  if (embeddedChain) ports.push(['CHAIN_PORT', CHAIN_PORT])
  for (const [i, [name, port]] of ports.entries()) {
    const other = ports.slice(0, i).find(([, otherPort]) => otherPort === port && port !== 0)
    if (other !== undefined) source.refuse(name, `is ${port}, and so is ${other[0]}: set them to different ports`)
  }
}
