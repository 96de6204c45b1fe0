// The format of a webhook signing secret (Standard Webhooks): a prefix, then random bytes as base64.

const PREFIX = 'whsec_'
/** The standard's bounds for a secret. */
const BYTES_MIN = 24
const BYTES_MAX = 64
/** Secrets of one endpoint: the new one and, during a rotation, the previous one. */
export const SECRETS_MAX = 2

/** True for `whsec_` and the base64 of 24 to 64 bytes. */
export function isSigningSecret(text: string): boolean {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64')
  return text === PREFIX + bytes.toString('base64') && bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX
}
