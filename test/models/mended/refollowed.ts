// A whole rebuild, as a second reading of docs/ARCHITECTURE.md (Mending) and docs/RUNBOOK.md (a second ledger): it follows an empty database to the block of the old ledger, holds
// what has no node and no decision, and goes on where it stopped.

export interface Payment {
  block: number
  kind: 'priced' | 'odd' | 'failed'
  /** What a person decided about it in the old ledger. */
  decision: 'dismissed' | 'refunded' | null
}
export interface World {
  start: number
  /** The provider's newest block. */
  head: number
  /** The block of the old ledger; null: it has none. */
  old: number | null
  /** Up to which block the old one holds payments after a restore. */
  recheck: number | null
  /** Newer blocks are not final. */
  finality: number | null
  payments: Payment[]
  /** Blocks with value that nothing explained in the old ledger. */
  residues: number[]
  /** From how many blocks on, so far behind, old ones are surveyed. */
  survey: { behind: number; blocksMin: number }
  /** Who has sent nothing yet by the final block, or has code. Null: no provider shows it. */
  keyless: string[] | null
}

/** Of which wallets it warns, because every old block must be read. */
export function warned({ old, head, start, survey, keyless }: World): string[] {
  const blocks = (old ?? head) - survey.behind - start
  return keyless === null || blocks < survey.blocksMin ? [] : keyless
}

/** Why it ends without a ledger; null if it does not. */
export function refused({ old, head, start }: World): 'nothing' | 'lags' | null {
  if (old === null || old < start) return 'nothing'
  return head < old ? 'lags' : null
}

/** What becomes of a payment. */
export function stateOf({ old, finality }: World, { block, kind, decision }: Payment): string {
  if (kind === 'failed') return block > (old ?? 0) - (finality ?? 0) ? 'seen' : 'ignored'
  if (decision !== null) return decision
  return block > (old ?? 0) - (finality ?? 0) ? 'seen' : 'held'
}

/** Up to which block payments without a decision wait for a person. */
export const heldUpTo = ({ old, recheck }: World): number => Math.max(old ?? 0, recheck ?? 0)

/** The blocks at which it compares the wallets' balances at least: after at most so many blocks, and where the old ledger found a residue. */
export function checked({ start, old, residues }: World, most: number): number[] {
  const blocks: number[] = []
  for (let from = start; from <= (old ?? -1); from = (blocks.at(-1) ?? 0) + 1) {
    const residue = Math.min(...residues.filter((block) => block >= from))
    blocks.push(Math.min(old ?? 0, from + most - 1, residue))
  }
  return blocks
}
