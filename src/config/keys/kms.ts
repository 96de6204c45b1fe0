// Reads how the service is let in at a key management service. Platforms set these variables on their own, so nothing is refused, only
// warned of, unless a key there is named. It must never repeat a secret.
import type { AwsAccess, GoogleAccess, KmsAccess, ServiceAccount } from '../../chain/send/kms/key.ts'
import { objectIn } from '../../lib/json.ts'
import type { Source } from '../source.ts'
import { readHttpUrl } from '../values.ts'

/** The address at which ECS serves relative paths. */
const ECS_URL = 'http://169.254.170.2'
/** Where plain http is taken: this machine, ECS, EKS. A token must not go over a network as it is. */
const PLAIN_HOSTS = ['127.0.0.1', 'localhost', '[::1]', '169.254.170.2', '169.254.170.23', '[fd00:ec2::23]']
const EC2_URL = 'http://169.254.169.254'
const GOOGLE_URL = 'https://cloudkms.googleapis.com'
const GOOGLE_METADATA_HOST = 'metadata.google.internal'
const HOST_FORM = /^[A-Za-z0-9.[\]:-]{1,255}$/

/** `needed`: a key in a service is named. */
export function readKmsAccess(source: Source, { needed }: { needed: boolean }): KmsAccess {
  const reading = needed ? source : { ...source, refuse: source.warn }
  return { aws: readAws(reading), google: { ...readGoogle(reading), account: needed ? readAccount(source) : null } }
}

function readAws(source: Source): AwsAccess {
  const [accessKeyId, secretAccessKey] = [source.get('AWS_ACCESS_KEY_ID'), source.get('AWS_SECRET_ACCESS_KEY')]
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    const missing = accessKeyId === null ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY'
    source.refuse(missing, 'is missing: the two belong together')
  }
  return {
    endpoint: readHttpUrl(source, 'AWS_ENDPOINT_URL_KMS'),
    given: { accessKeyId, secretAccessKey, sessionToken: source.get('AWS_SESSION_TOKEN') },
    containerUrl: readContainerUrl(source),
    containerTokenFile: source.get('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'),
    metadataUrl: readHttpUrl(source, 'AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? EC2_URL,
  }
}

function readContainerUrl(source: Source): string | null {
  const relative = source.get('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI')
  if (relative !== null) return new URL(relative, ECS_URL).href
  const name = 'AWS_CONTAINER_CREDENTIALS_FULL_URI'
  const url = readHttpUrl(source, name)
  if (url === null) return null
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'http:' || PLAIN_HOSTS.includes(hostname)) return url
  source.refuse(name, 'is plain http to another machine: it must be https there')
  return null
}

function readGoogle(source: Source): Omit<GoogleAccess, 'account'> {
  const name = 'GCE_METADATA_HOST'
  const metadataHost = source.get(name) ?? GOOGLE_METADATA_HOST
  if (!HOST_FORM.test(metadataHost))
    source.refuse(name, 'is no host: set it to a name or an address, with or without a port')
  return {
    endpoint: readHttpUrl(source, 'CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS') ?? GOOGLE_URL,
    accountFile: source.get('GOOGLE_APPLICATION_CREDENTIALS'),
    metadataHost,
  }
}

/** The file of a service account, as Google writes it. */
function readAccount(source: Source): ServiceAccount | null {
  const name = 'GOOGLE_APPLICATION_CREDENTIALS'
  const text = source.file(name)
  if (text === null) return null
  const fields = objectIn(text) ?? {}
  const [email, keyId, privateKey, tokenUrl] = [
    fields.client_email,
    fields.private_key_id,
    fields.private_key,
    fields.token_uri,
  ]
  const isAccount =
    typeof email === 'string' &&
    typeof keyId === 'string' &&
    typeof privateKey === 'string' &&
    typeof tokenUrl === 'string' &&
    URL.canParse(tokenUrl)
  if (isAccount) return { email, keyId, privateKey, tokenUrl }
  source.refuse(
    name,
    "names a file that is no service account's key (JSON with client_email, private_key_id, private_key and token_uri)",
  )
  return null
}
