// Amounts as the operator enters and reads them: in ether, with the exact wei beside it.
import { ether } from '../format.ts'

const FORM = /^(\d{1,30})(?:\.(\d{1,18}))?$/

/** Parses an amount in ether into wei; null if it is not an amount, or is finer than a wei. */
export function weiOf(text: string): bigint | null {
  const match = FORM.exec(text.trim())
  if (!match) return null
  return BigInt(`${match[1]}${(match[2] ?? '').padEnd(18, '0')}`)
}

/** "0.01 ETH (10000000000000000 wei)". */
export const etherAndWei = (wei: bigint): string => `${ether(wei)} ETH (${wei} wei)`

/** The difference between two amounts, in whichever unit is shorter: "7 wei more", "0.02 ETH less". */
export function difference(wei: bigint, from: bigint): string {
  const size = wei > from ? wei - from : from - wei
  const amount = size < 1_000_000n ? `${size} wei` : `${ether(size)} ETH`
  return `${amount} ${wei > from ? 'more' : 'less'}`
}
