// What a signing secret of the webhook convention is (Standard Webhooks): a prefix, and the base64 of random bytes.

/** What the convention asks of a secret. */
const BYTES_MIN = 24
const BYTES_MAX = 64
/** Secrets of one endpoint: the new one and, while its receiver changes over, the one before. */
export const SECRETS_MAX = 2

/** Whether a text is `whsec_` and the base64 of 24 to 64 bytes. */
export function isSigningSecret(text: string): boolean {
  const base64 = text.startsWith('whsec_') ? text.slice('whsec_'.length) : ''
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) return false
  const bytes = atob(base64)
  return btoa(bytes) === base64 && bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX
}
