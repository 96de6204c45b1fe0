// Asks every provider for one block, to see whether this chain's headers recompute. One provider's answer shows neither that they do nor that they do
// not: it could make up a header that does, and so have every honest one refused.
import { VOICES } from '../../domain/finality.ts'
import type { HeaderProofs } from '../../domain/observed.ts'
import { orNull } from '../faults.ts'
import { proveHeader } from '../prove/header.ts'
import type { Fields } from '../prove/items.ts'
import type { Soundness } from '../prove/sound.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { toQuantity } from '../rpc/wire.ts'

/** Builds the question to these providers. `soundness` is that of all reads through them. */
export function createHeaderProofs(providers: readonly RpcReads[], soundness: Soundness): HeaderProofs {
  const voices = Math.min(VOICES, providers.length)

  async function ask(number: number): Promise<Fields[]> {
    const answers = await Promise.all(
      providers.map((provider) => orNull(provider.request('eth_getBlockByNumber', [toQuantity(number), false]))),
    )
    return answers.filter((answer): answer is Fields => typeof answer === 'object' && answer !== null)
  }

  return {
    askFor(isAskedFor) {
      soundness.isAskedFor = isAskedFor
    },

    async isProven(number) {
      const blocks = await ask(number)
      return blocks.some(
        (block) => proveHeader(block).kind === 'proven' && countOf(blocks, block, ({ hash }) => hash) >= voices,
      )
    },
    async isUnprovable(number) {
      const blocks = (await ask(number)).filter((block) => proveHeader(block).kind !== 'proven')
      // A provider by itself lowers nothing.
      return blocks.some((block) => countOf(blocks, block, headerOf) >= VOICES)
    },
  }
}

/** How many blocks are the same as this one in some regard. */
const countOf = (blocks: readonly Fields[], block: Fields, regard: (block: Fields) => unknown): number =>
  blocks.filter((other) => regard(other) === regard(block)).length

/** Fields that nodes answer differently of the same block. */
const BESIDE: readonly string[] = ['size', 'totalDifficulty', 'uncles', 'transactions', 'withdrawals']

const headerOf = (block: Fields): string =>
  Object.keys(block)
    .filter((name) => block[name] != null && !BESIDE.includes(name))
    .sort()
    .map((name) => `${name} ${String(block[name]).toLowerCase()}`)
    .join('\n')
