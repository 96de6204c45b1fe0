// The reads of a survey: what is known of old blocks without reading them. Whatever is answered rests on two providers that agree, where there are
// two: one that proves, and another that names the same block. It must never take "not to be had" for "nothing there": that is null.
import type { ObservedRange } from '../../../domain/observed.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import { orNull } from '../../faults.ts'
import type { ProvenBlock, SurveyReader } from '../../port.ts'
import { chunks } from '../../rpc/parallel.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { transaction, type WireLog } from '../../rpc/wire.ts'
import type { Observer } from '../observe.ts'
import { readAnchors, readProven } from '../state/accounts.ts'
import { VOICES } from '../state/agreement.ts'
import { agreedLogs, createLogSource } from './logged-blocks.ts'

/** Transactions asked for in one request. */
const TRANSACTIONS_PER_REQUEST = 50

/** One provider, with an observer of its own. */
export interface Surveyor {
  rpc: RpcReads
  observer: Observer
}

/** Builds the reads through these providers, best first. */
export function createSurveyReader(providers: readonly Surveyor[], factory: Address): SurveyReader {
  const voices = Math.min(VOICES, providers.length)
  const sources = providers.map(({ rpc }) => createLogSource(rpc, factory))

  /** The answer of the first provider whose blocks another one names as well. */
  async function vouched<T>(
    ask: (provider: Surveyor) => Promise<T>,
    named: (answer: T) => readonly { number: number; word: string }[],
  ): Promise<T | null> {
    for (const provider of providers) {
      const answer = await orNull(ask(provider))
      if (answer === null) continue
      if (voices === 1) return answer
      const blocks = named(answer)
      for (const witness of providers) {
        if (witness !== provider && (await isNamedBy(witness.rpc, blocks))) return answer
      }
    }
    return null
  }

  return {
    voices,

    accountsAt: (questions) =>
      vouched<(ProvenBlock & { stateRoot: Hash })[]>(
        ({ rpc }) => readProven(rpc, questions),
        (answer) => answer.map((proven) => ({ number: proven.block.number, word: wordOf(proven) })),
      ),

    loggedBlocks: (from, to) => agreedLogs(sources, voices, { from, to }),

    async blocksOf(txHashes) {
      const found: (number | null)[] = []
      for (const piece of chunks(txHashes, TRANSACTIONS_PER_REQUEST))
        found.push(...(await readBlocksOf(providers, piece)))
      return found
    },

    observeBlocks: (numbers, logged, watching) =>
      vouched<ObservedRange>(
        ({ observer }) =>
          observer.observeBlocks(
            numbers,
            logged.flatMap(({ logs }) => logs as WireLog[]),
            watching,
          ),
        ({ blocks }) => blocks.map(({ number, hash }) => ({ number, word: hash })),
      ),
  }
}

const wordOf = ({ block, stateRoot }: { block: { hash: Hash }; stateRoot: Hash }) => `${block.hash} ${stateRoot}`

/** True if a provider names these blocks by the same words: their hashes, and their state roots where those are in question. */
async function isNamedBy(rpc: RpcReads, blocks: readonly { number: number; word: string }[]): Promise<boolean> {
  const anchors = await orNull(
    readAnchors(
      rpc,
      blocks.map(({ number }) => number),
    ),
  )
  return anchors?.every((anchor, index) => wordOf(anchor).startsWith(blocks[index]?.word ?? '-')) ?? false
}

async function readBlocksOf(providers: readonly Surveyor[], txHashes: readonly Hash[]): Promise<(number | null)[]> {
  const calls = txHashes.map((txHash): RpcCall => ({ method: 'eth_getTransactionByHash', params: [txHash] }))
  for (const { rpc } of providers) {
    const found = await orNull(
      rpc.requestAll(calls).then((answers) => answers.map((tx) => (tx == null ? null : transaction(tx).blockNumber))),
    )
    // A wrong block is no harm: the payment is not in it, and the wallet's balance says that one is missing.
    if (found) return found
  }
  return txHashes.map(() => null)
}
