// The service's credentials for a key management service. AWS's and Google's own programs use the same variables, and platforms often set them
// unasked. So mistakes in them are only warnings, unless the settings name a key in that service.
import { maskUrl, type Parse, type SettingGroup } from './setting.ts'
import { httpUrl, text } from './values.ts'

/** Hosts to which plain http is allowed: this machine, ECS and EKS. Across a network, a token must always be encrypted. */
const PLAIN_HOSTS = ['127.0.0.1', 'localhost', '[::1]', '169.254.170.2', '169.254.170.23', '[fd00:ec2::23]']

const containerUrl: Parse<string> = (given, ask) => {
  const url = httpUrl(given, ask)
  const { protocol, hostname } = new URL(url ?? 'https://localhost')
  if (protocol !== 'http:' || PLAIN_HOSTS.includes(hostname)) return url
  return ask.refuse('is plain http to another machine: use https')
}

const metadataHost: Parse<string> = (given, ask) =>
  /^[A-Za-z0-9.[\]:-]{1,255}$/.test(given)
    ? given
    : ask.refuse('is not a host: set it to a name or an address, with or without a port')

export const KMS = {
  title: 'Key management services',
  text: "Tested on doubles of both services only, never at AWS or Google. The service's credentials for the keys that `MINTER_KMS_KEY` or `DISTRIBUTOR_KMS_KEY` name; otherwise it ignores these settings. At AWS it uses the access key below, else that of the container's role (ECS, EKS Pod Identity), else that of the machine's role. At Google it uses the service account's file, else the machine's own account. AWS's and Google's own programs use the same names.",
  onlyWith: ['MINTER_KMS_KEY', 'DISTRIBUTOR_KMS_KEY'],
  settings: {
    AWS_ACCESS_KEY_ID: { parse: text, secret: true, text: 'The access key, if no role provides one.' },
    AWS_SECRET_ACCESS_KEY: { parse: text, secret: true, text: 'The secret part of the access key.' },
    AWS_SESSION_TOKEN: { parse: text, secret: true, text: 'The token of a temporary access key.' },
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: {
      parse: text,
      show: maskUrl,
      text: "Where ECS serves the credentials of a task's role. ECS sets it.",
    },
    AWS_CONTAINER_CREDENTIALS_FULL_URI: {
      parse: containerUrl,
      show: maskUrl,
      text: 'Where EKS Pod Identity serves credentials. EKS sets it. Plain http is allowed only to this machine and to the addresses of ECS and EKS.',
    },
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: {
      parse: text,
      text: 'The file of the token for that URL. The service reads it at each request. EKS sets it.',
    },
    AWS_EC2_METADATA_SERVICE_ENDPOINT: {
      parse: httpUrl,
      default: 'http://169.254.169.254',
      text: "The machine's metadata service, which serves the credentials of its role.",
    },
    AWS_ENDPOINT_URL_KMS: {
      parse: httpUrl,
      show: maskUrl,
      otherwise: "by the key's region",
      example: 'https://vpce-0abc-0def.kms.eu-central-1.vpce.amazonaws.com',
      text: 'Another address of AWS KMS, for example of an endpoint in your own network.',
    },
    GOOGLE_APPLICATION_CREDENTIALS: {
      parse: text,
      text: 'The key file of a service account, if the machine has no account of its own. Let only the service read it.',
    },
    GCE_METADATA_HOST: {
      parse: metadataHost,
      default: 'metadata.google.internal',
      text: "The machine's metadata service, which serves tokens for its account.",
    },
    CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS: {
      parse: httpUrl,
      show: maskUrl,
      default: 'https://cloudkms.googleapis.com',
      text: 'Another address of Cloud KMS.',
    },
  },
} satisfies SettingGroup
