// The settings of the keys that send and of key management services, as groups of the table of all settings. Names of the latter are those
// of AWS's and Google's own programs: where the service runs at one of them, the platform sets them.
import type { SettingGroup } from '../setting.ts'

export const KEY_GROUPS = [
  {
    title: 'Keys that send',
    text: "The accounts that mint and that credit: the factory's minter and distributor, two different ones. Each has its key in one of four places: in the settings, in an encrypted file, with a remote signer, in a key management service. Default: none, and the service reads and judges but sends nothing (embedded chain: its accounts 1 and 2).",
    settings: [
      { name: 'MINTER_PRIVATE_KEY', kind: 'key', secret: true, text: "The minter's key itself." },
      {
        name: 'MINTER_KEYSTORE',
        kind: 'path',
        text: 'Or an encrypted key file (version 3, as geth, Clef and Foundry write it; `node-ledger keys new` makes one).',
      },
      { name: 'MINTER_KEYSTORE_PASSWORD', kind: 'key', secret: true, text: 'And its password.' },
      {
        name: 'MINTER_SIGNER_URL',
        kind: 'url',
        secret: true,
        example: 'https://signer.example.org:9000',
        text: 'Or a remote signer that answers `eth_signTransaction` over JSON-RPC: Web3Signer, or a node or Clef that holds the key.',
      },
      {
        name: 'MINTER_KMS_KEY',
        kind: 'text',
        example: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
        text: 'Or a key of AWS KMS by its ARN, or of Google Cloud KMS by its name (`projects/…/cryptoKeyVersions/1`), of the curve secp256k1.',
      },
      {
        name: 'MINTER_ADDRESS',
        kind: 'address',
        text: 'And the account that either signs for. Of a key in a service `node-ledger keys address` prints it.',
      },
      { name: 'DISTRIBUTOR_PRIVATE_KEY', kind: 'key', secret: true, text: "The distributor's key itself." },
      { name: 'DISTRIBUTOR_KEYSTORE', kind: 'path', text: 'Or an encrypted key file.' },
      { name: 'DISTRIBUTOR_KEYSTORE_PASSWORD', kind: 'key', secret: true, text: 'And its password.' },
      {
        name: 'DISTRIBUTOR_SIGNER_URL',
        kind: 'url',
        secret: true,
        example: 'https://signer.example.org:9000',
        text: 'Or a remote signer.',
      },
      { name: 'DISTRIBUTOR_KMS_KEY', kind: 'text', text: 'Or a key of AWS KMS or Google Cloud KMS.' },
      { name: 'DISTRIBUTOR_ADDRESS', kind: 'address', text: 'And the account that either signs for.' },
      {
        name: 'FUNDS_WARN_TRANSACTIONS',
        kind: 'whole',
        default: '50',
        text: "Warn when an account's ether pays for fewer transactions than this (for the distributor: and the next round). 0 never warns.",
      },
    ],
  },
  {
    title: 'Key management services',
    text: "How the service is let in where `MINTER_KMS_KEY` or `DISTRIBUTOR_KMS_KEY` names a key; otherwise none of them matters. At AWS: the keys that are given, else those of the container's role (ECS, EKS Pod Identity), else those of the machine's. At Google: the account's file, else the machine's own account. The names are those of AWS's and Google's own programs.",
    settings: [
      { name: 'AWS_ACCESS_KEY_ID', kind: 'key', secret: true, text: 'A key to AWS, where no role gives one.' },
      { name: 'AWS_SECRET_ACCESS_KEY', kind: 'key', secret: true, text: 'And its secret part.' },
      { name: 'AWS_SESSION_TOKEN', kind: 'key', secret: true, text: 'And its token, if it is a passing one.' },
      {
        name: 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
        kind: 'path',
        text: "Where ECS hands out the keys of a task's role. ECS sets it.",
      },
      {
        name: 'AWS_CONTAINER_CREDENTIALS_FULL_URI',
        kind: 'url',
        text: 'Where EKS Pod Identity does. EKS sets it. Plain http is taken to this machine and to the two addresses of EKS alone.',
      },
      {
        name: 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
        kind: 'path',
        text: 'The file of the token that it asks for, read at each request. EKS sets it.',
      },
      {
        name: 'AWS_EC2_METADATA_SERVICE_ENDPOINT',
        kind: 'url',
        default: 'http://169.254.169.254',
        text: 'The metadata service of the machine, which hands out the keys of its role.',
      },
      {
        name: 'AWS_ENDPOINT_URL_KMS',
        kind: 'url',
        otherwise: "by the key's region",
        example: 'https://vpce-0abc-0def.kms.eu-central-1.vpce.amazonaws.com',
        text: 'Another address of AWS KMS, as of an endpoint in your own network.',
      },
      {
        name: 'GOOGLE_APPLICATION_CREDENTIALS',
        kind: 'path',
        text: "A service account's file, where the machine has no account of its own. It holds a key: only the service may read it.",
      },
      {
        name: 'GCE_METADATA_HOST',
        kind: 'host',
        default: 'metadata.google.internal',
        text: 'The metadata service of the machine, which hands out tokens for its account.',
      },
      {
        name: 'CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS',
        kind: 'url',
        default: 'https://cloudkms.googleapis.com',
        text: 'Another address of Cloud KMS.',
      },
    ],
  },
] as const satisfies readonly SettingGroup[]
