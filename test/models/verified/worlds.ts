// Random chains, and what an honest service says of them.
import { hash } from 'node:crypto'
import type { Cover, Distribution, NodeDetail, SingleTurn, Turn } from '../../../client/src/index.ts'
import {
  type Hex,
  headOf,
  type PlainBlock,
  type PlainChain,
  type PlainLog,
  type PlainState,
  type PlainTransaction,
  stateAt,
} from './chain.ts'
import { amountOf, seedFor } from './rounds.ts'

export type Dice = (bound: number) => number
export const one = <T>(dice: Dice, of: readonly T[]): T => of[dice(of.length)] as T
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
export const hashOf = (words: string): Hex => `0x${hash('sha256', words)}`
const addressOf = (words: string) => hashOf(words).slice(0, 42) as Hex

export const FACTORY = addressOf('factory')
export const OTHER_FACTORY = addressOf('another factory')
const ROUND_ID = 7
const TIERS = ['basic', 'pro', null]

/** What chains put into `mixHash`, by the table of docs/REWARDS.md, and the least words that count as randomness. */
const MIXES: readonly ((dice: Dice, number: number) => Hex | null)[] = [
  (dice, number) => hashOf(`mix ${number} ${dice(2 ** 31)}`),
  (_, number) => hashOf(`mix ${Math.floor(number / 3)}`),
  () => wordsOf([0, 0, 0, 0]),
  () => null,
  (_, number) => wordsOf([number, 17_000_000 + number, 40, 0]),
  (dice, number) => wordsOf([number, 0, 0, 0].map(() => 2 ** 32 + dice(3))),
  (dice) => wordsOf([0, 0, 0, 0].map(() => 2 ** 32 + 9).with(dice(4), 2 ** 32 - dice(2))),
]
const wordsOf = (words: readonly number[]): Hex =>
  `0x${words.map((word) => word.toString(16).padStart(16, '0')).join('')}`

function blocksOf(dice: Dice, count: number): PlainBlock[] {
  const [mix, gaps] = [one(dice, MIXES), one(dice, [[1], [10], [12], [1, 2, 12], [10, 20, 300]])]
  let timeSec = 1_000 + dice(50)
  return times(count, (number) => {
    timeSec += one(dice, gaps)
    return { timeSec, hash: hashOf(`block ${number} ${dice(2 ** 31)}`), mixHash: mix(dice, number) }
  })
}

const timeAt = (blocks: readonly PlainBlock[], number: number) => (blocks[number] as PlainBlock).timeSec

/** Credits and sums of a round, as the contract gives them. */
interface Entry {
  cohort: number
  intervalSec: number
  turn: Turn
  singles: SingleTurn[]
}

const termsOf = (dice: Dice) => {
  const minWei = one(dice, [0n, 1n, 1_000n, 10n ** 15n])
  const maxWei = minWei + one(dice, [0n, 1n, 9_000n, 10n ** 18n])
  return { minWei, maxWei, payoutBps: one(dice, [0, 1, 10_000, 15_000]) }
}

function entryOf(dice: Dice, chain: PlainChain, cohort: number, notAfterSec: number): Entry {
  const count = one(dice, [1, 1, 2, 3, 5])
  const firstSec = timeAt(chain.blocks, 0)
  const [tierId, nodeCount] = [one(dice, TIERS), dice(4)]
  const intervalSec = 1 + dice(Math.max(1, Math.floor((notAfterSec - firstSec) / count)))
  const latest = notAfterSec - (count - 1) * intervalSec
  // At the time of a block, or just beside it, or anywhere.
  const near = one(dice, chain.blocks).timeSec + one(dice, [-1, 0, 0, 1])
  const dueSec = dice(3) > 0 && near <= latest ? near : latest - dice(Math.max(1, latest - firstSec))
  const assurance = 'proven' as const
  const singles = times(count, (index): SingleTurn => {
    const at = dueSec + index * intervalSec
    const from = seedFor(chain, at) as { seedBlock: number; seed: Hex }
    const turn = {
      cohort,
      tierId,
      nodeCount,
      assurance,
      dueSec: at,
      due: new Date(at * 1000),
      ...from,
      ...termsOf(dice),
    }
    return { ...turn, amountWei: amountOf({ ...turn, amountWei: null }) }
  })
  return { cohort, intervalSec, singles, turn: turnOf(singles) }
}

/** What a round says of the single turns of a cohort. */
export function turnOf(singles: readonly SingleTurn[]): Turn {
  const [first] = singles as [SingleTurn]
  const amountWei = singles.reduce((sum, single) => sum + (single.amountWei ?? 0n), 0n)
  if (singles.length === 1) return { ...first, count: 1, amountWei }
  const none = { seedBlock: null, seed: null, minWei: null, maxWei: null, payoutBps: null }
  return { ...first, ...none, count: singles.length, amountWei }
}

export const creditOf = (
  { cohort, dueSec, count, amountWei, nodeCount }: Turn,
  round = ROUND_ID,
  address: Hex = FACTORY,
): PlainLog => ({
  address,
  event: 'Credited',
  values: [round, cohort, dueSec, count, amountWei, nodeCount].map(BigInt),
})

const intervalSet = (cohort: number, now: number, former: number, address = FACTORY): PlainLog => ({
  address,
  event: 'IntervalSet',
  values: [cohort, now, former].map(BigInt),
})

export interface RoundWorld {
  chain: PlainChain
  round: Distribution
  singles: SingleTurn[]
}

/** Logs that have nothing to do with the round. */
function strangeLogs(dice: Dice, turns: readonly Turn[]): PlainLog[] {
  const turn = one(dice, turns)
  const spent = (address: Hex, round: number): PlainLog => ({
    address,
    event: 'SurplusSpent',
    values: [BigInt(round), 1n, 1n],
  })
  const all = [
    creditOf(turn, ROUND_ID + 1),
    creditOf(turn, ROUND_ID, OTHER_FACTORY),
    spent(OTHER_FACTORY, ROUND_ID),
    spent(FACTORY, ROUND_ID - 1),
    intervalSet(turn.cohort, 77, 78, OTHER_FACTORY),
    intervalSet(99, 77, 78),
  ]
  return all.filter(() => dice(4) === 0)
}

export function roundWorld(dice: Dice): RoundWorld {
  const blocks = blocksOf(dice, 6 + dice(12))
  const at = 2 + dice(blocks.length - 3)
  const bare: PlainChain = {
    chainId: 31_337,
    blocks,
    transactions: [],
    states: [],
    stateFrom: 0,
    blocksFrom: 0,
    servesLogs: true,
  }
  const entries = times(1 + dice(3), (index) => entryOf(dice, bare, index * 2 + 1, timeAt(blocks, at)))
  const turns = entries.map(({ turn }) => turn)
  const isSwaps = dice(2) === 0
  const txHash = hashOf(`round ${dice(2 ** 31)}`)
  const own: PlainLog[] = [...turns.map((turn) => creditOf(turn)), ...strangeLogs(dice, turns)]
  if (isSwaps) own.push({ address: FACTORY, event: 'SurplusSpent', values: [BigInt(ROUND_ID), 1n, 2n] })
  const round: Distribution = {
    ...{
      id: ROUND_ID,
      mode: isSwaps ? 'swaps' : 'treasury',
      createdAt: new Date(timeAt(blocks, at) * 1000),
      txHash,
      blockNumber: at,
      turns,
    },
    totalWei: turns.reduce((sum, { amountWei, nodeCount }) => sum + amountWei * BigInt(nodeCount), 0n),
    nodeCount: turns.reduce((sum, { nodeCount }) => sum + nodeCount, 0),
  }
  const singles = entries.flatMap((entry) => entry.singles)
  const paid: PlainTransaction = { hash: txHash, blockNumber: at, logs: own }
  const stranger = { hash: hashOf('a stranger'), blockNumber: at, logs: strangeLogs(dice, turns) }
  const changes = changesOf(dice, entries, at, headOf(bare))
  const transactions = [...changes.before, stranger, paid, ...changes.behind]
  const chain: PlainChain = {
    ...bare,
    transactions,
    states: changes.states,
    stateFrom: one(dice, [0, 0, at, at + 1, headOf(bare)]),
    blocksFrom: one(dice, [0, 0, 0, at - 1]),
    servesLogs: dice(8) > 0,
  }
  return { chain, round, singles }
}

/** Changes of intervals before and behind the round, and what the contract says after each. */
function changesOf(dice: Dice, entries: readonly Entry[], at: number, head: number) {
  const before: PlainTransaction[] = []
  const behind: PlainTransaction[] = []
  const intervals: Record<number, number> = Object.fromEntries(
    entries.map(({ cohort, intervalSec }) => [cohort, intervalSec]),
  )
  const states = [stateOf(0, { ...intervals })]
  const change = (blockNumber: number, into: PlainTransaction[]) => {
    const { cohort } = one(dice, entries)
    const [now, former] = [1 + dice(400), intervals[cohort] as number]
    intervals[cohort] = now
    into.push({
      hash: hashOf(`change ${into.length} ${blockNumber}`),
      blockNumber,
      logs: [intervalSet(cohort, now, former)],
    })
    states.push(stateOf(blockNumber, { ...intervals }))
  }
  if (dice(3) === 0) {
    const { cohort, intervalSec } = one(dice, entries)
    states.unshift(stateOf(0, { ...intervals, [cohort]: 55 }))
    states[1] = stateOf(at, { ...intervals })
    before.push({ hash: hashOf('a change before'), blockNumber: at, logs: [intervalSet(cohort, intervalSec, 55)] })
  }
  for (const blockNumber of [at, Math.min(head, at + 1), head]) if (dice(5) === 0) change(blockNumber, behind)
  return { before, behind, states }
}

const stateOf = (fromBlock: number, intervals: PlainState['intervals']): PlainState => ({
  ...{ fromBlock, address: FACTORY, balanceWei: 1n, outstandingWei: 1n, isSolvent: true, nodes: {}, intervals },
})

/** A contract's figures from a block on. */
function figuresOf(dice: Dice, fromBlock: number, address: Hex): PlainState {
  const outstandingWei = one(dice, [0n, 1n, 3n, 10n ** 18n])
  const balanceWei = one(dice, [0n, outstandingWei, outstandingWei + 1n, outstandingWei * 2n, 7n])
  const node = () => {
    const [creditedWei, cohort] = [BigInt(dice(100)), dice(3)]
    const withdrawnWei = BigInt(dice(Number(creditedWei) + 1))
    return {
      owner: addressOf(`owner ${dice(3)}`),
      creditedWei,
      withdrawnWei,
      balanceWei: creditedWei - withdrawnWei,
      cohort,
    }
  }
  // The second node is minted late, the third has the number of the first one's row.
  const nodes = { 5: node(), ...(fromBlock < 3 ? {} : { 6: node() }), 1000000005: node() }
  return {
    fromBlock,
    address,
    balanceWei,
    outstandingWei,
    isSolvent: balanceWei >= outstandingWei,
    nodes,
    intervals: {},
  }
}

export function readingWorld(dice: Dice): PlainChain {
  const blocks = blocksOf(dice, one(dice, [4, 8, 70, 95]))
  const head = blocks.length - 1
  const from = [...new Set([0, 3, head - 1, head])].filter((number) => number === 0 || dice(2) === 0)
  const states = from.flatMap((number) => [figuresOf(dice, number, FACTORY), figuresOf(dice, number, OTHER_FACTORY)])
  const stateFrom = one(dice, [0, 0, 0, 2, head])
  return { chainId: 31_337, blocks, transactions: [], states, stateFrom, blocksFrom: 0, servesLogs: true }
}

/** What an honest service says of a node, and of the cover. */
export function nodeOf(
  dice: Dice,
  chain: PlainChain,
  block: number,
  nodeId: string,
  matchedBy: 'nodeId' | 'id',
): NodeDetail {
  const state = stateAt(chain, FACTORY, block) as PlainState
  const { cohort, ...figures } = state.nodes[nodeId] ?? (state.nodes[5] as PlainState['nodes'][string])
  return {
    ...{ id: Number(nodeId) + 1_000_000_000, nodeId, matchedBy, tierId: 'basic', priceWei: 1n, ...figures },
    ...{
      paymentTxHash: null,
      mintTxHash: null,
      mintedAt: null,
      lastCreditedAt: null,
      nextCreditAt: null,
      createdAt: null,
    },
    ...{ expelledAt: cohort === 0 ? new Date(5) : null, credits: [], withdrawals: [] },
    chain: dice(8) === 0 ? null : { ...figures, blockNumber: block, matchesLedger: true },
  }
}

export function coverOf(dice: Dice, chain: PlainChain, block: number): Cover {
  const { balanceWei, outstandingWei, isSolvent } = stateAt(chain, FACTORY, block) as PlainState
  const time = timeAt(chain.blocks, block)
  const next = timeAt(chain.blocks, Math.min(block + 1, headOf(chain)))
  const checkedSec = one(dice, [
    time,
    next,
    time - 120,
    time - 121,
    next + 10,
    next + 11,
    next + 900,
    next + 901,
    time + 900,
    time + 901,
  ])
  return {
    ...{ contractBalanceWei: balanceWei, outstandingWei, surplusWei: balanceWei - outstandingWei, isSolvent },
    coverBps: outstandingWei === 0n ? null : Number((balanceWei * 10_000n) / outstandingWei),
    ...{ blockNumber: block, checkedAt: dice(4) === 0 ? null : new Date(checkedSec * 1000) },
  }
}
