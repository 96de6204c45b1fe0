// The text of an admin key, and the digest by which the ledger knows it. A random key of 256 bits needs no slow hash: there is nothing to guess.
import { createHash, randomBytes } from 'node:crypto'

/** The prefix tells it from other texts: to a scanner of secrets, and to the service, which looks for nothing else. */
const FORM = /^nlk_[A-Za-z0-9_-]{43}$/

/** A new key: the text is for its holder alone, the digest for the ledger. */
export function newAdminKey(): { key: string; digest: string } {
  const key = `nlk_${randomBytes(32).toString('base64url')}`
  return { key, digest: digestOfKey(key) }
}

/** True for what may be a key of the ledger: anything else is not worth a look. */
export const isKeyForm = (text: string): boolean => FORM.test(text)

/** SHA-256 of a key, as 64 hex digits. */
export const digestOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')
