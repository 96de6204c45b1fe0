// A halt of the passes in words, for the operator.
import type { HaltReason, HaltState } from '../../db/blocks/halts.ts'

const WORDS: Readonly<Record<HaltReason, string>> = {
  otherChain: 'RPC_URL leads to a chain other than this ledger’s',
  tooDeep: 'the chain has none of the blocks whose headers the ledger stores',
  pastFinalized: 'the chain took back blocks that it had called final',
  mintedTwice: 'the chain mints a node that the ledger has from another block',
  unproven: 'the blocks of the chain no longer match their hashes and roots',
}

/** A halt in words: what happened, when, and the evidence. */
export function haltInWords({ reason, since, detail }: HaltState): string {
  return `halted since ${since}: ${WORDS[reason]} (${reason}, ${JSON.stringify(detail)})`
}
