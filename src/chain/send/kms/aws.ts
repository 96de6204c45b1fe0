// AWS KMS through AWS's own client: Sign and GetPublicKey.
// https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
import { ask, loadClient, TIMEOUT_MS } from './client.ts'
import type { AwsKey, Kms, KmsOptions } from './key.ts'

/** Throws a ClientMissing if AWS's client is not installed. */
export async function awsKms({ name: KeyId, region }: AwsKey, { timeoutMs = TIMEOUT_MS }: KmsOptions): Promise<Kms> {
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await loadClient(
    '@aws-sdk/client-kms@3',
    () => import('@aws-sdk/client-kms'),
  )
  const client = new KMSClient({ region })
  return {
    sign: (digest) =>
      ask('AWS KMS', timeoutMs, async (abortSignal) => {
        const command = { KeyId, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const
        return (await client.send(new SignCommand(command), { abortSignal })).Signature
      }),
    publicKey: () =>
      ask('AWS KMS', timeoutMs, async (abortSignal) => {
        return (await client.send(new GetPublicKeyCommand({ KeyId }), { abortSignal })).PublicKey
      }),
  }
}
