// Asks again, together with the next range, for the logs of blocks whose "none" rests on the storage root and on a single answer. It must never
// take a log for late that the block itself does not have.
import type { Address, Hash } from '../../../domain/units.ts'
import { LateLogsFault, orNull } from '../../faults.ts'
import type { BlockRef } from '../../port.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { list, log, type WireLog } from '../../rpc/wire.ts'
import { ledgerTopics } from '../events.ts'
import { RangeRefused, rangeLogs } from './block-logs.ts'

/** Blocks of one question at most. */
const SPAN_MAX = 512

export interface SecondLooks {
  /** Notes blocks that were believed to have no logs. Their numbers ascend. */
  owe(blocks: readonly BlockRef[]): void
  /**
   * The logs of a range. Throws a LateLogsFault where a block that was believed to have none has some; a RangeRefused where the range is too
   * long for this provider.
   */
  rangeLogs(from: number, to: number): Promise<WireLog[]>
}

/** Builds the second looks of one observer. What is owed is lost with the process. */
export function createSecondLooks(rpc: RpcReads, factory: Address): SecondLooks {
  let owed: BlockRef[] = []

  /** Logs from the first owed block to the end of the range, by one question or, where that is too much, by two. */
  async function ask(from: number, to: number): Promise<{ logs: WireLog[]; older: boolean }> {
    const first = owed[0]?.number ?? from
    if (first >= from) return { logs: await rangeLogs(rpc, factory, from, to), older: false }
    try {
      if (to - first < SPAN_MAX) return { logs: await rangeLogs(rpc, factory, first, to), older: true }
    } catch (error) {
      if (!(error instanceof RangeRefused)) throw error
    }
    const logs = await rangeLogs(rpc, factory, from, to)
    // Following does not stop for what cannot be had now.
    const before = await orNull(rangeLogs(rpc, factory, first, Math.min(from, first + SPAN_MAX) - 1))
    return { logs: [...(before ?? []), ...logs], older: before !== null }
  }

  /** True if the block itself has logs: a node that lacks it errs, which one that is asked for a range does not. */
  async function hasLogs(hash: Hash): Promise<boolean> {
    const filter = { address: factory, topics: [ledgerTopics], blockHash: hash }
    const found = await orNull(rpc.request('eth_getLogs', [filter]).then((answer) => list(answer, 'logs').map(log)))
    return found?.some((entry) => entry.blockHash === hash) ?? false
  }

  return {
    owe(blocks) {
      owed = [...owed, ...blocks.map(({ number, hash }) => ({ number, hash }))].slice(-SPAN_MAX)
    },
    async rangeLogs(from, to) {
      const { logs, older } = await ask(from, to)
      const again = owed
      if (older) owed = []
      const named = new Set(logs.map((entry) => entry.blockHash))
      for (const { number, hash } of again)
        if (number < from && named.has(hash) && (await hasLogs(hash))) throw new LateLogsFault(number)
      return logs.filter((entry) => entry.blockNumber >= from)
    },
  }
}
