// Builds the contexts of the passes, and of the operator's acts and readings, from the settings and the opened parts. The service and the commands
// both use it. It only connects parts, and starts nothing.

import { createContractReader } from '../chain/factory/contract.ts'
import { createNodeHistory } from '../chain/factory/history.ts'
import type { Signer } from '../chain/send/signer.ts'
import { createSignerAccount } from '../chain/send/signer-account.ts'
import { type Config, modeOn } from '../config/load.ts'
import { advisoryLock } from '../db/core/locks.ts'
import type { Pool } from '../db/core/sql.ts'
import { type FeeRules, usualFeeRules } from '../domain/fees.ts'
import { FUNDS_WARN_TRANSACTIONS } from '../domain/funds.ts'
import { VALID_FOR_SEC } from '../domain/send.ts'
import type { Log } from '../lib/log.ts'
import type { OperatorDeps } from '../operator/act.ts'
import type { ChainFacts } from '../ports/chain.ts'
import {
  type FollowRules,
  type LedgerContext,
  type PassContext,
  REQUEST_POLL_POLICY,
  type ServiceAccounts,
} from '../ports/contexts.ts'
import { type OpenedChain, signersOf } from './parts.ts'

/** Seconds between two comparisons of the ledger with the contract. */
const RECONCILE_EVERY_SEC = 300

/** Builds the context that has no keys, from the settings and the opened parts. */
export function ledgerContext(
  config: Config,
  log: Log,
  { pool, chain }: { pool: Pool; chain: OpenedChain },
): LedgerContext {
  const { part, rpc, reader } = chain
  return {
    pool,
    chain: reader,
    contract: createContractReader(rpc, part.factory),
    history: createNodeHistory(rpc, part.factory),
    pollPolicy: REQUEST_POLL_POLICY,
    rules: {
      startBlock: part.startBlock,
      finality: config.FINALITY,
      // The embedded chain is the operator's own, so we trust it.
      trustsProvider: config.TRUST_PROVIDER || part.demoToken !== null,
      ...config.firstSaleTerms,
      distMode: config.DIST_MODE,
      ...feeRules(config, chain.chainId),
      validForSec: VALID_FOR_SEC,
      rewindsToShorterChain: part.demoToken !== null,
      ...modeRule(chain),
      reconcileEverySec: RECONCILE_EVERY_SEC,
      fundsWarnTransactions: FUNDS_WARN_TRANSACTIONS,
    },
    log,
  }
}

/** The mode of a new ledger, if it is known. The hashes of the embedded chain's blocks from before its last start differ. */
function modeRule({ part, chainId }: OpenedChain): Partial<FollowRules> {
  const mode = part.demoToken !== null ? 'agreed' : modeOn(chainId)
  return mode ? { mode } : {}
}

/** Builds the context of the passes: the context without keys, plus the keys, the preflight and the lock. */
export function passContext(
  config: Config,
  log: Log,
  connections: {
    pool: Pool
    /** A URL that bypasses any pooler, for locks. */
    directUrl: string
    chain: OpenedChain
    preflight: () => Promise<ChainFacts>
  },
): PassContext {
  const { part, rpc, chainId } = connections.chain
  const sender = (signer: Signer | null) =>
    signer && createSignerAccount({ rpc, signer, chainId, factory: part.factory })
  return {
    ...ledgerContext(config, log, connections),
    minter: sender(part.minter),
    distributor: sender(part.distributor),
    lock: advisoryLock(connections.directUrl),
    preflight: connections.preflight,
  }
}

/** Builds the context of the operator's acts and readings. Of the signer accounts, it has only the addresses. */
export function operatorDeps(ctx: LedgerContext & ServiceAccounts, readPool: Pool): OperatorDeps {
  const { pool, chain, contract, rules, log } = ctx
  return { pool, readPool, chain, contract, signers: signersOf(ctx), rules, log }
}

/** The operator's caps on the gas price. A cap that is not set has the chain's default. */
function feeRules({ FEE_CAP_WEI, TIP_MAX_WEI }: Config, chainId: number): FeeRules {
  const usual = usualFeeRules(chainId)
  return { feeCapWei: FEE_CAP_WEI ?? usual.feeCapWei, tipMaxWei: TIP_MAX_WEI ?? usual.tipMaxWei }
}
