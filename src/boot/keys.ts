// Opens the keys that the settings name, and makes signers of them; nothing else sees the keys. It refuses faults that show only once a key file is
// open. It must never log or repeat a key or a password.
import { decryptKeystore, KeystoreError } from '../chain/send/keystore.ts'
import { ClientMissing } from '../chain/send/kms/client.ts'
import { kmsSigner } from '../chain/send/kms/signer.ts'
import { localSigner, remoteSigner, type Signer } from '../chain/send/signer.ts'
import { type Config, ConfigError, type KeyConfig } from '../config/load.ts'
import { isWellKnownKey } from '../config/weak.ts'

export interface Keys {
  /** Null if no key is configured. */
  minter: Signer | null
  distributor: Signer | null
}

/** Opens both keys. Throws a ConfigError that names the settings to change. */
export async function openKeys(config: Config): Promise<Keys> {
  const [minter, distributor] = await Promise.all([openKey('minter', config), openKey('distributor', config)])
  assertTwoAccounts({ minter, distributor })
  return { minter, distributor }
}

/** Refuses a configuration in which both roles have the same account. */
export function assertTwoAccounts({ minter, distributor }: Keys): void {
  if (!minter || minter.address !== distributor?.address) return
  const message = `is ${minter.address}, and so is the minter: each role needs its own account, so use two accounts`
  throw new ConfigError([{ setting: 'The distributor', message }], [])
}

/** Opens the key of one role; null if it is not configured. Throws a ConfigError that names the settings to change. */
export async function openKey(
  role: keyof Keys,
  { keys, production }: Pick<Config, 'keys' | 'production'>,
): Promise<Signer | null> {
  const key: KeyConfig | null = keys[role]
  switch (key?.kind) {
    case undefined:
      return null
    case 'privateKey':
      return localSigner(key.privateKey)
    case 'signer':
      return remoteSigner(key)
    case 'kms':
      return await openKms(`${role.toUpperCase()}_KMS_KEY`, key)
    case 'keystore':
      return localSigner(await openKeystore(`${role.toUpperCase()}_KEYSTORE`, key, production))
  }
}

async function openKms(setting: string, { key, address }: Extract<KeyConfig, { kind: 'kms' }>): Promise<Signer> {
  try {
    return await kmsSigner(key, address)
  } catch (error) {
    if (!(error instanceof ClientMissing)) throw error
    throw new ConfigError([{ setting, message: error.message }], [])
  }
}

async function openKeystore(
  setting: string,
  { text, password }: { text: string; password: string },
  production: boolean,
): Promise<`0x${string}`> {
  const refuse = (message: string): never => {
    throw new ConfigError([{ setting, message }], [])
  }
  try {
    const privateKey = await decryptKeystore(text, password)
    if (!production || !isWellKnownKey(privateKey)) return privateKey
    return refuse('holds a well-known development key, so anyone can take its money: make a new one')
  } catch (error) {
    if (!(error instanceof KeystoreError)) throw error
    return refuse(`names a file that ${error.message}: check it and ${setting}_PASSWORD`)
  }
}
