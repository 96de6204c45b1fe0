// The only form of a signature that is accepted: 65 bytes, v 27 or 28, r and s in range, s in the lower half. Libraries accept
// more spellings of one signature; here there is one.

/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const HALF = ORDER / 2n

/** True for the one canonical spelling of a signature. Hex in either case. */
export function isCanonicalSignature(signature: string): signature is `0x${string}` {
  const words = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})1[bBcC]$/.exec(signature)
  if (words === null) return false
  const [r, s] = [BigInt(`0x${words[1]}`), BigInt(`0x${words[2]}`)]
  return r > 0n && r < ORDER && s > 0n && s <= HALF
}
