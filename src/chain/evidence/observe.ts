// Observes a range of blocks: picks out what concerns us, and verifies it. Logs and receipts are checked against the hashes of exactly the blocks to
// which they belong. It must never skip a part that it cannot read (a null block or receipt is a retryable fault), and never mix two forks in one
// result.
import { FEE_BLOCKS } from '../../domain/fees.ts'
import { weakest } from '../../domain/finality.ts'
import type { BlockFees, ObservedRange, Proof, Watching } from '../../domain/observed.ts'
import { codesIn } from '../../domain/payers/referrals.ts'
import { isWatched } from '../../domain/payment-wallets.ts'
import { type Address, type Hash, wei } from '../../domain/units.ts'
import { chunks, mapBounded } from '../../lib/parallel.ts'
import type { WatchedAddresses } from '../../ports/chain.ts'
import { ChainFault, PartedFault } from '../../ports/faults.ts'
import { isWithdrawCall, ledgerTopics, readWithdrawCall, toEvent } from '../factory/events.ts'
import { EMPTY_ROOT } from '../prove/account-proof.ts'
import { type BloomCheck, createBloomCheck } from '../prove/bloom.ts'
import { settlesOthers } from '../prove/header.ts'
import type { Fields } from '../prove/items.ts'
import { assertSound, mustProve, type Soundness } from '../prove/sound.ts'
import { isUnsigned } from '../prove/transaction.ts'
import type { RpcCall, RpcReads } from '../rpc/rpc.ts'
import type { WireHeader, WireLog, WireTransaction } from '../rpc/wire.ts'
import { fields, header, list, NO_BLOOM, positionOf, toBlock, toQuantity, transaction } from '../rpc/wire.ts'
import { feesOf, otherFees } from './block-fees.ts'
import { byBlock, isDoubtful, type LoggedBlock, ledgerLogs, rangeLogs, spareQuiet } from './logs/block-logs.ts'
import { createFactoryStates } from './logs/storage-root.ts'
import { mayAct, type Proofs, proveActing } from './prove-block.ts'
import { createReceiptProver, type Outcome, type Outcomes, readOutcomes } from './receipts.ts'

/** Concurrent requests for blocks. More of them gained nothing when we measured it with a node. */
const IN_FLIGHT = 8
/** Complete blocks in one request. A busy block has about half a megabyte. */
const BLOCKS_PER_REQUEST = 4
/** A transaction, and whether it lacks a signature. */
type SeenTransaction = WireTransaction & { isUnsigned: boolean }

/** A block with the transactions that concern us. The others are dropped as soon as we have read them. */
interface SeenBlock extends LoggedBlock {
  /** The block's fees; null if they do not matter, because enough newer blocks follow in the range. */
  fees: BlockFees | null
  relevant: SeenTransaction[]
  /** The transactions that could have an effect (see `mayAct`), and what backs each of them. */
  acting: readonly WireTransaction[]
  proofs: Proofs
  /** The block's header as the provider gave it. */
  rawHeader: Fields
}

/** A range of blocks to observe. */
export interface RangeRequest {
  from: number
  to: number
  parent: Hash | null
  watching?: Watching | undefined
  /** Block `to` with its transactions, if we have just read it as the head. */
  head?: unknown
}

export interface Observer {
  observe(range: RangeRequest): Promise<ObservedRange>
  /**
   * Observes single blocks, in ascending order, without their fees. `logs` are the logs already read for them. If two of the blocks are consecutive,
   * checks that one is the other's parent.
   */
  observeBlocks(numbers: readonly number[], logs: readonly WireLog[], watching: Watching): Promise<ObservedRange>
}

/** Creates the observer for one deployment. */
export function createObserver(rpc: RpcReads, defaults: WatchedAddresses, soundness: Soundness): Observer {
  const bloomCheck = createBloomCheck(defaults.factory, ledgerTopics)
  const states = createFactoryStates(rpc, defaults.factory, soundness)
  const prove = createReceiptProver(rpc, defaults.factory, soundness)
  const watchedBy = (watching: Watching): WatchedAddresses => {
    const signers = [...new Set([...defaults.signers, ...watching.signers])]
    return { ...watching, factory: defaults.factory, signers }
  }

  async function fetch(addresses: WatchedAddresses, numbers: readonly number[], reading: Reading) {
    const sight = { concerns: concernOf(addresses), bloomCheck, logsByBlock: reading.logsByBlock, soundness }
    const isOurs = memberOf(addresses.signers)
    const see = async (answer: unknown, number: number): Promise<SeenBlock> => {
      const seenBlock = seeBlock(answer, number, { ...sight, isOurs: number >= reading.feesFrom ? isOurs : null })
      const acting = seenBlock.relevant.filter((tx) => mayAct(addresses, tx))
      const { transactions, ...rawHeader } = answer as Fields
      const txHashes = seenBlock.txHashes ?? (acting.length > 0 ? (transactions as unknown[]).map(hashOf) : null)
      const proofs = await proveActing({ rpc, soundness }, addresses, { block: answer as Fields, number }, acting)
      return { ...seenBlock, acting, txHashes, rawHeader, proofs }
    }
    const toFetch = reading.head === undefined ? numbers : numbers.slice(0, -1)
    const blocks = await fetchBlocks(rpc, toFetch, see)
    return reading.head === undefined ? blocks : [...blocks, await see(reading.head, numbers.at(-1) as number)]
  }

  /** Reads what is still needed for these blocks, and assembles the range. */
  async function complete(addresses: WatchedAddresses, blocks: readonly SeenBlock[], suspects = NO_BLOCKS) {
    const read = await readOutcomes({ rpc, soundness, prove, bloomCheck, suspects }, addresses, blocks)
    return assemble(addresses, blocks, read)
  }

  return {
    async observe({ from, to, parent, watching = defaults, head }) {
      const addresses = watchedBy(watching)
      // Logs first: if the provider rejects the range, we have not fetched any blocks yet.
      const logsByBlock = from === to ? null : byBlock(await rangeLogs(rpc, ledgerLogs(defaults.factory), from, to))
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      const blocks = await fetch(addresses, numbers, { logsByBlock, feesFrom: to - FEE_BLOCKS + 1, head })
      checkParents(blocks, parent)
      checkPlaces(blocks, logsByBlock)
      const isProven = mustProve(soundness)
      // If receipts cannot be proven and the range has logs, comparing the storage only costs calls.
      const mayCompare = parent !== null && (isProven || logsByBlock?.size === 0)
      const suspects = mayCompare ? await spareQuiet({ addresses, states, isProven }, blocks, logsByBlock) : NO_BLOCKS
      return complete(addresses, blocks, suspects)
    },

    async observeBlocks(numbers, logs, watching) {
      const addresses = watchedBy(watching)
      const numberSet = new Set(numbers)
      const logsByBlock = byBlock(logs.filter(({ blockNumber }) => numberSet.has(blockNumber)))
      const blocks = await fetch(addresses, numbers, { logsByBlock, feesFrom: Number.POSITIVE_INFINITY })
      checkParents(blocks, null)
      checkPlaces(blocks, logsByBlock)
      return complete(addresses, blocks)
    },
  }
}

const NO_BLOCKS: ReadonlySet<LoggedBlock> = new Set()

interface Reading {
  /** Logs already read for these blocks, by block hash; null if we read each block's logs separately. */
  logsByBlock: ReadonlyMap<Hash, WireLog[]> | null
  /** The first block whose fees we need. */
  feesFrom: number
  /** The last one of the blocks, if it was already read. */
  head?: unknown
}

async function fetchBlocks(
  rpc: RpcReads,
  numbers: readonly number[],
  see: (answer: unknown, number: number) => Promise<SeenBlock>,
): Promise<SeenBlock[]> {
  const pieces = await mapBounded(chunks(numbers, BLOCKS_PER_REQUEST), IN_FLIGHT, async (piece) => {
    const calls = piece.map(
      (number): RpcCall => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), true] }),
    )
    const answers = await rpc.requestAll(calls)
    const seenBlocks: SeenBlock[] = []
    for (const [index, answer] of answers.entries()) seenBlocks.push(await see(answer, piece[index] as number))
    return seenBlocks
  })
  return pieces.flat()
}

type Concern = (from: unknown, to: unknown) => boolean

/** What to look for in a block. */
interface Sight {
  concerns: Concern
  bloomCheck: BloomCheck
  /** Logs already read for the whole range, by block hash; null if we read each block's logs separately. */
  logsByBlock: ReadonlyMap<Hash, WireLog[]> | null
  /** True for our own accounts, whose tips do not count as market tips. Null if we do not need the block's fees. */
  isOurs: ((address: unknown) => boolean) | null
  /** True if the block's header must be proven. */
  soundness: Soundness
}

function seeBlock(answer: unknown, number: number, sight: Sight): Omit<SeenBlock, 'acting' | 'rawHeader' | 'proofs'> {
  const { concerns, bloomCheck, logsByBlock, isOurs, soundness } = sight
  if (answer == null) throw new ChainFault(`the provider has no block ${number}`)
  const statedHeader = header(answer)
  if (statedHeader.number !== number) throw new ChainFault(`asked for block ${number}, got ${statedHeader.number}`)
  const addedFields = assertSound(soundness, answer, number)
  // The bloom may belong to other blocks, or mean something else since a fork that we do not know. We then treat the chain as one that does not fill
  // blooms.
  const isOfOthers = addedFields.length > 0 || settlesOthers(answer as Fields)
  const head = isOfOthers ? { ...statedHeader, logsBloom: NO_BLOOM } : statedHeader
  const entries = list(fields<'transactions'>(answer, 'block').transactions, 'transactions')
  if (entries.length === 0 && isFilled(answer as Fields))
    throw new ChainFault(`block ${number} came without its transactions`)
  const relevant: SeenTransaction[] = []
  for (const [index, entry] of entries.entries()) {
    const raw = fields<'from' | 'to'>(entry, 'transaction')
    if (!concerns(raw.from, raw.to)) continue
    relevant.push({ ...placeTransaction(entry, head, index), isUnsigned: isUnsigned(entry) })
  }
  const logsFromRange = logsByBlock && (logsByBlock.get(head.hash) ?? [])
  const logs = isDoubtful(bloomCheck, head, entries.length, logsFromRange) ? null : (logsFromRange ?? [])
  const fees = isOurs && feesOf(head, entries, isOurs)
  return { header: head, fees, relevant, logs, txHashes: logs?.length === 0 ? null : entries.map(hashOf) }
}

/** A transaction at its place in a block. Within its block, it need not name its place. */
function placeTransaction(entry: unknown, { number, hash }: WireHeader, index: number): WireTransaction {
  const tx = transaction(entry)
  if ((tx.index !== -1 && tx.index !== index) || (tx.blockHash ?? hash) !== hash)
    throw new ChainFault(`block ${number} lists a transaction of another block`)
  return { ...tx, index, blockHash: hash }
}

/** Roots of an empty list. Chains that do not commit to transactions have zeros there. */
const EMPTY_ROOTS: readonly unknown[] = [EMPTY_ROOT, `0x${'0'.repeat(64)}`, undefined, null]

/** True if the block must have transactions, by both the root and the gas in its header. */
const isFilled = ({ transactionsRoot, gasUsed }: Fields): boolean =>
  !EMPTY_ROOTS.includes(transactionsRoot) && /^0x0*[1-9a-fA-F]/.test(String(gasUsed))

function hashOf(entry: unknown): Hash {
  return String(fields<'hash'>(entry, 'transaction').hash).toLowerCase() as Hash
}

const addressesOf = (wallets: Watching['wallets']) => wallets.map(({ wallet }) => wallet)

/** Creates a cheap test of raw transactions, because we need not parse most transactions of a block any further. */
function concernOf({ factory, wallets, signers }: WatchedAddresses): Concern {
  const payments = addressesOf(wallets)
  const isFrom = memberOf([...signers, ...payments])
  const isTo = memberOf([factory, ...payments])
  return (from, to) => isFrom(from) || isTo(to)
}

/**
 * Creates a test whether a value is one of these addresses, in upper or lower case. It looks at the last two digits first, which nearly always rules
 * the value out.
 */
function memberOf(addresses: readonly Address[]): (value: unknown) => boolean {
  const members = new Set<string>(addresses)
  // Upper and lower case differ only in bit 5.
  const tail = (value: string) => ((value.charCodeAt(40) | 32) << 8) | (value.charCodeAt(41) | 32)
  const tails = new Set(addresses.map(tail))
  return (value) => typeof value === 'string' && tails.has(tail(value)) && members.has(value.toLowerCase())
}

function checkParents(blocks: readonly SeenBlock[], parent: Hash | null): void {
  let expectedParent = parent
  for (const [index, { header: head }] of blocks.entries()) {
    if (expectedParent !== null && head.parentHash !== expectedParent) {
      if (index === 0) throw new PartedFault(`block ${head.number} does not follow ${expectedParent}`)
      throw new ChainFault(`block ${head.number} does not follow its parent`)
    }
    expectedParent = blocks[index + 1]?.header.number === head.number + 1 ? head.hash : null
  }
}

function checkPlaces(blocks: readonly SeenBlock[], logsByBlock: ReadonlyMap<Hash, WireLog[]> | null): void {
  const hashes = new Set(blocks.map((block) => block.header.hash))
  for (const [hash, logs] of logsByBlock ?? []) {
    if (!hashes.has(hash)) throw new ChainFault(`a log of block ${logs[0]?.blockNumber} is from another fork`)
  }
}

function assemble(addresses: WatchedAddresses, blocks: readonly SeenBlock[], read: Outcomes): ObservedRange {
  const { factory: _, ...watching } = addresses
  const range: ObservedRange = {
    watching,
    blocks: [],
    fees: [],
    transfers: [],
    outflows: [],
    sent: [],
    failedWithdrawals: [],
    events: [],
  }
  for (const { header: head, fees, relevant, proofs } of blocks) {
    range.blocks.push(toBlock(head))
    if (fees) range.fees.push(fees)
    for (const tx of relevant) {
      const { receipt, proof: outcomeProof } = read.outcomes.get(tx.hash) ?? NOTHING_MOVED
      const proof = weakest([proofs.get(tx.hash) ?? 'believed', outcomeProof])
      addTransaction(range, addresses, head, { tx, receipt, proof })
    }
    for (const entry of read.logs.get(head.hash) ?? []) {
      const event = toEvent(entry, positionOf(head, entry.txHash, entry.txIndex))
      range.events.push(event.kind === 'nodeMinted' ? { ...event, proof: read.proofOf(entry) } : event)
    }
  }
  return range
}

/** Takes the place of the receipt of a transfer of no value. We only count such transfers, so that a flood of them costs us no request. */
const NO_RECEIPT = { succeeded: false, feeWei: wei(0n), besideWei: 0n, gasUsed: 0n }
const NOTHING_MOVED: Outcome = { receipt: NO_RECEIPT, proof: 'proven' }

/** A transaction may have several roles. If it goes from one payments wallet to another, it is both a transfer and an outflow. */
function addTransaction(
  range: ObservedRange,
  addresses: WatchedAddresses,
  head: WireHeader,
  { tx, receipt, proof }: { tx: SeenTransaction; receipt: Outcome['receipt']; proof: Proof },
): void {
  const at = positionOf(head, tx.hash, tx.index)
  const { succeeded, gasUsed } = receipt
  const feeWei = receipt.feeWei ?? wei(0n)
  const { from, to, valueWei, nonce, type, isUnsigned } = tx
  for (const watchedWallet of addresses.wallets) {
    const { wallet } = watchedWallet
    if (!isWatched(watchedWallet, at.blockNumber)) continue
    if (to === wallet) {
      const codes = codesIn(tx.input).join() || null
      range.transfers.push({ ...at, wallet, from, valueWei, succeeded, type, isUnsigned, proof, codes })
    }
    if (from === wallet)
      range.outflows.push({
        ...at,
        wallet,
        to,
        valueWei,
        feeWei,
        succeeded,
        otherFeesWei: otherFees(tx, receipt, head),
      })
  }
  // We add it even if we have no record of it, because another instance, or an earlier run, may have sent it.
  if (addresses.signers.includes(from) || to === addresses.factory) {
    const movedWei = succeeded ? valueWei : wei(0n)
    range.sent.push({ ...at, sender: from, nonce, succeeded, gasUsed, feeWei, to, valueWei: movedWei, type, proof })
  }
  if (to === addresses.factory && !succeeded && isWithdrawCall(tx.input)) {
    const call = readWithdrawCall(tx.input)
    if (call) range.failedWithdrawals.push({ ...at, caller: from, ...call })
  }
}
