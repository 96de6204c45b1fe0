// Which residues are looked at again, and what becomes of one that is explained, as a second reading of docs/ARCHITECTURE.md (The payments wallets' balances:
// "the service traces a residue again after growing pauses … a decided residue is never replaced by a trace"), of api/admin.yaml (traceShows) and of the
// schema's comments on residue_traces, wallet_outflows and wallet_books. Loops over rows in memory.

// Choices in what the documents leave open:
// - A person has decided about a residue if a verdict of theirs stands, or if it is no longer held as unattributed.
// - The pauses double from two minutes on, up to a day. A pause is over after its last moment.
// - Undecided residues come first, then those whose last look is the longest ago. One that has no row yet was never looked at.
// - A trace shows one block, so a residue of several blocks is not traced. A decided one is traced until a trace has shown its parts.

export interface Residue {
  ref: string
  wallet: string
  /** Below zero if it left. */
  wei: bigint
  state: 'held' | 'refunded' | 'dismissed' | 'orphaned'
  reason: string | null
  /** Verdicts by hand; whether each stands. */
  byHand: { stands: boolean }[]
  fromBlock: number
  block: number
  hasParts: boolean
  look: {
    tries: number
    agoSec: number
    wasShown: boolean
    kept: boolean
    /** Seconds until its balances are to be proven; null if they are. */
    proveInSec: number | null
    isWide: boolean
  } | null
}

export function isDecided({ wei, state, reason, byHand }: Residue): boolean {
  if (wei < 0n) return false
  return state !== 'held' || reason !== 'unattributed' || byHand.some(({ stands }) => stands)
}

const pauseSec = (tries: number): number => Math.min(86_400, 60 * 2 ** tries)

function isToTrace(one: Residue): boolean {
  if (one.state === 'orphaned' || one.fromBlock !== one.block) return false
  if (one.look === null) return true
  if (one.look.kept) return false
  if (isDecided(one) && one.look.wasShown) return false
  return one.look.tries === 0 || one.look.agoSec > pauseSec(one.look.tries)
}

const compare = (a: number, b: number): number => a - b
const byBlockAndRef = (a: Residue, b: Residue) => compare(a.block, b.block) || (a.ref < b.ref ? -1 : 1)

export function toTrace(all: Residue[], limit: number): Residue[] {
  const ago = ({ look }: Residue) => look?.agoSec ?? Number.MAX_SAFE_INTEGER
  const due = all.filter(isToTrace)
  due.sort(
    (a, b) => compare(Number(isDecided(a)), Number(isDecided(b))) || compare(ago(b), ago(a)) || byBlockAndRef(a, b),
  )
  return due.slice(0, limit)
}

const isOpen = (one: Residue): boolean => one.state !== 'orphaned' && !isDecided(one)

/** The undecided residues whose balances are to be proven now. */
export function toProve(all: Residue[]): Residue[] {
  return all.filter(
    (one) => isOpen(one) && one.look !== null && one.look.proveInSec !== null && one.look.proveInSec <= 0,
  )
}

/** A wallet's undecided residues that may hold what blocks contain. */
export function over(
  all: Residue[],
  wallet: string,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Residue[] {
  return all
    .filter((one) => isOpen(one) && one.wallet === wallet && one.fromBlock <= fromBlock && one.block >= toBlock)
    .sort(byBlockAndRef)
}

/** Whether a residue stands for several blocks as a whole. */
export const isWide = ({ look, hasParts }: Residue): boolean => (look?.isWide ?? false) && !hasParts

/** What a wallet's books have in and out for its residues. */
export function booksOf(all: Residue[], wallet: string): { inWei: bigint; outWei: bigint } {
  let [inWei, outWei] = [0n, 0n]
  for (const { wallet: own, wei, state } of all) {
    if (own !== wallet || state === 'orphaned') continue
    if (wei > 0n) inWei += wei
    else outWei -= wei
  }
  return { inWei, outWei }
}
