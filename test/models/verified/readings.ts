// What a node's record and the cover must be, read from the contract: a second reading of client/README.md (Checking for yourself), client/REFERENCE.md,
// api/openapi.yaml and docs/REWARDS.md (Cover).
import type { Cover, NodeDetail } from '../../../client/src/index.ts'
import {
  assertChain,
  contractOf,
  headOf,
  type PlainChain,
  placeDifferences,
  type SaidPlace,
  sameText,
  stateAt,
  type Trusted,
} from './chain.ts'

// Choices in what the documents leave open:
// - A block that the provider does not have yet is not too old. Its state cannot be read, so the newest is.
// - What the service quotes is of its own block, so it is compared with that block alone.
// - A service that could not read may still name another contract, or another node than the caller's: false.
// - `null` in place of a figure is not that figure. Without a time of the reading there is none to compare.

export interface Reading<Chain> {
  matches: boolean | null
  /** In no order. */
  differences: string[]
  chain: Chain
  blockNumber: bigint
}

/** Clock skew to expect between the service's machine and the chain. */
const CLOCKS_SEC = 120

/** What can be read at the block that the service names; at the newest one if it cannot be read there. */
function readNear<T>(chain: PlainChain, saidBlock: number | null, read: (block: number) => T | null) {
  const head = headOf(chain)
  const isServed = saidBlock !== null && saidBlock >= chain.stateFrom && saidBlock <= head
  const there = isServed ? read(saidBlock) : null
  if (there !== null) return { value: there, block: saidBlock as number }
  const value = read(head)
  if (value === null) throw new Error('nothing to read')
  return { value, block: head }
}

/** True if a block lies further behind the head than both parts of the age. */
function isTooOld(chain: PlainChain, block: number | null, { maxAge = {} }: Trusted): boolean {
  const { blocks = 64, sec = 900 } = maxAge
  const head = headOf(chain)
  if (block === null || block > head) return false
  return head - block > blocks && timeOf(chain, head) - timeOf(chain, block) > sec
}
const timeOf = (chain: PlainChain, block: number) => (chain.blocks[block] as { timeSec: number }).timeSec

/** True if a block was the newest at a time, or had been until not too long before. */
function wasNewest(chain: PlainChain, block: number, at: Date | null, { maxAge = {} }: Trusted): boolean {
  const { sec = 900 } = maxAge
  const head = headOf(chain)
  if (!at || block > head) return true
  const atSec = at.getTime() / 1000
  return atSec >= timeOf(chain, block) - CLOCKS_SEC && (block === head || atSec <= timeOf(chain, block + 1) + sec)
}

const isSame = (one: unknown, other: unknown) => one === other || sameText(one, other)
const NODE_FIGURES = ['owner', 'balanceWei', 'creditedWei', 'withdrawnWei'] as const

/** The ids of a node: the contract's, and the row's, which is 1000000000 more. */
function isNode({ matchedBy, nodeId, id }: NodeDetail, asked: bigint): boolean {
  const isWhole = BigInt(id) === BigInt(nodeId) + 1_000_000_000n
  return isWhole && asked === (matchedBy === 'nodeId' ? BigInt(nodeId) : BigInt(id))
}

export function verifiedNode(chain: PlainChain, place: SaidPlace, trusted: Trusted, asked: bigint, said: NodeDetail) {
  const contract = contractOf(place, trusted)
  assertChain(chain, trusted)
  const quoted = said.chain
  const { value, block } = readNear(chain, quoted?.blockNumber ?? null, (at) => {
    const node = stateAt(chain, contract, at)?.nodes[said.nodeId]
    if (!node) return null
    const { cohort, ...figures } = node
    return { ...figures, isExpelled: cohort === 0 }
  })
  const wrong = placeDifferences(place, trusted)
  if (!isNode(said, asked)) wrong.push('nodeId')
  const differences = [...wrong]
  const ofRecord = NODE_FIGURES.filter((name) => !isSame(said[name], value[name]))
  differences.push(...ofRecord)
  if ((said.expelledAt !== null) !== value.isExpelled) differences.push('expelledAt')
  if (quoted && isTooOld(chain, quoted.blockNumber, trusted)) differences.push('chain.blockNumber')
  if (quoted && quoted.blockNumber === block) {
    for (const name of NODE_FIGURES) if (!isSame(quoted[name], value[name])) differences.push(`chain.${name}`)
    if (quoted.matchesLedger !== (ofRecord.length === 0)) differences.push('chain.matchesLedger')
  }
  const judged = quoted ? differences : wrong
  return reading(judged.length === 0 && (quoted ? true : null), differences, value, block)
}

const reading = <Chain>(
  matches: boolean | null,
  differences: string[],
  chain: Chain,
  block: number,
): Reading<Chain> => ({
  ...{ matches, differences, chain },
  blockNumber: BigInt(block),
})

export function verifiedCover(chain: PlainChain, place: SaidPlace, trusted: Trusted, said: Cover) {
  const contract = contractOf(place, trusted)
  assertChain(chain, trusted)
  const { value, block } = readNear(chain, said.blockNumber, (at) => {
    const state = stateAt(chain, contract, at)
    if (!state) return null
    const { balanceWei, outstandingWei, isSolvent } = state
    return {
      contractBalanceWei: balanceWei,
      outstandingWei,
      surplusWei: balanceWei - outstandingWei,
      coverBps: outstandingWei === 0n ? null : Number((balanceWei * 10_000n) / outstandingWei),
      isSolvent,
    }
  })
  const differences = placeDifferences(place, trusted)
  if (said.blockNumber === null) return reading(differences.length === 0 ? null : false, differences, value, block)
  const names = ['contractBalanceWei', 'outstandingWei', 'surplusWei', 'coverBps', 'isSolvent'] as const
  differences.push(...names.filter((name) => said[name] !== value[name]))
  if (isTooOld(chain, said.blockNumber, trusted)) differences.push('blockNumber')
  if (!wasNewest(chain, said.blockNumber, said.checkedAt, trusted)) differences.push('checkedAt')
  return reading(differences.length === 0, differences, value, block)
}
