// AWS KMS through its HTTP API: Sign and GetPublicKey, with requests signed by aws4fetch. The credentials come from the settings, or else from the
// container's role, or else from the machine's role. https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html, …/feature-imds-credentials.html
import { readFile } from 'node:fs/promises'
import { AwsV4Signer } from 'aws4fetch'
import { codeOf } from '../../../lib/errors.ts'
import { SignerFault } from '../../../ports/faults.ts'
import { type Asked, ask, askJson, textOf } from './ask.ts'
import type { AwsAccess, AwsCredentials, AwsKey, Kms } from './key.ts'

/** How long before a role's credentials expire we fetch new ones. */
const AHEAD_MS = 5 * 60_000
/** Seconds for which a token of the machine's metadata service is valid. We need it for a single exchange. */
const METADATA_TOKEN_SEC = '60'

export function awsKms(key: AwsKey, access: AwsAccess): Kms {
  const credentials = keptCredentials(access)
  const url = access.endpoint ?? `https://kms.${key.region}.${key.domain}/`
  const call = async (operation: string, fields: object) =>
    askJson(await signed({ url, region: key.region }, operation, fields, await credentials()))
  return {
    async sign(digest) {
      const answer = await call('Sign', {
        KeyId: key.name,
        Message: Buffer.from(digest).toString('base64'),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      })
      return Buffer.from(textOf(answer, 'Signature', 'AWS KMS'), 'base64')
    },
    async publicKey() {
      const answer = await call('GetPublicKey', { KeyId: key.name })
      return Buffer.from(textOf(answer, 'PublicKey', 'AWS KMS'), 'base64')
    },
  }
}

/** The signed request for an operation. */
async function signed(
  { url, region }: { url: string; region: string },
  operation: string,
  fields: object,
  { sessionToken, ...keys }: AwsCredentials,
): Promise<Asked> {
  const body = JSON.stringify(fields)
  const plain = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${operation}` }
  const token = sessionToken === null ? {} : { sessionToken }
  const signer = new AwsV4Signer({
    url,
    method: 'POST',
    headers: plain,
    body,
    service: 'kms',
    region,
    ...keys,
    ...token,
  })
  const { headers } = await signer.sign()
  return { url, method: 'POST', headers: Object.fromEntries(headers), body }
}

interface Lent {
  readonly credentials: AwsCredentials
  readonly lapsesAt: number
}

/**
 * The current credentials. We cache the credentials of a role until shortly before they expire. If we then cannot get new ones, we use the old ones
 * until they expire.
 */
function keptCredentials(access: AwsAccess): () => Promise<AwsCredentials> {
  let kept: Lent | null = null
  const { accessKeyId, secretAccessKey, sessionToken } = access.given
  return async () => {
    if (accessKeyId !== null && secretAccessKey !== null) return { accessKeyId, secretAccessKey, sessionToken }
    if (kept && kept.lapsesAt - AHEAD_MS > Date.now()) return kept.credentials
    try {
      kept = await lend(access)
    } catch (error) {
      if (!kept || kept.lapsesAt <= Date.now()) throw error
    }
    return kept.credentials
  }
}

async function lend(access: AwsAccess): Promise<Lent> {
  const { containerUrl, containerTokenFile, metadataUrl } = access
  const answer = containerUrl ? await askContainer(containerUrl, containerTokenFile) : await askMachine(metadataUrl)
  const of = 'the service that gives out the role’s credentials'
  return {
    credentials: {
      accessKeyId: textOf(answer, 'AccessKeyId', of),
      secretAccessKey: textOf(answer, 'SecretAccessKey', of),
      sessionToken: textOf(answer, 'Token', of),
    },
    // If the expiry is missing or invalid, we use the credentials only once.
    lapsesAt: Date.parse(textOf(answer, 'Expiration', of)) || 0,
  }
}

async function askContainer(url: string, tokenFile: string | null) {
  const authorization = tokenFile === null ? null : await readToken(tokenFile)
  return askJson({ url, method: 'GET', headers: authorization === null ? {} : { authorization } })
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new SignerFault(
      `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read (${codeOf(error) ?? 'unreadable'})`,
      error,
    )
  }
}

async function askMachine(metadataUrl: string) {
  const at = (path: string) => new URL(path, metadataUrl).href
  const ttl = { 'x-aws-ec2-metadata-token-ttl-seconds': METADATA_TOKEN_SEC }
  const token = await ask({ url: at('/latest/api/token'), method: 'PUT', headers: ttl })
  const headers = { 'x-aws-ec2-metadata-token': token.trim() }
  const roles = '/latest/meta-data/iam/security-credentials/'
  const [role = ''] = (await ask({ url: at(roles), method: 'GET', headers })).trim().split('\n')
  return askJson({ url: at(roles + encodeURIComponent(role)), method: 'GET', headers })
}
