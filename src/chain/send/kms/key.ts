// The names of keys in a key management service, and the credentials for that service. A name says in which service, region and project a key is.
// Names are not secret; credentials are.

/** An AWS KMS key, named by its ARN. */
export interface AwsKey {
  readonly service: 'aws'
  readonly name: string
  readonly region: string
  /** The domain of the service's hosts; it differs in China. */
  readonly domain: string
}

/** A Google Cloud KMS key version, named by its resource name. */
export interface GoogleKey {
  readonly service: 'google'
  readonly name: string
}

export type KmsKey = AwsKey | GoogleKey

/** Credentials for AWS: keys from the settings, or where to get the credentials of the container's or the machine's role. */
export interface AwsAccess {
  readonly endpoint: string | null
  /** From the settings. Used if both the key id and the secret are set. */
  readonly given: { readonly [Part in keyof AwsCredentials]: string | null }
  /** The URL from which a container gets its credentials (ECS, EKS Pod Identity). */
  readonly containerUrl: string | null
  /** The file with the token for `containerUrl`. We read it for each request, because it changes. */
  readonly containerTokenFile: string | null
  /** The URL of the machine's metadata service (EC2). */
  readonly metadataUrl: string
}

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

/** Credentials for Google: the key of a service account, or the machine's metadata service. */
export interface GoogleAccess {
  readonly endpoint: string
  readonly accountFile: string | null
  readonly account: ServiceAccount | null
  readonly metadataHost: string
}

export interface ServiceAccount {
  readonly email: string
  readonly keyId: string
  /** In PEM form. */
  readonly privateKey: string
  readonly tokenUrl: string
}

export interface KmsAccess {
  readonly aws: AwsAccess
  readonly google: GoogleAccess
}

/** One key in a key management service. Both methods throw a SignerFault if they fail. */
export interface Kms {
  /** Signs 32 bytes; the signature is in DER. */
  sign(digest: Uint8Array): Promise<Uint8Array>
  /** The public key: SubjectPublicKeyInfo in DER. */
  publicKey(): Promise<Uint8Array>
}

const ARN = /^arn:(aws[a-z-]*):kms:([a-z0-9-]{1,32}):[0-9]{12}:(?:key|alias)\/[A-Za-z0-9/_-]{1,256}$/
const RESOURCE =
  /^projects\/[a-z0-9:.-]{1,100}\/locations\/[a-z0-9-]{1,63}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}\/cryptoKeyVersions\/[1-9][0-9]{0,8}$/

/** Parses the name of a key; null if the text is not such a name. */
export function parseKmsKey(text: string): KmsKey | null {
  const [name, partition, region] = ARN.exec(text) ?? []
  if (name !== undefined && partition !== undefined && region !== undefined) {
    return { service: 'aws', name, region, domain: partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com' }
  }
  return RESOURCE.test(text) ? { service: 'google', name: text } : null
}
