// Recognises secrets and keys that others may know or guess. It only judges them, and must never repeat one.
import { DEVELOPMENT_ACCOUNTS } from '../domain/development.ts'

/** How many different characters a generated secret has at least: 32 random hex digits have 14 on average. */
const DISTINCT_CHARS_MIN = 8

/** Placeholders that people should have replaced, and secrets from tutorials. */
const WELL_KNOWN =
  /change.?me|change.?this|replace.?(me|this)|your.?(own.?)?(secret|key|password)|placeholder|example|not.?a?.?secret|super.?secret|secret.?(secret|key)|my.?secret|(dev|test|demo|local).?(secret|key)|development|insecure|password|passw0rd|keyboard.?cat|qwerty|abcdefgh|01234567|12345678|deadbeef/i

/** Why a secret is weak, as text to append to its name; null if we know of no weakness. */
export function weaknessOf(secret: string, lengthMin: number): string | null {
  const generate = 'use a random one, for example from "openssl rand -hex 32"'
  if (secret.length < lengthMin) return `has ${secret.length} characters, but needs at least ${lengthMin}: ${generate}`
  if (new Set(secret).size < DISTINCT_CHARS_MIN || repeatsItself(secret)) return `repeats itself: ${generate}`
  if (WELL_KNOWN.test(secret)) return `is or contains a well-known value: ${generate}`
  return null
}

/**
 * True for "abcabcabc", which repeats "abc". A text that repeats itself also occurs within its own double ("abcabcabcabcabcabc"), before the middle.
 */
function repeatsItself(text: string): boolean {
  return (text + text).indexOf(text, 1) < text.length
}

/** Private keys below this number count as guessed, because people write them by hand. */
const SMALL_KEYS = 2n ** 64n

/** True for a private key (in lower case) that is publicly known: that of a development chain, or a small number. */
export function isWellKnownKey(privateKey: `0x${string}`): boolean {
  return BigInt(privateKey) < SMALL_KEYS || DEVELOPMENT_ACCOUNTS.some((account) => account.privateKey === privateKey)
}
