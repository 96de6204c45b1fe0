// The receipts that concern us, proven by the root in their block's header. The root covers all receipts of a block, so we read all of them. If a
// chain cannot prove receipts, we read them one by one, and two providers must agree. It must never pass off one provider's word as more than that.
import type { Proof } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { chunks, mapBounded } from '../../lib/parallel.ts'
import type { WatchedAddresses } from '../../ports/chain.ts'
import { ChainFault, ProofFault, RpcFault } from '../../ports/faults.ts'
import { factoryTopics } from '../factory/abi.ts'
import { ledgerTopics } from '../factory/events.ts'
import type { BloomCheck } from '../prove/bloom.ts'
import { proveReceipts } from '../prove/body.ts'
import type { Fields } from '../prove/items.ts'
import { encodeReceipt } from '../prove/receipt.ts'
import { isSound, mustProve, noteFailed, type Soundness } from '../prove/sound.ts'
import { unprovable } from '../prove/verdict.ts'
import type { RpcCall, RpcReads } from '../rpc/rpc.ts'
import {
  bytes,
  fields,
  hash32,
  list,
  malformed,
  receipt,
  receiptLogs,
  type WireHeader,
  type WireLog,
  type WireReceipt,
  type WireTransaction,
} from '../rpc/wire.ts'
import { completeLogs, type LoggedBlock, mayLog } from './logs/block-logs.ts'
import { isOwn, mustBeWhole } from './prove-block.ts'
import { agreedHashes } from './state/agreement.ts'

/** How many receipts one request reads. */
const RECEIPTS_PER_REQUEST = 50
const IN_FLIGHT = 8
/** If a provider does not have eth_getBlockReceipts, we read the receipts of a block one by one, unless there are more than this. */
const SINGLE_MAX = 300
/** If a provider does not have that method, how long we wait before we try it again. */
const MUTE_MS = 60_000
/** The topics of all events of the factory, also of events that change nothing in the ledger. */
const EVENTS: readonly Hash[] = Object.values(factoryTopics)

/** A block, with what we need in order to read and check its receipts. */
export interface ReceiptedBlock extends LoggedBlock {
  /** The block's header as the provider gave it. */
  rawHeader: Fields
  /** The transactions that could have an effect (see `mayAct`). */
  acting: readonly WireTransaction[]
}

/** The outcome of a transaction, and what backs it. */
export interface Outcome {
  receipt: Pick<WireReceipt, 'succeeded' | 'feeWei' | 'besideWei' | 'gasUsed'>
  proof: Proof
}

/** A receipt, and the factory's logs in it. */
type SeenReceipt = WireReceipt & { logs: WireLog[] }

/** What the receipts of a block prove. `logs`: the factory's logs. `all`: all receipts that the root covers, by transaction index. */
interface ProvenReceipts {
  logs: WireLog[]
  all: readonly unknown[]
}

/** Proves all receipts of a block; null on a ledger whose blocks are not proven. Throws a ProofFault if they do not match the header. */
type ReceiptProver = (block: ReceiptedBlock) => Promise<ProvenReceipts | null>

/** Creates the prover. Call it for one block at a time. */
export function createReceiptProver(rpc: RpcReads, factory: Address, soundness: Soundness): ReceiptProver {
  const readList = createListRead(rpc)
  return async (block) => {
    const { header, rawHeader, txHashes } = block
    if (!mustProve(soundness) || txHashes === null) return null
    const receiptList = txHashes.length === 0 ? [] : await readList(header)
    let [answers, proof] = [receiptList, await proveReceipts(rawHeader, receiptList)]
    // The list may be short, or lack a part, although each single receipt is right.
    if (proof.verdict.kind !== 'proven' && txHashes.length <= SINGLE_MAX) {
      answers = (await readSingly(rpc, txHashes)) ?? receiptList
      if (!answers) throw new ChainFault(`the provider lacks receipts of block ${header.number}`)
      proof = await proveReceipts(rawHeader, answers)
      if (proof.verdict.kind === 'proven' && hasOthers(receiptList, answers ?? []))
        noteFailed(soundness, new ProofFault('receipts', header.number, OF_OTHERS), rpc.firstHost())
    }
    const why = `there are more than ${SINGLE_MAX}, and the provider has no list of them`
    const verdict = answers ? proof.verdict : unprovable('receipts', why)
    isSound(soundness, 'receipts', verdict, header.number)
    const all = (answers as unknown[]).slice(0, proof.count)
    return { all, logs: logsOf(all, { header, txHashes, factory }) }
  }
}

/** What a whole receipt has, and its root covers. */
const PARTS = ['type', 'status', 'cumulativeGasUsed', 'logs'] as const
const OF_OTHERS = 'the list has receipts that the block does not have'

/** True if a list has a whole receipt that is none of the block's. A list that is short or in another order has none. */
function hasOthers(receiptList: readonly unknown[] | null, proven: readonly unknown[]): boolean {
  const keyOf = (receipt: unknown) => {
    const encoding = encodeReceipt(receipt)
    const isWhole = PARTS.every((name) => (Object(receipt) as Fields)[name] != null)
    return isWhole && 'bytes' in encoding ? Buffer.from(encoding.bytes).toString('hex') : null
  }
  const keys = new Set(proven.map(keyOf))
  return (receiptList ?? []).map(keyOf).some((key) => key !== null && !keys.has(key))
}

/** Reads all receipts of a block in one call. Null if the provider has no list of them. */
function createListRead(rpc: RpcReads): (header: WireHeader) => Promise<unknown[] | null> {
  let muteUntil = 0
  return async ({ hash }) => {
    if (performance.now() < muteUntil) return null
    try {
      const answer = await rpc.request('eth_getBlockReceipts', [hash])
      return Array.isArray(answer) ? answer : null
    } catch (error) {
      if (!(error instanceof RpcFault) || !['error', 'refused', 'tooLarge'].includes(error.trouble)) throw error
      if (error.trouble !== 'tooLarge') muteUntil = performance.now() + MUTE_MS
      return null
    }
  }
}

/** Reads the receipts of a block one by one, in the block's order. Null if the provider lacks one. */
async function readSingly(rpc: RpcReads, txHashes: readonly Hash[]): Promise<unknown[] | null> {
  const calls = txHashes.map((txHash): RpcCall => ({ method: 'eth_getTransactionReceipt', params: [txHash] }))
  const answers = await rpc.requestAll(calls)
  return answers.includes(null) ? null : answers
}

/** The factory's logs in a block. We number them ourselves, because nothing proves the positions that a provider states. */
function logsOf(
  receipts: readonly unknown[],
  { header, txHashes, factory }: { header: WireHeader; txHashes: readonly Hash[]; factory: Address },
): WireLog[] {
  const logs: WireLog[] = []
  let logIndex = 0
  for (const [txIndex, one] of receipts.entries()) {
    for (const entry of list(fields<'logs'>(one, 'receipt').logs ?? [], 'receipt logs')) {
      const { address, topics, data } = fields<'address' | 'topics' | 'data'>(entry, 'log')
      const [topic] = list(topics, 'log topics')
      const isOurs =
        String(address).toLowerCase() === factory && ledgerTopics.includes(String(topic).toLowerCase() as Hash)
      if (isOurs) {
        const place = { blockHash: header.hash, blockNumber: header.number, txIndex, logIndex }
        const content = {
          topics: list(topics, 'topics').map((one) => hash32(one, 'topic')),
          data: bytes(data, 'log data'),
        }
        logs.push({ ...place, ...content, address: factory, txHash: txHashes[txIndex] as Hash })
      }
      logIndex++
    }
  }
  return logs
}

interface Asking {
  rpc: RpcReads
  soundness: Soundness
  prove: ReceiptProver
  bloomCheck: BloomCheck
  /** Blocks in which the factory may have changed although the provider returned no log. */
  suspects: ReadonlySet<LoggedBlock>
}

export interface Outcomes {
  logs: ReadonlyMap<Hash, WireLog[]>
  outcomes: ReadonlyMap<Hash, Outcome>
  /** What backs a log. */
  proofOf: (entry: WireLog) => Proof
}

/** What a provider reports of a receipt, for comparison with what others report. */
const statementOf = (receipt: SeenReceipt, isOwn: boolean) => ({
  hash: receipt.txHash,
  blockNumber: receipt.blockNumber,
  blockHash: receipt.blockHash,
  words: outcomeOf(receipt),
  isOwn,
})

/**
 * The factory's logs in some blocks, and the outcomes of the transactions that concern us. If a block has a transaction that could have an effect, or
 * a log, or a log may be missing, all its receipts are proven. For other blocks, and on chains that cannot prove receipts, logs and receipts are read
 * separately and compared.
 */
export async function readOutcomes(
  { rpc, soundness, prove, bloomCheck, suspects }: Asking,
  addresses: WatchedAddresses,
  blocks: readonly ReceiptedBlock[],
): Promise<Outcomes> {
  const proven = new Map<ReceiptedBlock, ProvenReceipts>()
  const proveThose = async (isWanted: (block: ReceiptedBlock) => boolean) => {
    // One block at a time, because a block may take a call for each receipt.
    for (const block of blocks.filter(isWanted)) {
      const receipts = proven.get(block) ?? (await prove(block))
      if (receipts) proven.set(block, receipts)
    }
    return blocks.filter((block) => !proven.has(block))
  }
  const unread = await proveThose(
    ({ acting, logs, header }) =>
      mustBeWhole(addresses, header.number) || acting.length > 0 || (logs !== null && logs.length > 0),
  )
  const logs = await completeLogs(rpc, addresses, bloomCheck, unread)
  const unprovenBlocks = await proveThose(
    (block) =>
      block.acting.length === 0 &&
      ((logs.get(block.header.hash) ?? []).length > 0 || (suspects.has(block) && block.logs === null)),
  )
  const outcomes = new Map<Hash, Outcome>()
  for (const [block, receipts] of proven) {
    logs.set(block.header.hash, receipts.logs)
    for (const receipt of ownReceipts(addresses, block, receipts))
      outcomes.set(receipt.txHash, { receipt, proof: 'proven' })
  }
  const single = await fetchReceipts(rpc, addresses, unprovenBlocks)
  checkReceiptLogs(single, logs)
  const acting = new Map(unprovenBlocks.flatMap((block) => block.acting.map((tx) => [tx.hash, isOwn(addresses, tx)])))
  const statements = single
    .filter(({ txHash }) => acting.has(txHash))
    .map((actingReceipt) => statementOf(actingReceipt, acting.get(actingReceipt.txHash) ?? false))
  const agreedTxHashes = await agreedHashes(soundness.voices, statements, {
    ask: ({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }),
    part: 'receipts',
    what: 'receipt of',
    read: (answer) => {
      const { blockHash, ...rest } = receipt(answer)
      return { blockHash, words: outcomeOf({ ...rest, blockHash, logs: receiptLogs(answer, addresses.factory) }) }
    },
  })
  for (const receipt of single)
    outcomes.set(receipt.txHash, { receipt, proof: agreedTxHashes.has(receipt.txHash) ? 'agreed' : 'believed' })
  const provenBlocks = new Set([...proven.keys()].map((block) => block.header.hash))
  return {
    logs,
    outcomes,
    proofOf: ({ blockHash, txHash }) =>
      provenBlocks.has(blockHash) ? 'proven' : (outcomes.get(txHash)?.proof ?? 'believed'),
  }
}

/** The receipts of those transactions of a block whose outcome or logs matter. */
function ownReceipts(addresses: WatchedAddresses, block: ReceiptedBlock, { all }: ProvenReceipts): SeenReceipt[] {
  return block.relevant
    .filter((tx) => needsReceipt(addresses, tx))
    .map((tx) => seenReceipt(addresses, { tx, header: block.header }, all[tx.index]))
}

/** Reads the receipts of transactions whose outcome or logs matter, one by one. */
async function fetchReceipts(
  rpc: RpcReads,
  addresses: WatchedAddresses,
  blocks: readonly ReceiptedBlock[],
): Promise<SeenReceipt[]> {
  const targets = blocks.flatMap(({ header, relevant }) =>
    relevant.filter((tx) => needsReceipt(addresses, tx)).map((tx) => ({ tx, header })),
  )
  const pieces = await mapBounded(chunks(targets, RECEIPTS_PER_REQUEST), IN_FLIGHT, async (piece) => {
    const answers = await rpc.requestAll(piece.map(receiptCall))
    return piece.map((one, index) => seenReceipt(addresses, one, answers[index]))
  })
  return pieces.flat()
}

interface Wanted {
  tx: WireTransaction
  header: WireHeader
}

const receiptCall = ({ tx }: Wanted): RpcCall => ({ method: 'eth_getTransactionReceipt', params: [tx.hash] })

function seenReceipt(addresses: WatchedAddresses, { tx, header }: Wanted, answer: unknown): SeenReceipt {
  if (answer == null)
    throw new ChainFault(`the provider has no receipt for ${tx.hash}, which block ${header.number} lists`)
  const wireReceipt = receipt(answer, tx.gasPrice)
  if (wireReceipt.txHash !== tx.hash || wireReceipt.blockHash !== header.hash) {
    throw new ChainFault(`the receipt of ${tx.hash} is not from block ${header.number}`)
  }
  if (wireReceipt.from !== null && (wireReceipt.from !== tx.from || wireReceipt.to !== tx.to)) {
    throw new ChainFault(`the receipt of ${tx.hash} has a different sender or recipient from block ${header.number}`)
  }
  // We need no fee for other people's transactions, because the books contain only our own fees.
  if (wireReceipt.feeWei === null && isAccountOfOurs(addresses, tx.from)) malformed('fee of a receipt')
  return { ...wireReceipt, logs: receiptLogs(answer, addresses.factory) }
}

const isAccountOfOurs = ({ signers, wallets }: WatchedAddresses, account: Address) =>
  signers.includes(account) || wallets.some(({ wallet }) => wallet === account)

function needsReceipt(addresses: WatchedAddresses, tx: WireTransaction): boolean {
  const { wallets } = addresses
  if (wallets.some(({ wallet }) => wallet === tx.from || (wallet === tx.to && tx.valueWei > 0n))) return true
  return mayLog(addresses, tx)
}

/** Checks the logs in receipts. The factory's logs in a receipt must be the same as the logs that we read, in the same order. */
function checkReceiptLogs(receipts: readonly SeenReceipt[], logs: ReadonlyMap<Hash, WireLog[]>): void {
  for (const ownReceipt of receipts) {
    // A call that failed leaves no log of the factory.
    if (!ownReceipt.succeeded && ownReceipt.logs.some(({ topics }) => EVENTS.includes(topics[0] as Hash)))
      throw new ChainFault(
        `the receipt of ${ownReceipt.txHash} has logs of the factory, but reports that the transaction failed`,
      )
    const ledgerLogs = ownReceipt.logs.filter((entry) => ledgerTopics.includes(entry.topics[0] as Hash))
    const readLogs = (logs.get(ownReceipt.blockHash) ?? []).filter((entry) => entry.txHash === ownReceipt.txHash)
    if (
      ledgerLogs.length !== readLogs.length ||
      ledgerLogs.some((entry, index) => wordsOf(entry) !== wordsOf(readLogs[index]))
    ) {
      throw new ChainFault(`the logs of ${ownReceipt.txHash} differ from those of its receipt`)
    }
  }
}

function wordsOf(entry: WireLog | undefined): string | undefined {
  return entry && [...entry.topics, entry.data.toLowerCase()].join(' ')
}

const outcomeOf = ({ txHash, blockHash, succeeded, gasUsed, logs }: SeenReceipt): string =>
  [txHash, blockHash, succeeded, gasUsed, ...logs.map((entry) => wordsOf(entry))].join(' ')
