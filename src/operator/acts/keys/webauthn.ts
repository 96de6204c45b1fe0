// Passkeys through the library: what we ask a browser for, and whether its answer is valid. We load the library at the first answer, so that starts
// and commands do not need it. If the library throws, this module returns null.
import { randomBytes } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { RelyingParty } from '../../../domain/keys/passkey.ts'

/** Ed25519, P-256 and RSA. Security keys and phones support one of the first two, Windows Hello only the last. */
const ALGORITHMS = [-8, -7, -257]
/** How long browsers wait for their user: as long as a challenge is valid. */
const TIMEOUT_MS = 300_000
const USER_BYTES = 16
/** The specification allows ids of 1,023 bytes. */
const ID_FORM = /^[A-Za-z0-9_-]{1,1364}$/
const TRANSPORT_FORM = /^[a-z-]{1,20}$/
const TRANSPORTS_MAX = 8

/** What a browser needs to make a passkey. The browser must find the passkey without an id, and verify its holder. */
export function creationOptions(
  { id }: RelyingParty,
  { label, challenge, site }: { label: string; challenge: string; site: string },
): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge: encode(challenge),
    rp: { id, name: site },
    // A random id, so that the new passkey does not replace another passkey of the same person.
    user: { id: randomBytes(USER_BYTES).toString('base64url'), name: label, displayName: label },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    // We do not care who made the authenticator.
    attestation: 'none',
    timeout: TIMEOUT_MS,
  }
}

/** What a browser needs to sign in: any passkey of this service, with its holder verified. */
export function requestOptions({ id }: RelyingParty, challenge: string): PublicKeyCredentialRequestOptionsJSON {
  return { challenge: encode(challenge), rpId: id, userVerification: 'required', timeout: TIMEOUT_MS }
}

const encode = (text: string) => Buffer.from(text).toString('base64url')

/** A passkey that was made. */
export interface MadePasskey {
  readonly credentialId: string
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly transports: readonly string[]
}

/** The challenge that a browser's answer names; null if it names none. The challenge proves nothing yet. */
export function challengeIn(credential: unknown): string | null {
  const response = isObject(credential) && isObject(credential.response) ? credential.response : null
  if (typeof response?.clientDataJSON !== 'string') return null
  try {
    const data = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()) as unknown
    return isObject(data) && typeof data.challenge === 'string'
      ? Buffer.from(data.challenge, 'base64url').toString()
      : null
  } catch {
    return null
  }
}

/** The passkey that a browser has made for this challenge; null if the answer is not valid. */
export async function readMadePasskey(
  { id, origin }: RelyingParty,
  credential: unknown,
  challenge: string,
): Promise<MadePasskey | null> {
  if (!hasTexts<RegistrationResponseJSON>(credential, ['clientDataJSON', 'attestationObject'])) return null
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const verification = await verifyRegistrationResponse({
    response: credential,
    expectedChallenge: encode(challenge),
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => null)
  if (!verification?.verified) return null
  const { credential: newCredential } = verification.registrationInfo
  if (newCredential.id !== credential.id) return null
  const transports = Array.isArray(newCredential.transports) ? newCredential.transports : []
  return {
    credentialId: newCredential.id,
    publicKey: newCredential.publicKey,
    counter: newCredential.counter,
    transports: transports
      .filter((name) => typeof name === 'string' && TRANSPORT_FORM.test(name))
      .slice(0, TRANSPORTS_MAX),
  }
}

/** The id that a browser's answer names; null if it is not an id. */
export const credentialIdIn = (credential: unknown): string | null =>
  isObject(credential) && typeof credential.id === 'string' && ID_FORM.test(credential.id) ? credential.id : null

/** Verifies a sign-in with a passkey. @returns the passkey's new counter; null if the signature is not valid. */
export async function verifySignIn(
  { id, origin }: RelyingParty,
  credential: unknown,
  { challenge, ...passkey }: { challenge: string; credentialId: string; publicKey: string },
): Promise<number | null> {
  if (!hasTexts<AuthenticationResponseJSON>(credential, ['clientDataJSON', 'authenticatorData', 'signature']))
    return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, 'base64url'))
  const verification = await verifyAuthenticationResponse({
    response: credential,
    expectedChallenge: encode(challenge),
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    // With -1 the library's check of the counter always passes. The ledger checks the counter later, under the row's lock.
    credential: { id: passkey.credentialId, publicKey, counter: -1 },
  }).catch(() => null)
  return verification?.verified ? verification.authenticationInfo.newCounter : null
}

/** A browser's answer with these text fields. Only the library looks at the other fields. */
function hasTexts<T>(credential: unknown, names: readonly string[]): credential is T & { id: string } {
  if (credentialIdIn(credential) === null || !isObject(credential) || !isObject(credential.response)) return false
  const { response } = credential
  return names.every((name) => typeof response[name] === 'string')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
