// Google Cloud KMS through its REST API, with the access that Google's own library gets: asymmetricSign and getPublicKey.
// https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys.cryptoKeyVersions/asymmetricSign
import { createPublicKey } from 'node:crypto'
import { ask, loadClient, TIMEOUT_MS } from './client.ts'
import type { GoogleKey, Kms, KmsOptions } from './key.ts'

const URL_OF_SERVICE = 'https://cloudkms.googleapis.com'
const SCOPE = 'https://www.googleapis.com/auth/cloudkms'

/**
 * A Google Cloud KMS key version. Its algorithm is EC_SIGN_SECP256K1_SHA256, which signs any 32 bytes that we send as a digest. Throws a ClientMissing
 * if Google's library is not installed.
 */
export async function googleKms(
  key: GoogleKey,
  { googleUrl = URL_OF_SERVICE, timeoutMs = TIMEOUT_MS }: KmsOptions,
): Promise<Kms> {
  const { GoogleAuth } = await loadClient('google-auth-library@11', () => import('google-auth-library'))
  // Without the project, the library looks for it before its first request.
  const auth = new GoogleAuth({ scopes: SCOPE, projectId: key.name.split('/')[1] ?? '' })
  const url = new URL(`/v1/${key.name}`, googleUrl).href
  const call = async (request: { url: string; method: 'GET' | 'POST'; data?: object; signal: AbortSignal }) =>
    (await auth.request<{ signature?: unknown; pem?: unknown } | string>({ ...request, redirect: 'error' })).data
  return {
    sign: (digest) =>
      ask('Cloud KMS', timeoutMs, async (signal) => {
        const data = { digest: { sha256: Buffer.from(digest).toString('base64') } }
        const answer = await call({ url: `${url}:asymmetricSign`, method: 'POST', data, signal })
        return Buffer.from(textIn(answer, 'signature'), 'base64')
      }),
    publicKey: () =>
      ask('Cloud KMS', timeoutMs, async (signal) => {
        const pem = textIn(await call({ url: `${url}/publicKey`, method: 'GET', signal }), 'pem')
        return pem === '' ? undefined : createPublicKey(pem).export({ format: 'der', type: 'spki' })
      }),
  }
}

/** A text field of an answer; empty if it is missing. */
function textIn(answer: object | string, field: 'signature' | 'pem'): string {
  const value = (answer as { [Name in typeof field]?: unknown })[field]
  return typeof value === 'string' ? value : ''
}
