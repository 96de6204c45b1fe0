// Reads that decide about refunds, finality and seeds. They ask every provider, because a single one must not decide alone. They never guess: if
// providers do not agree, the result is null.
import { leastFinal } from '../../domain/finality.ts'
import type { ChainReader } from '../../ports/chain.ts'
import { ChainFault } from '../../ports/faults.ts'
import { agreedAnswer } from './state/agreement.ts'
import { firstBlockAt } from './survey/first-block.ts'

type AgreedReads = Pick<ChainReader, 'finalized' | 'block' | 'minedTransaction' | 'innerTransfers'>

/** Builds reads on which the providers must agree, from one reader for each provider. */
export function agreedReads(
  providers: readonly AgreedReads[],
): Omit<AgreedReads, 'block'> & Pick<ChainReader, 'agreedFirstBlockAt'> {
  const ofAll = async <T>(ask: (provider: AgreedReads) => Promise<T | null>): Promise<(T | null)[]> => {
    const replies = await Promise.allSettled(providers.map(ask))
    const [first] = replies
    if (first?.status === 'rejected' && replies.every(({ status }) => status === 'rejected')) throw first.reason
    return replies.map((answer) => (answer.status === 'fulfilled' ? answer.value : null))
  }
  const blockAt = async (number: number) => {
    const block = agreedAnswer(await ofAll((provider) => provider.block(number)), keyOf)
    if (block === null) throw new ChainFault(`no two providers agree on block ${number}`)
    return block
  }
  return {
    agreedFirstBlockAt: (time, notAfter) => firstBlockAt(blockAt, time, notAfter),
    finalized: async () =>
      leastFinal((await ofAll((provider) => provider.finalized())).filter((word) => word !== null)),
    minedTransaction: async (txHash) =>
      agreedAnswer(await ofAll((provider) => provider.minedTransaction(txHash)), keyOf),
    innerTransfers: async (txHash, to) =>
      agreedAnswer(await ofAll((provider) => provider.innerTransfers(txHash, to)), keyOf),
  }
}

const keyOf = (answer: object) =>
  JSON.stringify(answer, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
