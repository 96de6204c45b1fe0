// Asks every provider for one block, to see whether this chain's headers and lists of transactions recompute. One provider's answer shows neither that
// they do nor that they do not: it could make up a block that does, and so have every honest one refused.

import { VOICES } from '../../domain/finality.ts'
import type { ChainProofs, ProvenPart } from '../../domain/observed.ts'
import { orNull } from '../faults.ts'
import { proveTransactions } from '../prove/body.ts'
import { proveHeader } from '../prove/header.ts'
import type { Fields } from '../prove/items.ts'
import type { Soundness } from '../prove/sound.ts'
import { unprovable, type Verdict } from '../prove/verdict.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { toQuantity } from '../rpc/wire.ts'

/** Builds the question to these providers. `soundness` is that of all reads through them. */
export function createChainProofs(providers: readonly RpcReads[], soundness: Soundness): ChainProofs {
  const voices = Math.min(VOICES, providers.length)

  async function ask(part: ProvenPart, number: number): Promise<Fields[]> {
    const params = [toQuantity(number), part === 'transactions']
    const answers = await Promise.all(
      providers.map((provider) => orNull(provider.request('eth_getBlockByNumber', params))),
    )
    return answers.filter((answer): answer is Fields => typeof answer === 'object' && answer !== null)
  }

  return {
    askFor(states, isDoubted = false) {
      soundness.states = states
      soundness.isDoubted = isDoubted
    },

    async isProven(part, number) {
      const blocks = await ask(part, number)
      for (const block of blocks) {
        const isNamed = countOf(blocks, block, ({ hash }) => hash) >= voices
        if (isNamed && showsSomething(part, block) && (await verdictOn(part, block)).kind === 'proven') return true
      }
      return false
    },

    async isUnprovable(part, number) {
      const blocks = await ask(part, number)
      const regard = part === 'transactions' ? bodyOf : headerOf
      for (const block of blocks) {
        // A provider by itself lowers nothing.
        if (countOf(blocks, block, regard) < VOICES) continue
        const { kind } = await verdictOn(part, block)
        // A list under a root that is proven and of known types cannot come from a fork: then both lie.
        if (kind === 'unprovable' || (kind === 'contradicted' && !isCertain(soundness, part))) return true
      }
      return false
    },
  }
}

const isCertain = ({ states }: Soundness, part: ProvenPart) =>
  part === 'transactions' && states.get(part) === 'askedFor'

/** A list without transactions shows nothing. */
const showsSomething = (part: ProvenPart, { transactions }: Fields) =>
  part !== 'transactions' || (Array.isArray(transactions) && transactions.length > 0)

async function verdictOn(part: ProvenPart, block: Fields): Promise<Verdict> {
  const header = proveHeader(block)
  if (part === 'header' || header.kind !== 'proven') return header
  if (part !== 'transactions') return unprovable(part, 'no question about it')
  return (await proveTransactions(block)).verdict
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

/** What a transaction does, and what it is. Nodes differ in the fields that they add. */
const DOING = ['hash', 'type', 'from', 'to', 'value', 'nonce', 'input'] as const

function bodyOf(block: Fields): string {
  const transactions = Array.isArray(block.transactions) ? (block.transactions as Fields[]) : []
  const lines = transactions.map((tx) => DOING.map((name) => String(tx[name] ?? '').toLowerCase()).join(' '))
  return [headerOf(block), ...lines].join('\n')
}
