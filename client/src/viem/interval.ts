// The time between the turns of a cohort, as the contract had it when a round was credited.
import { getLogs, readContract } from 'viem/actions'
import type { Hex } from '../types.ts'
import { factoryAbi } from './factory.ts'
import type { ChainClient } from './place.ts'

/** A change of an interval, as viem parses its log. */
interface Change {
  blockNumber: bigint
  logIndex: number
  args: { former: bigint }
}

/**
 * A cohort's interval when a log was written, in seconds: it follows from the interval at the end of that block and from the changes behind the log. If
 * the provider no longer has that state, from the interval now and from all later changes. Null if the provider serves neither.
 */
export async function intervalAt(
  chain: ChainClient,
  address: Hex,
  cohort: bigint,
  { blockNumber, logIndex }: { blockNumber: bigint; logIndex: number },
): Promise<bigint | null> {
  const call = { address, abi: factoryAbi, functionName: 'cohort', args: [cohort] } as const
  const event = factoryAbi.find((item) => 'name' in item && item.name === 'IntervalSet')
  const read = async (until: { blockNumber?: bigint }) => {
    const toBlock = until.blockNumber ?? 'latest'
    const [[, , , interval], logs] = await Promise.all([
      readContract(chain, { ...call, ...until }),
      getLogs(chain, { address, event, args: { cohort }, fromBlock: blockNumber, toBlock } as never),
    ])
    const changes = logs as unknown as readonly Change[]
    const first = changes.find((change) => change.blockNumber > blockNumber || change.logIndex > logIndex)
    return first?.args.former ?? interval
  }
  // Full nodes keep the states of the last 128 blocks or so.
  return read({ blockNumber })
    .catch(() => read({}))
    .catch(() => null)
}
