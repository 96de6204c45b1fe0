// Proves that the blocks we did not read contain nothing of ours. We compare the states of accounts at both ends of a stretch of blocks: what we know
// to be in the stretch must explain every change. If an account changed by more, we halve the stretch for that account again and again until we find
// the blocks that changed it, and read them.
//
// Why sums over a whole range are enough: a wallet has no code, and its nonce shows that we know all its transactions. So only known transactions
// take value out of it. (survey.ts ensures that the wallet belongs to a key, at whose address no contract can be created. An EIP-7702 delegation
// would give it code, but uses up a nonce.) Value that we do not know of can therefore only have come in. No unknown inflow can cancel out another,
// so the balances differ by the sum of all of them. Nonces only grow, so unknown uses cannot cancel out either. For the factory we compare only its
// storage, in each gap between two blocks with known logs. Only the providers' logs show changes that cancel out within a gap.

import type { Address } from '../../domain/units.ts'
import type { AccountState, ProvenBlock, SurveyReader } from '../../ports/chain.ts'
import type { Seen } from './seen.ts'

/** If a stretch is this short and still differs, we read all its blocks. */
const READ_WHOLE_MAX = 4
/**
 * We may read one state for this many blocks of the range in search of unknown changes, but at least STATES_MIN. If it takes more, reading all blocks
 * is cheaper.
 */
const BLOCKS_PER_STATE = 16
const STATES_MIN = 64

/** The accounts that a survey watches. */
export interface Watched {
  wallets: readonly Address[]
  signers: readonly Address[]
  factory: Address
}

/** The blocks after `low`, up to `high`, and the accounts whose states we compare at these two blocks. */
export interface Stretch {
  low: ProvenBlock
  high: ProvenBlock
  accounts: readonly Address[]
}

/**
 * `unexplained`: we have read every block of a stretch, and a wallet still changed in a way that none of its transactions explains. `block` is the
 * first block of that stretch.
 */
export type Proof = { kind: 'proven' } | { kind: 'unexplained'; block: number } | { kind: 'notToBeHad' }

/** Proves that stretches contain nothing unknown. Reads the blocks that it needs for this. */
export async function proveGaps(
  survey: SurveyReader,
  roles: Watched,
  knowledge: Seen,
  stretches: readonly Stretch[],
): Promise<Proof> {
  const blocks = Math.max(0, ...stretches.map(({ high }) => high.block.number)) - firstOf(stretches)
  let budget = Math.max(STATES_MIN, Math.floor(blocks / BLOCKS_PER_STATE))
  const unexplainedBlocks: number[] = []
  let waiting = differing(roles, knowledge, stretches)
  // Each round halves or finishes every stretch that remains.
  while (waiting.length > 0) {
    const short = waiting.filter((stretch) => lengthOf(stretch) <= READ_WHOLE_MAX)
    if (!(await knowledge.read(short.flatMap(numbersOf)))) return { kind: 'notToBeHad' }
    for (const stretch of short)
      if (isUnexplained(roles, knowledge, stretch)) unexplainedBlocks.push(stretch.low.block.number + 1)
    const long = waiting.filter((stretch) => lengthOf(stretch) > READ_WHOLE_MAX)
    budget -= long.length
    if (budget < 0) return { kind: 'notToBeHad' }
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
    waiting = differing(roles, knowledge, halves)
  }
  return unexplainedBlocks.length === 0
    ? { kind: 'proven' }
    : { kind: 'unexplained', block: Math.min(...unexplainedBlocks) }
}

const firstOf = (stretches: readonly Stretch[]) => Math.min(...stretches.map(({ low }) => low.block.number))
const lengthOf = ({ low, high }: Stretch) => high.block.number - low.block.number
const middleOf = ({ low, high }: Stretch) => Math.floor((low.block.number + high.block.number) / 2)
const numbersOf = (stretch: Stretch) =>
  Array.from({ length: lengthOf(stretch) }, (_, index) => stretch.low.block.number + 1 + index)

/** The stretches in which accounts changed by more than we know of, each with only these accounts. */
function differing(roles: Watched, knowledge: Seen, stretches: readonly Stretch[]): Stretch[] {
  return stretches.flatMap((stretch) => {
    const accounts = stretch.accounts.filter((account) => !isKnown(roles, knowledge, stretch, account))
    return accounts.length === 0 || lengthOf(stretch) === 0 ? [] : [{ ...stretch, accounts }]
  })
}

/** True if what we know of a stretch explains the entire difference between an account's states at its two ends. */
function isKnown({ wallets, factory }: Watched, knowledge: Seen, stretch: Stretch, account: Address): boolean {
  const [before, after] = statesOf(stretch, account)
  if (account === factory) return before.storageRoot === after.storageRoot
  const { nonces, balanceWei } = unknownOf(knowledge, stretch, account)
  return nonces === 0 && (balanceWei === 0n || !wallets.includes(account))
}

/** The part of an account's change that what we know does not explain. */
function unknownOf(knowledge: Seen, stretch: Stretch, account: Address) {
  const [before, after] = statesOf(stretch, account)
  const effect = knowledge.effectOn(account, stretch.low.block.number, stretch.high.block.number)
  return {
    nonces: after.nonce - before.nonce - effect.nonces,
    balanceWei: after.balanceWei - before.balanceWei - effect.balanceWei,
  }
}

/**
 * For a stretch of which we have read all blocks: true if a wallet used a nonce or lost value that these blocks do not explain. It may then have had
 * code for a while. Value that only came in by an inner call does not count here, because we find it when we compare balances with the books.
 */
function isUnexplained({ wallets }: Watched, knowledge: Seen, stretch: Stretch): boolean {
  return stretch.accounts.some((account) => {
    if (!wallets.includes(account)) return false
    const { nonces, balanceWei } = unknownOf(knowledge, stretch, account)
    return nonces !== 0 || balanceWei < 0n
  })
}

function statesOf({ low, high }: Stretch, account: Address): [AccountState, AccountState] {
  const [before, after] = [low.accounts.get(account), high.accounts.get(account)]
  if (!before || !after) throw new Error(`no state of ${account} was read`)
  return [before, after]
}
