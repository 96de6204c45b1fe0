// The service's credentials for a key management service. The names are those of AWS's and Google's own programs, and platforms set these variables
// on their own. So we only warn about them and refuse nothing, unless the settings name a key there.
import { maskUrl, type Parse, type SettingGroup } from './setting.ts'
import { httpUrl, text } from './values.ts'

/** Hosts that may use plain http: this machine, ECS, EKS. A token must not cross a network unencrypted. */
const PLAIN_HOSTS = ['127.0.0.1', 'localhost', '[::1]', '169.254.170.2', '169.254.170.23', '[fd00:ec2::23]']

const containerUrl: Parse<string> = (given, ask) => {
  const url = httpUrl(given, ask)
  const { protocol, hostname } = new URL(url ?? 'https://localhost')
  if (protocol !== 'http:' || PLAIN_HOSTS.includes(hostname)) return url
  return ask.refuse('is plain http to another machine: it must be https there')
}

const metadataHost: Parse<string> = (given, ask) =>
  /^[A-Za-z0-9.[\]:-]{1,255}$/.test(given)
    ? given
    : ask.refuse('is no host: set it to a name or an address, with or without a port')

export const KMS = {
  title: 'Key management services',
  text: "How the service is let in where `MINTER_KMS_KEY` or `DISTRIBUTOR_KMS_KEY` names a key; otherwise none of them matters. At AWS: the keys that are given, else those of the container's role (ECS, EKS Pod Identity), else those of the machine's. At Google: the account's file, else the machine's own account. The names are those of AWS's and Google's own programs.",
  onlyWith: ['MINTER_KMS_KEY', 'DISTRIBUTOR_KMS_KEY'],
  settings: {
    AWS_ACCESS_KEY_ID: { parse: text, secret: true, text: 'A key to AWS, if no role gives one.' },
    AWS_SECRET_ACCESS_KEY: { parse: text, secret: true, text: 'And its secret part.' },
    AWS_SESSION_TOKEN: { parse: text, secret: true, text: 'And its token, if it is a passing one.' },
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: {
      parse: text,
      show: maskUrl,
      text: "Where ECS hands out the keys of a task's role. ECS sets it.",
    },
    AWS_CONTAINER_CREDENTIALS_FULL_URI: {
      parse: containerUrl,
      show: maskUrl,
      text: 'Where EKS Pod Identity does. EKS sets it. Plain http is taken to this machine and to the two addresses of EKS alone.',
    },
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: {
      parse: text,
      text: 'The file of the token that it asks for, read at each request. EKS sets it.',
    },
    AWS_EC2_METADATA_SERVICE_ENDPOINT: {
      parse: httpUrl,
      default: 'http://169.254.169.254',
      text: 'The metadata service of the machine, which hands out the keys of its role.',
    },
    AWS_ENDPOINT_URL_KMS: {
      parse: httpUrl,
      show: maskUrl,
      otherwise: "by the key's region",
      example: 'https://vpce-0abc-0def.kms.eu-central-1.vpce.amazonaws.com',
      text: 'Another address of AWS KMS, as of an endpoint in your own network.',
    },
    GOOGLE_APPLICATION_CREDENTIALS: {
      parse: text,
      text: "A service account's file, if the machine has no account of its own. It holds a key: only the service may read it.",
    },
    GCE_METADATA_HOST: {
      parse: metadataHost,
      default: 'metadata.google.internal',
      text: 'The metadata service of the machine, which hands out tokens for its account.',
    },
    CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS: {
      parse: httpUrl,
      show: maskUrl,
      default: 'https://cloudkms.googleapis.com',
      text: 'Another address of Cloud KMS.',
    },
  },
} satisfies SettingGroup
