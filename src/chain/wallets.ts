// What wallets write: addresses with their checksum, and who signed a message. Local arithmetic, no RPC.
import { getAddress, recoverMessageAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Address, address } from '../domain/units.ts'

/** An address in its EIP-55 spelling. */
export function checksum(of: Address): string {
  return getAddress(of)
}

/** Who signed `message` as an EIP-191 personal message; null when the signature recovers to nobody. */
export async function recoverSigner(message: string, signature: `0x${string}`): Promise<Address | null> {
  try {
    return address(await recoverMessageAddress({ message, signature }))
  } catch {
    return null
  }
}

/** The address of a private key. */
export function addressOfKey(privateKey: `0x${string}`): Address {
  return address(privateKeyToAccount(privateKey).address)
}
