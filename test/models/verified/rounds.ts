// What a round must have credited: a second reading of docs/REWARDS.md, of client/README.md (Checking for yourself), client/REFERENCE.md, and of the
// contract's interface (contracts/src/INodeFactory.sol).
import { AbiCoder, keccak256 } from 'ethers'
import type { Distribution, SingleTurn, Turn } from '../../../client/src/index.ts'
import {
  assertChain,
  contractOf,
  headOf,
  type PlainChain,
  type PlainLog,
  type PlainTransaction,
  placeDifferences,
  type SaidPlace,
  sameText,
  stateAt,
  type Trusted,
} from './chain.ts'

// Choices in what the documents leave open:
// - No draw comes from an empty range, nor from figures that are no uint256.
// - What is certainly wrong is false, even if something else could not be computed or checked.
// - A round lists the turns of one cohort at least, and each stands for one turn at least.
// - A turn's parts fit it if they are as many, begin when it does, are evenly spaced, and have its tier, its nodes and their own amounts.
// - A turn without a seed or its block has nothing to compare with the chain. Nor has one whose block the provider does not have.
// - `null` as a round's mode or time claims nothing.

export interface TurnVerdict {
  expectedWei: bigint | null
  amountMatches: boolean | null
  seedMatches: boolean | null
  creditedMatches: boolean | null
  intervalMatches: boolean | null
}
export interface RoundVerdict {
  matches: boolean
  turns: TurnVerdict[]
  totalMatches: boolean
  differences: string[]
  allListed: boolean | null
}

const isHash = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)
const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0

/** draw x payoutBps / 10000, rounded down; draw = minWei + keccak256(abi.encode(seed, cohort, due)) mod (maxWei - minWei + 1). */
export function amountOf({ seed, cohort, dueSec, minWei, maxWei, payoutBps }: SingleTurn): bigint | null {
  if (seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  if (minWei > maxWei || !isHash(seed) || ![cohort, dueSec, payoutBps].every(isCount)) return null
  const words = AbiCoder.defaultAbiCoder().encode(['bytes32', 'uint256', 'uint256'], [seed, cohort, dueSec])
  const draw = minWei + (BigInt(keccak256(words)) % (maxWei - minWei + 1n))
  return (draw * BigInt(payoutBps)) / 10_000n
}

/** The turns that a turn stands for. */
export function singlesOf(turn: Turn, singles: readonly SingleTurn[]): SingleTurn[] {
  return turn.count === 1 ? [turn] : singles.filter(({ cohort }) => cohort === turn.cohort)
}

function amountVerdict(turn: Turn, singles: readonly SingleTurn[]): Pick<TurnVerdict, 'expectedWei' | 'amountMatches'> {
  const amounts = singles.map(amountOf)
  if (amounts.includes(null)) return { expectedWei: null, amountMatches: null }
  const expectedWei = amounts.reduce((sum: bigint, each) => sum + (each as bigint), 0n)
  return { expectedWei, amountMatches: expectedWei === turn.amountWei && areParts(singles, turn) }
}

/** Whether single turns are all that a turn stands for. */
function areParts(singles: readonly SingleTurn[], turn: Turn): boolean {
  const [first, second] = singles
  if (!first || singles.length !== turn.count || first.dueSec !== turn.dueSec || !isDue(turn)) return false
  const step = second ? second.dueSec - first.dueSec : 1
  if (step <= 0) return false
  return singles.every((single, index) => {
    const { dueSec, nodeCount, tierId, amountWei } = single
    const isInStep = dueSec === first.dueSec + index * step && isDue(single)
    const isAlike = nodeCount === turn.nodeCount && tierId === turn.tierId
    return isInStep && isAlike && amountWei === (turn.count === 1 ? turn.amountWei : amountOf(single))
  })
}
/** Both forms of the time say the same. */
const isDue = ({ due, dueSec }: SingleTurn) => due.getTime() === dueSec * 1000

const totalOf = (turns: readonly Turn[]) =>
  turns.reduce((sum, { amountWei, nodeCount }) => sum + amountWei * BigInt(nodeCount), 0n)

/** Null if the ledger has no terms or lists no turn, and nothing else is wrong. */
export function recomputedRound(round: Distribution, singles: readonly SingleTurn[]): boolean | null {
  const verdicts = round.turns.map((turn) => amountVerdict(turn, singlesOf(turn, singles)).amountMatches)
  if (verdicts.includes(false) || totalOf(round.turns) !== round.totalWei) return false
  return verdicts.length === 0 || verdicts.includes(null) ? null : true
}

const WORD = 2n ** 64n
const mixOf = (chain: PlainChain, number: number) => chain.blocks[number]?.mixHash ?? null
/** Whether a block's mixHash counts as randomness: not its parent's, and each of its words is 2^32 or more. */
function isRandom(chain: PlainChain, number: number): boolean {
  const mixHash = mixOf(chain, number)
  if (mixHash === null || mixHash === mixOf(chain, number - 1)) return false
  const words = [0n, 1n, 2n, 3n].map((index) => (BigInt(mixHash) / WORD ** index) % WORD)
  return words.every((word) => word >= 2n ** 32n)
}

/** The block that a turn's seed comes from, and the seed; null if there is no such block yet. */
export function seedFor(chain: PlainChain, dueSec: number): { seedBlock: number; seed: Hex } | null {
  const seedBlock = chain.blocks.findIndex(({ timeSec }) => timeSec >= dueSec)
  const block = chain.blocks[seedBlock]
  if (!block) return null
  return { seedBlock, seed: isRandom(chain, seedBlock) ? (block.mixHash as Hex) : block.hash }
}
type Hex = `0x${string}`

/** Null if there is nothing to compare, or if the provider does not have the block or the one before it. */
function seedVerdict(chain: PlainChain, { dueSec, seedBlock, seed }: SingleTurn): boolean | null {
  if (seed === null || seedBlock === null || seedBlock > headOf(chain)) return null
  if (Math.max(0, seedBlock - 1) < chain.blocksFrom) return null
  const from = seedFor(chain, dueSec)
  return from !== null && from.seedBlock === seedBlock && sameText(from.seed, seed)
}

const allOf = (verdicts: readonly (boolean | null)[]) =>
  verdicts.includes(false) ? false : verdicts.includes(null) ? null : true

interface Credit {
  cohort: bigint
  due: bigint
  turns: bigint
  amountPerNode: bigint
  nodeCount: bigint
}

function creditsOf(logs: readonly PlainLog[], contract: string, round: number): Credit[] {
  return logs
    .filter(
      ({ address, event, values }) =>
        sameText(address, contract) && event === 'Credited' && values[0] === BigInt(round),
    )
    .map(({ values }) => {
      const [, cohort, due, turns, amountPerNode, nodeCount] = values as [
        bigint,
        bigint,
        bigint,
        bigint,
        bigint,
        bigint,
      ]
      return { cohort, due, turns, amountPerNode, nodeCount }
    })
}

const isCredited = (turn: Turn, credit: Credit) =>
  BigInt(turn.cohort) === credit.cohort &&
  BigInt(turn.dueSec) === credit.due &&
  BigInt(turn.count) === credit.turns &&
  turn.amountWei === credit.amountPerNode &&
  BigInt(turn.nodeCount) === credit.nodeCount

/**
 * A cohort's interval when a round credited it: as it was before the first change behind that credit, or else as it is. Null if the provider serves
 * neither the state nor the changes.
 */
function intervalIn(
  chain: PlainChain,
  contract: string,
  cohort: number,
  round: Distribution,
  paid: PlainTransaction,
): number | null {
  const isOf = ({ address }: PlainLog) => sameText(address, contract)
  const isCredit = ({ event, values }: PlainLog) => event === 'Credited' && values[0] === BigInt(round.id)
  const since = chain.transactions.slice(chain.transactions.indexOf(paid)).flatMap(({ logs }) => logs.filter(isOf))
  if (!chain.servesLogs || !since.some(isCredit)) return null
  const behind = since.slice(since.findIndex(isCredit) + 1)
  const change = behind.find(({ event, values }) => event === 'IntervalSet' && values[0] === BigInt(cohort))
  const now = stateAt(chain, contract, headOf(chain))
  if (!now) return null
  return change ? Number(change.values[2]) : (now.intervals[cohort] ?? 0)
}

export function verifiedRound(
  round: Distribution,
  singles: readonly SingleTurn[],
  given: { chain: PlainChain; place: SaidPlace; trusted: Trusted } | null,
): RoundVerdict {
  const differences: string[] = []
  if (round.nodeCount !== round.turns.reduce((sum, { nodeCount }) => sum + nodeCount, 0)) differences.push('nodeCount')
  const totalMatches = totalOf(round.turns) === round.totalWei
  if (!given) {
    const turns = round.turns.map((turn) => ({
      ...amountVerdict(turn, singlesOf(turn, singles)),
      ...{ seedMatches: null, creditedMatches: null, intervalMatches: null },
    }))
    const matches =
      turns.length > 0 &&
      totalMatches &&
      differences.length === 0 &&
      turns.every(({ amountMatches }) => amountMatches === true)
    return { matches, turns, totalMatches, differences, allListed: null }
  }
  const { chain, place, trusted } = given
  const contract = contractOf(place, trusted)
  assertChain(chain, trusted)
  const transaction = chain.transactions.find(({ hash }) => sameText(hash, round.txHash))
  if (!transaction) throw new Error('no such transaction')
  differences.push(...placeDifferences(place, trusted))
  const { blockNumber, logs } = transaction
  if (round.blockNumber !== blockNumber) differences.push('blockNumber')
  const timeSec = chain.blocks[blockNumber]?.timeSec ?? 0
  if (round.createdAt !== null && round.createdAt.getTime() !== timeSec * 1000) differences.push('createdAt')
  const isSwaps = logs.some(
    ({ address, event, values }) =>
      sameText(address, contract) && event === 'SurplusSpent' && values[0] === BigInt(round.id),
  )
  if (round.mode !== null && round.mode !== (isSwaps ? 'swaps' : 'treasury')) differences.push('mode')
  const credits = creditsOf(logs, contract, round.id)
  const turns = round.turns.map((turn) => {
    const own = singlesOf(turn, singles)
    const interval = turn.count === 1 ? 0 : intervalIn(chain, contract, turn.cohort, round, transaction)
    return {
      ...amountVerdict(turn, own),
      seedMatches: allOf(own.map((single) => seedVerdict(chain, single))),
      creditedMatches: credits.some((credit) => isCredited(turn, credit)),
      intervalMatches: interval === null ? null : turn.count === 1 || areApart(turn, own, interval),
    }
  })
  const listed = round.turns.map(({ cohort }) => BigInt(cohort))
  const allListed =
    credits.length === listed.length &&
    new Set(listed).size === listed.length &&
    credits.every(({ cohort }) => listed.includes(cohort))
  const matches = turns.length > 0 && totalMatches && allListed && differences.length === 0 && turns.every(isRight)
  return { matches, turns, totalMatches, differences, allListed }
}

const areApart = (turn: Turn, singles: readonly SingleTurn[], sec: number) =>
  singles.length === turn.count && singles.every(({ dueSec }, index) => dueSec === turn.dueSec + index * sec)

const isRight = (turn: TurnVerdict) =>
  turn.amountMatches === true &&
  turn.seedMatches === true &&
  turn.creditedMatches === true &&
  turn.intervalMatches === true
