// The texts of admin keys and invitations, and their digests. The ledger stores only the digests. A random text of 256 bits needs no slow hash,
// because it cannot be guessed.
import { createHash, randomBytes } from 'node:crypto'

/** The prefix identifies a key to secret scanners, and to the service, which looks up no other text. */
const FORM = /^nlk_[A-Za-z0-9_-]{43}$/
const CODE_FORM = /^nli_[A-Za-z0-9_-]{43}$/

/** A new key, or a new invitation's code: `text` is for its holder alone, `digest` for the ledger. */
export function newSecret(prefix: 'nlk_' | 'nli_'): { text: string; digest: string } {
  const text = `${prefix}${randomBytes(32).toString('base64url')}`
  return { text, digest: digestOfKey(text) }
}

/** True if the text may be a key of the ledger; we do not look up any other. */
export const isKeyForm = (text: string): boolean => FORM.test(text)

/** True if the text may be an invitation's code. */
export const isCodeForm = (text: unknown): text is string => typeof text === 'string' && CODE_FORM.test(text)

/** SHA-256 of a key or a code, as 64 hex digits. */
export const digestOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A key of ADMIN_KEY without its secret. */
export const keyDigest = ({ label, key }: { readonly label: string; readonly key: string }) => ({
  label,
  digest: digestOfKey(key),
})
