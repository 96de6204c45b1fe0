// Asks every provider for one block, to see whether this chain's headers, lists of transactions and receipts recompute. One provider's answer proves
// nothing either way: it could make up a block that recomputes, and so make us refuse every honest provider.

import { VOICES } from '../../domain/finality.ts'
import type { ChainProofs, ProvenPart } from '../../domain/observed.ts'
import { orNull } from '../faults.ts'
import { proveReceipts, proveTransactions } from '../prove/body.ts'
import { proveHeader, settlesOthers } from '../prove/header.ts'
import type { Fields } from '../prove/items.ts'
import type { Soundness } from '../prove/sound.ts'
import { unprovable, type Verdict } from '../prove/verdict.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { toQuantity } from '../rpc/wire.ts'

/** Blocks without transactions show nothing about their lists, so we ask for older ones: at most this many. */
const LISTS_MAX = 8

/** Builds the question to these providers. All reads through them share `soundness`. */
export function createChainProofs(providers: readonly RpcReads[], soundness: Soundness): ChainProofs {
  const voices = Math.min(VOICES, providers.length)

  async function ask(part: ProvenPart, number: number): Promise<Fields[]> {
    const params = [toQuantity(number), part === 'transactions']
    const answers = await Promise.all(
      providers.map(async (provider) => {
        const block = await orNull(provider.request('eth_getBlockByNumber', params))
        if (part !== 'receipts' || typeof block !== 'object' || block === null) return block
        return { ...block, receipts: await orNull(provider.request('eth_getBlockReceipts', [(block as Fields).hash])) }
      }),
    )
    return answers.filter((answer): answer is Fields => typeof answer === 'object' && answer !== null)
  }

  return {
    askFor(states, isDoubted = false) {
      soundness.states = states
      soundness.isDoubted = isDoubted
    },

    async newestProof(part, newest) {
      let shown: false | null = null
      const oldest = part === 'header' ? newest : Math.max(0, newest - LISTS_MAX + 1)
      for (let number = newest; number >= oldest; number--) {
        const blocks = await ask(part, number)
        for (const block of blocks.filter((block) => showsSomething(part, block))) {
          const isNamed = countOf(blocks, block, ({ hash }) => hash) >= voices
          if (isNamed && (await verdictOn(part, block)).kind === 'proven') return number
          shown = false
        }
      }
      return shown
    },

    hasForeignBlooms: async (number) => (await ask('header', number)).some(settlesOthers),

    async isUnprovable(part, number) {
      const blocks = await ask(part, number)
      const regard = { header: headerOf, state: headerOf, transactions: bodyOf, receipts: outcomesOf }[part]
      for (const block of blocks) {
        // A single provider lowers nothing.
        if (countOf(blocks, block, regard) < VOICES) continue
        const { kind } = await verdictOn(part, block)
        // A header with only known fields, or a list with only known types under a proven root, cannot come from a fork; then both providers lie.
        if (kind === 'unprovable' || (kind === 'contradicted' && !isCertain(soundness, part))) return true
      }
      return false
    },
  }
}

const isCertain = ({ states }: Soundness, part: ProvenPart) => part !== 'state' && states.get(part) === 'askedFor'

/** A list without transactions shows nothing. */
const showsSomething = (part: ProvenPart, block: Fields) =>
  (part !== 'transactions' && part !== 'receipts') || listIn(block[part]).length > 0

const listIn = (list: unknown) => (Array.isArray(list) ? (list as Fields[]) : [])

async function verdictOn(part: ProvenPart, block: Fields): Promise<Verdict> {
  const { receipts, ...given } = block
  const header = proveHeader(given)
  if (part === 'header' || header.kind !== 'proven') return header
  if (part === 'receipts') return (await proveReceipts(given, receipts)).verdict
  if (part !== 'transactions') return unprovable(part, 'no question about it')
  return (await proveTransactions(block)).verdict
}

/** How many blocks are the same as this one in some regard. */
const countOf = (blocks: readonly Fields[], block: Fields, regard: (block: Fields) => unknown): number =>
  blocks.filter((other) => regard(other) === regard(block)).length

/** Fields that differ between nodes for the same block. */
const BESIDE: readonly string[] = ['size', 'totalDifficulty', 'uncles', 'transactions', 'receipts', 'withdrawals']

const headerOf = (block: Fields): string =>
  Object.keys(block)
    .filter((name) => block[name] != null && !BESIDE.includes(name))
    .sort()
    .map((name) => `${name} ${String(block[name]).toLowerCase()}`)
    .join('\n')

/** What identifies a transaction and what it does. Nodes differ in the fields that they add. */
const DOING = ['hash', 'type', 'from', 'to', 'value', 'nonce', 'input'] as const

function bodyOf(block: Fields): string {
  const lines = listIn(block.transactions).map((tx) =>
    DOING.map((name) => String(tx[name] ?? '').toLowerCase()).join(' '),
  )
  return [headerOf(block), ...lines].join('\n')
}

/** The outcomes of a block's transactions. */
function outcomesOf(block: Fields): string {
  const lines = listIn(block.receipts).map(({ status, cumulativeGasUsed, logs }) => {
    const says = listIn(logs).map(({ address, topics, data }) => [address, topics, data].join(' '))
    return [status, cumulativeGasUsed, ...says].join(' ').toLowerCase()
  })
  return [headerOf(block), ...lines].join('\n')
}
