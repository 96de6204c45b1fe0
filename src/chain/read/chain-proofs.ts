// Finds out which parts of this chain's blocks can be proven: headers, transaction lists, receipt lists and accounts. It asks every provider for the
// same block. One provider's answer shows nothing either way: it could make up a block that passes, and we would then reject every honest provider.

import { VOICES } from '../../domain/finality.ts'
import type { ChainProofs, ProvenPart } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { ChainFault, orNull } from '../faults.ts'
import { provenAccount } from '../prove/account-proof.ts'
import { proveReceipts, proveTransactions, type ReadRaw } from '../prove/body.ts'
import { proveHeader, settlesOthers } from '../prove/header.ts'
import type { Fields } from '../prove/items.ts'
import type { Soundness } from '../prove/sound.ts'
import { unprovable, type Verdict } from '../prove/verdict.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { byHash, bytes, hash32, toQuantity } from '../rpc/wire.ts'
import { readRaw } from './prove-block.ts'

/** How many blocks we look at, at most, to find one with transactions. A block without transactions shows nothing about lists. */
const LISTS_MAX = 8
/** Any address will do to find out whether accounts can be proven, because a proof can also show that an account does not exist. */
const ANYBODY = `0x${'0'.repeat(40)}` as Address

/** Creates the checks of what can be proven. All reads through the same providers share `soundness`. */
export function createChainProofs(providers: readonly RpcReads[], soundness: Soundness): ChainProofs {
  const voices = Math.min(VOICES, providers.length)

  const ask = (part: ProvenPart, number: number) => askAll(providers, part, number)

  /** The newest block whose part is proven, and whose hash at least `named` providers report; see `newestProof`. */
  async function findProof(part: ProvenPart, newest: number, named: number): Promise<number | false | null> {
    let shown: false | null = null
    const oldest = isList(part) ? Math.max(0, newest - LISTS_MAX + 1) : newest
    for (let number = newest; number >= oldest; number--) {
      const blocks = await ask(part, number)
      for (const block of blocks.filter((block) => showsSomething(part, block))) {
        const isNamed = namesOf(blocks, block) >= named
        if (isNamed && (await verdictOn(part, block, rawOf(block))).kind === 'proven') return number
        shown = false
      }
    }
    return shown
  }

  return {
    askFor(states, isDoubted = false) {
      soundness.states = states
      soundness.isDoubted = isDoubted
    },

    newestProof: (part, newest) => findProof(part, newest, voices),
    proofOfAny: (part, newest) => findProof(part, newest, 1),

    hasForeignBlooms: async (number) => (await ask('header', number)).some(settlesOthers),

    async isUnprovable(part, number) {
      const blocks = (await ask(part, number)).filter((block) => showsSomething(part, block))
      const regard = { header: headerOf, state: accountOf, transactions: bodyOf, receipts: outcomesOf }[part]
      const isFailing = async (block: Fields) => {
        const { kind } = await verdictOn(part, block, rawOf(block))
        // If we know every field of the header, or every type in a list whose root is proven, an upgrade of the chain cannot explain the
        // contradiction. So both providers lie.
        return kind === 'unprovable' || (kind === 'contradicted' && !isCertain(soundness, part))
      }
      for (const block of blocks) {
        const alike = blocks.filter((other) => regard(other) === regard(block))
        // A single provider must not lower what we require. If one of those that agree proves the part, another one has spoilt it.
        if (alike.length >= VOICES && !(await Promise.all(alike.map(isFailing))).includes(false)) return true
      }
      return false
    },
  }
}

/** A block from every provider that has it, together with what we request beside it. */
async function askAll(providers: readonly RpcReads[], part: ProvenPart, number: number): Promise<Fields[]> {
  const params = [toQuantity(number), part === 'transactions']
  const answers = await Promise.all(
    providers.map(async (provider) => {
      const block = await orNull(provider.request('eth_getBlockByNumber', params))
      if (typeof block !== 'object' || block === null) return null
      const beside = BESIDES[part]?.(block as Fields)
      const given: Fields = { ...block, ...(beside && { [part]: await orNull(provider.request(...beside)) }) }
      givers.set(given, provider)
      return given
    }),
  )
  return answers.filter((answer) => answer !== null)
}

/** Who gave a block, to ask for the bytes of its transactions. */
const givers = new WeakMap<Fields, RpcReads>()

const rawOf =
  (block: Fields): ReadRaw =>
  async (index) => {
    const giver = givers.get(block)
    return giver ? await orNull(readRaw(giver, String(block.hash), index)) : null
  }

const isCertain = ({ states }: Soundness, part: ProvenPart) => part !== 'state' && states.get(part) === 'askedFor'

const isList = (part: ProvenPart) => part === 'transactions' || part === 'receipts'

/** What we request together with a block, by part. */
const BESIDES: Partial<Record<ProvenPart, (block: Fields) => [string, unknown[]]>> = {
  receipts: ({ hash }) => ['eth_getBlockReceipts', [hash]],
  state: ({ hash }) => ['eth_getProof', [ANYBODY, [], byHash(hash as Hash)]],
}

/**
 * True if this answer can show something. An empty list cannot, nor an answer without a proof, nor the first block, whose header may not match its
 * state.
 */
const showsSomething = (part: ProvenPart, block: Fields) =>
  isList(part)
    ? listIn(block[part]).length > 0
    : part !== 'state' || (nodesIn(block).length > 0 && Number(block.number) > 0)

const nodesIn = ({ state }: Fields) => listIn((state as Fields | null)?.accountProof) as unknown[]

const listIn = (list: unknown) => (Array.isArray(list) ? (list as Fields[]) : [])

async function verdictOn(part: ProvenPart, block: Fields, readRaw: ReadRaw): Promise<Verdict> {
  const { receipts, state: _, ...given } = block
  const header = proveHeader(given)
  if (part === 'header' || header.kind !== 'proven') return header
  if (part === 'receipts') return (await proveReceipts(given, receipts)).verdict
  if (part === 'state') return accountVerdict(block)
  return (await proveTransactions(block, readRaw)).verdict
}

function accountVerdict(block: Fields): Verdict {
  try {
    const nodes = nodesIn(block).map((node) => bytes(node, 'node of a proof'))
    provenAccount(hash32(block.stateRoot, 'state root'), ANYBODY, nodes)
    return { kind: 'proven', part: 'state' }
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    return unprovable('state', error.message)
  }
}

/** How many of the blocks have the hash of this one. */
const namesOf = (blocks: readonly Fields[], { hash }: Fields): number =>
  blocks.filter((other) => wordOf(other.hash) === wordOf(hash)).length

/** A hash or a quantity as a text that can be compared: nodes write capitals and leading zeros as they like. */
const wordOf = (value: unknown) => textOf(value).replace(/^0x0+(?=[0-9a-f])/, '0x')
const textOf = (value: unknown) => String(value ?? '').toLowerCase()

/** The fields of a header that we use. Nodes differ in what else they show, and in how they name what a fork has just added. */
const USED = [
  ...['hash', 'number', 'parentHash', 'timestamp', 'mixHash', 'stateRoot', 'transactionsRoot', 'receiptsRoot'],
  ...['logsBloom', 'gasUsed', 'baseFeePerGas'],
] as const

const headerOf = (block: Fields): string => USED.map((name) => wordOf(block[name])).join(' ')

function bodyOf(block: Fields): string {
  const lines = listIn(block.transactions).map((entry) => {
    const { hash, type, from, to, value, nonce, input, data }: Fields = Object(entry)
    return [...[hash, type ?? '0x0', from, to, value, nonce].map(wordOf), textOf(input ?? data)].join(' ')
  })
  return [headerOf(block), ...lines].join('\n')
}

/** For comparison: the header and the account's proof. */
const accountOf = (block: Fields) => [headerOf(block), ...nodesIn(block)].join('\n').toLowerCase()

/** For comparison: the header and the outcomes of the block's transactions. */
function outcomesOf(block: Fields): string {
  const lines = listIn(block.receipts).map((entry) => {
    const { status, cumulativeGasUsed, logs }: Fields = Object(entry)
    const says = listIn(logs).map((log) => {
      const { address, topics, data }: Fields = Object(log)
      return textOf([address, topics, data])
    })
    return [wordOf(status), wordOf(cumulativeGasUsed), ...says].join(' ')
  })
  return [headerOf(block), ...lines].join('\n')
}
