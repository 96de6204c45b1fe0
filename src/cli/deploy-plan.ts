// What a deployment would do and cost, read from the chain before anything is signed. It must never send, and never see
// a key.
import { type FactorySetup, factoryDeployData } from '../chain/deploy.ts'
import { createRpc, splitRpcUrls } from '../chain/rpc.ts'
import { currentFees } from '../chain/sender.ts'
import { count, quantity } from '../chain/wire.ts'
import type { Address } from '../domain/units.ts'
import { EMBED_ACCOUNTS } from '../embed/accounts.ts'
import { silentLog } from '../lib/log.ts'

export interface DeployPlan {
  readonly chainId: number
  readonly balanceWei: bigint
  /** What the deployment may cost at most, at the fees of now. */
  readonly costMaxWei: bigint
  /** Why it should not be done; empty when nothing speaks against it. */
  readonly refusals: readonly string[]
}

/** Chains that one has to oneself, where accounts whose keys everybody knows are the usual ones. */
export const DEVELOPMENT_CHAINS: readonly number[] = [1_337, 31_337]
/** The room over the estimate that the deployment takes. */
const GAS_MARGIN_PERCENT = 20n

/** Reads the chain. Throws a ChainFault when it cannot be asked, and where the deployment would revert. */
export async function planDeployment(rpcUrl: string, deployer: Address, setup: FactorySetup): Promise<DeployPlan> {
  const rpc = createRpc({ urls: splitRpcUrls(rpcUrl), log: silentLog })
  try {
    const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
    const balanceWei = quantity(await rpc.request('eth_getBalance', [deployer, 'latest']), 'balance')
    const data = factoryDeployData(setup)
    const gas = quantity(await rpc.request('eth_estimateGas', [{ from: deployer, data }]), 'gas estimate')
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
      if (isWellKnown(holder))
        refusals.push(`The ${role} ${holder} is a development account, whose key everybody knows.`)
    }
  }
  if (balanceWei < costMaxWei) refusals.push('The deployer cannot pay for it: send it the difference first.')
  return refusals
}

function isWellKnown(holder: Address): boolean {
  return EMBED_ACCOUNTS.some((account) => account.address.toLowerCase() === holder)
}
