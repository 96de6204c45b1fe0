// Lies about an answer: one field altered, taken from another answer, missing, null or added.
import type { Distribution, SingleTurn, Turn } from '../../../client/src/index.ts'
import { amountOf } from './rounds.ts'
import { creditOf, type Dice, hashOf, one, type RoundWorld, turnOf } from './worlds.ts'

/** Another value of the same kind. */
function otherValue(dice: Dice, value: unknown): unknown {
  if (typeof value === 'bigint') return one(dice, [value + 1n, value > 0n ? value - 1n : 2n, 0n, 10n ** 15n])
  if (typeof value === 'number') return one(dice, [value + 1, Math.max(0, value - 1), 0, value + 1000])
  if (typeof value === 'boolean') return !value
  if (value instanceof Date) return new Date(value.getTime() + one(dice, [1, 1000, -1000]))
  if (typeof value === 'string') return /^0x/.test(value) ? hashOf(`${dice(9)}`).slice(0, value.length) : 'other'
  return Array.isArray(value)
    ? withOtherList(dice, dice(2) ? value : value.map((item) => otherValue(dice, item)))
    : value
}

/** A list that lacks an item, has one twice, or has two in another order. */
function withOtherList<T>(dice: Dice, list: readonly T[]): T[] {
  const [at, other] = [dice(list.length), dice(list.length)]
  if (list.length === 0) return []
  const kind = dice(4)
  if (kind === 0) return list.toSpliced(at, 1)
  if (kind === 1) return list.toSpliced(at, 0, list[other] as T)
  if (kind === 2) return list.with(at, list[other] as T).with(other, list[at] as T)
  return list.toSpliced(at)
}

export interface Lie<T> {
  said: T
  /** True if the answer is not of its type any more. */
  isOdd: boolean
}

/** `nullable`: fields that may be null. `others`: answers of the same kind. */
export function withLie<T extends object>(
  dice: Dice,
  said: T,
  nullable: readonly string[],
  others: readonly T[],
): Lie<T> {
  const fields = Object.keys(said) as (keyof T & string)[]
  const field = one(dice, fields)
  const kind = dice(10)
  if (kind < 4) return { said: { ...said, [field]: otherValue(dice, said[field]) }, isOdd: false }
  if (kind < 6) return { said: { ...said, [field]: one(dice, others)[field] }, isOdd: false }
  if (kind < 8) return { said: { ...said, [field]: null }, isOdd: !nullable.includes(field) }
  if (kind === 8) {
    const { [field]: _, ...left } = said
    return { said: left as T, isOdd: true }
  }
  return { said: { ...said, [one(dice, ['extra', 'matches'])]: one(dice, [true, 1, null]) }, isOdd: false }
}

const OF_ROUND = ['mode', 'createdAt']
const OF_TURN = ['tierId', 'seedBlock', 'seed', 'minWei', 'maxWei', 'payoutBps', 'assurance']

/** Lies about a round or its single turns, and then makes what follows from them fit, or not. */
export function withRoundLie(dice: Dice, world: RoundWorld): RoundWorld & { isOdd: boolean } {
  const { round, singles } = world
  const kind = dice(13)
  if (kind === 12) {
    // One turn stands for all of its cohort.
    const [{ cohort, dueSec, due, seedBlock, seed } = {}] = singles.filter(
      (turn) => turn.cohort === singles.at(-1)?.cohort,
    )
    const same = { dueSec, due, seedBlock, seed } as SingleTurn
    const stretched = singles.map((turn) => (turn.cohort === cohort ? { ...turn, ...same } : turn))
    return { ...fitted(dice, { ...world, singles: stretched }), isOdd: false }
  }
  if (kind === 0) return { ...world, singles: withOtherList(dice, singles), isOdd: false }
  if (kind === 1) return { ...world, round: { ...round, turns: withOtherList(dice, round.turns) }, isOdd: false }
  if (kind < 4) {
    const lie = withLie(dice, round, OF_ROUND, [round])
    return { ...world, round: lie.said, isOdd: lie.isOdd }
  }
  if (kind < 7 && round.turns.length > 0) {
    const at = dice(round.turns.length)
    const lie = withLie<Turn>(dice, round.turns[at] as Turn, OF_TURN, round.turns)
    return { ...world, round: { ...round, turns: round.turns.with(at, lie.said) }, isOdd: lie.isOdd }
  }
  if (singles.length === 0) return { ...world, isOdd: false }
  const at = dice(singles.length)
  const lie = withLie<SingleTurn>(dice, singles[at] as SingleTurn, [...OF_TURN, 'amountWei'], singles)
  const lied = { ...world, singles: singles.with(at, lie.said), isOdd: lie.isOdd }
  return lie.isOdd || dice(3) === 0 ? lied : { ...fitted(dice, lied), isOdd: false }
}

/** Makes amounts follow from the terms, sums from amounts, the total from sums, and what the chain credited from these; or leaves off before. */
function fitted(dice: Dice, world: RoundWorld): RoundWorld {
  const singles = world.singles.map((single) => ({ ...single, amountWei: amountOf(single) }))
  const turns = world.round.turns.map((turn) => {
    const own = singles.filter(({ cohort }) => cohort === turn.cohort)
    return own.length === turn.count ? turnOf(own) : turn
  })
  const nodeCount = turns.reduce((sum, turn) => sum + turn.nodeCount, 0)
  const totalWei = turns.reduce((sum, turn) => sum + turn.amountWei * BigInt(turn.nodeCount), 0n)
  const round: Distribution = { ...world.round, turns, ...(dice(6) === 0 ? {} : { nodeCount, totalWei }) }
  if (dice(2) === 0) return { ...world, singles, round }
  const transactions = world.chain.transactions.map((transaction) => {
    if (transaction.hash !== round.txHash) return transaction
    const others = transaction.logs.filter(({ event }) => event !== 'Credited')
    return { ...transaction, logs: [...turns.map((turn) => creditOf(turn)), ...others] }
  })
  return { singles, round, chain: { ...world.chain, transactions } }
}
