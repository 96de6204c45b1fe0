// Looks whether the accounts that send can sign: opens each key by itself, and has a remote signer sign something that can never be
// mined. It must never keep the checks of the chain from being made, and never repeat a password or a signer's URL.
import { assertTwoAccounts, type Keys, openKey } from '../../boot/keys.ts'
import type { ChainPart } from '../../boot/parts.ts'
import { createRpc } from '../../chain/rpc/rpc.ts'
import { count } from '../../chain/rpc/wire.ts'
import { keystoreAddress } from '../../chain/send/keystore.ts'
import type { Signer } from '../../chain/send/signer.ts'
import { createSignerAccount } from '../../chain/send/signer-account.ts'
import { type Config, ConfigError } from '../../config/load.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readSignerTroubles } from '../../db/sends/signers.ts'
import { messageOf } from '../../lib/errors.ts'
import { silentLog } from '../../lib/log.ts'
import type { AccountRole } from '../../passes/context.ts'
import { trySigning } from '../../passes/steps/signer.ts'
import { type Finding, fail, look, ok, reasonOf, unknown } from './finding.ts'

const ROLES: readonly AccountRole[] = ['minter', 'distributor']

/** The keys that could be opened, and a finding for each that could not. */
export interface OpenedKeys {
  readonly keys: Keys
  readonly findings: readonly Finding[]
}

/** Opens each key by itself. Of a key file that does not open the account is known all the same. */
export async function openEachKey(config: Config): Promise<OpenedKeys> {
  const keys: Keys = { minter: null, distributor: null }
  const findings: Finding[] = []
  const opening = async (check: string, open: () => Promise<void> | void, settings: string) => {
    try {
      await open()
    } catch (error) {
      if (!(error instanceof ConfigError)) return void findings.push(unknown(check, reasonOf(error)))
      const says = error.problems.map(({ setting, message }) => `${setting} ${message}`).join('; ')
      findings.push(fail(check, says, `Correct ${settings}: the service does not start like this.`))
    }
  }
  await Promise.all(
    ROLES.map((role) => {
      const name = role.toUpperCase()
      const open = async () => {
        keys[role] = closedSigner(config, role)
        keys[role] = await openKey(role, config)
      }
      return opening(`keys.${role}`, open, `${name}_KEYSTORE and ${name}_KEYSTORE_PASSWORD`)
    }),
  )
  await opening('keys.distributor', () => assertTwoAccounts(keys), 'the keys of minter or distributor')
  return { keys, findings }
}

/** The account of a key file, which has no signature to give. */
function closedSigner({ keys }: Config, role: AccountRole): Signer | null {
  const key = keys[role]
  const address = key?.kind === 'keystore' ? keystoreAddress(key.text) : null
  return address && { address, sign: () => Promise.reject(new Error('its key file is not open')) }
}

/** Asks the remote signers that the settings name. */
export async function lookAtSigners({ keys }: Config, chain: ChainPart): Promise<Finding[]> {
  const remote = ROLES.flatMap((role) => {
    const signer = chain[role]
    const { kind } = keys[role] ?? {}
    return (kind === 'signer' || kind === 'kms') && signer ? [{ role, signer, kind }] : []
  })
  const looks = remote.map(({ role, signer, kind }) =>
    look(`signer.${role}`, () => askSigner(role, signer, chain, REMEDIES[kind])),
  )
  return (await Promise.all(looks)).flat()
}

/** By where the key is; the role in capitals is put in. */
const REMEDIES = {
  signer: (name: string) =>
    `See that the signer at ${name}_SIGNER_URL runs, can be reached from here, and has the key of ${name}_ADDRESS unlocked`,
  kms: (name: string) =>
    `See that the service of ${name}_KMS_KEY can be reached from here, lets this program in to sign with that key, and that ${name}_ADDRESS is its account ("node-ledger keys address")`,
}

async function askSigner(
  role: AccountRole,
  signer: Signer,
  chain: ChainPart,
  remedyFor: (name: string) => string,
): Promise<Finding> {
  const check = `signer.${role}`
  const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog, timeoutMs: 5_000 })
  try {
    const chainId = chain.chainId ?? count(await rpc.request('eth_chainId', []), 'chain id')
    const sender = createSignerAccount({ rpc, signer, chainId, factory: chain.factory })
    const refusal = await trySigning(role, sender).then(
      () => null,
      (error: unknown) => messageOf(error),
    )
    if (refusal === null) return ok(check, `the ${role}'s signer signs for ${signer.address}`)
    const [name, waits] = [role.toUpperCase(), role === 'minter' ? 'mints' : 'rounds']
    return fail(check, refusal, `${remedyFor(name)}: ${waits} wait for it.`)
  } finally {
    await rpc.close()
  }
}

/** Reads the refusals that the passes met: the only evidence on an instance without keys. */
export async function lookAtRefusals(pool: Pool): Promise<Finding[]> {
  const troubles = await readSignerTroubles(pool)
  if (troubles.length === 0) return [ok('passes.signers', 'no signer refused what it was last asked for')]
  return troubles.map((trouble) =>
    fail(
      'passes.signers',
      `since ${trouble.since} nothing is signed for the ${trouble.role}, ${trouble.address}: ${trouble.detail}`,
      'docs/RUNBOOK.md, "NodeLedgerSignerDown", says what to do. Each pass asks again, and what waits goes on by itself.',
      trouble,
    ),
  )
}
