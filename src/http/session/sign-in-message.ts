// The text that a wallet signs to sign in. It is built from the nonce and the configured origin and chain id. A signature made for another site,
// chain or time is therefore over a different text.
import { isoOf } from '../../domain/units.ts'
import type { Nonce } from './session.ts'

const STATEMENT = 'Sign in to Node Ledger. This costs no gas, sends nothing and gives no permission to move funds.'

export interface MessageSettings {
  /** The service's own origin, as configured. */
  publicUrl: string
  chainId: number
  /** EIP-55 spelling. */
  checksum: (address: NonNullable<Nonce['boundTo']>) => string
}

/** Builds the message of a nonce: the exact EIP-4361 text if it is bound to an address, otherwise the same text without one. */
export function signInMessage({ publicUrl, chainId, checksum }: MessageSettings, nonce: Nonce): string {
  const { host, origin } = new URL(publicUrl)
  const opening = `${host} wants you to sign in with your Ethereum account`
  return [
    nonce.boundTo === null ? `${opening}.` : `${opening}:\n${checksum(nonce.boundTo)}`,
    '',
    STATEMENT,
    '',
    `URI: ${origin}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce.nonce}`,
    `Issued At: ${isoOf(nonce.issuedAt)}`,
    `Expiration Time: ${isoOf(nonce.expiresAt)}`,
  ].join('\n')
}
