// The events of one node over a range of blocks, the credits of a cohort in one block, and the mints of a transaction. It must never leave out a
// part. If a provider rejects a range, we ask for its halves. If it rejects a single block, that is a fault.
import type { FactoryEvent } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { factoryTopics } from '../factory/abi.ts'
import { ChainFault, RpcFault } from '../faults.ts'
import type { NodeHistory } from '../port.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { header, list, log, receiptLogs, toQuantity, type WireHeader, type WireLog } from '../rpc/wire.ts'
import { ledgerTopics, mintOf, toEvent } from './events.ts'
import { byPlace, numberLogs } from './logs/block-logs.ts'
import { readReceipt } from './receipt.ts'

/** The most requests for one range. With a provider that allows a hundred blocks at a time, they cover about 20,000 blocks. */
const REQUESTS_MAX = 200

/** Creates the history of one factory's nodes. */
export function createNodeHistory(rpc: Rpc, factory: Address): NodeHistory {
  return {
    async mintReceipt(txHash) {
      const receipt = await readReceipt(rpc, txHash)
      if (receipt === 'tooLarge') return { block: null, succeeded: true, nodes: [] }
      if (receipt === null) return null
      const { blockNumber, blockHash, succeeded } = receipt.found
      const nodes = receiptLogs(receipt.answer, factory)
        .map(mintOf)
        .filter((node) => node !== null)
      return { block: { number: blockNumber, hash: blockHash }, succeeded, nodes }
    },

    async eventsOf(nodeId, from, to) {
      const id = `0x${nodeId.toString(16).padStart(64, '0')}` as Hash
      // The node's id is the first indexed argument of three events, and the third one of Transfer.
      const filters = [
        [[factoryTopics.NodeMinted, factoryTopics.NodeExpelled, factoryTopics.Withdrawn], id],
        [factoryTopics.Transfer, null, null, id],
      ]
      const logs: WireLog[] = []
      for (const topics of filters) logs.push(...(await logsOf(rpc, { address: factory, topics }, from, to)))
      return await withTimes(rpc, await inTheirBlocks(rpc, factory, logs))
    },

    async creditsIn(cohort, block) {
      const topics = [factoryTopics.Credited, null, `0x${cohort.toString(16).padStart(64, '0')}`]
      const logs = await logsOf(rpc, { address: factory, topics }, block, block)
      return await withTimes(rpc, await inTheirBlocks(rpc, factory, logs))
    },
  }
}

/** The logs of a range, read in pieces that the provider accepts: first the whole range, then halves of each piece that it rejects. */
async function logsOf(rpc: Rpc, filter: object, from: number, to: number): Promise<WireLog[]> {
  const found: WireLog[] = []
  let size = to - from + 1
  for (let asked = 0, first = from; first <= to; asked++) {
    if (asked === REQUESTS_MAX)
      throw new ChainFault(`blocks ${from} to ${to} take too many requests`, { retryable: true })
    const last = Math.min(first + size - 1, to)
    try {
      const range = { ...filter, fromBlock: toQuantity(first), toBlock: toQuantity(last) }
      found.push(...list(await rpc.request('eth_getLogs', [range]), 'list of logs').map(log))
      first = last + 1
    } catch (error) {
      const refused = error instanceof RpcFault && error.trouble !== 'unreachable' && error.trouble !== 'garbled'
      if (!refused || first === last) throw error
      size = Math.ceil((last - first + 1) / 2)
    }
  }
  return found
}

/**
 * Sorts logs, and numbers them as the ledger does. On a chain that does not number logs, the ledger counts all of its logs in a block, so this reads
 * all of them.
 */
async function inTheirBlocks(rpc: Rpc, factory: Address, logs: readonly WireLog[]): Promise<WireLog[]> {
  const asked = new Set(logs.map(nameOf))
  const hashes = [...new Set(logs.map((entry) => entry.blockHash))]
  const answers = await rpc.requestAll(
    hashes.map((blockHash) => ({
      method: 'eth_getLogs',
      params: [{ address: factory, topics: [ledgerTopics], blockHash }],
    })),
  )
  const found = answers.flatMap((answer) => {
    const ofBlock = list(answer, 'list of logs').map(log).sort(byPlace)
    numberLogs(ofBlock)
    return ofBlock.filter((entry) => asked.has(nameOf(entry)))
  })
  if (found.length !== logs.length) throw new ChainFault('the provider lacks logs of a block', { retryable: true })
  return found.sort(byPlace)
}

const nameOf = ({ blockHash, txHash, topics, data }: WireLog) => [blockHash, txHash, ...topics, data].join()

/** Adds to each log the time of its block, read from exactly the block that the log names. */
async function withTimes(rpc: Rpc, logs: readonly WireLog[]): Promise<FactoryEvent[]> {
  const hashes = [...new Set(logs.map((entry) => entry.blockHash))]
  const answers = await rpc.requestAll(hashes.map((hash) => ({ method: 'eth_getBlockByHash', params: [hash, false] })))
  const headers = new Map<Hash, WireHeader>()
  for (const [index, answer] of answers.entries()) {
    if (answer == null) throw new ChainFault(`the provider has no block ${hashes[index]}`, { retryable: true })
    const head = header(answer)
    headers.set(head.hash, head)
  }
  return logs.map((entry) => {
    const { blockNumber, blockHash, txHash, txIndex } = entry
    const head = headers.get(blockHash)
    if (!head || head.number !== blockNumber) throw new ChainFault('a log names a different block', { retryable: true })
    return toEvent(entry, { blockNumber, blockHash, blockTime: head.time, txHash, txIndex })
  })
}
