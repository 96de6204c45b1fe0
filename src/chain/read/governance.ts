// The settings that the contract's owner controls, read at the provider's head, and what would happen if the owner made a call. It must never send
// anything. It could not: the owner's key is in the owner's wallet.
import { type Address, address, wei } from '../../domain/units.ts'
import type { GovernanceReader } from '../port.ts'
import { isRevert, revertData } from '../rpc/provider.ts'
import { type Rpc, resultOf } from '../rpc/rpc.ts'
import { count, safeNumber } from '../rpc/wire.ts'
import { readView, revertName, viewCall } from './calls.ts'

const GWEI = 10n ** 9n

/** Creates the reader of one factory. */
export function createGovernanceReader(rpc: Rpc, factory: Address): GovernanceReader {
  return {
    factory,

    async powers() {
      const at = count(await rpc.request('eth_blockNumber', []), 'block number')
      const [owner, pendingOwner, minter, budget, lastCohort, distributor, bounds, allowance, paused] =
        await rpc.requestAll([
          viewCall(factory, at, 'owner', []),
          viewCall(factory, at, 'pendingOwner', []),
          viewCall(factory, at, 'minter', []),
          viewCall(factory, at, 'budget', []),
          viewCall(factory, at, 'lastCohort', []),
          viewCall(factory, at, 'distributor', []),
          viewCall(factory, at, 'bounds', []),
          viewCall(factory, at, 'swapsAllowance', []),
          viewCall(factory, at, 'paused', []),
        ])
      const [nodes, cohorts] = readView('budget', budget)
      const [floorGwei, ceilingGwei] = readView('bounds', bounds)
      return {
        blockNumber: at,
        owner: address(readView('owner', owner)),
        pendingOwner: address(readView('pendingOwner', pendingOwner)),
        minter: address(readView('minter', minter)),
        budget: {
          nodes: safeNumber(nodes, 'nodes left'),
          cohorts: safeNumber(cohorts, 'cohorts left'),
          lastCohort: safeNumber(readView('lastCohort', lastCohort), 'last cohort'),
        },
        distributor: address(readView('distributor', distributor)),
        bounds: { floorWei: wei(floorGwei * GWEI), ceilingWei: wei(ceilingGwei * GWEI) },
        swapsAllowanceWei: wei(readView('swapsAllowance', allowance)),
        paused: readView('paused', paused),
      }
    },

    async tierSupply(tierNo) {
      const answer = await rpc.requestAll([viewCall(factory, 'latest', 'tierSupply', [BigInt(tierNo)])])
      const [minted, most] = readView('tierSupply', answer[0])
      return { minted: safeNumber(minted, 'nodes of the tier'), most: safeNumber(most, 'the most of the tier') }
    },

    async expulsionPeriodSec() {
      const answer = await rpc.requestAll([viewCall(factory, 'latest', 'expulsionPeriod', [])])
      return safeNumber(readView('expulsionPeriod', answer[0]), 'expel window')
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
