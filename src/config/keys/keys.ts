// Reads where the minter's and the distributor's keys are: in the settings, in an encrypted key file, with a remote signer, or in a key
// management service; one place each. A key file is read here, so that a missing one is reported with all other mistakes, and decrypted at start. It must never repeat a
// key, a password or a URL.
import { KeystoreError, keystoreAddress } from '../../chain/send/keystore.ts'
import { parseKmsKey } from '../../chain/send/kms/key.ts'
import type { KeyConfig, KeysConfig } from '../shape.ts'
import { type Source, shown } from '../source.ts'
import { readAddress, readHttpUrl, readPrivateKey } from '../values.ts'
import { isWellKnownKey } from '../weak.ts'
import { readKmsAccess } from './kms.ts'

type Role = 'MINTER' | 'DISTRIBUTOR'

export function readKeys(source: Source): KeysConfig {
  const needed = source.isSet('MINTER_KMS_KEY') || source.isSet('DISTRIBUTOR_KMS_KEY')
  const keys = {
    minter: readKey(source, 'MINTER'),
    distributor: readKey(source, 'DISTRIBUTOR'),
    kms: readKmsAccess(source, { needed }),
  }
  const { minter, distributor } = keys
  // Opened key files are compared again at start.
  if (minter && distributor && sameKey(minter, distributor)) {
    const setting = distributor.kind === 'privateKey' ? 'DISTRIBUTOR_PRIVATE_KEY' : 'DISTRIBUTOR_ADDRESS'
    source.refuse(
      setting,
      `is ${setting.replace('DISTRIBUTOR', 'MINTER')} too: both send on their own, so use two accounts`,
    )
  }
  return keys
}

function readKey(source: Source, role: Role): KeyConfig | null {
  const places = [`${role}_PRIVATE_KEY`, `${role}_KEYSTORE`, `${role}_SIGNER_URL`, `${role}_KMS_KEY`] as const
  const [first, second] = places.filter((name) => source.isSet(name))
  if (first && second) source.refuse(second, `and ${first} are both set: a key is in one place, so keep one of them`)
  const elsewhere = source.isSet(`${role}_KMS_KEY`) ? (`${role}_KMS_KEY` as const) : (`${role}_SIGNER_URL` as const)
  const belongings = [
    [`${role}_KEYSTORE_PASSWORD`, `${role}_KEYSTORE`],
    [`${role}_ADDRESS`, elsewhere],
  ] as const
  for (const [name, owner] of belongings) {
    if (source.isSet(owner) && !source.isSet(name)) source.refuse(name, `is missing: it belongs to ${owner}`)
    if (source.isSet(name) && !source.isSet(owner)) source.refuse(name, `is set but ${owner} is not: it belongs to it`)
  }
  return (
    readPrivateKeyOf(source, role) ?? readKeystore(source, role) ?? readSigner(source, role) ?? readKms(source, role)
  )
}

function readPrivateKeyOf(source: Source, role: Role): KeyConfig | null {
  const name = `${role}_PRIVATE_KEY` as const
  const privateKey = readPrivateKey(source, name)
  if (privateKey === null) return null
  if (source.environment === 'production' && isWellKnownKey(privateKey)) {
    source.refuse(name, 'is a well-known development key, so anyone can take its money: make a new one')
  }
  return { kind: 'privateKey', privateKey }
}

function readKeystore(source: Source, role: Role): KeyConfig | null {
  const name = `${role}_KEYSTORE` as const
  const [text, password] = [source.file(name), source.get(`${role}_KEYSTORE_PASSWORD`)]
  if (text === null) return null
  try {
    keystoreAddress(text)
  } catch (error) {
    if (!(error instanceof KeystoreError)) throw error
    source.refuse(name, `names a file that ${error.message}. "node-ledger keys new" makes one`)
  }
  return password === null ? null : { kind: 'keystore', path: source.get(name) ?? '', text, password }
}

function readSigner(source: Source, role: Role): KeyConfig | null {
  const url = readHttpUrl(source, `${role}_SIGNER_URL`)
  const address = readAddress(source, `${role}_ADDRESS`)
  return url === null || address === null ? null : { kind: 'signer', url, address }
}

function readKms(source: Source, role: Role): KeyConfig | null {
  const name = `${role}_KMS_KEY` as const
  const text = source.get(name)
  if (text === null) return null
  const key = parseKmsKey(text)
  if (key === null) {
    source.refuse(
      name,
      `is ${shown(text)}: set it to the ARN of a key of AWS KMS (arn:aws:kms:…:key/…), or to the name of a version of a key of Google Cloud KMS (projects/…/cryptoKeyVersions/1)`,
    )
  }
  const address = readAddress(source, `${role}_ADDRESS`)
  return key && address && { kind: 'kms', key, address }
}

function sameKey(one: KeyConfig, other: KeyConfig): boolean {
  if (one.kind === 'privateKey') return other.kind === 'privateKey' && one.privateKey === other.privateKey
  return 'address' in one && 'address' in other && one.address === other.address
}
