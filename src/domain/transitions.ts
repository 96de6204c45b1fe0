// A payment's states and moves: from which state to which, and why. No other move exists, because every statement that changes a
// state takes its states from this table (db/payments/moves.ts). docs/ARCHITECTURE.md draws the table. Pure.
import { DECIDABLE_REASONS, type HoldReason, type IgnoreReason, JUDGED_REASONS } from './judgement.ts'

export const PAYMENT_STATES = [
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
export type PaymentState = (typeof PAYMENT_STATES)[number]

export interface Move {
  /** Empty for a payment that is new to the ledger. */
  from: readonly PaymentState[]
  /** Several if the new state differs between payments. */
  to: readonly PaymentState[]
  /** If set, a held payment moves only if it is held for one of these reasons. */
  heldFor?: readonly HoldReason[]
  /** Why the payment is held or ignored afterwards. */
  reasons?: readonly (HoldReason | IgnoreReason)[]
  /** The verdict stored with the move, with its evidence. */
  verdict?: 'accepted' | 'held' | 'ignored' | 'refunded' | 'dismissed'
  why: string
}

/**
 * The judge decides payments that are not judged yet. It decides again if they wait for room in their wallet, a place in their tier or its opening, or
 * if their payer is not proven yet.
 */
const TO_JUDGE = {
  from: ['seen', 'held'],
  heldFor: ['walletLimit', 'notOpenYet', 'soldOut', 'supplySpent', 'contractWallet'],
} as const

export const MOVES = {
  observe: {
    from: [],
    to: ['seen'],
    why: 'A followed block holds a transfer to a payments wallet.',
  },
  fileResidue: {
    from: [],
    to: ['held'],
    reasons: ['unattributed'],
    verdict: 'held',
    why: 'Value arrived that no transaction explains.',
  },
  filePart: {
    from: [],
    to: ['held'],
    reasons: ['unattributed'],
    verdict: 'held',
    why: 'The operator attributed a part of a residue to its inner transfer.',
  },
  accept: { ...TO_JUDGE, to: ['accepted'], verdict: 'accepted', why: 'Every rule passes.' },
  hold: { ...TO_JUDGE, to: ['held'], reasons: JUDGED_REASONS, verdict: 'held', why: 'A rule refuses the sale.' },
  ignore: {
    ...TO_JUDGE,
    to: ['ignored'],
    reasons: ['failed', 'zero', 'self', 'operator'],
    verdict: 'ignored',
    why: 'The transfer is not a sale.',
  },
  recheck: {
    from: ['accepted'],
    to: ['held'],
    reasons: ['recheck'],
    verdict: 'held',
    why: 'The ledger was restored or rebuilt: a refund may have been recorded in what was lost.',
  },
  release: {
    from: ['held'],
    heldFor: DECIDABLE_REASONS,
    to: ['accepted'],
    verdict: 'accepted',
    why: 'The operator accepts it in a tier, whatever the rules say.',
  },
  prepareRefund: {
    from: ['seen', 'accepted', 'minting', 'held', 'dismissed'],
    heldFor: DECIDABLE_REASONS,
    to: ['held'],
    reasons: ['refunding'],
    verdict: 'held',
    why: 'The operator prepares its refund: the service signs no more mints for it.',
  },
  cancelRefund: {
    from: ['held'],
    heldFor: ['refunding'],
    to: ['seen', 'accepted', 'minting', 'held', 'dismissed'],
    why: 'The operator cancels its refund: it returns to its earlier state, or is judged again.',
  },
  refund: {
    from: ['seen', 'accepted', 'minting', 'held', 'dismissed'],
    to: ['refunded'],
    verdict: 'refunded',
    why: 'The operator paid it back, and a canonical block proves it.',
  },
  refundMinted: {
    from: ['minted'],
    to: ['minted'],
    verdict: 'refunded',
    why: 'The operator refunded it although it has its node; if it loses the node, it is refunded.',
  },
  refundOrphaned: {
    from: ['orphaned'],
    to: ['orphaned'],
    verdict: 'refunded',
    why: 'The operator refunded it although its block is gone: if it returns, it is refunded.',
  },
  dismiss: {
    from: ['held'],
    heldFor: DECIDABLE_REASONS,
    to: ['dismissed'],
    verdict: 'dismissed',
    why: 'The operator decides that it gets neither node nor refund.',
  },
  resume: {
    from: ['held'],
    heldFor: DECIDABLE_REASONS,
    to: ['accepted', 'held'],
    why: 'A released residue was reorganised out and filed again, and now has its sender. In a tier with a supply it waits for a place.',
  },
  strikeRefund: {
    from: ['refunded'],
    to: ['held'],
    reasons: ['recheck'],
    verdict: 'held',
    why: 'The refund is no longer on the chain.',
  },
  strikeOrphanedRefund: {
    from: ['orphaned'],
    to: ['orphaned'],
    reasons: ['recheck'],
    verdict: 'held',
    why: 'The refund is no longer on the chain, and neither is the payment: if it returns, it is held.',
  },
  startMinting: {
    from: ['accepted'],
    to: ['minting'],
    why: 'A signed transaction that mints its node is stored.',
  },
  recordMint: {
    from: ['seen', 'accepted', 'minting', 'held', 'refunded', 'dismissed', 'ignored'],
    to: ['minted'],
    why: 'Its node is on the chain, by any minter.',
  },
  skipMint: {
    from: ['accepted', 'minting'],
    to: ['held'],
    reasons: ['walletLimit', 'supplySpent', 'mintReverted'],
    verdict: 'held',
    why: 'The contract skipped its order: the wallet is full, the tier has all its nodes, or no order can succeed.',
  },
  loseRef: {
    from: ['seen', 'accepted', 'minting', 'held'],
    heldFor: DECIDABLE_REASONS,
    to: ['held'],
    reasons: ['mintedElsewhere'],
    verdict: 'held',
    why: 'The node with its ref belongs to another wallet or tier, so its own node can never be minted.',
  },
  lapseMint: {
    from: ['minting'],
    to: ['accepted'],
    why: 'The transaction was mined without minting its node: reverted, displaced, or its cohort was closed.',
  },
  takeOverMint: {
    from: ['minting'],
    to: ['accepted'],
    why: 'The key that signed its mint was replaced: the current key mints it.',
  },
  undoMint: {
    from: ['minted'],
    to: ['seen', 'accepted', 'minting', 'held', 'refunded', 'dismissed', 'ignored'],
    why: 'The block of its mint was reorganised out: the last verdict applies again.',
  },
  orphan: {
    from: ['seen', 'accepted', 'minting', 'minted', 'held', 'refunded', 'dismissed', 'ignored'],
    to: ['orphaned'],
    why: 'Its own block was reorganised out.',
  },
  reinstate: {
    from: ['orphaned'],
    to: ['seen', 'accepted', 'held', 'refunded', 'dismissed'],
    why: 'A followed block has its transfer again: the last verdict by hand applies, or it is judged like a new one.',
  },
  refileResidue: {
    from: ['orphaned'],
    to: ['held', 'refunded', 'dismissed'],
    why: 'The block of a residue is back: the last verdict by hand applies, unless it was a release, which needs a sender.',
  },
  refilePart: {
    from: ['orphaned'],
    to: ['accepted', 'held', 'refunded', 'dismissed'],
    why: 'The block of a part is back, or its transfer is now a part of another residue: the last verdict by hand on it applies.',
  },
  explainResidue: {
    from: ['held'],
    heldFor: ['unattributed'],
    to: ['orphaned'],
    why: 'A trace or the operator split a residue into its inner transfers, which replace it. Or a proof contradicts it.',
  },
  copyVerdict: {
    from: ['seen', 'held'],
    to: ['accepted', 'held', 'refunded', 'dismissed'],
    why: 'The operator had decided it in the original ledger.',
  },
} as const satisfies Record<string, Move>

export type MoveName = keyof typeof MOVES
/** The reasons why a payment may be held or ignored after a move. */
export type ReasonAfter<M extends MoveName> = (typeof MOVES)[M] extends { reasons: readonly (infer R)[] } ? R : never

/** True if a move leads from one state to another; `from` is null for a payment that is new to the ledger. */
export function mayMove(name: MoveName, from: PaymentState | null, to: PaymentState): boolean {
  const move: Move = MOVES[name]
  return move.to.includes(to) && (from === null ? move.from.length === 0 : move.from.includes(from))
}
