// The factory's logs in the blocks of a range, checked against these blocks. It must never believe a lagging node that there are no logs. If a bloom
// and the logs disagree, we ask for the block's logs by its hash, unless the factory's storage shows that nothing happened.
import type { Address, Hash } from '../../../domain/units.ts'
import { messageOf } from '../../../lib/errors.ts'
import { chunks } from '../../../lib/parallel.ts'
import type { WatchedAddresses } from '../../../ports/chain.ts'
import { ChainFault, RpcFault } from '../../../ports/faults.ts'
import { ledgerTopics } from '../../factory/events.ts'
import { type BloomCheck, isEmptyBloom } from '../../prove/bloom.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { list, log, toQuantity, type WireHeader, type WireLog, type WireTransaction } from '../../rpc/wire.ts'
import type { FactoryStates } from './storage-root.ts'

/** How many blocks' logs we request in one batch. */
const LOGS_PER_REQUEST = 50
/** The fewest blocks for which comparing the factory's storage saves calls. If receipts can be proven, we compare it even for one block. */
const SPARED_MIN = 3

/** A block, with what we need in order to read and check its logs. */
export interface LoggedBlock {
  header: WireHeader
  relevant: WireTransaction[]
  /** The block's logs from the request for the range; null if we have to read them by the block's hash. */
  logs: WireLog[] | null
  /** The transaction hashes that the logs must match. Null if the range returned no logs for this block, so that there is nothing to check. */
  txHashes: Hash[] | null
}

/** A provider rejected a range of logs, perhaps because it is too long. A shorter one may work. */
export class RangeRefused extends ChainFault {
  constructor(cause: unknown) {
    super(`range refused: ${messageOf(cause)}`, { cause })
  }
}

/** The factory's logs that the ledger stores. */
export const ledgerLogs = (factory: Address) => ({ address: factory, topics: [ledgerTopics] })

/** The logs in a range of block numbers. We take any JSON-RPC error to mean that the range is too long for this provider. */
export async function rangeLogs(rpc: RpcReads, filter: object, from: number, to: number): Promise<WireLog[]> {
  const range = { ...filter, fromBlock: toQuantity(from), toBlock: toQuantity(to) }
  try {
    return list(await rpc.request('eth_getLogs', [range]), 'list of logs').map(log)
  } catch (error) {
    if (error instanceof RpcFault && ['error', 'limit', 'tooLarge', 'refused'].includes(error.trouble)) {
      throw new RangeRefused(error)
    }
    throw error
  }
}

export const byBlock = (logs: readonly WireLog[]): Map<Hash, WireLog[]> =>
  Map.groupBy(logs, ({ blockHash }) => blockHash)

/**
 * Marks blocks as having no logs if the factory did not change. On a busy chain the bloom of every block answers "perhaps", and we would have to ask for
 * the logs of each block. The blocks with logs divide the range. If the factory has the same state before and after a stretch between them, the
 * blocks in it have no logs, and we need not ask. There are two limits. A mint that skips all its orders changes nothing, so we still ask about
 * blocks with transactions of ours or to the factory. And if calls from other contracts undo each other (a node sent away and back), we miss them
 * unless the range's answer has their logs.
 * @returns the blocks in which the factory may have changed although the provider returned no log for them.
 */
export async function spareQuiet(
  { addresses, states, isProven }: { addresses: WatchedAddresses; states: FactoryStates; isProven: boolean },
  blocks: readonly LoggedBlock[],
  logsByBlock: ReadonlyMap<Hash, unknown> | null,
): Promise<ReadonlySet<LoggedBlock>> {
  const suspects = new Set<LoggedBlock>()
  for (const stretch of partedBy(blocks, ({ header: { hash } }) => logsByBlock?.has(hash) ?? false)) {
    const quiet = stretch.filter(({ logs, relevant }) => logs === null && !relevant.some((tx) => mayLog(addresses, tx)))
    const [first, last] = [stretch[0]?.header, stretch.at(-1)?.header]
    if (!first || !last || quiet.length < (isProven ? 1 : SPARED_MIN)) continue
    const state = await states.compare({ number: first.number - 1, hash: first.parentHash }, last)
    if (state === 'quiet') for (const block of quiet) block.logs = []
    if (state === 'moved') for (const block of stretch) suspects.add(block)
  }
  return suspects
}

/** Divides a list at the items for which `isParting` is true, and returns the runs of items between them. */
function partedBy<T>(items: readonly T[], isParting: (item: T) => boolean): T[][] {
  const runs: T[][] = [[]]
  for (const item of items) {
    if (isParting(item)) runs.push([])
    else runs.at(-1)?.push(item)
  }
  return runs
}

/**
 * The logs of every block, checked against the block. We ask by block hash for logs that the range did not settle, because a lagging node returns
 * `[]` for blocks that it does not have.
 */
export async function completeLogs(
  rpc: RpcReads,
  addresses: WatchedAddresses,
  bloomCheck: BloomCheck,
  blocks: readonly LoggedBlock[],
): Promise<Map<Hash, WireLog[]>> {
  const logsByHash = new Map<Hash, WireLog[]>(blocks.map((block) => [block.header.hash, block.logs ?? []]))
  const doubtful = blocks.filter((block) => block.logs === null)
  for (const piece of chunks(doubtful, LOGS_PER_REQUEST)) {
    const answers = await rpc.requestAll(
      piece.map(({ header: head }): RpcCall => {
        return { method: 'eth_getLogs', params: [{ ...ledgerLogs(addresses.factory), blockHash: head.hash }] }
      }),
    )
    for (const [index, answer] of answers.entries()) {
      const block = piece[index] as LoggedBlock
      logsByHash.set(block.header.hash, list(answer, 'list of logs').map(log))
    }
  }
  for (const block of blocks) checkLogs(addresses, bloomCheck, block, logsByHash.get(block.header.hash) ?? [])
  return logsByHash
}

/** True if we must ask for a block's logs by its hash. `logs` are what the range returned for the block; null if we read no range. */
export function isDoubtful(
  bloomCheck: BloomCheck,
  head: WireHeader,
  transactions: number,
  logs: readonly WireLog[] | null,
): boolean {
  // An empty bloom means that there are no logs, or that the chain does not fill blooms. We cannot tell, so we assume that there may be logs if there
  // are transactions.
  if (!logs && isEmptyBloom(head.logsBloom)) return transactions > 0
  if (!logs || logs.length === 0) return bloomCheck.mayHoldAny(head.logsBloom)
  return !allowedByBloom(bloomCheck, head, logs)
}

function allowedByBloom(bloomCheck: BloomCheck, head: WireHeader, logs: readonly WireLog[]): boolean {
  return logs.every((entry) => bloomCheck.mayHold(head.logsBloom, entry.topics[0] ?? '0x'))
}

function checkLogs(addresses: WatchedAddresses, bloomCheck: BloomCheck, block: LoggedBlock, logs: WireLog[]): void {
  const { header: head, txHashes } = block
  // If a chain does not fill blooms, they are empty. We then have to accept the answer by block hash.
  if (!isEmptyBloom(head.logsBloom) && !allowedByBloom(bloomCheck, head, logs)) {
    throw new ChainFault(`the bloom of block ${head.number} rules out a log that the provider returned`)
  }
  logs.sort(byPlace)
  for (const entry of logs) {
    const ours = entry.address === addresses.factory && ledgerTopics.includes(entry.topics[0] as Hash)
    const here = entry.blockHash === head.hash && entry.blockNumber === head.number
    if (!ours || !here || txHashes?.[entry.txIndex] !== entry.txHash)
      throw new ChainFault(`the logs of block ${head.number} do not match the block`)
  }
  numberLogs(logs)
}

/**
 * Numbers the logs of a block by their order, if the chain does not do so: Sei and others number them per transaction, or not at all. `logs` are all
 * ledger logs of one block, in order.
 */
function numberLogs(logs: readonly WireLog[]): void {
  const isCounted = logs.every(({ logIndex }, index) => index === 0 || (logs[index - 1] as WireLog).logIndex < logIndex)
  if (!isCounted) for (const [index, entry] of logs.entries()) entry.logIndex = index
}

/** Compares two logs by chain order, then by log index. Logs with the same index stay in their given order. */
export const byPlace = (a: WireLog, b: WireLog) =>
  a.blockNumber - b.blockNumber || a.txIndex - b.txIndex || a.logIndex - b.logIndex

/**
 * True for a transaction of a signer account or to the factory. A bloom does not count logs, so only the receipt shows whether a log was withheld.
 */
export const mayLog = ({ signers, factory }: WatchedAddresses, tx: WireTransaction) =>
  signers.includes(tx.from) || tx.to === factory
