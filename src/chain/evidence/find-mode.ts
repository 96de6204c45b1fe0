// Finds out whether blocks of this chain can be proven: their headers, their lists of transactions and receipts, and accounts. It asks every provider
// for the same blocks. A single one of several shows nothing: it could make up a block, or spoil one.
import { voicesNeeded } from '../../domain/finality.ts'
import type { ChainProofs, ProvenPart } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { ChainFault, orNull } from '../../ports/faults.ts'
import { provenAccount } from '../prove/account-proof.ts'
import { proveReceipts, proveTransactions, withChainId } from '../prove/body.ts'
import { proveHeader } from '../prove/header.ts'
import type { Fields } from '../prove/items.ts'
import type { Soundness } from '../prove/sound.ts'
import { unprovable, type Verdict, wordsOf } from '../prove/verdict.ts'
import { ofEach, type RpcReads } from '../rpc/rpc.ts'
import { byHash, bytes, count, hash32, toQuantity } from '../rpc/wire.ts'
import { readRaw } from './prove-block.ts'

/** How many blocks with transactions we usually look at. A block without transactions shows nothing about lists. */
const LISTS_USUAL = 8
/** For each of them we read at most so many of the newest blocks. */
const BLOCKS_EACH = 8
/** We begin this far behind the head, because any node that has the head has that block. */
const BEHIND_HEAD = 4
/** Any address will do to find out whether accounts can be proven, because a proof can also show that an account does not exist. */
const ANYBODY = `0x${'0'.repeat(40)}` as Address

/** A block as a provider gives it. */
interface ProviderBlock {
  block: Fields
  rpc: RpcReads
}

/** Creates the search for the mode. All reads through the same providers share `soundness`. */
export function createChainProofs(providers: readonly RpcReads[], soundness: Soundness): ChainProofs {
  const voices = voicesNeeded(providers.length)

  /** What the providers give for a height, if enough of them name the same block; null if they do not, or do not answer. */
  async function blocksAt(number: number): Promise<ProviderBlock[] | null> {
    const answers = await Promise.all(
      providers.map(async (rpc): Promise<ProviderBlock | null> => {
        const block = await orNull(rpc.request('eth_getBlockByNumber', [toQuantity(number), true]))
        return typeof block === 'object' && block !== null ? { block: block as Fields, rpc } : null
      }),
    )
    const blocks = answers.filter((answer) => answer !== null)
    const hashes = new Set(blocks.map(({ block }) => String(block.hash).toLowerCase()))
    return blocks.length >= voices && hashes.size === 1 ? blocks : null
  }

  /** A block that any node has if it has the head; null if not enough providers name a head. */
  async function newestOfAll(): Promise<number | null> {
    const heads = await ofEach({ providers }, (rpc) => rpc.request('eth_blockNumber', []))
    const heights = heads.filter((head) => head !== null).map((head) => count(head, 'block number'))
    return heights.length < voices ? null : Math.max(0, Math.min(...heights) - BEHIND_HEAD)
  }

  return {
    require(mode, chainId) {
      soundness.mode = mode
      soundness.chainId = chainId === undefined ? null : toQuantity(chainId)
    },

    async findMode(lists = LISTS_USUAL) {
      const newest = await newestOfAll()
      if (newest === null) return null
      let filledCount = 0
      let addedFields: readonly string[] | null = null
      for (let number = newest; number >= 0 && number > newest - lists * BLOCKS_EACH && filledCount < lists; number--) {
        const blocks = await blocksAt(number)
        if (!blocks) return null
        addedFields ??= addedIn(blocks)
        const isFilled = blocks.some(({ block }) => listIn(block.transactions).length > 0)
        filledCount += Number(isFilled)
        const parts: ProvenPart[] = number === newest ? ['header', 'state'] : ['header']
        const failing = await firstUnproven(isFilled ? [...parts, ...LISTS] : parts, blocks)
        if (failing) return { mode: 'agreed', block: number, ...failing }
      }
      return { mode: 'proven', block: newest, added: addedFields ?? [] }
    },
  }
}

const addedIn = (blocks: readonly ProviderBlock[]) => [
  ...new Set(blocks.flatMap(({ block }) => proveHeader(block).added ?? [])),
]

const LISTS: readonly ProvenPart[] = ['transactions', 'receipts']

/** The first of some parts of a block that no provider proves, and why; null if there is none. */
async function firstUnproven(parts: readonly ProvenPart[], blocks: readonly ProviderBlock[]) {
  for (const part of parts) {
    const why = await whyUnproven(part, blocks)
    if (why !== null) return { part, why }
  }
  return null
}

/** Why no provider's answer proves a part of a block; null if one does, or if a provider that proves no accounts reports nothing false about them. */
async function whyUnproven(part: ProvenPart, blocks: readonly ProviderBlock[]): Promise<string | null> {
  let why: string | null = null
  for (const one of blocks) {
    const verdict = await VERDICTS[part](one)
    if (verdict === null) continue
    if (verdict.kind === 'proven') return null
    why ??= wordsOf(verdict)
  }
  return why
}

const VERDICTS: Record<ProvenPart, (source: ProviderBlock) => Promise<Verdict | null>> = {
  header: async ({ block }) => proveHeader(block),
  transactions: async ({ block, rpc }) => {
    const chainId = await orNull(rpc.request('eth_chainId', []))
    const raw = async (index: number) => await orNull(readRaw(rpc, String(block.hash), index))
    return (await proveTransactions(withChainId(block, typeof chainId === 'string' ? chainId : null), raw)).verdict
  },
  receipts: async ({ block, rpc }) =>
    (await proveReceipts(block, await orNull(rpc.request('eth_getBlockReceipts', [block.hash])))).verdict,
  state: async ({ block, rpc }) => {
    // The first block's header may not match its state.
    if (Number(block.number) === 0) return null
    const proof = await orNull(rpc.request('eth_getProof', [ANYBODY, [], byHash(block.hash as Hash)]))
    const nodes = listIn((proof as Fields | null)?.accountProof)
    return nodes.length === 0 ? null : accountVerdict(block, nodes)
  },
}

const listIn = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [])

function accountVerdict({ stateRoot }: Fields, nodes: readonly unknown[]): Verdict {
  try {
    const proof = nodes.map((node) => bytes(node, 'node of a proof'))
    provenAccount(hash32(stateRoot, 'state root'), ANYBODY, proof)
    return { kind: 'proven', part: 'state' }
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    return unprovable('state', error.message)
  }
}
