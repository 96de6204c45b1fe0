// Google Cloud KMS through its REST API: asymmetricSign and getPublicKey. The access token is obtained with a service account's key (RFC 7523), or
// else from the machine's metadata service.
// https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys.cryptoKeyVersions/asymmetricSign
// https://developers.google.com/identity/protocols/oauth2/service-account#httprest
import { createPublicKey, sign as signWith } from 'node:crypto'
import { SignerFault } from '../../../ports/faults.ts'
import { askJson, textOf } from './ask.ts'
import type { GoogleAccess, GoogleKey, Kms, ServiceAccount } from './key.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloudkms'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_SEC = 3_600
/** How long before a token expires we fetch a new one. The metadata service has a new one five minutes before. */
const AHEAD_MS = 4 * 60_000

/** A Google Cloud KMS key version. Its algorithm is EC_SIGN_SECP256K1_SHA256, which signs any 32 bytes that we send as a digest. */
export function googleKms(key: GoogleKey, access: GoogleAccess): Kms {
  const token = keptToken(access)
  const url = new URL(`/v1/${key.name}`, access.endpoint).href
  const authorized = async () => ({ authorization: `Bearer ${await token()}`, 'content-type': 'application/json' })
  return {
    async sign(digest) {
      const body = JSON.stringify({ digest: { sha256: Buffer.from(digest).toString('base64') } })
      const answer = await askJson({ url: `${url}:asymmetricSign`, method: 'POST', headers: await authorized(), body })
      return Buffer.from(textOf(answer, 'signature', 'Cloud KMS'), 'base64')
    },
    async publicKey() {
      const answer = await askJson({ url: `${url}/publicKey`, method: 'GET', headers: await authorized() })
      return createPublicKey(textOf(answer, 'pem', 'Cloud KMS')).export({ format: 'der', type: 'spki' })
    },
  }
}

function keptToken(access: GoogleAccess): () => Promise<string> {
  let kept: { token: string; lapsesAt: number } | null = null
  return async () => {
    if (kept && kept.lapsesAt - AHEAD_MS > Date.now()) return kept.token
    const askedAt = Date.now()
    const answer = access.account ? await askForAccount(access.account) : await askMachine(access.metadataHost)
    const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : 0
    kept = {
      token: textOf(answer, 'access_token', 'the service that gives out tokens'),
      lapsesAt: askedAt + seconds * 1_000,
    }
    return kept.token
  }
}

const askMachine = (host: string) =>
  askJson({
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    method: 'GET',
    headers: { 'metadata-flavor': 'Google' },
  })

const askForAccount = (account: ServiceAccount) =>
  askJson({
    url: account.tokenUrl,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: GRANT, assertion: assertionOf(account) }).toString(),
  })

function assertionOf({ email, keyId, privateKey, tokenUrl }: ServiceAccount): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: now, exp: now + TOKEN_SEC }
  const content = `${encoded({ alg: 'RS256', typ: 'JWT', kid: keyId })}.${encoded(claims)}`
  try {
    return `${content}.${signWith('RSA-SHA256', Buffer.from(content), privateKey).toString('base64url')}`
  } catch {
    // Node's error may quote the key.
    throw new SignerFault('the key of GOOGLE_APPLICATION_CREDENTIALS cannot be used to sign')
  }
}
