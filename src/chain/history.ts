// Looks one node's events up again, wherever they stand: for the reconciler, when the contract knows a node that the
// ledger does not. Never used to follow the chain.
import type { FactoryEvent } from '../domain/observed.ts'
import type { Address, Hash } from '../domain/units.ts'
import { toEvent } from './events.ts'
import { factoryTopics } from './factory.abi.ts'
import { ChainFault } from './faults.ts'
import type { NodeHistory } from './port.ts'
import type { Rpc } from './rpc.ts'
import { header, list, log, toQuantity, type WireLog } from './wire.ts'

/** Blocks of logs asked for at once; what the most restrictive public providers allow. */
const SPAN = 10_000

/** Builds the search on one factory. */
export function createNodeHistory(rpc: Rpc, factory: Address): NodeHistory {
  async function logs(topics: (Hash | Hash[] | null)[], from: number, to: number): Promise<WireLog[]> {
    const found: WireLog[] = []
    for (let start = from; start <= to; start += SPAN) {
      const toBlock = toQuantity(Math.min(to, start + SPAN - 1))
      const answer = await rpc.request('eth_getLogs', [
        { address: factory, topics, fromBlock: toQuantity(start), toBlock },
      ])
      found.push(...list(answer, 'list of logs').map(log))
    }
    return found
  }

  return {
    async eventsOf(nodeId, from, to) {
      const id = `0x${nodeId.toString(16).padStart(64, '0')}` as Hash
      const found = [
        ...(await logs([[factoryTopics.NodeMinted, factoryTopics.Withdrawn], id], from, to)),
        ...(await logs([factoryTopics.Transfer, null, null, id], from, to)),
      ].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
      const events: FactoryEvent[] = []
      for (const entry of found) events.push(toEvent(entry, await positionOf(rpc, entry), null))
      return events
    },
  }
}

async function positionOf(rpc: Rpc, entry: WireLog) {
  const { blockNumber, blockHash, txHash, txIndex } = entry
  const block = header(await rpc.request('eth_getBlockByNumber', [toQuantity(blockNumber), false]))
  if (block.hash !== blockHash)
    throw new ChainFault(`a log of block ${blockNumber} is from another fork`, { retryable: true })
  return { blockNumber, blockHash, blockTime: block.time, txHash, txIndex }
}
