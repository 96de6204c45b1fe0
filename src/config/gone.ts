// Settings of earlier releases. The start names each that is still set, with what replaces it.

export interface GoneSetting {
  /** Appended to the setting's name. */
  readonly message: string
  /** True if the service must not start without the replacement. Otherwise it only warns. */
  readonly isMistake?: true
}

const AWS_FILE: GoneSetting = {
  message:
    "is ignored: AWS's client reads its credentials from the environment, or from the file that AWS_SHARED_CREDENTIALS_FILE names",
}

const KEYSTORE: GoneSetting = {
  message:
    "is gone, because a password beside its file protects nothing. Take the key out with the release before: in its checkout, (umask 077; node -e \"import('./src/chain/send/keystore.ts').then(async (k) => console.log(await k.decryptKeystore(fs.readFileSync('FILE', 'utf8'), fs.readFileSync('PASSWORD-FILE', 'utf8').trim())))\" > KEY-FILE). Then name KEY-FILE, or a systemd credential, in …_PRIVATE_KEY_FILE; or use a remote signer or a key in KMS",
  isMistake: true,
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
  CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS: {
    message: 'is ignored: the service asks cloudkms.googleapis.com, whose address your DNS may change',
  },
}
