// Plans a deployment and its cost, read from the chain before anything is signed. It must never send, and never see
// a key.
import { type FactorySetup, factoryDeployData } from '../../chain/factory/deploy.ts'
import { createRpc, splitRpcUrls } from '../../chain/rpc/rpc.ts'
import { count, quantity } from '../../chain/rpc/wire.ts'
import { currentFees } from '../../chain/send/signer-account.ts'
import { DEVELOPMENT_CHAINS, isDevelopmentAccount } from '../../domain/development.ts'
import type { Address } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'

export interface DeployPlan {
  readonly chainId: number
  readonly balanceWei: bigint
  /** The highest cost of the deployment, at current fees. */
  readonly costMaxWei: bigint
  /** Reasons against the deployment; empty if there are none. */
  readonly refusals: readonly string[]
}

/** How much more gas than the estimate the deployment may use. */
const GAS_MARGIN_PERCENT = 20n

/** Reads the chain. Throws a ChainFault if we cannot reach it, or if the deployment would revert. */
export async function planDeployment(rpcUrl: string, deployer: Address, setup: FactorySetup): Promise<DeployPlan> {
  const rpc = createRpc({ urls: splitRpcUrls(rpcUrl), log: silentLog })
  try {
    const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
    const balanceWei = quantity(await rpc.request('eth_getBalance', [deployer, 'latest']), 'balance')
    const creation = { from: deployer, data: factoryDeployData(setup) }
    const gas = quantity(await rpc.request('eth_estimateGas', [creation]), 'gas estimate')
    const { maxFeeWei } = await currentFees(rpc)
    const costMaxWei = ((gas * (100n + GAS_MARGIN_PERCENT)) / 100n) * maxFeeWei
    const figures = { chainId, balanceWei, costMaxWei }
    return { ...figures, refusals: refusalsOf(figures, deployer, setup) }
  } finally {
    await rpc.close()
  }
}

function refusalsOf(
  { chainId, balanceWei, costMaxWei }: Omit<DeployPlan, 'refusals'>,
  deployer: Address,
  { owner, minter, distributor }: FactorySetup,
): string[] {
  const refusals: string[] = []
  if (!DEVELOPMENT_CHAINS.includes(chainId)) {
    for (const [role, holder] of Object.entries({ deployer, owner, minter, distributor })) {
      if (isDevelopmentAccount(holder))
        refusals.push(`The ${role} ${holder} is a development account, whose key is public.`)
    }
  }
  if (balanceWei < costMaxWei) refusals.push('The deployer has too little ether: send the difference first.')
  return refusals
}
