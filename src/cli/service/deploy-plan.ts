// Plans a deployment and its cost, read from the chain before anything is signed. It must never send, and never see
// a key.
import {
  DETERMINISTIC_DEPLOYER,
  deterministicAddress,
  type FactorySetup,
  factoryDeployData,
} from '../../chain/factory/deploy.ts'
import { createRpc, type Rpc, splitRpcUrls } from '../../chain/rpc/rpc.ts'
import { bytes, count, quantity } from '../../chain/rpc/wire.ts'
import { currentFees } from '../../chain/send/signer-account.ts'
import { DEVELOPMENT_CHAINS, isDevelopmentAccount } from '../../domain/development.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'

export interface DeployPlan {
  readonly chainId: number
  readonly balanceWei: bigint
  /** The highest cost of the deployment, at current fees. */
  readonly costMaxWei: bigint
  /** The factory's future address, for a deterministic deployment. */
  readonly expected: Address | null
  /** Reasons against the deployment; empty if there are none. */
  readonly refusals: readonly string[]
}

/** How much more gas than the estimate the deployment may use. */
const GAS_MARGIN_PERCENT = 20n

/** Reads the chain. Throws a ChainFault if we cannot reach it, or if the deployment would revert. */
export async function planDeployment(
  rpcUrl: string,
  deployer: Address,
  setup: FactorySetup & { salt: Hash | null },
): Promise<DeployPlan> {
  const rpc = createRpc({ urls: splitRpcUrls(rpcUrl), log: silentLog })
  try {
    const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
    const balanceWei = quantity(await rpc.request('eth_getBalance', [deployer, 'latest']), 'balance')
    const deterministic = setup.salt === null ? null : await lookAtDeployer(rpc, setup, setup.salt)
    const gas = deterministic?.refusal ? 0n : await estimate(rpc, deployer, setup)
    const { maxFeeWei } = await currentFees(rpc)
    const costMaxWei = ((gas * (100n + GAS_MARGIN_PERCENT)) / 100n) * maxFeeWei
    const figures = { chainId, balanceWei, costMaxWei, expected: deterministic?.expected ?? null }
    const refusals = [
      ...(deterministic?.refusal ? [deterministic.refusal] : []),
      ...refusalsOf(figures, deployer, setup),
    ]
    return { ...figures, refusals }
  } finally {
    await rpc.close()
  }
}

async function estimate(rpc: Rpc, deployer: Address, setup: FactorySetup & { salt: Hash | null }): Promise<bigint> {
  const data = factoryDeployData(setup)
  const { salt } = setup
  const call = salt ? { to: DETERMINISTIC_DEPLOYER, data: `${salt}${data.slice(2)}` } : { data }
  return quantity(await rpc.request('eth_estimateGas', [{ from: deployer, ...call }]), 'gas estimate')
}

/** Checks that the chain has the deterministic deployer, and that its address for this factory is free. */
async function lookAtDeployer(
  rpc: Rpc,
  setup: FactorySetup,
  salt: Hash,
): Promise<{ expected: Address; refusal: string | null }> {
  const expected = deterministicAddress(setup, salt)
  const codeAt = async (at: Address) => bytes(await rpc.request('eth_getCode', [at, 'latest']), 'code')
  const [deployerCode, code] = await Promise.all([codeAt(DETERMINISTIC_DEPLOYER), codeAt(expected)])
  if (deployerCode === '0x')
    return {
      expected,
      refusal: `The chain has no deterministic deployer at ${DETERMINISTIC_DEPLOYER}: leave --salt out.`,
    }
  if (code !== '0x')
    return {
      expected,
      refusal: `A contract with this salt and setup is at ${expected} already: use another --salt.`,
    }
  return { expected, refusal: null }
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
  if (balanceWei < costMaxWei) refusals.push('The deployer cannot pay for it: send it the difference first.')
  return refusals
}
