// Makes signers of the keys that the settings name; nothing else sees the keys. It must never log or repeat a key.
import { ClientMissing } from '../chain/send/kms/client.ts'
import { kmsSigner } from '../chain/send/kms/signer.ts'
import { localSigner, remoteSigner, type Signer } from '../chain/send/signer.ts'
import { type Config, ConfigError, type KeyConfig } from '../config/load.ts'

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
export async function openKey(role: keyof Keys, { keys }: Pick<Config, 'keys'>): Promise<Signer | null> {
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
