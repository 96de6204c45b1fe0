// The factory's logs of the blocks of a range, verified against these blocks. It must never take a lagging node's "none" for none: if a bloom and the
// logs disagree, we ask for the block by its hash, unless the factory's storage shows that nothing happened.
import type { Address, Hash } from '../../../domain/units.ts'
import { messageOf } from '../../../lib/errors.ts'
import { ChainFault, RpcFault } from '../../faults.ts'
import type { WatchedAddresses } from '../../port.ts'
import { type BloomCheck, isEmptyBloom } from '../../prove/bloom.ts'
import { chunks } from '../../rpc/parallel.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { list, log, toQuantity, type WireHeader, type WireLog, type WireTransaction } from '../../rpc/wire.ts'
import { ledgerTopics } from '../events.ts'
import type { FactoryStates } from './storage-root.ts'

/** Single blocks whose logs we ask for in one request. */
const LOGS_PER_REQUEST = 50
/** For fewer blocks, sparing them the question for logs costs as many calls as it saves. The calls are worth it if receipts can be proven. */
const SPARED_MIN = 3

/** A block with what its logs need. */
export interface LoggedBlock {
  header: WireHeader
  relevant: WireTransaction[]
  /** Its logs from the range; null if we have to read them by its hash. */
  logs: WireLog[] | null
  /** The hashes that we check its logs against; null if the range gave none and there is nothing to check. */
  txHashes: Hash[] | null
}

/** A provider refused the logs of a range this long; a shorter one may do. */
export class RangeRefused extends ChainFault {
  constructor(cause: unknown) {
    super(`range refused: ${messageOf(cause)}`, { retryable: true, cause })
  }
}

export const throwRetryable = (message: string): never => {
  throw new ChainFault(message, { retryable: true })
}

/** Logs of the range by number. A JSON-RPC error with any text means that the range is too long for this provider. */
export async function rangeLogs(rpc: RpcReads, factory: Address, from: number, to: number): Promise<WireLog[]> {
  const filter = {
    address: factory,
    topics: [ledgerTopics],
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  }
  try {
    return list(await rpc.request('eth_getLogs', [filter]), 'list of logs').map(log)
  } catch (error) {
    if (error instanceof RpcFault && ['error', 'limit', 'tooLarge', 'refused'].includes(error.trouble)) {
      throw new RangeRefused(error)
    }
    throw error
  }
}

export function byBlock(logs: readonly WireLog[]): Map<Hash, WireLog[]> {
  const found = new Map<Hash, WireLog[]>()
  for (const entry of logs) {
    const place = found.get(entry.blockHash)
    if (place) place.push(entry)
    else found.set(entry.blockHash, [entry])
  }
  return found
}

/**
 * On a busy chain every block's bloom says "perhaps". We need not ask blocks without a log one by one, as long as nothing happened to the factory
 * from the first of them to the last. Blocks with logs split the range, because they change the factory. A mint that skips all its orders changes
 * nothing there, so we still ask blocks with transactions of ours, or to the factory. If other contracts' acts undo each other between two logs, such
 * as a node passed on and back, we rely on the range's answer alone.
 * @returns blocks in which something may have happened to the factory although the provider gave no log of them.
 */
export async function spareQuiet(
  { watched, states, isProven }: { watched: WatchedAddresses; states: FactoryStates; isProven: boolean },
  blocks: readonly LoggedBlock[],
  ranged: ReadonlyMap<Hash, unknown> | null,
): Promise<ReadonlySet<LoggedBlock>> {
  const moved = new Set<LoggedBlock>()
  for (const stretch of partedBy(blocks, ({ header: { hash } }) => ranged?.has(hash) ?? false)) {
    const quiet = stretch.filter(({ logs, relevant }) => logs === null && !relevant.some((tx) => mayLog(watched, tx)))
    const [first, last] = [stretch[0]?.header, stretch.at(-1)?.header]
    if (!first || !last || quiet.length < (isProven ? 1 : SPARED_MIN)) continue
    const state = await states.compare({ number: first.number - 1, hash: first.parentHash }, last)
    if (state === 'quiet') for (const block of quiet) block.logs = []
    if (state === 'moved') for (const block of stretch) moved.add(block)
  }
  return moved
}

/** The runs of items between those that part them. */
function partedBy<T>(items: readonly T[], isParting: (item: T) => boolean): T[][] {
  const runs: T[][] = [[]]
  for (const item of items) {
    if (isParting(item)) runs.push([])
    else runs.at(-1)?.push(item)
  }
  return runs
}

/**
 * The logs of every block, verified against it. If a bloom and the logs disagree, asks again by block hash, because a lagging node answers `[]` for
 * blocks it does not have.
 */
export async function completeLogs(
  rpc: RpcReads,
  watched: WatchedAddresses,
  bloomCheck: BloomCheck,
  blocks: readonly LoggedBlock[],
): Promise<Map<Hash, WireLog[]>> {
  const found = new Map<Hash, WireLog[]>(blocks.map((block) => [block.header.hash, block.logs ?? []]))
  const doubtful = blocks.filter((block) => block.logs === null)
  for (const piece of chunks(doubtful, LOGS_PER_REQUEST)) {
    const answers = await rpc.requestAll(
      piece.map(({ header: head }): RpcCall => {
        const filter = { address: watched.factory, topics: [ledgerTopics], blockHash: head.hash }
        return { method: 'eth_getLogs', params: [filter] }
      }),
    )
    for (const [index, answer] of answers.entries()) {
      const block = piece[index] as LoggedBlock
      found.set(block.header.hash, list(answer, 'list of logs').map(log))
    }
  }
  for (const block of blocks) checkLogs(watched, bloomCheck, block, found.get(block.header.hash) ?? [])
  return found
}

/** True if we must ask a block for its logs. `logs` are those that the range gave for it; null if no range was read. */
export function isDoubtful(
  bloomCheck: BloomCheck,
  head: WireHeader,
  transactions: number,
  logs: readonly WireLog[] | null,
): boolean {
  // An empty bloom means no logs at all, or a chain that does not fill blooms. Without other evidence, this tells the two apart.
  if (!logs && isEmptyBloom(head.logsBloom)) return transactions > 0
  if (!logs || logs.length === 0) return bloomCheck.mayHoldAny(head.logsBloom)
  return !allowedByBloom(bloomCheck, head, logs)
}

function allowedByBloom(bloomCheck: BloomCheck, head: WireHeader, logs: readonly WireLog[]): boolean {
  return logs.every((entry) => bloomCheck.mayHold(head.logsBloom, entry.topics[0] ?? '0x'))
}

function checkLogs(watched: WatchedAddresses, bloomCheck: BloomCheck, block: LoggedBlock, logs: WireLog[]): void {
  const { header: head, txHashes } = block
  // A chain that does not fill blooms leaves them empty; there, the answer by block hash has to do.
  if (!isEmptyBloom(head.logsBloom) && !allowedByBloom(bloomCheck, head, logs)) {
    throwRetryable(`the bloom of block ${head.number} denies a log the provider gave for it`)
  }
  logs.sort(byPlace)
  for (const entry of logs) {
    const ours = entry.address === watched.factory && ledgerTopics.includes(entry.topics[0] as Hash)
    const here = entry.blockHash === head.hash && entry.blockNumber === head.number
    if (!ours || !here || txHashes?.[entry.txIndex] !== entry.txHash)
      throwRetryable(`the logs of block ${head.number} do not fit the block`)
  }
  numberLogs(logs)
}

/** Sei and others number the logs per transaction, or not at all. The ledger's order is that in the block. `logs`: all of the ledger in one, in order. */
export function numberLogs(logs: readonly WireLog[]): void {
  const isCounted = logs.every(({ logIndex }, index) => index === 0 || (logs[index - 1] as WireLog).logIndex < logIndex)
  if (!isCounted) for (const [index, entry] of logs.entries()) entry.logIndex = index
}

/** Within a transaction in their own order, or as they were given. */
export const byPlace = (a: WireLog, b: WireLog) =>
  a.blockNumber - b.blockNumber || a.txIndex - b.txIndex || a.logIndex - b.logIndex

/** An account's or an owner's call to the factory. A bloom does not count logs, so only the receipt shows whether one was withheld. */
export const mayLog = ({ signers, factory }: WatchedAddresses, tx: WireTransaction) =>
  signers.includes(tx.from) || tx.to === factory
