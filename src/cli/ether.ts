// Amounts as people read and write them. Scripts get wei, because --json never rounds.
import { inEther as exactly } from '../domain/units.ts'

/** An amount of wei (a bigint or a decimal string) in ether, exactly. A dash if there is none. */
export function inEther(wei: bigint | string | null | undefined): string {
  return wei === null || wei === undefined ? '-' : exactly(BigInt(wei))
}

/** Decimal places of each unit in wei. */
const UNITS = { wei: 0, gwei: 9, eth: 18, ether: 18 } as const
export type Unit = keyof typeof UNITS

export const isUnit = (word: string): word is Unit => Object.hasOwn(UNITS, word)

/**
 * Parses `0.1ether`, `0.1 ETH`, `5 gwei`, or bare digits (already in `unit`) into an amount in `unit`, as digits. Null if the text is not an amount, or not a
 * whole number of that unit, because we never round.
 */
export function readAmount(text: string, unit: Unit): string | null {
  const [, digits, decimals = '', amountUnit = unit] =
    /^(\d{1,40})(?:\.(\d{1,18}))? ?(wei|gwei|eth|ether)?$/.exec(text.toLowerCase()) ?? []
  if (digits === undefined || !isUnit(amountUnit) || decimals.length > UNITS[amountUnit]) return null
  const wei = BigInt(digits + decimals.padEnd(UNITS[amountUnit], '0'))
  const one = 10n ** BigInt(UNITS[unit])
  return wei % one === 0n ? (wei / one).toString() : null
}
