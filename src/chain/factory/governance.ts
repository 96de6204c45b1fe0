// The settings that the contract's owner controls, read at the provider's head, and what would happen if the owner made a call. It must never send
// anything. It could not: the owner's key is in the owner's wallet.
import { type Address, address, wei } from '../../domain/units.ts'
import type { GovernanceReader } from '../../ports/contract.ts'
import { isRevert, revertData } from '../rpc/provider.ts'
import { type Rpc, resultOf } from '../rpc/rpc.ts'
import { count, safeNumber } from '../rpc/wire.ts'
import { readViews, revertName } from './calls.ts'
import { createContractReader } from './contract.ts'

/** Creates the reader of one factory. */
export function createGovernanceReader(rpc: Rpc, factory: Address): GovernanceReader {
  const contract = createContractReader(rpc, factory)
  return {
    factory,

    async powers() {
      const at = count(await rpc.request('eth_blockNumber', []), 'block number')
      const views = ['owner', 'pendingOwner', 'minter', 'distributor', 'swapsAllowance', 'paused'] as const
      const [owner, pendingOwner, minter, distributor, allowance, paused] = await readViews(rpc, factory, at, views)
      return {
        blockNumber: at,
        owner: address(owner),
        pendingOwner: address(pendingOwner),
        minter: address(minter),
        budget: await contract.budget(at),
        distributor: address(distributor),
        bounds: await contract.bounds(at),
        swapsAllowanceWei: wei(allowance),
        paused,
      }
    },

    tierSupply: (tierNo) => contract.tierSupply(tierNo, 'latest'),

    async expulsionPeriodSec() {
      const [period] = await readViews(rpc, factory, 'latest', ['expulsionPeriod'])
      return safeNumber(period, 'expel window')
    },

    async refusalOf({ to, data }, from) {
      const [reply] = await rpc.batch([{ method: 'eth_call', params: [{ from, to, data }, 'latest'] }])
      if (!reply || reply.ok) return null
      // Only a revert means that the contract rejects the call. A rate limit or an internal error comes from the provider.
      if (!isRevert(reply.error)) return String(resultOf('eth_call', reply))
      return revertName(revertData(reply.error)) ?? reply.error.message
    },
  }
}
