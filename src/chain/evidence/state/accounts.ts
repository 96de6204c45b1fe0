// The states of accounts as of given blocks. One provider proves each state, and another one (or the only one) names the header that the proof must
// match.
import type { Block } from '../../../domain/observed.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import { chunks, mapBounded } from '../../../lib/parallel.ts'
import type { ProvenBlock } from '../../../ports/chain.ts'
import { ChainFault } from '../../../ports/faults.ts'
import { provenAccount } from '../../prove/account-proof.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { bytes, fields, hash32, header, list, toBlock, toQuantity } from '../../rpc/wire.ts'

/** Accounts whose state as of one block we need. */
export interface StateQuestion {
  number: number
  accounts: readonly Address[]
}

/** A block and the state root in its header. */
export interface Anchor {
  block: Block
  stateRoot: Hash
}

/** Blocks in one request. Each takes a header and some proofs, a few kilobytes each. */
const BLOCKS_PER_REQUEST = 16
const IN_FLIGHT = 4

const headerCall = (number: number): RpcCall => ({
  method: 'eth_getBlockByNumber',
  params: [toQuantity(number), false],
})

/** The headers of blocks, in the order of the numbers. */
export async function readAnchors(rpc: RpcReads, numbers: readonly number[]): Promise<Anchor[]> {
  const pieces = await mapBounded(chunks(numbers, BLOCKS_PER_REQUEST), IN_FLIGHT, async (piece) =>
    (await rpc.requestAll(piece.map(headerCall))).map((answer, index) => anchorOf(answer, piece[index] as number)),
  )
  return pieces.flat()
}

/**
 * Reads the blocks with their accounts. `prover` proves each account, and `witness` returns the header of each block. If the proof matches that
 * header, both providers have the same state. Throws a retryable ChainFault if one of them lacks something, or if a proof does not match.
 */
export async function readProven(
  { prover, witness }: { prover: RpcReads; witness: RpcReads },
  questions: readonly StateQuestion[],
): Promise<ProvenBlock[]> {
  const numbers = questions.map(({ number }) => number)
  const [anchors, proofs] = await Promise.all([readAnchors(witness, numbers), readProofs(prover, questions)])
  return questions.map(({ accounts }, index) => {
    const [{ block, stateRoot }, nodes] = [anchors[index] as Anchor, proofs[index] as Hex[][]]
    const proven = accounts.map((account, at) => [account, provenAccount(stateRoot, account, nodes[at] ?? [])] as const)
    return { block, accounts: new Map(proven) }
  })
}

type Hex = `0x${string}`

/** The nodes of the proofs, for each account of each question. */
async function readProofs(rpc: RpcReads, questions: readonly StateQuestion[]): Promise<Hex[][][]> {
  const pieces = await mapBounded(chunks(questions, BLOCKS_PER_REQUEST), IN_FLIGHT, async (piece) => {
    const calls = piece.flatMap(({ number, accounts }) =>
      accounts.map((account): RpcCall => ({ method: 'eth_getProof', params: [account, [], toQuantity(number)] })),
    )
    const answers = (await rpc.requestAll(calls)).values()
    return piece.map(({ accounts }) => accounts.map(() => nodesOf(answers.next().value)))
  })
  return pieces.flat()
}

function nodesOf(answer: unknown): Hex[] {
  const { accountProof } = fields<'accountProof'>(answer, 'proof')
  return list(accountProof, 'proof').map((node) => bytes(node, 'node of a proof'))
}

function anchorOf(answer: unknown, number: number): Anchor {
  if (answer == null) throw new ChainFault(`the provider has no block ${number}`)
  const block = toBlock(header(answer))
  if (block.number !== number) throw new ChainFault(`asked for block ${number}, got ${block.number}`)
  return { block, stateRoot: hash32(fields<'stateRoot'>(answer, 'block').stateRoot, 'state root') }
}
