// The reads of a survey: facts about old blocks, without reading the blocks. If there are two providers, both must agree: one proves a fact, and the
// other names the same block. It must never confuse "not available" (null) with "nothing there".
import { voicesNeeded } from '../../../domain/finality.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import { chunks } from '../../../lib/parallel.ts'
import type { SurveyReader } from '../../../ports/chain.ts'
import { orNull } from '../../../ports/faults.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { transaction, type WireLog } from '../../rpc/wire.ts'
import type { Observer } from '../observe.ts'
import { readAnchors, readProven } from '../state/accounts.ts'
import { agreedLogs, createLogSource } from './logged-blocks.ts'

/** Transactions that one request reads. */
const TRANSACTIONS_PER_REQUEST = 50

/** One provider, and the observer that reads from it. */
export interface Surveyor {
  rpc: RpcReads
  observer: Observer
}

/** Creates the reads of a survey through these providers. The best provider comes first. */
export function createSurveyReader(providers: readonly Surveyor[], factory: Address): SurveyReader {
  const voices = voicesNeeded(providers.length)
  const sources = providers.map(({ rpc }) => createLogSource(rpc, factory))

  /** The first answer on which two providers agree. Tries every pair in both orders. If there is only one provider, returns its answer. */
  async function byTwo<T>(ask: (one: Surveyor, other: Surveyor) => Promise<T | null>): Promise<T | null> {
    for (const one of providers) {
      for (const other of providers) {
        if (voices > 1 && other === one) continue
        const answer = await orNull(ask(one, other))
        if (answer !== null) return answer
      }
    }
    return null
  }

  return {
    voices,

    accountsAt: (questions) => byTwo((one, other) => readProven({ prover: one.rpc, witness: other.rpc }, questions)),

    loggedBlocks: (from, to) => agreedLogs(sources, voices, { from, to }),

    async blocksOf(txHashes) {
      const blockNumbers: (number | null)[] = []
      for (const piece of chunks(txHashes, TRANSACTIONS_PER_REQUEST))
        blockNumbers.push(...(await readBlocksOf(providers, piece)))
      return blockNumbers
    },

    observeBlocks: (numbers, loggedBlocks, watching) =>
      byTwo(async (one, other) => {
        const logs = loggedBlocks.flatMap((block) => block.logs as WireLog[])
        const range = await one.observer.observeBlocks(numbers, logs, watching)
        if (one === other) return range
        const anchors = await readAnchors(other.rpc, numbers)
        return range.blocks.every(({ hash }, index) => hash === anchors[index]?.block.hash) ? range : null
      }),
  }
}

async function readBlocksOf(providers: readonly Surveyor[], txHashes: readonly Hash[]): Promise<(number | null)[]> {
  const calls = txHashes.map((txHash): RpcCall => ({ method: 'eth_getTransactionByHash', params: [txHash] }))
  // The last provider comes first, because the others have more to do.
  for (const { rpc } of providers.toReversed()) {
    const blockNumbers = await orNull(
      rpc.requestAll(calls).then((answers) => answers.map((tx) => (tx == null ? null : transaction(tx).blockNumber))),
    )
    // If it names a wrong block, that does no harm: we will not find the payment there, and the wallet's balance will show that one is missing.
    if (blockNumbers) return blockNumbers
  }
  return txHashes.map(() => null)
}
