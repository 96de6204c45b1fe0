// The rules for secrets: length, strength, the keys of several operators, and what production refuses. It must never repeat a secret, nor
// use a generated one in production.
import { OUR_NAMES } from '../domain/keys/admin-key.ts'
import type { SecretSetting } from './names.ts'
import type { AdminKey, GeneratedSecrets, SecretsConfig } from './shape.ts'
import type { Source } from './source.ts'
import { weaknessOf } from './weak.ts'

/** 128 bits, even when each character carries only one hex digit's worth: the least of a secret in production. */
const SECRET_CHARS_MIN = 32
/**
 * The least of an operator's key. They can be tried online only, 20 wrong ones a minute. Production accepts from 16 characters what earlier
 * versions accepted, and warns below 32; the next release refuses that. In development few characters keep guesses out of a loopback.
 */
const KEY_CHARS_MIN = { production: 16, otherwise: 8 }
/** The maximum number of operators; a longer list is a paste gone wrong. */
const ADMIN_KEYS_MAX = 50
/** Header values: printable, no spaces. A comma would end an ADMIN_KEY. */
const KEY_FORM = /^[\x21-\x2b\x2d-\x7e]+$/
const LABELLED = /^([A-Za-z0-9][A-Za-z0-9._-]{0,31}):(.*)$/

export function readSecrets(source: Source, generated: GeneratedSecrets | undefined): SecretsConfig {
  const production = source.environment === 'production'
  const spare = production ? undefined : generated
  const secrets: SecretsConfig = {
    session: readSession(source, 'SESSION_SECRET') ?? spare?.SESSION_SECRET ?? null,
    previousSession: readSession(source, 'SESSION_SECRET_PREVIOUS'),
    adminKeys: readAdminKeys(source) ?? (spare ? [{ label: 'admin', key: spare.ADMIN_KEY }] : []),
    cronKey: readCronKey(source) ?? spare?.CRON_KEY ?? null,
  }
  if (production && !source.isSet('SESSION_SECRET')) {
    source.refuse(
      'SESSION_SECRET',
      `is required in production: set it to ${SECRET_CHARS_MIN} random characters or more, for example of "openssl rand -hex 32"`,
    )
  }
  checkDistinct(source, secrets)
  return secrets
}

function readSession(source: Source, name: 'SESSION_SECRET' | 'SESSION_SECRET_PREVIOUS'): string | null {
  const text = source.get(name)
  if (text === null) return null
  if (text.length < SECRET_CHARS_MIN) {
    source.refuse(name, `is ${text.length} characters long, ${SECRET_CHARS_MIN} are the least`)
  } else checkStrength(source, name, text, SECRET_CHARS_MIN)
  return text
}

function readCronKey(source: Source): string | null {
  const key = source.get('CRON_KEY')
  if (key !== null) checkKey(source, 'CRON_KEY', key)
  return key
}

/** Null when not set. Several are separated by commas or lines, each a `label:key` or a bare key, which is `admin`'s. */
function readAdminKeys(source: Source): AdminKey[] | null {
  const text = source.get('ADMIN_KEY')
  if (text === null) return null
  const keys = text
    .split(/[,\r\n]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part): AdminKey => {
      const [, label = 'admin', key = part] = LABELLED.exec(part) ?? []
      return { label, key }
    })
  if (keys.length > ADMIN_KEYS_MAX)
    source.refuse('ADMIN_KEY', `holds ${keys.length} keys, ${ADMIN_KEYS_MAX} are the most`)
  if (new Set(keys.map(({ label }) => label)).size < keys.length) {
    source.refuse('ADMIN_KEY', 'names a label twice: give each of its keys a label of its own, as label:key')
  }
  for (const { label } of keys) {
    if (OUR_NAMES.includes(label))
      source.refuse('ADMIN_KEY', `has the label ${label}, by which the service calls itself: give that key another`)
  }
  if (new Set(keys.map(({ key }) => key)).size < keys.length) {
    source.refuse('ADMIN_KEY', 'holds a key twice: the audit log could not distinguish its labels')
  }
  for (const { key } of keys) checkKey(source, 'ADMIN_KEY', key)
  return keys
}

function checkKey(source: Source, name: 'ADMIN_KEY' | 'CRON_KEY', key: string): void {
  if (!KEY_FORM.test(key)) {
    source.refuse(name, 'cannot travel in a header: use letters, digits and signs only, no spaces or commas')
  } else if (source.environment === 'production') checkProductionKey(source, name, key)
  else if (key.length < KEY_CHARS_MIN.otherwise)
    source.refuse(name, `is ${key.length} characters long, ${KEY_CHARS_MIN.otherwise} are the least`)
}

function checkProductionKey(source: Source, name: 'ADMIN_KEY' | 'CRON_KEY', key: string): void {
  checkStrength(source, name, key, KEY_CHARS_MIN.production)
  const isShort = key.length < SECRET_CHARS_MIN
  if (isShort && source.isFine(name))
    source.warn(
      name,
      `holds a key of ${key.length} characters, and the next release takes no less than ${SECRET_CHARS_MIN}: use a random one, for example of "openssl rand -hex 32"`,
    )
}

function checkStrength(source: Source, name: SecretSetting, secret: string, lengthMin: number): void {
  const weakness = source.environment === 'production' ? weaknessOf(secret, lengthMin) : null
  if (weakness !== null) source.refuse(name, weakness)
}

/** A leak of one must not open the other. */
function checkDistinct(source: Source, secrets: SecretsConfig): void {
  const { session, previousSession, adminKeys, cronKey } = secrets
  if (session !== null && session === previousSession) {
    source.refuse('SESSION_SECRET_PREVIOUS', 'is SESSION_SECRET itself: remove it, or set it to the previous secret')
  }
  if (cronKey !== null && (cronKey === session || adminKeys.some(({ key }) => key === cronKey))) {
    source.refuse('CRON_KEY', 'is used elsewhere too: the operator of the scheduler would hold that secret as well')
  }
  if (adminKeys.some(({ key }) => key === session)) {
    source.refuse('ADMIN_KEY', 'is SESSION_SECRET too: every operator could sign in as any wallet')
  }
}
