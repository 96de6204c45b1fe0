// The settings that define where the minter's and the distributor's keys are: in the settings themselves, at a remote signer, or in a key management
// service. Each key is in one place. It must never repeat a key or a URL.
import { type KmsKey, parseKmsKey } from '../chain/send/kms/key.ts'
import { type Parse, type SettingGroup, shown } from './setting.ts'
import { account, httpUrl, parsePrivateKey } from './values.ts'
import { isWellKnownKey } from './weak.ts'

const privateKey: Parse<`0x${string}`> = (input, ask) => {
  const key = parsePrivateKey(input)
  if (key === null) return ask.refuse('is not a private key: set it to 0x and 64 hex digits')
  if (!ask.production || !isWellKnownKey(key)) return key
  return ask.refuse('is a well-known development key, so anyone can take its money: make a new one')
}

const kmsKey: Parse<KmsKey> = (input, ask) =>
  parseKmsKey(input) ??
  ask.refuse(
    `is ${shown(input)}: set it to the ARN of a key of AWS KMS (arn:aws:kms:…:key/…), or to the name of a version of a key of Google Cloud KMS (projects/…/cryptoKeyVersions/1)`,
  )

export const KEYS = {
  title: 'Keys that send',
  text: "The factory's minter and distributor are two different accounts. Each has its key in one of three places: the settings (best by `…_PRIVATE_KEY_FILE`), a remote signer, or a key management service. Without keys the service follows and judges, but sends nothing. (The embedded chain uses its accounts 1 and 2.)",
  settings: {
    MINTER_PRIVATE_KEY: { parse: privateKey, secret: true, part: 'chain', text: "The minter's private key." },
    MINTER_SIGNER_URL: {
      parse: httpUrl,
      secret: 'url',
      example: 'https://signer.example.org:9000',
      text: 'Or the URL of a remote signer that answers `eth_signTransaction` over JSON-RPC: Web3Signer, Clef, or a node that holds the key. Ganache 7.9.2 and anvil 1.7.1 have signed whole sales in our tests; Web3Signer and Clef are untried, and get the fields that they document.',
    },
    MINTER_KMS_KEY: {
      parse: kmsKey,
      show: ({ name }: KmsKey) => name,
      example: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
      text: "Or a secp256k1 key in a key management service: its ARN in AWS KMS, or its name in Google Cloud KMS (`projects/…/cryptoKeyVersions/1`). It needs the vendor's client, `@aws-sdk/client-kms` or `google-auth-library`, which finds its credentials by itself. Tested on doubles of both services only, never at AWS or Google.",
    },
    MINTER_ADDRESS: {
      parse: account,
      text: 'The account of the remote signer or of the KMS key; `node-ledger keys address` prints that of a KMS key.',
    },
    DISTRIBUTOR_PRIVATE_KEY: { parse: privateKey, secret: true, part: 'chain', text: "The distributor's private key." },
    DISTRIBUTOR_SIGNER_URL: {
      parse: httpUrl,
      secret: 'url',
      example: 'https://signer.example.org:9000',
      text: 'Or the URL of a remote signer.',
    },
    DISTRIBUTOR_KMS_KEY: {
      parse: kmsKey,
      show: ({ name }: KmsKey) => name,
      text: 'Or a key in AWS KMS or Google Cloud KMS.',
    },
    DISTRIBUTOR_ADDRESS: { parse: account, text: 'The account of the remote signer or of the KMS key.' },
  },
} satisfies SettingGroup
