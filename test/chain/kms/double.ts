// Key management services for tests: AWS KMS and Google Cloud KMS, and the sources of credentials for them, by their documentation.
// They check what the real ones check (signatures of requests by Signature Version 4, tokens, names, the form of a digest) with their
// own code, and sign with a key that a test chooses. They use none of the code under test. The vendors' clients find them by the
// clients' own variables and files.
//   AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html; API_Sign, API_GetPublicKey; container
//   credentials; AssumeRoleWithWebIdentity. Google: asymmetricSign, publicKey, the metadata server, token exchange (RFC 8693).
import { createHash, createHmac, createPublicKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1'
import { temporaryDirectory } from '../../support/temporary.ts'

export const AWS_KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
export const GOOGLE_KEY = 'projects/a-sale/locations/europe-west3/keyRings/ledger/cryptoKeys/minter/cryptoKeyVersions/1'

const REGION = 'eu-central-1'
const SCOPE = 'https://www.googleapis.com/auth/cloudkms'
const LENT = {
  id: 'ASIALENTLENTLENTLENT',
  secret: 'lent/secret+of/a/role+lent/secret+of/a/r',
  token: 'a-token-of-a-role',
}
const GIVEN = { id: 'AKIAGIVENGIVENGIVENG', secret: 'given/secret+given/secret+given/secret+g' }
const CONTAINER_TOKEN = 'a-token-of-a-pod'
const IDENTITY_TOKEN = 'an-identity-of-a-pod'
const ROLE = 'arn:aws:iam::111122223333:role/ledger'

/** Ways in which a program gets credentials. */
export type Way = 'given' | 'profile' | 'webIdentity' | 'container' | 'metadata' | 'federation'

export interface KmsDouble {
  url: string
  /** `METHOD path` of each request; for AWS with the operation. */
  seen: string[]
  /** Key that signs. If it is not the account's, the service must reject the signature. */
  privateKey: `0x${string}`
  /** Changes a signature before it is sent. */
  forge: (der: Uint8Array) => Uint8Array
  /** Answers instead of the service; null never answers. */
  instead: ((path: string) => { status: number; body: string } | null | undefined) | null
  /** Lifetime of temporary credentials and tokens, in seconds. */
  lentSec: number
  /** Variables that let a client in, by the source of its credentials. */
  readonly variables: Readonly<Record<Way, Record<string, string>>>
  close(): Promise<void>
}

class Refused extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}
const awsError = (type: string, message: string) => new Refused(400, { __type: type, message })
const googleError = (code: number, status: string, message: string) =>
  new Refused(code, { error: { code, message, status } })

interface Request {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

/** Starts one that has the key. */
export async function startKms(privateKey: `0x${string}`): Promise<KmsDouble> {
  const tokens = new Set<string>()
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const asked: Request = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(parts).toString(),
    }
    double.seen.push([asked.method, asked.path, asked.headers['x-amz-target']].filter(Boolean).join(' '))
    const instead = double.instead?.(asked.path)
    if (instead === null) return
    const { status, body } = instead ?? answerTo(asked)
    const type = body.startsWith('<') ? 'text/xml' : 'application/json'
    response.writeHead(status, { 'content-type': type, 'metadata-flavor': 'Google' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  function answerTo(asked: Request): { status: number; body: string } {
    try {
      const answer = asked.path === '/' ? aws(asked) : (hand(asked) ?? google(asked))
      return { status: 200, body: typeof answer === 'string' ? answer : JSON.stringify(answer) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { status: error.status, body: JSON.stringify(error.body) }
    }
  }

  const signed = (digest: Buffer) =>
    Buffer.from(double.forge(secp256k1.sign(digest, privateKeyBytes(), { lowS: false }).toDERRawBytes()))
  const privateKeyBytes = () => Buffer.from(double.privateKey.slice(2), 'hex')
  const spki = () => {
    const point = Buffer.from(secp256k1.getPublicKey(privateKeyBytes(), false))
    const jwk = { kty: 'EC', crv: 'secp256k1', x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)) }
    return createPublicKey({ key: jwk, format: 'jwk' })
  }

  function aws(asked: Request): object {
    checkSignature(asked)
    const fields = JSON.parse(asked.body) as Record<string, string>
    if (fields.KeyId !== AWS_KEY) throw awsError('NotFoundException', `Key '${fields.KeyId}' does not exist`)
    if (asked.headers['x-amz-target'] === 'TrentService.GetPublicKey') {
      const PublicKey = spki().export({ format: 'der', type: 'spki' }).toString('base64')
      return { KeyId: AWS_KEY, KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY', PublicKey }
    }
    const digest = Buffer.from(fields.Message ?? '', 'base64')
    const isRight =
      fields.MessageType === 'DIGEST' && fields.SigningAlgorithm === 'ECDSA_SHA_256' && digest.length === 32
    if (asked.headers['x-amz-target'] !== 'TrentService.Sign' || !isRight)
      throw awsError('ValidationException', 'Digest is invalid length for algorithm ECDSA_SHA_256.')
    return { KeyId: AWS_KEY, Signature: signed(digest).toString('base64'), SigningAlgorithm: 'ECDSA_SHA_256' }
  }

  /** The handler of credentials and tokens; null if the path is none of theirs. */
  function hand({ method, path, headers, body }: Request): object | string | null {
    const lapses = new Date(Date.now() + double.lentSec * 1_000).toISOString()
    const token = () => {
      const access_token = `ya29.${tokens.size}`
      tokens.add(access_token)
      return { access_token, expires_in: double.lentSec, token_type: 'Bearer' }
    }
    const form = new URLSearchParams(body)
    switch (path.split('?', 1)[0]) {
      case '/v1/credentials':
        if (headers.authorization !== CONTAINER_TOKEN) throw new Refused(401, { message: 'no token of a pod' })
        return { AccessKeyId: LENT.id, SecretAccessKey: LENT.secret, Token: LENT.token, Expiration: lapses }
      case '/sts/':
        if (form.get('Action') !== 'AssumeRoleWithWebIdentity' || form.get('RoleArn') !== ROLE)
          throw new Refused(400, {})
        if (form.get('WebIdentityToken') !== IDENTITY_TOKEN) throw new Refused(400, {})
        return assumedRole(lapses)
      case '/computeMetadata/v1/instance':
        return {}
      case '/computeMetadata/v1/instance/service-accounts/default/token':
        if (method !== 'GET' || headers['metadata-flavor'] !== 'Google') throw new Refused(403, {})
        return token()
      case '/exchange':
        if (form.get('subject_token') !== IDENTITY_TOKEN || form.get('scope') !== SCOPE)
          throw new Refused(400, { error: 'invalid_grant', error_description: 'Invalid subject token.' })
        return { ...token(), issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }
      default:
        return null
    }
  }

  function google({ method, path, headers, body }: Request): object {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (!tokens.has(token)) throw googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    if (method === 'GET' && path === `/v1/${GOOGLE_KEY}/publicKey`) {
      return {
        pem: spki().export({ format: 'pem', type: 'spki' }),
        algorithm: 'EC_SIGN_SECP256K1_SHA256',
        name: GOOGLE_KEY,
      }
    }
    if (method !== 'POST' || path !== `/v1/${GOOGLE_KEY}:asymmetricSign`)
      throw googleError(404, 'NOT_FOUND', `CryptoKeyVersion ${path} not found.`)
    const digest = Buffer.from((JSON.parse(body) as { digest?: { sha256?: string } }).digest?.sha256 ?? '', 'base64')
    if (digest.length !== 32) throw googleError(400, 'INVALID_ARGUMENT', 'The digest has a wrong length.')
    return { signature: signed(digest).toString('base64'), name: GOOGLE_KEY }
  }

  const double: KmsDouble = {
    url,
    seen: [],
    privateKey,
    forge: (der) => der,
    instead: null,
    lentSec: 3_600,
    variables: variablesFor(url),
    async close() {
      for (const way of Object.values(double.variables)) for (const name of Object.keys(way)) delete process.env[name]
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return double
}

const base64url = (bytes: Buffer) => bytes.toString('base64url')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Signature Version 4, step by step as documented. */
function checkSignature({ method, headers, body }: Request): void {
  const found =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/kms\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/
  const [, id, day = '', region = '', names = '', signature] = found.exec(headers.authorization ?? '') ?? []
  const caller = [LENT, GIVEN].find((candidate) => candidate.id === id)
  if (!caller || region !== REGION) throw awsError('UnrecognizedClientException', 'The security token is invalid.')
  if ('token' in caller && headers['x-amz-security-token'] !== caller.token)
    throw awsError('UnrecognizedClientException', 'The security token included in the request is invalid.')
  const date = String(headers['x-amz-date'] ?? '')
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(Date.now() - at) < 300_000)) throw awsError('InvalidSignatureException', 'Signature expired')
  for (const name of ['host', 'x-amz-date', 'x-amz-target']) {
    if (!names.split(';').includes(name)) throw awsError('InvalidSignatureException', `${name} is not signed`)
  }
  const lines = names.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`)
  const canonical = [method, '/', '', lines.join(''), names, sha256(body)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', date, `${day}/${region}/kms/aws4_request`, sha256(canonical)].join('\n')
  const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = mac(mac(mac(mac(`AWS4${caller.secret}`, day), region), 'kms'), 'aws4_request')
  if (mac(key, toSign).toString('hex') === signature) return
  throw awsError('InvalidSignatureException', `The request signature does not match.\nThe String-to-Sign is ${toSign}`)
}

/** Sets variables of this process, which the vendors' clients read. Returns what removes them; `close` does so, too. */
export function letIn(variables: Record<string, string>): () => void {
  Object.assign(process.env, variables)
  return () => {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}

/** The answer of AssumeRoleWithWebIdentity. */
const assumedRole = (lapses: string) =>
  `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${LENT.id}</AccessKeyId><SecretAccessKey>${LENT.secret}</SecretAccessKey><SessionToken>${LENT.token}</SessionToken><Expiration>${lapses}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`

/** The variables of each way, and the files that they name. */
function variablesFor(url: string): KmsDouble['variables'] {
  const folder = temporaryDirectory()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const identity = file('identity', IDENTITY_TOKEN)
  const pool = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a-pool/providers/a-cluster'
  const keys = `aws_access_key_id = ${GIVEN.id}\naws_secret_access_key = ${GIVEN.secret}\n`
  const services = `[services double]\nkms =\n  endpoint_url = ${url}\n`
  // The clients must not find what the machine has.
  const nothing = file('nothing', '')
  const isolated = { AWS_CONFIG_FILE: nothing, AWS_SHARED_CREDENTIALS_FILE: nothing, AWS_EC2_METADATA_DISABLED: 'true' }
  const aws = { ...isolated, AWS_ENDPOINT_URL_KMS: url }
  return {
    given: { ...aws, AWS_ACCESS_KEY_ID: GIVEN.id, AWS_SECRET_ACCESS_KEY: GIVEN.secret },
    profile: {
      ...isolated,
      AWS_PROFILE: 'ledger',
      AWS_CONFIG_FILE: file('config', `[profile ledger]\nservices = double\n${services}`),
      AWS_SHARED_CREDENTIALS_FILE: file('credentials', `[ledger]\n${keys}`),
    },
    webIdentity: {
      ...aws,
      AWS_ENDPOINT_URL_STS: `${url}/sts`,
      AWS_ROLE_ARN: ROLE,
      AWS_WEB_IDENTITY_TOKEN_FILE: identity,
    },
    container: {
      ...aws,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('pod-token', CONTAINER_TOKEN),
    },
    metadata: { GCE_METADATA_HOST: new URL(url).host },
    federation: {
      GOOGLE_APPLICATION_CREDENTIALS: file(
        'federation.json',
        JSON.stringify({
          type: 'external_account',
          audience: pool,
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          token_url: `${url}/exchange`,
          credential_source: { file: identity },
        }),
      ),
    },
  }
}
