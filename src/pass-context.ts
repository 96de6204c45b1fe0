// What the passes, and the operator's acts and readings, are given: built from the settings and the parts that are open, for the service
// and for commands alike. Wiring only; it starts nothing.
import { createContractReader } from './chain/contract.ts'
import { createNodeHistory } from './chain/history.ts'
import type { ChainReader } from './chain/port.ts'
import type { Rpc } from './chain/rpc.ts'
import { createSender } from './chain/sender.ts'
import type { Signer } from './chain/signer.ts'
import type { Config } from './config.ts'
import type { Pool } from './db/sql.ts'
import type { Log } from './lib/log.ts'
import type { OperatorDeps } from './operator/act.ts'
import type { ChainPart } from './parts.ts'
import type { PassContext } from './passes/context.ts'

/** Most that is offered per gas: a price that ordinary traffic has never had to pay for long. */
const FEE_CAP_WEI = 500n * 10n ** 9n
/** How often ledger and contract are compared. */
const RECONCILE_EVERY_SEC = 300

/** What the passes work with, from the settings and the parts that are open. */
export function passContext(
  config: Config,
  log: Log,
  given: {
    pool: Pool
    directUrl: string
    chain: ChainPart
    rpc: Rpc
    reader: ChainReader
    chainId: number
    guardUsable: boolean
  },
): PassContext {
  const { chain, rpc, chainId } = given
  const { factory } = chain
  const sender = (signer: Signer | null) => signer && createSender({ rpc, signer, chainId, factory })
  return {
    pool: given.pool,
    directUrl: given.directUrl,
    chain: given.reader,
    contract: createContractReader(rpc, factory),
    history: createNodeHistory(rpc, factory),
    minter: sender(chain.minter),
    distributor: sender(chain.distributor),
    rules: {
      startBlock: chain.startBlock,
      paymentAddress: chain.paymentAddress,
      finality: config.chain.finality,
      priceGraceSec: config.payments.priceGraceSec,
      holdingRetrySec: config.payments.holdingRetrySec,
      distEnabled: config.credit.enabled,
      distMode: config.credit.mode,
      feeCapWei: FEE_CAP_WEI,
      guardUsable: given.guardUsable,
      rewindsToShorterChain: chain.demoToken !== null,
      reconcileEverySec: RECONCILE_EVERY_SEC,
      fundsWarnTransactions: config.schedule.fundsWarnTransactions,
    },
    log,
  }
}

/** What the operator's acts and readings are given: all that a pass has, but for its keys. */
export function operatorDeps(ctx: PassContext, readPool: Pool): OperatorDeps {
  const senders = { minter: ctx.minter?.address ?? null, distributor: ctx.distributor?.address ?? null }
  return { ...ctx, minter: null, distributor: null, senders, readPool }
}
