// An owner reports a node that the ledger lacks although it has followed past its mint, as a second reading of docs/ARCHITECTURE.md (Mending: compare), THREATS.md and the words
// about POST /api/nodes/sync: the next run compares the mint's block, one block a minute for all who ask.
//
// Choices in what the documents leave open:
// - A block is compared only if the ledger still has its header and the provider names the same one.
// - A run that is started for a comparison is not spared because an earlier one has covered the newest block.

export interface Ledger {
  hasNode: boolean
  /** Seconds since strangers last had a block compared; null: never. */
  sinceClaim: number | null
  oldest: number
  cursor: number
}
export interface Asked {
  /** By the mint's transaction, or by the node's number. */
  by: 'transaction' | 'node'
  /** The block of the mint as the provider has it; null: it names none. */
  mint: { number: number; isLedgers: boolean } | null
  /** Whether a run that compares the block finds the node, and whether runs take place. */
  finds: boolean
  runs: boolean
}
export interface Answer {
  kind: 'followed' | 'following' | 'notFound'
  created: boolean | null
  passes: number
  /** The block that the first of them compared. */
  compared: number | null
}

const LOOKS = 3

export function ask(ledger: Ledger, { by, mint, finds, runs }: Asked): Answer {
  if (ledger.hasNode) return { kind: 'followed', created: false, passes: 0, compared: null }
  if (by === 'transaction') {
    if (mint === null) return { kind: 'notFound', created: null, passes: 0, compared: null }
    const isStored = mint.number >= ledger.oldest && mint.number <= ledger.cursor
    if (isStored && !mint.isLedgers) return { kind: 'notFound', created: null, passes: 0, compared: null }
  }
  const isOurs = mint?.isLedgers && mint.number >= ledger.oldest && mint.number <= ledger.cursor
  const isSpared = ledger.sinceClaim !== null && ledger.sinceClaim < 60
  if (!mint || !isOurs || isSpared) return { kind: 'following', created: null, passes: 0, compared: null }
  ledger.sinceClaim = 0
  ledger.hasNode = runs && finds
  // While another instance runs, nothing is covered, so it is tried again as often as a request may look.
  const passes = runs ? 1 : LOOKS
  if (!ledger.hasNode) return { kind: 'following', created: null, passes, compared: runs ? mint.number : null }
  return { kind: 'followed', created: true, passes, compared: mint.number }
}
