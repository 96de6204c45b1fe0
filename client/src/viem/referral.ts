// What a payment carries in its calldata if a referral code brought the buyer: a suffix by ERC-8021, schema 0. Reads nothing.
import { concat, numberToHex, stringToHex } from 'viem'
import type { Hex } from '../types.ts'

const CODE_FORM = /^[a-z0-9_-]{1,32}$/
const SCHEMA = '0x00'
const MARKER = `0x${'8021'.repeat(8)}` as const

/** The calldata of a transfer that names a code. Throws a TypeError if no code has this form. */
export function referralSuffix(code: string): Hex {
  if (!CODE_FORM.test(code)) throw new TypeError('A referral code is 1 to 32 of a-z, 0-9, _ and -.')
  return concat([stringToHex(code), numberToHex(code.length, { size: 1 }), SCHEMA, MARKER])
}
