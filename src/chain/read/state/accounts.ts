// Accounts after blocks, from one provider: each proved against the state root of the header that it gives for the block. Whether that is the
// header of the chain, the survey asks another provider.
import type { Block } from '../../../domain/observed.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import { ChainFault } from '../../faults.ts'
import type { ProvenBlock } from '../../port.ts'
import { chunks, mapBounded } from '../../rpc/parallel.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { bytes, fields, hash32, header, list, toBlock, toQuantity } from '../../rpc/wire.ts'
import { provenAccount } from './account-proof.ts'

/** Accounts whose state is asked for, after one block. */
export interface StateQuestion {
  number: number
  accounts: readonly Address[]
}

/** A header as far as it says which block and which state it is of. */
export interface Anchor {
  block: Block
  stateRoot: Hash
}

/** Blocks in one request, each with its header and some proofs of a few kilobytes. */
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

/** The blocks with their accounts. Throws a retryable ChainFault where the provider has not all of them, or its proofs do not hold. */
export async function readProven(
  rpc: RpcReads,
  questions: readonly StateQuestion[],
): Promise<(ProvenBlock & Anchor)[]> {
  const pieces = await mapBounded(chunks(questions, BLOCKS_PER_REQUEST), IN_FLIGHT, async (piece) => {
    const calls = piece.flatMap(({ number, accounts }) => [
      headerCall(number),
      ...accounts.map((account): RpcCall => ({ method: 'eth_getProof', params: [account, [], toQuantity(number)] })),
    ])
    const answers = await rpc.requestAll(calls)
    let next = 0
    return piece.map(({ number, accounts }) => {
      const anchor = anchorOf(answers[next++], number)
      const proven = accounts.map((account) => [account, accountOf(answers[next++], anchor, account)] as const)
      return { ...anchor, accounts: new Map(proven) }
    })
  })
  return pieces.flat()
}

function anchorOf(answer: unknown, number: number): Anchor {
  if (answer == null) throw new ChainFault(`the provider has no block ${number}`, { retryable: true })
  const block = toBlock(header(answer))
  if (block.number !== number)
    throw new ChainFault(`asked for block ${number}, got ${block.number}`, { retryable: true })
  return { block, stateRoot: hash32(fields<'stateRoot'>(answer, 'block').stateRoot, 'state root') }
}

function accountOf(answer: unknown, { stateRoot }: Anchor, account: Address) {
  const { accountProof } = fields<'accountProof'>(answer, 'proof')
  const nodes = list(accountProof, 'proof').map((node) => bytes(node, 'node of a proof'))
  return provenAccount(stateRoot, account, nodes)
}
