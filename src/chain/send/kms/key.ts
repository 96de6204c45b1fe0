// Names of keys in a key management service, and the credentials for it. A name says in which service, region and project a key is. Names are not
// secret; credentials are.

/** An AWS KMS key, named by its ARN. */
export interface AwsKey {
  readonly service: 'aws'
  readonly name: string
  readonly region: string
  /** The suffix of its hosts, which is different in China. */
  readonly domain: string
}

/** A Google Cloud KMS key version, named by its resource name. */
export interface GoogleKey {
  readonly service: 'google'
  readonly name: string
}

export type KmsKey = AwsKey | GoogleKey

/** Credentials for AWS: keys in the settings, or the service that provides those of the machine's or the container's role. */
export interface AwsAccess {
  readonly endpoint: string | null
  /** From the settings. Used if key id and secret are both set. */
  readonly given: { readonly [Part in keyof AwsCredentials]: string | null }
  /** The URL of a container's credentials (ECS, EKS Pod Identity). */
  readonly containerUrl: string | null
  /** We read it for each request, because it changes. */
  readonly containerTokenFile: string | null
  /** The machine's metadata service (EC2). */
  readonly metadataUrl: string
}

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

/** Credentials for Google: a service account's key, or the machine's metadata service. */
export interface GoogleAccess {
  readonly endpoint: string
  readonly accountFile: string | null
  readonly account: ServiceAccount | null
  readonly metadataHost: string
}

export interface ServiceAccount {
  readonly email: string
  readonly keyId: string
  /** PEM. */
  readonly privateKey: string
  readonly tokenUrl: string
}

export interface KmsAccess {
  readonly aws: AwsAccess
  readonly google: GoogleAccess
}

/** One key in a service. Both methods throw a SignerFault. */
export interface Kms {
  /** Signs 32 bytes; the signature is in DER. */
  sign(digest: Uint8Array): Promise<Uint8Array>
  /** The public key, as SubjectPublicKeyInfo in DER. */
  publicKey(): Promise<Uint8Array>
}

const ARN = /^arn:(aws[a-z-]*):kms:([a-z0-9-]{1,32}):[0-9]{12}:(?:key|alias)\/[A-Za-z0-9/_-]{1,256}$/
const RESOURCE =
  /^projects\/[a-z0-9:.-]{1,100}\/locations\/[a-z0-9-]{1,63}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}\/cryptoKeyVersions\/[1-9][0-9]{0,8}$/

/** Parses a key's name; null if it is not one. */
export function parseKmsKey(text: string): KmsKey | null {
  const [name, partition, region] = ARN.exec(text) ?? []
  if (name !== undefined && partition !== undefined && region !== undefined) {
    return { service: 'aws', name, region, domain: partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com' }
  }
  return RESOURCE.test(text) ? { service: 'google', name: text } : null
}
