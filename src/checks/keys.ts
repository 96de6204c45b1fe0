// The checks of the keys that send: whether they exist, can be opened, are publicly known, and have enough ether for the next transactions; whether
// the transactions that they signed can still be mined; and whether a remote signer signs. It must never repeat a password or a signer's URL.
import { assertTwoAccounts, type Keys, openKey } from '../boot/keys.ts'
import { type ChainPart, signersOf } from '../boot/parts.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { count } from '../chain/rpc/wire.ts'
import { createSignerAccount, currentFees, nonceAt } from '../chain/send/signer-account.ts'
import { type Config, ConfigError } from '../config/load.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import type { Pool } from '../db/core/sql.ts'
import { readNonceAhead } from '../db/sends/nonce-ahead.ts'
import { readKnownNonces } from '../db/sends/outbox.ts'
import { DEVELOPMENT_CHAINS, isDevelopmentAccount } from '../domain/development.ts'
import { FUNDS_WARN_TRANSACTIONS } from '../domain/funds.ts'
import { inEther } from '../domain/units.ts'
import { messageOf } from '../lib/errors.ts'
import { readFunds } from '../passes/steps/funds.ts'
import { trySigning } from '../passes/steps/signer.ts'
import type { AccountRole } from '../ports/contexts.ts'
import type { SignerAccount } from '../ports/sending.ts'
import { type Check, type Checks, check, type Finding, findingOf, reasonOf } from './check.ts'

export interface KeysExamined {
  readonly config: Config
  readonly chain: ChainPart
  readonly rpc: Rpc
  /** The ledger's database; null if there is no ledger from which to estimate the next round's cost. */
  readonly pool: Pool | null
}

export const KEY_CHECKS: Checks<KeysExamined> = {
  'keys.minter': checkKey('minter'),
  'keys.distributor': checkKey('distributor'),
  'funds.minter': checkFunds('minter'),
  'funds.distributor': checkFunds('distributor'),
  'nonce.minter': checkNonce('minter'),
  'nonce.distributor': checkNonce('distributor'),
  'signer.minter': checkSigner('minter'),
  'signer.distributor': checkSigner('distributor'),
}

function checkKey(role: AccountRole): Check<KeysExamined> {
  const read = ({ chain }: KeysExamined) => signersOf(chain)[role]
  return check(null, read, (address, { chain }) => {
    if (address === null)
      return {
        says: role === 'minter' ? 'no key: nothing is minted' : 'no key: no round is credited',
        warn: `Set ${role.toUpperCase()}_PRIVATE_KEY (or a signer) on the instance that mints and credits.`,
      }
    if (!isDevelopmentAccount(address) || chain.demoToken) return address
    const says = `${address} is a development account, whose key is public`
    if (chain.chainId !== null && DEVELOPMENT_CHAINS.includes(chain.chainId))
      return `${says}, which is fine on a development chain`
    return { says, fail: 'Make a key with "node-ledger keys new", and give it the role.' }
  })
}

function checkFunds(role: AccountRole): Check<KeysExamined> {
  const read = async (context: KeysExamined) => {
    const sender = await accountOf(context, role)
    if (sender === null) return null
    const { config, rpc, pool } = context
    const limits = { maxFeeWei: (await currentFees(rpc)).maxFeeWei, warnTransactions: FUNDS_WARN_TRANSACTIONS }
    const funds = await readFunds(pool, { sender, role, distMode: config.DIST_MODE }, limits)
    return { address: sender.address, ...limits, ...funds }
  }
  return check('NodeLedgerFundsLow', read, (funds) => {
    if (!funds) return null
    const { address, balanceWei, leftWei, transactions, low } = funds
    const has = `the ${role} has ${inEther(balanceWei)} ETH`
    if (leftWei < 0n) {
      const what = role === 'minter' ? 'the pending mint' : 'the next round'
      const says = `${has}, and ${what} may cost ${inEther(balanceWei - leftWei)}`
      return { says, fail: `Send ether to ${address}: ${what} waits for it.` }
    }
    const says = `${has}, for ${transactions === null ? 'any number of' : `about ${transactions}`} transactions at current fees`
    return {
      says,
      [transactions === 0 ? 'fail' : 'warn']:
        low && `Send ether to ${address}: without it the service sends nothing more.`,
    }
  })
}

/** Fails if providers report a higher nonce for a sender than followed blocks show. Reads what its pass recorded, and the nonce now. */
function checkNonce(role: AccountRole): Check<KeysExamined> {
  const read = async ({ chain, rpc, pool }: KeysExamined) => {
    const address = signersOf(chain)[role]
    if (address === null || pool === null) return null
    // Read in this order, so that a transaction that is still pending at the second read is in no block up to the cursor.
    const cursor = await readCursor(pool)
    const ledgerNonces = await readKnownNonces(pool, address)
    if (!cursor || !ledgerNonces) return 'unused'
    const nonceAhead = await readNonceAhead(pool, address)
    return { address, known: ledgerNonces.followed, now: await nonceAt(rpc, address, cursor.hash), noted: nonceAhead }
  }
  return check('NodeLedgerForeignTransaction', read, (nonces) => {
    if (nonces === null) return null
    if (nonces === 'unused') return `the ${role} has sent nothing yet`
    const { address, known: followedNonce, now, noted: nonceAhead } = nonces
    if (nonceAhead === null && (now === null || now <= followedNonce))
      return `the ${role}'s nonces match the followed blocks`
    return {
      says: `the providers report nonce ${nonceAhead?.reported ?? now} of ${address}, and followed blocks show ${followedNonce}: the key was used elsewhere, or a provider is wrong; the ${role} sends nothing`,
      fail: 'The service adopts this nonce once all providers have reported it for 64 blocks. If you know that the key was used, "node-ledger transactions free" adopts it immediately.',
    }
  })
}

/** The account of a role; null if this instance has no key of it. */
async function accountOf({ chain, rpc }: KeysExamined, role: AccountRole): Promise<SignerAccount | null> {
  const signer = chain[role]
  if (!signer) return null
  const chainId = chain.chainId ?? count(await rpc.request('eth_chainId', []), 'chain id')
  return createSignerAccount({ rpc, signer, chainId, factory: chain.factory })
}

/** What to do, depending on where the key is. The role is inserted in upper case. */
const REMEDIES = {
  signer: (name: string) =>
    `Check that the signer at ${name}_SIGNER_URL runs, can be reached from here, and has the key of ${name}_ADDRESS unlocked`,
  kms: (name: string) =>
    `Check that the service of ${name}_KMS_KEY can be reached from here, allows this program to sign with that key, and that ${name}_ADDRESS is its account ("node-ledger keys address")`,
}

/** Asks a remote signer to sign a transaction that can never be mined. */
function checkSigner(role: AccountRole): Check<KeysExamined> {
  const read = async (context: KeysExamined) => {
    const { kind } = context.config.keys[role] ?? {}
    const sender = kind === 'signer' || kind === 'kms' ? await accountOf(context, role) : null
    if (sender === null) return null
    const refusal = await trySigning(role, sender).then(() => null, messageOf)
    return { kind: kind as keyof typeof REMEDIES, address: sender.address, refusal }
  }
  return check('NodeLedgerSignerDown', read, (trial) => {
    if (!trial) return null
    const { kind, address, refusal } = trial
    if (refusal === null) return `the ${role}'s signer signs for ${address}`
    const waits = role === 'minter' ? 'mints' : 'rounds'
    return { says: refusal, fail: `${REMEDIES[kind](role.toUpperCase())}. Until then ${waits} wait.` }
  })
}

const ROLES: readonly AccountRole[] = ['minter', 'distributor']

/** The keys that could be opened, and a finding for each key that could not. */
export interface OpenedKeys {
  readonly keys: Keys
  readonly findings: readonly Finding[]
}

/** Opens each key separately. */
export async function openEachKey(config: Config): Promise<OpenedKeys> {
  const keys: Keys = { minter: null, distributor: null }
  const findings: Finding[] = []
  const opening = async (check: string, open: () => Promise<void> | void, settings: string) => {
    try {
      await open()
    } catch (error) {
      if (!(error instanceof ConfigError)) return void findings.push(findingOf(check, { unknown: reasonOf(error) }))
      const says = error.problems.map(({ setting, message }) => `${setting} ${message}`).join('; ')
      findings.push(findingOf(check, { says, fail: `Correct ${settings}: the service will not start with this.` }))
    }
  }
  await Promise.all(
    ROLES.map((role) => {
      const name = role.toUpperCase()
      const open = async () => {
        keys[role] = await openKey(role, config)
      }
      return opening(`keys.${role}`, open, `${name}_KMS_KEY`)
    }),
  )
  await opening('keys.distributor', () => assertTwoAccounts(keys), 'the keys of minter or distributor')
  return { keys, findings }
}
