// What becomes of a ledger whose block is compared with the chain's, as a second reading of docs/ARCHITECTURE.md (evidence; compare and rewind). A proven list
// decides alone: whatever differs sends the ledger back. Without proofs only what two providers agree on counts: a payment or a header that they agree on
// and the ledger lacks, or a payment of the ledger that two providers know nothing of.

// Choices in what the documents leave open:
// - A block that the ledger went back for once is not a reason to go back again, or a provider could hold the ledger there.
// - If the ledger has no header before the block, it cannot go back. Its first block has none, and needs none.
// - Events have a proof of their own, so on any ledger a difference of events sends it back.

export type Proof = 'proven' | 'agreed' | 'believed'

/** A payment, value sent by the wallet, or an event of the factory: whether ledger and block have it. `differs`: both, with different fields. */
export interface Entry {
  kind: 'payment' | 'outflow' | 'event'
  at: 'both' | 'chain' | 'ledger' | 'differs'
  /** What backs it now, and what backed it when the ledger followed the block. */
  proof: Proof
  former: Proof
  /** What each provider says of the transaction; null if it does not answer. */
  sightings: (boolean | null)[]
}

export interface Given {
  mode: 'proven' | 'agreed'
  /** The header before the block and its own, as the ledger keeps them. */
  isFirst: boolean
  keepsBefore: boolean
  own: 'same' | 'other' | 'dropped'
  /** The chain still has the block that we ask about. */
  isThere: boolean
  wentBackBefore: boolean
  /** Another run has moved the cursor meanwhile. */
  cursorMoved: boolean
  entries: Entry[]
}

export interface Fate {
  /** The entries that count now, by their place. */
  counts: number[]
  wentBack: boolean
  /** From now on blocks up to this one are read whole. */
  readsWhole: boolean
  /** A report that something of this part was left out. */
  told: 'transactions' | 'receipts' | null
  /** The mints' proofs are taken from the block, if the ledger has them from it. */
  takesMints: boolean
}

const NOTHING: Fate = { counts: [], wentBack: false, readsWhole: false, told: null, takesMints: false }

export function compared(given: Given): Fate {
  if (!given.isThere) return NOTHING
  const inBlock = given.entries.flatMap((one, place) => (one.at === 'ledger' ? [] : [{ ...one, place }]))
  const counting = inBlock.filter(({ kind, proof }) => kind === 'payment' && proof === given.mode)
  const agrees = given.mode === 'agreed' && counting.length > 0
  if (given.own === 'other' && !agrees) return NOTHING
  const unlike = given.entries.filter(({ at }) => at !== 'both')
  if (unlike.some(({ kind }) => kind === 'event')) return { ...back(given), told: 'receipts' }
  const isOther = given.mode === 'proven' ? unlike.length > 0 : given.own === 'other' || differsAgreed(given, unlike)
  if (isOther) return { ...back(given), told: 'transactions', takesMints: given.own !== 'other' }
  return { ...NOTHING, counts: counting.map(({ place }) => place), takesMints: true }
}

/** Whether two providers show a difference: by a payment that they agree on, or by not knowing one that the ledger has. */
function differsAgreed({ mode }: Given, unlike: Entry[]): boolean {
  return unlike.some(({ kind, at, proof, sightings }) => {
    if (kind !== 'payment') return false
    if (at !== 'ledger' && proof === mode) return true
    if (at === 'chain') return false
    const said = sightings.filter((one) => one !== null)
    return said.length >= 2 && said.every((knows) => !knows)
  })
}

function back(given: Given): Fate {
  const tries = (given.isFirst || given.keepsBefore) && !given.wentBackBefore
  return { ...NOTHING, readsWhole: tries, wentBack: tries && !given.cursorMoved }
}

/** The block to which an account's hidden transaction is traced by its nonce: the first above the oldest header in which the nonce is used up; null if none is found. */
export interface Account {
  oldest: number
  cursor: number
  isProven: boolean
  /** The lowest nonce that no followed block has used; null if the ledger knows nothing of the account. */
  followed: number | null
  /** The account's nonce as of each block; null if no provider proves it. */
  nonces: Map<number, number | null>
  /** Blocks that the chain has replaced since. */
  replaced: Set<number>
}

export function hiddenIn({ oldest, cursor, isProven, followed, nonces, replaced }: Account): number | null {
  if (!isProven || followed === null) return null
  const isUsed = (block: number) => {
    const nonce = nonces.get(block)
    return nonce === null || nonce === undefined ? null : nonce > followed
  }
  if (isUsed(cursor) !== true || isUsed(oldest) !== false) return null
  // Halving the distance: each block on the way must be proven.
  let [before, first] = [oldest, cursor]
  while (first > before + 1) {
    const middle = (before + first) >> 1
    const used = isUsed(middle)
    if (used === null) return null
    if (used) first = middle
    else before = middle
  }
  return replaced.has(first) ? null : first
}

/** Which block a run compares for a stranger, and which because a payment rests on one provider's word. */
export const claimed = (block: number | null, headers: Set<number>, cursor: number): number | null =>
  block !== null && block <= cursor && headers.has(block) ? block : null
export const doubted = (
  block: number | null,
  { mode, providers, cursor }: { mode: Given['mode'] | null; providers: number; cursor: number },
): number | null => (mode !== 'proven' && providers >= 2 && block !== null && block <= cursor ? block : null)
