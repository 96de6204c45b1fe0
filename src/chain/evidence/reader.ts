// The follower's reads of the chain: heads, blocks, observed ranges, transactions. It must never serve a head or a block from a cache (acting on a
// stale one could cost money), and never guess. Null means "not there" only if the port promises it; every other failure is a ChainFault.
import type { FinalWord } from '../../domain/finality.ts'
import type { Block, ObservedRange } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import type { ChainReader, MinedView, TransactionView, WatchedAddresses } from '../../ports/chain.ts'
import { ChainFault, PartedFault, ProofFault, RpcFault } from '../../ports/faults.ts'
import { noteFailed, type Soundness } from '../prove/sound.ts'
import { mayPass } from '../rpc/absence.ts'
import { createHeads, type Heads, readBlockAt } from '../rpc/heads.ts'
import { type Rpc, type RpcReads, resultOf } from '../rpc/rpc.ts'
import { count, header, toBlock, transaction } from '../rpc/wire.ts'
import { agreedReads } from './agreed.ts'
import { createChainProofs } from './find-mode.ts'
import { RangeRefused } from './logs/block-logs.ts'
import { createObserver, type Observer, type RangeRequest } from './observe.ts'
import { readReceipt } from './receipt.ts'
import { readSoundBalance } from './state/balance.ts'
import { readSoundCode } from './state/payer-code.ts'
import { agreedState, stateThrough } from './state/state.ts'
import { firstBlockAt } from './survey/first-block.ts'
import { createSurveyReader } from './survey/reader.ts'
import { createBlockTracer, readBlockTransfers } from './trace/block.ts'
import { readInnerTransfers } from './trace/transaction.ts'

/** How many blocks a range has, at first and at most. We store a range in one database transaction, which must stay short. */
const SPAN_START = 32
const SPAN_MAX = 512
/** If a range takes longer than this, the next ones are shorter. */
const SPAN_TARGET_MS = 8_000

/** Creates the reader of one deployment. The `addresses` are lower case. `traceTimeoutMs` limits how long the trace of a block may take. */
export function createChainReader(
  rpc: Rpc,
  addresses: WatchedAddresses,
  { traceTimeoutMs }: { traceTimeoutMs?: number } = {},
): ChainReader {
  const soundness: Soundness = { mode: null, chainId: null, failed: [], voices: rpc.providers }
  const proofs = createChainProofs(rpc.providers, soundness)
  const survey = createSurveyReader(
    rpc.providers.map((provider) => ({ rpc: provider, observer: createObserver(provider, addresses, soundness) })),
    addresses.factory,
  )
  const providers = rpc.providers.map((provider) => ({
    ...readerThrough(provider, addresses, soundness),
    proofs,
    // A survey needs two providers even while we follow only one, as after a halt.
    survey,
    host: provider.host,
    distrust: provider.distrust,
  }))
  return {
    ...readerThrough(rpc, addresses, soundness),
    survey,
    proofs,
    ...agreedState(rpc),
    balanceAt: (owner, at) => readSoundBalance({ rpc, soundness }, owner, at),
    payerCode: (payer, at) => readSoundCode({ rpc, soundness }, payer, at),
    ...agreedReads(providers),
    blockTransfers: createBlockTracer(rpc.providers, traceTimeoutMs === undefined ? {} : { timeoutMs: traceTimeoutMs }),
    providers,
  }
}

function readerThrough(rpc: RpcReads, addresses: WatchedAddresses, soundness: Soundness): ChainReader {
  const observer = createObserver(rpc, addresses, soundness)
  let span = SPAN_START
  const heads = createHeads(rpc, soundness)
  const blockAt = (number: number) => soundly(rpc, soundness, () => readBlockAt(rpc, soundness, number))
  const observeBelievable = believably(rpc, observer, { heads, blockAt, soundness })

  async function blockOrFault(number: number): Promise<Block> {
    const block = await blockAt(number)
    if (!block) throw new ChainFault(`the provider has no block ${number}`)
    return block
  }

  /** Observes one range. If it succeeds, the next range may be longer, unless this one took too long. */
  async function observeSpan(request: RangeRequest): Promise<ObservedRange> {
    const began = performance.now()
    const size = request.to - request.from + 1
    const range = await observeBelievable(request)
    const slow = performance.now() - began > SPAN_TARGET_MS
    if (slow) span = Math.max(1, Math.floor(size / 2))
    else if (size === span) span = Math.min(SPAN_MAX, span * 2)
    return range
  }

  return {
    async chainId() {
      return count(await rpc.request('eth_chainId', []), 'chain id')
    },

    async head({ toFollow = false } = {}) {
      await rpc.passOverLaggards()
      return soundly(rpc, soundness, () => heads.read({ toFollow }))
    },

    finalized: () => readFinal(rpc),
    block: blockAt,

    async observe(from, to, parent, watching) {
      // Ends after at most log2(SPAN_MAX) rounds, because each failure halves the span.
      for (;;) {
        const size = Math.min(to - from + 1, span)
        try {
          return await observeSpan({ from, to: from + size - 1, parent, watching })
        } catch (error) {
          // The next run asks for fewer blocks. In the end, only the faulty block remains unread.
          if (error instanceof ChainFault && !(error instanceof PartedFault)) span = Math.max(1, Math.floor(size / 2))
          if (size === 1 || !isTooMuch(error)) throw error
        }
      }
    },

    ...firstBlocks(blockOrFault),

    transaction: (txHash) => readTransaction(rpc, txHash),
    minedTransaction: async (txHash) => asMined(await readTransaction(rpc, txHash), blockAt),
    innerTransfers: (txHash, to) => readInnerTransfers(rpc, txHash, to),
    blockTransfers: (at, wallets) => readBlockTransfers(rpc, { at, wallets }),
    ...stateThrough(rpc, soundness),
    survey: createSurveyReader([{ rpc, observer }], addresses.factory),
    proofs: createChainProofs([rpc], soundness),

    providers: [],
  }
}

/**
 * Observes ranges. If the range ends at the head that we have just read, it reuses that head. If a provider's answers contradict each other or the
 * chain, it switches to the next provider.
 */
function believably(
  rpc: RpcReads,
  observer: Observer,
  { heads, blockAt, soundness }: { heads: Heads; blockAt: ChainReader['block']; soundness: Soundness },
): (range: RangeRequest) => Promise<ObservedRange> {
  /** Observes a range that ends at the head. Null if it does not end there, or if the chain may have switched forks since we read the head. */
  async function observeToHead(range: RangeRequest): Promise<ObservedRange | null> {
    const head = heads.take(range.to)
    if (head === undefined) return null
    try {
      return await observer.observe({ ...range, head })
    } catch (error) {
      // The head may have been replaced. A provider's answers then contradict it, or the provider does not know it any longer.
      if (isContradiction(error) || isUnknown(error)) return null
      throw error
    }
  }

  /**
   * Moves the provider whose answer is contradictory to the end of the order, and returns its host. Throws the fault if another provider cannot help.
   */
  async function passOver(error: unknown, range: RangeRequest): Promise<string> {
    // If the provider still has the ledger's last block, it contradicts itself. If it has another block there, it has followed a reorganisation.
    if (error instanceof PartedFault && (await blockAt(range.from - 1))?.hash !== range.parent) throw error
    if (error instanceof ChainFault) error.host ??= rpc.firstHost()
    const host = isContradiction(error)
      ? rpc.passOverFirst({ isFalse: error instanceof ProofFault && error.isFalse })
      : null
    if (host === null) throw error
    return host
  }

  async function observeThroughAny(range: RangeRequest): Promise<ObservedRange> {
    const toHead = await observeToHead(range)
    if (toHead) return toHead
    const skippedHosts = new Set<string>()
    // Ends, because each round drops one provider.
    for (;;) {
      try {
        return await observer.observe(range)
      } catch (error) {
        const host = await passOver(error, range)
        if (!(error instanceof ProofFault)) continue
        if (skippedHosts.has(host)) throw error
        skippedHosts.add(host)
        noteFailed(soundness, error, host)
      }
    }
  }

  return async (range) => {
    const observedRange = await observeThroughAny(range)
    const failedProofs = soundness.failed.splice(0)
    return failedProofs.length === 0 ? observedRange : { ...observedRange, failedProofs }
  }
}

/** Reads a block. If a provider's header fails its proof, asks the next provider. */
async function soundly<T>(rpc: RpcReads, soundness: Soundness, read: () => Promise<T>): Promise<T> {
  const skippedHosts = new Set<string>()
  // Ends, because each round drops one provider.
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const host = error instanceof ProofFault ? rpc.passOverFirst(error) : null
      if (host === null || skippedHosts.has(host)) throw error
      skippedHosts.add(host)
      noteFailed(soundness, error as ProofFault, host)
    }
  }
}

function firstBlocks(
  blockAt: (number: number) => Promise<Block>,
): Pick<ChainReader, 'firstBlockAt' | 'agreedFirstBlockAt'> {
  const find: ChainReader['firstBlockAt'] = (time, notAfter) => firstBlockAt(blockAt, time, notAfter)
  return { firstBlockAt: find, agreedFirstBlockAt: find }
}

/** True for faults that a shorter range can avoid. */
function isTooMuch(error: unknown): boolean {
  if (error instanceof RangeRefused) return true
  return (
    error instanceof RpcFault &&
    (error.trouble === 'limit' || error.trouble === 'tooLarge' || error.trouble === 'batch')
  )
}

/** True if a provider returned an error, as it does for a block that it does not have. */
const isUnknown = (error: unknown) => error instanceof RpcFault && error.trouble === 'error'

/** True if a provider's answers contradict each other or the chain. Another provider may then do better. */
function isContradiction(error: unknown): boolean {
  const isAnswerless = error instanceof RpcFault || error instanceof RangeRefused
  return error instanceof ChainFault && error.retryable && !isAnswerless
}

/** The transaction, if it is in a block and we know its outcome; otherwise null. */
async function asMined(tx: TransactionView | null, blockAt: ChainReader['block']): Promise<MinedView | null> {
  if (tx === null || tx.blockNumber === null || tx.succeeded === null) return null
  const block = await blockAt(tx.blockNumber)
  if (block === null || block.hash !== tx.blockHash) return null
  return { ...tx, blockNumber: tx.blockNumber, blockHash: block.hash, succeeded: tx.succeeded, blockTime: block.time }
}

async function readFinal(rpc: RpcReads): Promise<FinalWord | null> {
  const reply = await rpc.call('eth_getBlockByNumber', ['finalized', false])
  // Chains without finality return null or some error. If the provider is just overloaded or failing, its answer shows nothing about the chain.
  if (!reply.ok && !mayPass(reply.error)) return null
  const answer = resultOf('eth_getBlockByNumber', reply)
  if (answer == null) return null
  const { number, hash } = toBlock(header(answer))
  return { number, hash, voices: 1 }
}

async function readTransaction(rpc: RpcReads, txHash: Hash): Promise<TransactionView | null> {
  const answer = await rpc.request('eth_getTransactionByHash', [txHash])
  if (answer == null) return null
  const tx = transaction(answer)
  if (tx.hash !== txHash) throw new ChainFault(`asked for ${txHash}, got another transaction`)
  const { from, to, valueWei, blockNumber, blockHash } = tx
  const view = { txHash, txIndex: tx.index, from, to, valueWei, blockNumber, blockHash, succeeded: null }
  if (blockHash === null) return view
  const reply = await readReceipt(rpc, txHash)
  if (reply === null || reply === 'tooLarge' || reply.receipt.blockHash !== blockHash) return view
  return { ...view, succeeded: reply.receipt.succeeded }
}
