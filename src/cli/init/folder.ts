// The folder that `node-ledger init` fills: settings, secrets in files of their own, and a record of its progress. It uses existing files and never
// overwrites them. So repeating the call continues after an interruption, and operators can put their own keys there. The record holds no secret.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { parseAddress } from '../../chain/digest.ts'
import { addressOfKey } from '../../chain/pages/wallets.ts'
import { GONE_SETTINGS } from '../../config/gone.ts'
import { parsePrivateKey } from '../../config/values.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { PRIVATE_DIR_MODE, PRIVATE_FILE_MODE, readIfExists, writeFileAtomic } from '../../lib/files.ts'
import { RefusedError } from '../errors.ts'
import { userName } from '../io.ts'
import { randomKey } from '../service/keys.ts'

export const ROLES = ['minter', 'distributor', 'deployer'] as const
export type Role = (typeof ROLES)[number]

/** A deployment that has begun: the contract's future address, and a block from before the deployment. */
export interface Deployment {
  readonly expected: Address
  readonly nonce: number
  readonly fromBlock: number
}

export interface Progress {
  readonly answers: Readonly<Record<string, string>>
  readonly chainId?: number
  readonly deployment?: Deployment
  readonly factory?: { readonly address: Address; readonly startBlock: number }
  /** The payment of the test sale. */
  readonly testSale?: Hash
}

/** The setting that names each secret, by the secret's file. */
const SETTING_OF: Readonly<Record<string, string>> = {
  database_url: 'DATABASE_URL_FILE',
  rpc_url: 'RPC_URL_FILE',
  session_secret: 'SESSION_SECRET_FILE',
  admin_key: 'ADMIN_KEY_FILE',
  cron_key: 'CRON_KEY_FILE',
  minter_key: 'MINTER_PRIVATE_KEY_FILE',
  distributor_key: 'DISTRIBUTOR_PRIVATE_KEY_FILE',
  deployer_key: 'DEPLOYER_PRIVATE_KEY_FILE',
  minter_signer_url: 'MINTER_SIGNER_URL_FILE',
  distributor_signer_url: 'DISTRIBUTOR_SIGNER_URL_FILE',
}

export class Folder {
  readonly path: string

  constructor(path: string) {
    this.path = resolve(path)
  }

  at(...names: string[]): string {
    return join(this.path, ...names)
  }

  progress(): Progress {
    const text = readIfExists(this.at('init.json'))
    if (text === null) return { answers: {} }
    try {
      return JSON.parse(text) as Progress
    } catch {
      throw new RefusedError(`${this.at('init.json')} cannot be read as JSON: repair it, or start in another folder.`)
    }
  }

  /** Stores the record atomically. */
  keep(progress: Progress): void {
    mkdirSync(this.at('secrets'), { recursive: true, mode: PRIVATE_DIR_MODE })
    writeFileAtomic(this.at('init.json'), `${JSON.stringify(progress, null, 2)}\n`)
  }

  /** Writes a file unless it exists. @returns true if it was written. */
  add(name: string, text: string, mode = 0o644): boolean {
    if (existsSync(this.at(name))) return false
    writeFileSync(this.at(name), text, { mode, flag: 'wx' })
    return true
  }

  /** A secret; null if there is none. */
  secret(name: string): string | null {
    return readIfExists(this.at('secrets', name))?.trim() ?? null
  }

  /** Makes a secret unless it exists. @returns true if it was made. */
  addSecret(name: string, text: () => string): boolean {
    return this.secret(name) === null && this.add(join('secrets', name), `${text()}\n`, PRIVATE_FILE_MODE)
  }

  /** Stores a secret, or replaces it while the operator may still correct it. */
  putSecret(name: string, text: string): void {
    if (this.addSecret(name, () => text) || this.secret(name) === text) return
    writeFileAtomic(this.at('secrets', name), `${text}\n`)
  }

  /** The account of a role. Makes a key if the role has none of any kind. */
  account(role: Role): Address {
    const addressText = this.secret(`${role}_address`)
    if (this.secret(`${role}_keystore`) !== null)
      throw new RefusedError(`${this.at('secrets', `${role}_keystore`)} ${GONE_SETTINGS.MINTER_KEYSTORE?.message}`)
    if (addressText === null) this.addSecret(`${role}_key`, randomKey)
    const key = parsePrivateKey(this.secret(`${role}_key`) ?? '')
    const account = addressText !== null ? parseAddress(addressText) : key && addressOfKey(key)
    if (account) return account
    throw new RefusedError(`${this.at('secrets')} has no valid key of the ${role}: repair or remove its file.`)
  }

  /** Makes the secrets that only the service knows. */
  addServiceSecrets(): void {
    const word = () => randomBytes(32).toString('hex')
    this.addSecret('session_secret', word)
    this.addSecret('cron_key', word)
    this.addSecret('admin_key', () => `${userName().replace(/[^A-Za-z0-9_-]/g, '') || 'operator'}:${word()}`)
  }

  /** The existing secrets, with the setting that names each file. Leaves out the deployer's key, because only a deployment needs it. */
  secrets(): readonly (readonly [setting: string, name: string])[] {
    const all = Object.entries(SETTING_OF).filter(([name]) => this.secret(name) !== null && name !== 'deployer_key')
    return all.map(([name, setting]) => [setting, name])
  }

  /** The settings that name those files in this folder. */
  secretSettings(): Record<string, string> {
    return Object.fromEntries(this.secrets().map(([setting, name]) => [setting, this.at('secrets', name)]))
  }

  /** Settings of keys that are kept elsewhere: the account of each, and its name in a key management service. */
  keySettings(): Record<string, string> {
    const names = ['minter', 'distributor'].flatMap((role) => [`${role}_kms_key`, `${role}_address`])
    return Object.fromEntries(
      names.flatMap((name) => {
        const value = this.secret(name)
        return value === null ? [] : [[name.toUpperCase(), value]]
      }),
    )
  }

  /** All settings of this folder, plus what a process needs from the environment: also what the clients of key management services read there. */
  environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    const systemVariables = Object.entries(env).filter(([name]) => /^(?:PATH|HOME|(?:AWS|GOOGLE|GCE)_\w+)$/.test(name))
    const { LOG_LEVEL } = env
    const settings = parseEnv((readIfExists(this.at('settings.env')) ?? '').replace(/^\uFEFF/, ''))
    return {
      ...Object.fromEntries(systemVariables),
      ...(LOG_LEVEL ? { LOG_LEVEL } : {}),
      ...this.keySettings(),
      ...settings,
      ...this.secretSettings(),
    }
  }
}
