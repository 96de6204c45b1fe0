// What `node-ledger init` checks before it spends any ether: whether the answers fit together, the settings as the service will read them, the
// database, and the payments wallet. A mistake must show before the contract has its owner and its bounds.
import { migrateWhenUp } from '../../boot/preflight.ts'
import { createChainProofs } from '../../chain/evidence/find-mode.ts'
import { isUsed } from '../../chain/factory/check-deployment.ts'
import { LEAST_INTERVAL_SEC } from '../../chain/factory/deploy.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { bytes } from '../../chain/rpc/wire.ts'
import { judgeEvidence } from '../../checks/chain.ts'
import { inspectConfig } from '../../config/load.ts'
import { connect } from '../../db/core/sql.ts'
import { readState } from '../../db/core/state.ts'
import { DEVELOPMENT_CHAINS } from '../../domain/development.ts'
import { foundInWords } from '../../domain/finality.ts'
import { hotKeysOf, refuseWallet } from '../../domain/payment-wallets.ts'
import { boundsNeeded, refuseTerms } from '../../domain/terms.ts'
import { type Address, address, BPS_BASE, wei, ZERO_ADDRESS } from '../../domain/units.ts'
import { readIfExists } from '../../lib/files.ts'
import { RefusedError, UsageError } from '../errors.ts'
import type { Role } from './folder.ts'
import type { Answers } from './questions.ts'

/** How long we wait for the database: not long, so that we soon report if it does not answer. */
const DATABASE_WAIT_MS = 2_000
/** A placeholder for the contract in the settings that we check, because the contract does not exist yet. */
const SOME_FACTORY = `0x${'1'.repeat(40)}`

/** So many blocks of the real chain must be of a form that we know, before its contract costs ether. */
const BLOCKS_TRIED = 50

const GWEI = 10n ** 9n

const NAMED: Readonly<Record<string, string>> = {
  minWei: '--min-wei',
  maxWei: '--max-wei',
  intervalSec: '--interval',
  slotSec: '--slot',
  zero: 'more',
}

/** Answers that contradict each other, or contradict the bounds that the call sets for the contract. */
export function mistakesIn(answers: Answers, given: Readonly<Record<string, string>>): string[] {
  const intervalSec = Number(answers.interval)
  const terms = {
    payouts: true,
    minWei: wei(BigInt(answers['min-wei'])),
    maxWei: wei(BigInt(answers['max-wei'])),
    intervalSec,
    slotSec: Number(answers.slot),
  }
  const leastIntervalSec = Number(given['least-interval'] ?? Math.min(LEAST_INTERVAL_SEC, intervalSec))
  const refusal = refuseTerms(
    terms as Parameters<typeof refuseTerms>[0],
    { leastIntervalSec, payoutBps: [], zeroAllowed: false },
    (field) => NAMED[field] ?? field,
  )
  const gweiOf = (name: string) => (/^[0-9]{1,15}$/.test(given[name] ?? '') ? BigInt(given[name] ?? '') * GWEI : null)
  const bounds = { floorWei: gweiOf('floor-gwei') ?? 0n, ceilingWei: gweiOf('ceiling-gwei') ?? terms.maxWei }
  const needed = refusal ? null : boundsNeeded(terms, [Number(BPS_BASE)], bounds)
  const tooNarrow = needed
    ? [
        `--floor-gwei, --ceiling-gwei: turns of ${terms.minWei} to ${terms.maxWei} wei need ${needed.floorGwei} and ${needed.ceilingGwei}.`,
      ]
    : []
  return [...(refusal ? [refusal] : []), ...tooNarrow, ...(answers['price-wei'] === '0' ? ['--price-wei: is 0'] : [])]
}

/** Reads the settings as the service will. Throws a UsageError with everything that it would refuse. */
export function checkSettings(env: NodeJS.ProcessEnv): void {
  const given = { CHAIN_ID: '1', START_BLOCK: '0', FACTORY_ADDRESS: SOME_FACTORY, ...env }
  const { problems } = inspectConfig(given, { readFile: (path) => readIfExists(path) ?? '' })
  if (problems.length > 0)
    throw new UsageError(problems.map(({ setting, message }) => `${setting} ${message}`).join('\n'))
}

/** Creates the tables, to see whether that works. Throws a KnownError if it fails, or if the database holds another contract's ledger. */
export async function checkDatabase(url: string, say: (line: string) => void): Promise<void> {
  await migrateWhenUp(url, say, { waitMs: DATABASE_WAIT_MS })
  const pool = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger init' })
  try {
    if ((await readState(pool, 'identity')) !== null)
      throw new RefusedError('DATABASE_URL: the database has a ledger of another contract. Name an empty one.')
  } finally {
    await pool.end({ timeout: 1 })
  }
}

/** Tries whether blocks prove what providers report. Throws a RefusedError if the first start would refuse what it finds. */
export async function checkEvidence(
  rpc: Rpc,
  { chainId, trusts, say }: { chainId: number; trusts: boolean; say: (line: string) => void },
): Promise<void> {
  const soundness = { mode: null, chainId: null, failed: [], voices: rpc.providers }
  const found = await createChainProofs(rpc.providers, soundness).findMode(BLOCKS_TRIED)
  if (!found)
    throw new RefusedError('RPC_URL: its providers do not name the same recent blocks. Try again, or use other ones.')
  const ledger = { mode: null, chainId, isDemo: false }
  const { says, fail } = judgeEvidence(found, ledger, { voices: rpc.providers.length, trusts, production: true })
  if (fail) throw new RefusedError(`${says}. ${fail}`)
  say(
    found.mode === 'proven'
      ? 'Blocks prove what providers report.'
      : `Two providers must agree: ${foundInWords(found)}.`,
  )
}

/** Checks the payments wallet. Throws a RefusedError if buyers must not pay to it, or if another sale may have used it. */
export async function checkWallet(
  rpc: Rpc,
  wallet: Address,
  { chainId, roles, former }: { chainId: number; roles: Readonly<Record<Role, Address>>; former: string | undefined },
): Promise<void> {
  const hasCode = bytes(await rpc.request('eth_getCode', [wallet, 'latest']), 'code') !== '0x'
  // The first start checks later, with the contract's own reader, whether the wallet's code can be traced.
  const facts = { factory: address(ZERO_ADDRESS), chainId, hasCode, isTraceable: true }
  const objection = refuseWallet(wallet, { ...facts, hotKeys: hotKeysOf(roles) })
  if (objection) throw new RefusedError(`--payments: ${objection.problem}. ${objection.remedy}`)
  if (DEVELOPMENT_CHAINS.includes(chainId) || former === 'none' || !(await isUsed(rpc, wallet))) return
  throw new RefusedError(
    `--payments: ${wallet} was used before. If another factory sold with it, make a new wallet for this sale (docs/MOVING.md). If not, set FORMER_FACTORIES=none.`,
  )
}
