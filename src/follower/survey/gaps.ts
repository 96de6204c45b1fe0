// Proves that the blocks that we did not read hold nothing of ours, by the states of accounts at both ends of a stretch of blocks: what we know
// happened in it must explain every change. If an account's states differ by more, we halve the stretch, asking for that account alone, until we find
// the blocks, and read those.
//
// Why sums over a whole range are as good as looking between each two known blocks: without code, and with all its own transactions known, which the
// nonce counts, only known transactions take value out of a payments wallet. (No contract can be created at the address of a key, which survey.ts
// ensures, and an EIP-7702 delegation, which gives it code, uses up a nonce.) So unknown value can only have come in, no unknown inflow hides
// another, and the balances differ by all of them. Nonces only grow, so no unknown use of one is hidden either. For the factory we compare only its
// storage, in each gap between two blocks with known logs. For changes that cancel out within a gap we rely on the providers' logs.
import type { AccountState, ProvenBlock, SurveyReader } from '../../chain/port.ts'
import type { Address } from '../../domain/units.ts'
import type { Seen } from './seen.ts'

/** If a stretch of this many blocks or fewer differs, we read all of it. */
const READ_WHOLE_MAX = 4
/** How many states we may ask for to find unknown changes: one per this many blocks, and some more. Beyond that, reading all blocks costs no more. */
const BLOCKS_PER_STATE = 16
const STATES_MIN = 64

/** The accounts that a survey watches. */
export interface Watched {
  wallets: readonly Address[]
  signers: readonly Address[]
  factory: Address
}

/** The blocks above `low`, up to `high`, and the accounts whose states at both ends we read. */
export interface Stretch {
  low: ProvenBlock
  high: ProvenBlock
  accounts: readonly Address[]
}

/** `unexplained`: the first block of a stretch that we read, in which a wallet's account changed in a way that none of its transactions shows. */
export type Proof = { kind: 'proven' } | { kind: 'unexplained'; block: number } | { kind: 'notToBeHad' }

/** Proves stretches, and reads the blocks that this needs. */
export async function proveGaps(
  survey: SurveyReader,
  watched: Watched,
  seen: Seen,
  stretches: readonly Stretch[],
): Promise<Proof> {
  const blocks = Math.max(0, ...stretches.map(({ high }) => high.block.number)) - firstOf(stretches)
  let left = Math.max(STATES_MIN, Math.floor(blocks / BLOCKS_PER_STATE))
  const unexplained: number[] = []
  let waiting = differing(watched, seen, stretches)
  // Each round halves every remaining stretch, or finishes it.
  while (waiting.length > 0) {
    const short = waiting.filter((stretch) => lengthOf(stretch) <= READ_WHOLE_MAX)
    if (!(await seen.read(short.flatMap(numbersOf)))) return { kind: 'notToBeHad' }
    for (const stretch of short)
      if (isUnexplained(watched, seen, stretch)) unexplained.push(stretch.low.block.number + 1)
    const long = waiting.filter((stretch) => lengthOf(stretch) > READ_WHOLE_MAX)
    left -= long.length
    if (left < 0) return { kind: 'notToBeHad' }
    const questions = long.map((stretch) => ({ number: middleOf(stretch), accounts: stretch.accounts }))
    const middles = questions.length === 0 ? [] : await survey.accountsAt(questions)
    if (middles === null) return { kind: 'notToBeHad' }
    const halves = long.flatMap((stretch, index): Stretch[] => {
      const middle = middles[index] as ProvenBlock
      return [
        { ...stretch, high: middle },
        { ...stretch, low: middle },
      ]
    })
    waiting = differing(watched, seen, halves)
  }
  return unexplained.length === 0 ? { kind: 'proven' } : { kind: 'unexplained', block: Math.min(...unexplained) }
}

const firstOf = (stretches: readonly Stretch[]) => Math.min(...stretches.map(({ low }) => low.block.number))
const lengthOf = ({ low, high }: Stretch) => high.block.number - low.block.number
const middleOf = ({ low, high }: Stretch) => Math.floor((low.block.number + high.block.number) / 2)
const numbersOf = (stretch: Stretch) =>
  Array.from({ length: lengthOf(stretch) }, (_, index) => stretch.low.block.number + 1 + index)

/** The stretches in which an account changed by more than we know, each with only those accounts. */
function differing(watched: Watched, seen: Seen, stretches: readonly Stretch[]): Stretch[] {
  return stretches.flatMap((stretch) => {
    const accounts = stretch.accounts.filter((account) => !isKnown(watched, seen, stretch, account))
    return accounts.length === 0 || lengthOf(stretch) === 0 ? [] : [{ ...stretch, accounts }]
  })
}

/** True if what we know to have happened explains the whole difference between an account's states at both ends of a stretch. */
function isKnown({ wallets, factory }: Watched, seen: Seen, stretch: Stretch, account: Address): boolean {
  const [before, after] = statesOf(stretch, account)
  if (account === factory) return before.storageRoot === after.storageRoot
  const { nonces, balanceWei } = unknownOf(seen, stretch, account)
  return nonces === 0 && (balanceWei === 0n || !wallets.includes(account))
}

/** What the states at both ends show beyond what we know. */
function unknownOf(seen: Seen, stretch: Stretch, account: Address) {
  const [before, after] = statesOf(stretch, account)
  const known = seen.effectOn(account, stretch.low.block.number, stretch.high.block.number)
  return {
    nonces: after.nonce - before.nonce - known.nonces,
    balanceWei: after.balanceWei - before.balanceWei - known.balanceWei,
  }
}

/**
 * True if we read all blocks of a stretch and a wallet still used a nonce, or lost value, in another way; it may have had code within. For value that
 * only came in by an inner call, the comparison of balances with the books finds it.
 */
function isUnexplained({ wallets }: Watched, seen: Seen, stretch: Stretch): boolean {
  return stretch.accounts.some((account) => {
    if (!wallets.includes(account)) return false
    const { nonces, balanceWei } = unknownOf(seen, stretch, account)
    return nonces !== 0 || balanceWei < 0n
  })
}

function statesOf({ low, high }: Stretch, account: Address): [AccountState, AccountState] {
  const [before, after] = [low.accounts.get(account), high.accounts.get(account)]
  if (!before || !after) throw new Error(`the state of ${account} was not asked for`)
  return [before, after]
}
