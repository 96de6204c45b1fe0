// Checks that a ledger does not start after the factory's first block. Otherwise the earlier history would be missing for ever, and the passes would
// stop.
import type { Address } from '../../domain/units.ts'
import { firstWhere } from '../../lib/bisect.ts'
import { orNull } from '../../ports/faults.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { bytes, count, log, toQuantity } from '../rpc/wire.ts'

/** `tooLate`: the factory is older than the start block; `first` is its first block, null if we did not find it. `unknown`: no provider can tell. */
export type Beginning =
  | { kind: 'fine'; why: 'genesis' | 'notDeployed' | 'noEvents' }
  | { kind: 'tooLate'; first: number | null }
  | { kind: 'unknown' }

/** Looks for the factory's code one block before the start. If no provider has that state, looks for the factory's events. */
export async function lookAtBeginning(rpc: Rpc, factory: Address, startBlock: number): Promise<Beginning> {
  if (startBlock === 0) return { kind: 'fine', why: 'genesis' }
  const head = count(await rpc.request('eth_blockNumber', []), 'block number')
  const before = Math.min(startBlock - 1, head)
  const hasCode = async (block: number) => {
    const reply = await orNull(rpc.call('eth_getCode', [factory, toQuantity(block)]))
    return reply?.ok ? bytes(reply.result, 'code') !== '0x' : null
  }
  const there = await hasCode(before)
  if (there === true) return { kind: 'tooLate', first: await firstWhere(-1, before, hasCode) }
  if (there === false) return { kind: 'fine', why: 'notDeployed' }
  const filter = { address: factory, fromBlock: '0x0', toBlock: toQuantity(before) }
  const logs = await orNull(rpc.call('eth_getLogs', [filter]))
  if (!logs?.ok || !Array.isArray(logs.result)) return { kind: 'unknown' }
  if (logs.result.length === 0) return { kind: 'fine', why: 'noEvents' }
  return { kind: 'tooLate', first: log(logs.result[0]).blockNumber }
}
