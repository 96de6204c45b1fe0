// Referral codes, as a transfer carries them in its calldata by ERC-8021, schema 0: the codes, their length in a byte, the schema, a marker. We read
// a limited number of bytes from the end, so long calldata costs no more than short. A malformed suffix has no codes.

/** A code that can be registered. Capitals are the same code. */
export const CODE_FORM = /^[A-Za-z0-9_-]{1,32}$/
/** The code that a person wrote, in small letters; null if it cannot be registered. */
export const codeOf = (text: string): string | null => (CODE_FORM.test(text) ? text.toLowerCase() : null)
/** The longest time that a commission may wait after its node's mint: a year. */
export const WAIT_SEC_MAX = 31_536_000
/** The largest share of a price that a code may give its payee: a fifth. */
export const COMMISSION_BPS_MAX = 2_000

const MARKER = '8021'.repeat(8)
const SCHEMA = '00'
/** One code or more, separated by commas: ASCII without spaces. */
const CODES = /^[!-+\--~]+(,[!-+\--~]+)*$/

/** The codes in a transaction's calldata, in order and in small letters. */
export function codesIn(calldata: string): string[] {
  if (!calldata.endsWith(SCHEMA + MARKER)) return []
  const lengthAt = calldata.length - MARKER.length - SCHEMA.length - 2
  const begin = lengthAt - 2 * Number.parseInt(calldata.slice(lengthAt, lengthAt + 2), 16)
  // The first two characters are `0x`.
  if (begin < 2) return []
  const text = Buffer.from(calldata.slice(begin, lengthAt), 'hex').toString('latin1')
  return CODES.test(text) ? text.toLowerCase().split(',') : []
}
