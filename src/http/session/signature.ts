// The only form of a signature that we accept: 65 bytes, v 27 or 28, r and s in range, s in the lower half. Some hardware wallets write v as 0 or 1,
// which we read as 27 and 28. Libraries accept several spellings of one signature; we accept only one.

/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const HALF = ORDER / 2n

/** The canonical spelling of a signature; null if the text is not a signature. Accepts hex in either case. */
export function canonicalSignature(signature: string): `0x${string}` | null {
  const words = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})(00|01|1[bBcC])$/.exec(signature)
  if (words === null) return null
  const [r, s, v] = words.slice(1).map((word) => BigInt(`0x${word}`)) as [bigint, bigint, bigint]
  if (r === 0n || r >= ORDER || s === 0n || s > HALF) return null
  return `${signature.slice(0, -2) as `0x${string}`}${(v < 27n ? v + 27n : v).toString(16)}`
}
