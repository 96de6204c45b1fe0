// The time between the turns of a cohort, as the contract had it when a round was credited.
import { getLogs, readContract } from 'viem/actions'
import type { Hex } from '../types.ts'
import { factoryAbi } from './factory.ts'
import type { ChainClient } from './place.ts'

/**
 * A cohort's interval at a block, in seconds. If the provider no longer has that state, it follows from the interval now and from its later changes. Null
 * if the provider serves neither.
 */
export async function intervalAt(
  chain: ChainClient,
  address: Hex,
  cohort: bigint,
  blockNumber: bigint,
): Promise<bigint | null> {
  const call = { address, abi: factoryAbi, functionName: 'cohort', args: [cohort] } as const
  try {
    const [, , , interval] = await readContract(chain, { ...call, blockNumber })
    return interval
  } catch {
    // Full nodes keep the states of the last 128 blocks or so.
  }
  try {
    const event = factoryAbi.find((item) => 'name' in item && item.name === 'IntervalSet')
    const [[, , , interval], [change]] = await Promise.all([
      readContract(chain, call),
      getLogs(chain, { address, event, args: { cohort }, fromBlock: blockNumber + 1n, toBlock: 'latest' } as never),
    ])
    return (change as { args: { former?: bigint } } | undefined)?.args.former ?? interval
  } catch {
    return null
  }
}
