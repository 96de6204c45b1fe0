// Lies about an answer: one field altered, taken from another answer, missing, null or added.
import type { Distribution, SingleTurn, Turn } from '../../../client/src/index.ts'
import type { PlainLog, PlainState, PlainTransaction } from './chain.ts'
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

/** Each way in which a value may be another of its kind. */
function othersOf(value: unknown): unknown[] {
  if (typeof value === 'bigint') return value > 0n ? [value + 1n, value - 1n] : [value + 1n]
  if (typeof value === 'number') return value > 0 ? [value + 1, value - 1] : [value + 1]
  if (value instanceof Date) return [new Date(value.getTime() + 1)]
  if (typeof value !== 'string') return value === null ? ['other'] : []
  return [`${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`]
}

/** Each object that differs from this one in one field, or has null in one that may be null. */
const eachLie = <T extends object>(said: T, nullable: readonly string[]): T[] =>
  Object.entries(said).flatMap(([field, value]) =>
    [...othersOf(value), ...(nullable.includes(field) ? [null] : [])].map((other) => ({ ...said, [field]: other })),
  )

/** Each world with one lie about the round, or in which the chain paid something else. */
export function* eachRoundLie(world: RoundWorld): Generator<RoundWorld> {
  const { round, singles } = world
  for (const said of eachLie(round, OF_ROUND)) yield { ...world, round: said }
  for (const [at, turn] of round.turns.entries())
    for (const said of eachLie(turn, OF_TURN))
      yield { ...world, round: { ...round, turns: round.turns.with(at, said) } }
  // The second of the turns for which one stands.
  const several = round.turns.find(({ count }) => count > 1)
  const second = singles.findIndex(({ cohort }) => cohort === several?.cohort) + 1
  const single = singles[second] as SingleTurn
  const seeds = [second - 1, second].flatMap((at) => [-1, 0, 1].flatMap((by) => seedsBeside(world, at, by)))
  for (const said of eachLie(single, [...OF_TURN, 'amountWei'])) yield { ...world, singles: singles.with(second, said) }
  yield* seeds
  yield* eachOtherPayment(world)
}

/** The world with what a block beside the right one would give for the seed of a single turn. */
function seedsBeside(world: RoundWorld, at: number, by: number): RoundWorld[] {
  const single = world.singles[at] as SingleTurn
  const seedBlock = by === 0 ? 0 : (single.seedBlock ?? 0) + by
  const { hash, mixHash } = world.chain.blocks[seedBlock] ?? {}
  const seeds = [hash, mixHash].filter((seed) => seed != null)
  return seeds.map((seed) => ({ ...world, singles: world.singles.with(at, { ...single, seedBlock, seed }) }))
}

function* eachOtherPayment(world: RoundWorld): Generator<RoundWorld> {
  const { chain, round } = world
  const paid = chain.transactions.findIndex(({ hash }) => hash === round.txHash)
  const { logs } = chain.transactions[paid] as PlainTransaction
  const withLogs = (other: readonly PlainLog[]): RoundWorld => {
    const transactions = chain.transactions.map((each, at) => (at === paid ? { ...each, logs: other } : each))
    return { ...world, chain: { ...chain, transactions } }
  }
  for (const [at, log] of logs.entries()) {
    yield withLogs(logs.toSpliced(at, 1))
    for (const [index, value] of log.values.entries()) {
      const other = { ...log, values: log.values.with(index, value + 1n) }
      yield withLogs(logs.with(at, other))
      if (index < 2) yield withLogs([...logs, other])
    }
  }
  const later = (intervals: PlainState['intervals']) =>
    Object.fromEntries(Object.entries(intervals).map(([cohort, sec]) => [cohort, sec + 1]))
  const states = chain.states.map((state) => ({ ...state, intervals: later(state.intervals) }))
  yield { ...world, chain: { ...chain, states } }
  const none: RoundWorld = { ...world, round: { ...round, turns: [], totalWei: 0n, nodeCount: 0 } }
  yield none
  yield { ...none, chain: withLogs(logs.filter(({ event }) => event !== 'Credited')).chain }
  // A turn that is listed twice, and was paid twice.
  const [first] = round.turns as [Turn]
  const twice = { ...round, turns: [first, ...round.turns], nodeCount: round.nodeCount + first.nodeCount }
  const totalWei = round.totalWei + first.amountWei * BigInt(first.nodeCount)
  yield { ...withLogs([creditOf(first), ...logs]), round: { ...twice, totalWei } }
}
