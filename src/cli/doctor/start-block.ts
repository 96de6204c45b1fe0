// Looks whether the ledger begins early enough: what a factory did before START_BLOCK is missing for good, and the passes stop on it.
import type { ChainPart } from '../../boot/parts.ts'
import { KEEPS_ITS_START, lookAtBeginning, tooLateInWords } from '../../chain/read/start-block.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const CHECK = 'chain.start'
const FINE = {
  genesis: () => 'followed from block 0 on',
  notDeployed: (startBlock: number) => `the factory was not there before START_BLOCK=${startBlock}`,
  noEvents: (startBlock: number) => `the factory did nothing before START_BLOCK=${startBlock}`,
}

/** By the factory's code in the block before; where no provider has that state, by its events. */
export async function lookAtStartBlock({ startBlock, factory }: ChainPart, rpc: Rpc): Promise<Finding> {
  const found = await lookAtBeginning(rpc, factory, startBlock)
  if (found.kind === 'fine') return ok(CHECK, FINE[found.why](startBlock))
  if (found.kind === 'tooLate') {
    const { says, todo } = tooLateInWords(startBlock, found.first)
    return fail(CHECK, says, todo, { startBlock, first: found.first })
  }
  const todo = `See that START_BLOCK is the one that "node-ledger deploy" printed. ${KEEPS_ITS_START}`
  return warn(CHECK, 'no provider can tell whether the factory is older than START_BLOCK', todo)
}
