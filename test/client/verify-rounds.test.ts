// What the client says of a round, and what a second reading of the documents says: over random chains, true rounds and lies about them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createClient, custom } from 'viem'
import type { Distribution, LedgerClient, SingleTurn, Turn } from '../../client/src/index.ts'
import { recompute, recomputeRound } from '../../client/src/viem/turns.ts'
import { verifyRound } from '../../client/src/viem/verify.ts'
import type { PlainChain, SaidPlace, Trusted } from '../models/verified/chain.ts'
import { assertBothSeen, assertSame, inOrder, isThrown, outcome } from '../models/verified/compared.ts'
import { eachRoundLie, withRoundLie } from '../models/verified/lies.ts'
import { providerOf } from '../models/verified/provider.ts'
import { amountOf, type RoundVerdict, recomputedRound, singlesOf, verifiedRound } from '../models/verified/rounds.ts'
import { type Dice, FACTORY, OTHER_FACTORY, one, type RoundWorld, roundWorld } from '../models/verified/worlds.ts'
import { cases, randomBelow } from '../support/property.ts'

interface Case extends RoundWorld {
  /** What the service says of how many single turns there are, and how many it lists at once. */
  total: number
  page: number
  place: SaidPlace
  trusted: Trusted
}

function serviceOf({ round, singles, total, page, place }: Case): LedgerClient {
  return {
    getWellKnown: async () => place,
    getDistributions: async ({ limit = 20 } = {}) =>
      [...Array.from({ length: 199 }, (_, at) => ({ ...round, id: round.id + 199 - at })), round].slice(0, limit),
    getTurns: async (id: number, { offset = 0 } = {}) => {
      assert.equal(id, round.id)
      assert.ok(
        round.turns.some(({ count }) => count !== 1),
        'each turn is listed as it is',
      )
      return { total, turns: singles.slice(offset, offset + page) }
    },
  } as unknown as LedgerClient
}

/** A client of the chain. `seen` gets each request first, and may throw. */
function clientOf(chain: PlainChain, seen: (request: { method: string; params?: unknown }) => void) {
  const answer = providerOf(chain)
  const request = async (of: { method: string; params?: unknown }) => {
    seen(of)
    return answer(of)
  }
  return createClient({ transport: custom({ request }, { retryCount: 0 }) })
}

const KNOWN: Trusted[] = [
  {},
  { chainId: 31_337 },
  { factoryAddress: FACTORY.toUpperCase().replace('0X', '0x') },
  { chainId: 1 },
]

function caseOf(dice: Dice, world: RoundWorld): Case {
  const all = world.singles.length
  return {
    ...world,
    total: one(dice, [all, all, all, all + 1, all - 1, 0]),
    page: one(dice, [1, 2, 200]),
    trusted: dice(2) ? {} : one(dice, KNOWN),
    place:
      dice(3) > 0
        ? { chainId: 31_337, factoryAddress: FACTORY }
        : { chainId: one(dice, [31_337, 1]), factoryAddress: one(dice, [FACTORY, OTHER_FACTORY, null]) },
  }
}

/** Compares the client with the second reading. @returns whether the second reading has the round right. */
async function compare(dice: Dice, given: Case, isOdd: boolean): Promise<boolean> {
  const { chain, round, place, trusted, total, page } = given
  // A service that says that there are fewer has its pages read until there are as many.
  const singles = given.singles.slice(0, Math.max(1, Math.ceil(total / page)) * page)
  const ledger = serviceOf(given)
  const asked: string[] = []
  const client = clientOf(chain, ({ method, params }) => {
    if (method === 'eth_getBlockByNumber') asked.push(String((params as unknown[])[0]))
  })
  const sides = [
    {
      found: () => verifyRound(ledger, dice(2) ? round : round.id, client, trusted),
      expected: () => verifiedRound(round, singles, { chain, place, trusted }),
    },
    { found: () => verifyRound(ledger, round), expected: () => verifiedRound(round, singles, null) },
  ]
  const right: boolean[] = []
  for (const side of sides) {
    const [found, expected] = [await outcome(side.found), await outcome(side.expected)]
    right.push(!isThrown(expected) && expected.matches)
    if (isOdd) assertSame(right.at(-1) || isThrown(found) || !found.matches, true, given)
    else assertSame(inOrder(found), inOrder(isThrown(expected) ? expected : wholeOf(expected, round, singles)), given)
  }
  // Each block of a seed is fetched once, and the round's own block once more.
  assert.ok(asked.length <= new Set(asked).size + 1, `${asked}`)
  const [found, expected] = [
    await outcome(() => recomputeRound(ledger, round)),
    await outcome(() => recomputedRound(round, singles)),
  ]
  assertSame(isOdd ? expected === true || found !== true : found, isOdd ? true : expected, given)
  return right[0] as boolean
}

/** Compares the amount of a turn, also without each of its terms, and with a range of which none or one is left. */
function compareAmounts(dice: Dice, turn: SingleTurn): void {
  const minWei = turn.minWei ?? 0n
  const ranges = [minWei - 1n, minWei, minWei + 1n].map((maxWei) => ({ maxWei }))
  const without = (['seed', 'minWei', 'maxWei', 'payoutBps'] as const).map((name) => ({ [name]: null }))
  for (const other of [
    {},
    ...ranges,
    ...without,
    { cohort: dice(9) },
    { dueSec: dice(9) },
    { payoutBps: dice(9_999) },
  ]) {
    const given = { ...turn, ...other }
    assertSame(recompute(given), amountOf(given), given)
    assertSame(recompute({ ...given, count: 2 }), null, given)
  }
}

/** A verdict as the client gives it: each turn with what it stands for. */
const wholeOf = (verdict: RoundVerdict, { turns }: Distribution, singles: readonly SingleTurn[]) => ({
  ...verdict,
  turns: verdict.turns.map((of, index) => {
    const turn = turns[index] as Turn
    return { turn, singles: singlesOf(turn, singles), ...of }
  }),
})

test('the client judges a round as the second reading does, for the same reasons', async () => {
  const seen = { right: 0, not: 0 }
  const play = async (seed: number) => {
    const dice = randomBelow(seed)
    const truth = roundWorld(dice)
    for (const lies of [0, 1, 1, 2]) {
      let world = { ...truth, isOdd: false }
      for (let left = lies; left > 0 && !world.isOdd; left--) world = withRoundLie(dice, world)
      seen[(await compare(dice, caseOf(dice, world), world.isOdd)) ? 'right' : 'not']++
    }
    for (const turn of truth.singles) compareAmounts(dice, turn)
  }
  await fc.assert(fc.asyncProperty(fc.integer(), play), { numRuns: cases(60) })
  assertBothSeen(seen)
})

test('the client stops at what the contract can pay if a service lists turns without end', async () => {
  const { round, singles } = roundWorld(randomBelow(1))
  let asked = 0
  const turns = Array.from({ length: 200 }, () => singles[0] as SingleTurn)
  const ledger = {
    getTurns: async () => {
      asked += 1
      return { total: 1e9, turns }
    },
  } as unknown as LedgerClient
  const several = round.turns.map((turn) => ({ ...turn, count: 3 }))
  assert.equal((await verifyRound(ledger, { ...round, turns: several })).matches, false)
  assert.equal(asked, 10)
})

/** Worlds with rounds of both modes, in which a cohort got several turns, and a turn is due at the time of a block. */
const WORLDS = [1938, 143]

test('the client notices each single lie about a round, as the second reading does', async () => {
  const dice = randomBelow(1)
  const given = { page: 200, trusted: {}, place: { chainId: 31_337, factoryAddress: FACTORY } }
  let rightCount = 0
  for (const seed of WORLDS) {
    const world = roundWorld(randomBelow(seed))
    assert.ok(await compare(dice, { ...world, ...given, total: world.singles.length }, false))
    for (const other of eachRoundLie(world))
      if (await compare(dice, { ...other, ...given, total: other.singles.length }, false)) rightCount++
  }
  assert.ok(rightCount > 10, `${rightCount}`)
})

/** A right round in which a cohort got several turns. */
function rightCase(): Case {
  const world = roundWorld(randomBelow(39))
  const place = { chainId: 31_337, factoryAddress: FACTORY }
  return { ...world, page: 200, total: world.singles.length, trusted: {}, place }
}

test('a round that the service does not list, and a provider that fails, are errors', async () => {
  const given = rightCase()
  const { round, chain } = given
  await assert.rejects(verifyRound(serviceOf(given), 1, undefined), { name: 'RangeError', message: /^Round 1 is not/ })
  // The round's own block is read, and the blocks of its seeds are not.
  const failing = clientOf(chain, ({ method, params }) => {
    const isOther = (params as unknown[] | undefined)?.[0] !== `0x${round.blockNumber.toString(16)}`
    if (method === 'eth_getBlockByNumber' && isOther) throw new Error('The provider is broken')
  })
  await assert.rejects(verifyRound(serviceOf(given), round, failing), /The provider is broken/)
})

test('an interval is read from one block if the provider has its state', async () => {
  const given = rightCase()
  const reads: unknown[] = []
  const client = clientOf(given.chain, ({ method, params }) => {
    const [{ fromBlock, toBlock }, tag] = params as [{ fromBlock?: string; toBlock?: string }, string?]
    if (method === 'eth_getLogs') reads.push(fromBlock, toBlock)
    if (method === 'eth_call') reads.push(tag)
  })
  assert.equal((await verifyRound(serviceOf(given), given.round, client)).matches, true)
  assert.ok(reads.length > 0)
  assert.deepEqual(new Set(reads), new Set([`0x${given.round.blockNumber.toString(16)}`]))
})
