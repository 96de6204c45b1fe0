// The names of keys in a key management service. A name shows in which service, region and project a key is. Names are not secret.

/** An AWS KMS key, named by its ARN. */
export interface AwsKey {
  readonly service: 'aws'
  readonly name: string
  readonly region: string
}

/** A Google Cloud KMS key version, named by its resource name. */
export interface GoogleKey {
  readonly service: 'google'
  readonly name: string
}

export type KmsKey = AwsKey | GoogleKey

export interface KmsOptions {
  /** The address of Google Cloud KMS, if it is not the usual one. AWS's client has settings of its own for that. */
  readonly googleUrl?: string
  readonly timeoutMs?: number
}

/** One key in a key management service. Both methods throw a SignerFault if they fail. */
export interface Kms {
  /** Signs 32 bytes; the signature is in DER. */
  sign(digest: Uint8Array): Promise<Uint8Array>
  /** The public key: SubjectPublicKeyInfo in DER. */
  publicKey(): Promise<Uint8Array>
}

const ARN = /^arn:aws[a-z-]*:kms:([a-z0-9-]{1,32}):[0-9]{12}:(?:key|alias)\/[A-Za-z0-9/_-]{1,256}$/
const RESOURCE =
  /^projects\/[a-z0-9:.-]{1,100}\/locations\/[a-z0-9-]{1,63}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}\/cryptoKeyVersions\/[1-9][0-9]{0,8}$/

/** Parses the name of a key; null if the text is not such a name. */
export function parseKmsKey(text: string): KmsKey | null {
  const [name, region] = ARN.exec(text) ?? []
  if (name !== undefined && region !== undefined) return { service: 'aws', name, region }
  return RESOURCE.test(text) ? { service: 'google', name: text } : null
}
