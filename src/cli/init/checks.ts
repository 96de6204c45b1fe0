// What `node-ledger init` checks before it spends any ether: the settings as the service will read them, the environment, the providers, the database,
// and the payments wallet. A mistake must show before the contract has its owner and its bounds. Each check returns what is wrong, or null.
import { randomBytes } from 'node:crypto'
import { parseEnv } from 'node:util'
import { createChainProofs } from '../../chain/evidence/find-mode.ts'
import { isUsed } from '../../chain/factory/check-deployment.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { bytes, count } from '../../chain/rpc/wire.ts'
import { judgeEvidence } from '../../checks/chain.ts'
import { inspectConfig } from '../../config/load.ts'
import { databaseFault } from '../../db/core/faults.ts'
import { isLedger, isMigrated } from '../../db/core/migrate.ts'
import { lookAtSession } from '../../db/core/session.ts'
import { connect } from '../../db/core/sql.ts'
import { readIdentity } from '../../db/core/state.ts'
import { DEVELOPMENT_CHAINS } from '../../domain/development.ts'
import { foundInWords } from '../../domain/finality.ts'
import { hotKeysOf, refuseWallet as refuseAddress } from '../../domain/payment-wallets.ts'
import { type Address, address, ZERO_ADDRESS } from '../../domain/units.ts'
import { KnownError, messageOf } from '../../lib/errors.ts'
import { readIfExists } from '../../lib/files.ts'
import { ChainFault } from '../../ports/faults.ts'
import type { Call } from '../command.ts'
import { UnavailableError } from '../errors.ts'
import { randomKey } from '../service/keys.ts'
import type { Folder, Role } from './folder.ts'

/** A placeholder for the contract in the settings that we check, because the contract does not exist yet. */
const SOME_FACTORY = `0x${'1'.repeat(40)}`

/** So many blocks of the real chain must be of a form that we know, before its contract costs ether. */
const BLOCKS_TRIED = 50

/** Why the environment contradicts a setting that we would write; null if it does not. */
export function contradiction(env: NodeJS.ProcessEnv, setting: string, value: string): string | null {
  const { [setting]: current = '' } = env
  const plain = (text: string) => text.toLowerCase().replace(/\/$/, '')
  if (current === '' || plain(current) === plain(value)) return null
  return `${setting}: is ${current} in the environment, but ${value} here. Unset it, or make them equal.`
}

interface Checked {
  readonly call: Pick<Call, 'io'>
  readonly folder: Folder
  /** Lines of settings.env. */
  readonly settings: readonly string[]
  readonly rpcUrl: string
  readonly databaseUrl: string
}

/** What the service would refuse in these settings. Secrets that do not exist yet are valid here. */
export function problemsIn({ call, folder, settings, rpcUrl, databaseUrl }: Checked) {
  const own = { ...folder.environment(call.io.env), ...parseEnv(settings.join('\n')) }
  const keys = ['MINTER', 'DISTRIBUTOR'].filter((role) => !Object.keys(own).some((name) => name.startsWith(`${role}_`)))
  const env = {
    CHAIN_ID: '1',
    START_BLOCK: '0',
    FACTORY_ADDRESS: SOME_FACTORY,
    ...(own.SESSION_SECRET_FILE ? {} : { SESSION_SECRET: randomBytes(32).toString('hex') }),
    ...Object.fromEntries(keys.map((role) => [`${role}_PRIVATE_KEY`, randomKey()])),
    ...own,
    RPC_URL: rpcUrl,
    DATABASE_URL: databaseUrl,
    RPC_URL_FILE: undefined,
    DATABASE_URL_FILE: undefined,
  }
  const { problems } = inspectConfig(env, { readFile: (path) => readIfExists(path) ?? '' })
  return problems.map(({ setting, message }) => ({ setting, text: `${setting} ${message}` }))
}

/** Tries a database. Throws an UnavailableError if it does not answer. */
export async function tryDatabase(url: string): Promise<string | null> {
  const pool = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger init' })
  try {
    const [unfit] = (await lookAtSession(pool)).filter(({ fatal }) => fatal)
    if (unfit) return `DATABASE_URL: ${unfit.says}. ${unfit.todo}`
    const [{ mayCreate }] = await pool<[{ mayCreate: boolean }]>`
      SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate"`
    if (!mayCreate)
      return 'DATABASE_URL: its user may not create tables there. Make the user the owner of the database.'
    const isTaken = (await isMigrated(pool)) ? (await readIdentity(pool)) !== null : await isLedger(pool)
    return isTaken ? 'DATABASE_URL: the database has a ledger of another contract. Use an empty one.' : null
  } catch (error) {
    if (error instanceof KnownError) return `DATABASE_URL: ${error.message}`
    const fault = databaseFault(error)
    if (fault === null) throw error
    const text = `DATABASE_URL: the database ${fault.says}: ${messageOf(error)}. ${fault.remedy}`
    if (fault.kind === 'closed') return text
    throw new UnavailableError(text)
  } finally {
    await pool.end({ timeout: 1 })
  }
}

/** Tries every provider. @returns the chain, or what is wrong. Throws an UnavailableError if one does not answer. */
export async function refuseProviders(
  rpc: Rpc,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<{ chainId: number } | string> {
  try {
    const chains = await Promise.all(
      rpc.providers.map(async (one) => ({
        host: one.host,
        id: count(await one.request('eth_chainId', []), 'chain id'),
      })),
    )
    const [{ id: chainId } = { id: 0 }] = chains
    if (chains.some(({ id }) => id !== chainId))
      return `RPC_URL: its providers are of different chains: ${chains.map(({ host, id }) => `${host} ${id}`).join(', ')}.`
    const refusal = contradiction(env, 'CHAIN_ID', String(chainId))
    if (refusal) return refusal
    return (await refuseEvidenceOf(rpc, { chainId, trusts: env.TRUST_PROVIDER === 'true', say })) ?? { chainId }
  } catch (error) {
    if (error instanceof ChainFault) throw new UnavailableError(`RPC_URL: no valid answer from ${error.message}.`)
    throw error
  }
}

/** Tries whether blocks prove what providers report, as the first start will. */
export async function refuseEvidenceOf(
  rpc: Rpc,
  { chainId, trusts, say }: { chainId: number; trusts: boolean; say: (line: string) => void },
): Promise<string | null> {
  const soundness = { mode: null, chainId: null, failed: [], voices: rpc.providers }
  const finding = await createChainProofs(rpc.providers, soundness).findMode(BLOCKS_TRIED)
  if (!finding) return 'RPC_URL: its providers report different recent blocks. Try again, or use other providers.'
  const ledger = { mode: null, chainId, isDemo: false }
  const { says, fail } = judgeEvidence(finding, ledger, { voices: rpc.providers.length, trusts, production: true })
  if (fail) return `${says}. ${fail}`
  say(
    finding.mode === 'proven'
      ? 'Blocks prove what providers report.'
      : `Two providers must agree: ${foundInWords(finding)}.`,
  )
  return null
}

/** Why buyers must not pay to a wallet, or why it needs a word of the operator first because another sale may have used it. */
export async function refuseWallet(
  rpc: Rpc,
  wallet: Address,
  { chainId, roles, former }: { chainId: number; roles?: Readonly<Record<Role, Address>>; former: string | undefined },
): Promise<string | null> {
  const hasCode = bytes(await rpc.request('eth_getCode', [wallet, 'latest']), 'code') !== '0x'
  // The first start checks later, with the contract's own reader, whether the wallet's code can be traced.
  const facts = { factory: address(ZERO_ADDRESS), chainId, hasCode, isTraceable: true }
  const objection = refuseAddress(wallet, { ...facts, hotKeys: roles ? hotKeysOf(roles) : [] })
  if (objection) return `--payments: ${objection.problem}. ${objection.remedy}`
  if (DEVELOPMENT_CHAINS.includes(chainId) || former === 'none' || !(await isUsed(rpc, wallet))) return null
  return `--payments: ${wallet} was used before. If another factory sold with it, make a new wallet for this sale (docs/MOVING.md). If not, set FORMER_FACTORIES=none.`
}
