// Reads that decide about refunds and finality, of every provider: one of several must not decide alone. It never answers a guess: null if
// providers do not agree.
import type { FinalWord } from '../../domain/finality.ts'
import type { ChainReader } from '../port.ts'
import { agreedAnswer } from './state/agreement.ts'

type AgreedReads = Pick<ChainReader, 'finalized' | 'minedTransaction' | 'innerTransfers'>

/** Builds them from one reader for each provider. */
export function agreedReads(providers: readonly AgreedReads[]): AgreedReads {
  const ofAll = async <T>(ask: (provider: AgreedReads) => Promise<T | null>): Promise<(T | null)[]> => {
    const said = await Promise.allSettled(providers.map(ask))
    const [first] = said
    if (first?.status === 'rejected' && said.every(({ status }) => status === 'rejected')) throw first.reason
    return said.map((answer) => (answer.status === 'fulfilled' ? answer.value : null))
  }
  return {
    finalized: async () => leastFinal(await ofAll((provider) => provider.finalized())),
    minedTransaction: async (txHash) =>
      agreedAnswer(await ofAll((provider) => provider.minedTransaction(txHash)), keyOf),
    innerTransfers: async (txHash, to) =>
      agreedAnswer(await ofAll((provider) => provider.innerTransfers(txHash, to)), keyOf),
  }
}

function leastFinal(said: readonly (FinalWord | null)[]): FinalWord | null {
  const named = said.filter((word) => word !== null)
  const [least] = [...named].sort((a, b) => a.number - b.number)
  return least ? { ...least, voices: named.length } : null
}

const keyOf = (answer: object) =>
  JSON.stringify(answer, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
