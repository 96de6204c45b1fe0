// Texts that this service signs for itself, with keys derived from SESSION_SECRET. Each purpose has its own keys, so a text for one purpose is not
// valid for another.
import { createHmac, hkdfSync } from 'node:crypto'
import type { HttpSettings } from '../deps.ts'
import { sameSecret } from '../secrets.ts'

/** Signing keys, newest first. The newest signs; all are accepted. */
export type SigningKeys = readonly (string | Buffer)[]

/** The keys of one purpose. */
export const derivedKeys = (
  { sessionSecret, previousSessionSecret }: Pick<HttpSettings, 'sessionSecret' | 'previousSessionSecret'>,
  purpose: string,
): SigningKeys =>
  [sessionSecret, previousSessionSecret]
    .filter((secret) => secret !== null)
    .map((secret) => Buffer.from(hkdfSync('sha256', secret, 'node-ledger', purpose, 32)))

/** A payload with its signature. */
export function sign(payload: string, [newest = '']: SigningKeys): string {
  return `${payload}.${mac(payload, newest)}`
}

/**
 * The parts of a payload, if it has this form and a valid signature; null otherwise. We compare signatures as text, because base64url has several
 * spellings of one value.
 */
export function verify(value: string | null | undefined, keys: SigningKeys, form: RegExp): RegExpExecArray | null {
  if (typeof value !== 'string') return null
  const dot = value.lastIndexOf('.')
  const payload = value.slice(0, Math.max(dot, 0))
  const signature = value.slice(dot + 1)
  return keys.some((key) => sameSecret(signature, mac(payload, key))) ? form.exec(payload) : null
}

function mac(payload: string, key: string | Buffer): string {
  return createHmac('sha256', key).update(payload).digest('base64url')
}
