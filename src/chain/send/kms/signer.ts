// Signs with a key that never leaves a key management service. The service signs a digest, and we assemble the transaction here. We accept only a
// signature of exactly this transaction by the expected account. It must never send anything, and never retry.
import { createPublicKey } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1'
import { publicKeyToAddress } from 'viem/accounts'
import { keccak256, recoverAddress, serializeTransaction } from 'viem/utils'
import { type Address, address } from '../../../domain/units.ts'
import { messageOf } from '../../../lib/errors.ts'
import { SignerFault } from '../../../ports/faults.ts'
import { asViem, type Signer } from '../signer.ts'
import { awsKms } from './aws.ts'
import { googleKms } from './google.ts'
import type { Kms, KmsKey, KmsOptions } from './key.ts'

const openKms = (key: KmsKey, options: KmsOptions): Promise<Kms> =>
  key.service === 'aws' ? awsKms(key, options) : googleKms(key, options)

/** The signer of an account whose key is in a key management service. Throws a ClientMissing if the service's client is not installed. */
export async function kmsSigner(key: KmsKey, account: Address, options: KmsOptions = {}): Promise<Signer> {
  const kms = await openKms(key, options)
  const fault = (reason: string, cause?: unknown) => new SignerFault(`the signer of ${account}: ${reason}`, cause)
  return {
    address: account,
    async sign(tx) {
      const viemTx = asViem(tx)
      const digest = keccak256(serializeTransaction(viemTx))
      const der = await kms.sign(Buffer.from(digest.slice(2), 'hex')).catch((error: unknown) => {
        if (!(error instanceof SignerFault)) throw error
        throw fault(messageOf(error), error)
      })
      const { r, s } = numbersIn(der) ?? {}
      if (r === undefined || s === undefined)
        throw fault('the key management service did not return a secp256k1 signature')
      for (const yParity of [0, 1] as const) {
        const signature = { r, s, yParity }
        const signerAddress = await recoverAddress({ hash: digest, signature }).catch(() => null)
        if (signerAddress !== null && address(signerAddress) === account) return serializeTransaction(viemTx, signature)
      }
      throw fault('the key belongs to another account: "node-ledger keys address" shows which')
    },
  }
}

/**
 * The address of a key in a key management service. Throws a SignerFault if the service does not answer, or if the key is of the wrong kind; throws a
 * ClientMissing if the service's client is not installed.
 */
export async function accountOfKmsKey(key: KmsKey, options: KmsOptions = {}): Promise<Address> {
  const kms = await openKms(key, options)
  const spki = Buffer.from(await kms.publicKey())
  const jwk = (() => {
    try {
      return createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({ format: 'jwk' })
    } catch {
      return {}
    }
  })()
  if (jwk.crv !== 'secp256k1' || !jwk.x || !jwk.y) {
    throw new SignerFault('wrong kind of key: it must be a secp256k1 signing key')
  }
  const hex = (part: string) => Buffer.from(part, 'base64url').toString('hex').padStart(64, '0')
  return address(publicKeyToAddress(`0x04${hex(jwk.x)}${hex(jwk.y)}`))
}

/**
 * The numbers r and s of a signature. If s is in the upper half, it is replaced by its counterpart in the lower half, as chains require (EIP-2). Null
 * if the bytes are not a signature.
 */
function numbersIn(der: Uint8Array): { r: `0x${string}`; s: `0x${string}` } | null {
  try {
    const { r, s } = secp256k1.Signature.fromDER(der).normalizeS()
    const hex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const
    return { r: hex(r), s: hex(s) }
  } catch {
    return null
  }
}
