// What a payment may become, as a second reading of docs/ARCHITECTURE.md (the diagram of a payment's way, the parts on judging, residues, refunds) and of
// docs/ADMIN.md (Payments). Every arrow is written out; the only help is `MINTABLE`, for what the diagram draws as a group.
//
// What ADMIN.md says in words, and the arrows keep: only a held payment can be released or dismissed. A payment without a node can be refunded, and one
// whose node is expelled. A decision is final, except a prepared refund; a dismissed payment may still be refunded.

export const STATES = [
  'seen',
  'accepted',
  'minting',
  'minted',
  'held',
  'refunded',
  'dismissed',
  'orphaned',
  'ignored',
] as const
export type State = (typeof STATES)[number]
/** A payment that is not on record yet. */
export type From = State | 'new'

/** The group "without a node" of the diagram: a node may be found for each of them, and its mint may be undone. */
const MINTABLE: State[] = ['seen', 'accepted', 'minting', 'held', 'refunded', 'dismissed', 'ignored']
/** The group "in a block". */
const STANDING: State[] = [...MINTABLE, 'minted']

interface Arrow {
  move: string
  from: From
  to: State
}

function arrows(): Arrow[] {
  const found: Arrow[] = []
  const add = (move: string, from: From[], to: State[]) => {
    for (const a of from) for (const b of to) found.push({ move, from: a, to: b })
  }
  // What comes onto the record.
  add('observe', ['new'], ['seen'])
  add('fileResidue', ['new'], ['held'])
  add('filePart', ['new'], ['held'])
  // The judge.
  add('accept', ['seen', 'held'], ['accepted'])
  add('hold', ['seen', 'held'], ['held'])
  add('ignore', ['seen', 'held'], ['ignored'])
  add('resume', ['held'], ['accepted', 'held'])
  add('recheck', ['accepted'], ['held'])
  // The mint.
  add('startMinting', ['accepted'], ['minting'])
  add('lapseMint', ['minting'], ['accepted'])
  add('takeOverMint', ['minting'], ['accepted'])
  add('skipMint', ['accepted', 'minting'], ['held'])
  add('loseRef', ['seen', 'held', 'accepted', 'minting'], ['held'])
  add('recordMint', MINTABLE, ['minted'])
  add('undoMint', ['minted'], MINTABLE)
  // The operator.
  add('release', ['held'], ['accepted'])
  add('dismiss', ['held'], ['dismissed'])
  add('prepareRefund', ['seen', 'held', 'accepted', 'minting', 'dismissed'], ['held'])
  add('cancelRefund', ['held'], ['seen', 'accepted', 'minting', 'held', 'dismissed'])
  add('refund', ['seen', 'held', 'accepted', 'minting', 'dismissed'], ['refunded'])
  add('refundMinted', ['minted'], ['minted'])
  add('refundOrphaned', ['orphaned'], ['orphaned'])
  add('strikeRefund', ['refunded'], ['held'])
  add('strikeOrphanedRefund', ['orphaned'], ['orphaned'])
  // A second ledger copies the decisions of the first.
  add('copyVerdict', ['seen', 'held'], ['accepted', 'held', 'refunded', 'dismissed'])
  // Reorganisations, and traces that come later.
  add('orphan', STANDING, ['orphaned'])
  add('explainResidue', ['held'], ['orphaned'])
  add('reinstate', ['orphaned'], ['seen', 'accepted', 'held', 'refunded', 'dismissed'])
  add('refileResidue', ['orphaned'], ['held', 'refunded', 'dismissed'])
  add('refilePart', ['orphaned'], ['accepted', 'held', 'refunded', 'dismissed'])
  return found
}

export const ARROWS: readonly Arrow[] = arrows()

/** The moves that lead from one state to another, in the order of the alphabet. */
export function movesBetween(from: From, to: State): string[] {
  const found = new Set<string>()
  for (const one of ARROWS) if (one.from === from && one.to === to) found.add(one.move)
  return [...found].sort()
}

/** The reason that a move to `held` gives, if the documents name one. */
export const REASONS: Readonly<Record<string, readonly string[]>> = {
  fileResidue: ['unattributed'],
  filePart: ['unattributed'],
  loseRef: ['mintedElsewhere'],
  prepareRefund: ['refunding'],
  recheck: ['recheck'],
  strikeRefund: ['recheck'],
  skipMint: ['walletLimit', 'mintReverted', 'supplySpent'],
}
