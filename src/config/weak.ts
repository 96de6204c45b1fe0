// What makes a secret or a key one that somebody else may know or guess. Judges only; it must never repeat the secret.
import { EMBED_ACCOUNTS } from '../embed/accounts.ts'

/** Fewer different characters than this never come from a generator: 32 random hex digits have 14 on average. */
const DISTINCT_CHARS_MIN = 8

/** What people write where a secret is to be put in later, and what tutorials carry. */
const WELL_KNOWN =
  /change.?me|change.?this|replace.?(me|this)|your.?(own.?)?(secret|key|password)|placeholder|example|not.?a?.?secret|super.?secret|secret.?(secret|key)|my.?secret|(dev|test|demo|local).?(secret|key)|development|insecure|password|passw0rd|keyboard.?cat|qwerty|abcdefgh|01234567|12345678|deadbeef/i

/** Why a secret is weak, to go on after its name; null when nothing is known against it. */
export function weaknessOf(secret: string, lengthMin: number): string | null {
  const generate = 'use a random one, for example of "openssl rand -hex 32"'
  if (secret.length < lengthMin) return `is ${secret.length} characters long, ${lengthMin} are the least: ${generate}`
  if (new Set(secret).size < DISTINCT_CHARS_MIN || repeatsItself(secret)) return `repeats itself: ${generate}`
  if (WELL_KNOWN.test(secret)) return `is or contains a well-known value: ${generate}`
  return null
}

/** True for "abcabcabc": the text occurs in its own doubling before the end. */
function repeatsItself(text: string): boolean {
  return (text + text).indexOf(text, 1) < text.length
}

/** Number of keys from 1 up that count as guessed: the ones that people write by hand. */
const SMALL_KEYS = 2n ** 64n

/** True for a private key (in lower case) that is public knowledge: a development chain's, or a small number. */
export function isWellKnownKey(privateKey: `0x${string}`): boolean {
  return BigInt(privateKey) < SMALL_KEYS || EMBED_ACCOUNTS.some((account) => account.privateKey === privateKey)
}
