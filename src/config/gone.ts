// Settings of earlier releases. The start names each that is still set, with what replaces it.
import { FUNDS_WARN_TRANSACTIONS } from '../domain/funds.ts'
import { VALID_FOR_SEC } from '../domain/send.ts'

export interface GoneSetting {
  /** Appended to the setting's name. */
  readonly message: string
  /** True if the service must not start with this value, because ignoring it may do harm. Otherwise it only warns. */
  isMistake?(value: string, env: Readonly<Record<string, string>>): boolean
}

const AWS_FILE: GoneSetting = {
  message:
    "is ignored: AWS's client reads its credentials from the environment, or from the file in AWS_SHARED_CREDENTIALS_FILE",
}

const KEYSTORE: GoneSetting = {
  message:
    "is removed, because a password beside its file protects nothing. Extract the key with the previous release: in its checkout, (umask 077; node -e \"import('./src/chain/send/keystore.ts').then(async (k) => console.log(await k.decryptKeystore(fs.readFileSync('FILE', 'utf8'), fs.readFileSync('PASSWORD-FILE', 'utf8').trim())))\" > KEY-FILE). Then set …_PRIVATE_KEY_FILE to KEY-FILE, or to a systemd credential. Or use a remote signer or a key in KMS",
  isMistake: () => true,
}

/** By name; a secret could also be set by NAME_FILE. */
export const GONE_SETTINGS: Readonly<Record<string, GoneSetting>> = {
  AWS_ACCESS_KEY_ID_FILE: AWS_FILE,
  AWS_SECRET_ACCESS_KEY_FILE: AWS_FILE,
  AWS_SESSION_TOKEN_FILE: AWS_FILE,
  MINTER_KEYSTORE: KEYSTORE,
  MINTER_KEYSTORE_PASSWORD: KEYSTORE,
  DISTRIBUTOR_KEYSTORE: KEYSTORE,
  DISTRIBUTOR_KEYSTORE_PASSWORD: KEYSTORE,
  METRICS_HOST: {
    message:
      'was removed: metrics are served on HOST, at METRICS_PORT. Keep that port private; METRICS_PORT=off serves none',
    isMistake: (value, { HOST = '127.0.0.1' }) => value.trim() !== HOST.trim(),
  },
  DATABASE_PREPARE: { message: 'is ignored: at start the service tests whether a pooler keeps prepared statements' },
  VALID_FOR_SEC: { message: `is ignored: what the service signs expires after ${VALID_FOR_SEC} s` },
  CHAIN_NAME: { message: "is ignored: the name follows from the chain's id, if that is a known one" },
  STALE_AFTER_SEC: { message: 'is ignored: a worker is stale after five times TICK_SEC, and at least 300 s' },
  FUNDS_WARN_TRANSACTIONS: {
    message: `is ignored: the service warns below ${FUNDS_WARN_TRANSACTIONS} transactions; webhooks and alerts can leave out what you do not want`,
  },
  CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS: {
    message: 'is ignored: the service asks cloudkms.googleapis.com, whose address your DNS may change',
  },
}
