// The settings that are secrets: their length, their strength, and the keys of several operators. It must never repeat a secret.
import { OUR_NAMES } from '../domain/keys/admin-key.ts'
import type { Ask, Parse, SettingGroup } from './setting.ts'
import { weaknessOf } from './weak.ts'

/** The fewest characters of a secret in production. Even as hex digits, that many hold 128 bits. */
const SECRET_CHARS_MIN = 32
/**
 * The fewest characters of an operator's key. So few are enough, because attackers can only try keys online, 20 wrong ones a minute. Production still
 * accepts keys of 16 characters, as earlier versions did. It warns about keys of less than 32, which the next release will refuse. On loopback in
 * development, a few characters are enough.
 */
const KEY_CHARS_MIN = { production: 16, otherwise: 8 }
/** The most operators. A longer list was probably pasted by mistake. */
const ADMIN_KEYS_MAX = 50
/** A key must fit into a header: printable characters, no spaces. A comma would end it, because ADMIN_KEY is a list. */
const KEY_FORM = /^[\x21-\x2b\x2d-\x7e]+$/
const LABELLED = /^([A-Za-z0-9][A-Za-z0-9._-]{0,31}):(.*)$/

export interface AdminKey {
  /** The name of the actor in the audit log. */
  readonly label: string
  readonly key: string
}

const sessionSecret: Parse<string> = (input, ask) => {
  const weakness = ask.production ? weaknessOf(input, SECRET_CHARS_MIN) : null
  if (input.length < SECRET_CHARS_MIN)
    ask.refuse(`has ${input.length} characters, but needs at least ${SECRET_CHARS_MIN}`)
  else if (weakness !== null) ask.refuse(weakness)
  return input
}

const key: Parse<string> = (input, ask) => {
  checkKey(input, ask)
  return input
}

/** Several keys are separated by commas or lines. Each is `label:key`, or just a key, which gets the label `admin`. */
const adminKeys: Parse<readonly AdminKey[]> = (input, ask) => {
  const keys = input
    .split(/[,\r\n]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part): AdminKey => {
      const [, label = 'admin', key = part] = LABELLED.exec(part) ?? []
      return { label, key }
    })
  if (keys.length > ADMIN_KEYS_MAX) ask.refuse(`has ${keys.length} keys, but at most ${ADMIN_KEYS_MAX} are allowed`)
  if (new Set(keys.map(({ label }) => label)).size < keys.length) {
    ask.refuse('has a label twice: give each key its own label, as label:key')
  }
  for (const { label } of keys) {
    if (OUR_NAMES.includes(label))
      ask.refuse(`has the label ${label}, which the service uses itself: choose another label`)
  }
  if (new Set(keys.map(({ key }) => key)).size < keys.length) {
    ask.refuse('has a key twice: the audit log could not distinguish its labels')
  }
  for (const { key } of keys) checkKey(key, ask)
  return keys
}

function checkKey(key: string, ask: Ask): void {
  const least = ask.production ? KEY_CHARS_MIN.production : KEY_CHARS_MIN.otherwise
  const weakness = ask.production ? weaknessOf(key, least) : null
  if (!KEY_FORM.test(key)) {
    ask.refuse('cannot be sent in a header: use only letters, digits and signs, no spaces or commas')
  } else if (weakness !== null) ask.refuse(weakness)
  else if (key.length < least) ask.refuse(`has ${key.length} characters, but needs at least ${least}`)
  else if (ask.production && key.length < SECRET_CHARS_MIN)
    ask.warn(
      `has a key of ${key.length} characters, and the next release will require ${SECRET_CHARS_MIN}: use a random one, for example from "openssl rand -hex 32"`,
    )
}

export const SECRETS = {
  title: 'Secrets',
  text: 'In development the service generates those that you do not set (except `SESSION_SECRET_PREVIOUS`), and keeps them in `DATA_DIR/secrets.json`. `openssl rand -hex 32` makes a good one.',
  settings: {
    SESSION_SECRET: {
      parse: sessionSecret,
      secret: true,
      otherwise: 'generated; required in production',
      required: 'set it to 32 random characters or more, for example from "openssl rand -hex 32"',
      text: 'Signs sessions; at least 32 characters.',
    },
    SESSION_SECRET_PREVIOUS: {
      parse: sessionSecret,
      secret: true,
      text: 'The previous `SESSION_SECRET`. Its sessions stay valid while you rotate.',
    },
    ADMIN_KEY: {
      parse: adminKeys,
      show: (keys: readonly AdminKey[]) => keys.map(({ label }) => `${label}:***`).join(','),
      secret: true,
      otherwise: 'generated; in production none',
      text: 'Opens all of `/api/admin`, even while the database is down. `node-ledger admin-keys create` makes further keys in the ledger. Without any key the service does not serve `/api/admin`. Write several as `label:key`, separated by commas (in a file also by lines); the audit log shows the label. At least 32 random characters; in development 8 suffice.',
    },
    CRON_KEY: {
      parse: key,
      secret: true,
      otherwise: 'generated; in production none, so the routes stay closed',
      text: 'Opens `/api/cron/payments` and `/api/cron/credit`. At least as long as an `ADMIN_KEY`.',
    },
  },
} satisfies SettingGroup
