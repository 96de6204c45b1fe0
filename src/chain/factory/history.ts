// Where a provider reports that a node's events and a cohort's credits are, and the mints of a transaction. It must never leave out a part. If a provider
// rejects a range, we ask for its halves. If it rejects a single block, that is a fault. Nothing of an answer is stored: it only shows where to look.
import type { Address, Hash } from '../../domain/units.ts'
import type { LogPlace, NodeHistory } from '../../ports/contract.ts'
import { ChainFault } from '../../ports/faults.ts'
import { RangeRefused, rangeLogs } from '../evidence/logs/block-logs.ts'
import { readReceipt } from '../evidence/receipt.ts'
import { askEach, type Rpc, type RpcReads } from '../rpc/rpc.ts'
import { receiptLogs } from '../rpc/wire.ts'
import { factoryTopics } from './abi.ts'
import { mintOf } from './events.ts'

/** The most requests for one range. With a provider that allows a hundred blocks at a time, they cover about 20,000 blocks. */
const REQUESTS_MAX = 200

/** Creates the history of one factory's nodes. */
export function createNodeHistory(rpc: Rpc, factory: Address): NodeHistory {
  return {
    async mintReceipt(txHash) {
      const reply = await readReceipt(rpc, txHash)
      if (reply === 'tooLarge') return { block: null, succeeded: true, nodes: [] }
      if (reply === null) return null
      const { blockNumber, blockHash, succeeded } = reply.receipt
      const nodes = receiptLogs(reply.answer, factory)
        .map(mintOf)
        .filter((node) => node !== null)
      return { block: { number: blockNumber, hash: blockHash }, succeeded, nodes }
    },

    async logsOfNode(nodeId, from, to) {
      const id = wordOf(nodeId)
      // The node's id is the first indexed argument of three events, and the third one of Transfer.
      const { NodeMinted, NodeExpelled, Withdrawn, Transfer } = factoryTopics
      const filters = [
        { address: factory, topics: [[NodeMinted, NodeExpelled, Withdrawn], id] },
        { address: factory, topics: [Transfer, null, null, id] },
      ]
      return logsByAll(rpc, filters, from, to)
    },

    logsOfCohort(cohort, from, to) {
      const { Credited, TurnsSkipped } = factoryTopics
      const filter = { address: factory, topics: [[Credited, TurnsSkipped], null, wordOf(BigInt(cohort))] }
      return logsByAll(rpc, [filter], from, to)
    },
  }
}

const wordOf = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as Hash

/** The logs of a range, from each provider that answers, because one may leave some out. */
async function logsByAll(rpc: Rpc, filters: readonly object[], from: number, to: number): Promise<LogPlace[][]> {
  const logs = async (reads: RpcReads) => {
    const places: LogPlace[] = []
    for (const filter of filters) places.push(...(await logsOf(reads, filter, from, to)))
    return places
  }
  return await askEach(rpc, logs)
}

/** The logs of a range, read in pieces that the provider accepts: first the whole range, then halves of each piece that it rejects. */
async function logsOf(rpc: RpcReads, filter: object, from: number, to: number): Promise<LogPlace[]> {
  const places: LogPlace[] = []
  let size = to - from + 1
  for (let requests = 0, first = from; first <= to; requests++) {
    if (requests === REQUESTS_MAX) throw new ChainFault(`blocks ${from} to ${to} take too many requests`)
    const last = Math.min(first + size - 1, to)
    try {
      places.push(...(await rangeLogs(rpc, filter, first, last)))
      first = last + 1
    } catch (error) {
      if (!(error instanceof RangeRefused) || first === last) throw error
      size = Math.ceil((last - first + 1) / 2)
    }
  }
  return places
}
