// What a service that lies about a round is told by: its turns recomputed, and held against the chain's own events and headers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, custom, encodeAbiParameters, encodeEventTopics, keccak256, toHex } from 'viem'
import type { Distribution, LedgerClient, SingleTurn, SingleTurns, Turn } from '../../client/src/index.ts'
import { factoryAbi } from '../../client/src/viem/factory.ts'
import { recompute, verifyRound } from '../../client/src/viem/verify.ts'

const FACTORY = '0x00000000000000000000000000000000000000fa'
const TX = `0x${'11'.repeat(32)}` as const
/** A block every ten seconds, from time 0 on. */
const BLOCK_SEC = 10
const randomnessOf = (block: number) => keccak256(toHex(`randomness ${block}`))

const terms = { minWei: 1_000n, maxWei: 9_000n, payoutBps: 15_000, tierId: 'basic', nodeCount: 2 }

function single(cohort: number, dueSec: number): SingleTurn {
  const seedBlock = Math.ceil(dueSec / BLOCK_SEC)
  const turn = { cohort, dueSec, due: new Date(dueSec * 1000), seedBlock, seed: randomnessOf(seedBlock), ...terms }
  return { ...turn, amountWei: recompute({ ...turn, amountWei: 0n }) }
}

/** Cohort 1 is paid one turn, cohort 2 three at once. */
const SINGLES = [single(1, 5_000), ...[4_005, 4_105, 4_205].map((due) => single(2, due))]
const [ALONE, ...SUMMED] = SINGLES as [SingleTurn, ...SingleTurn[]]
const sumOf = (turns: readonly SingleTurn[]) => turns.reduce((sum, { amountWei }) => sum + (amountWei ?? 0n), 0n)
const TURNS: Turn[] = [
  { ...ALONE, count: 1, amountWei: sumOf([ALONE]) },
  {
    ...{ cohort: 2, tierId: 'basic', nodeCount: 2, count: 3, dueSec: 4_005, due: new Date(4_005_000) },
    ...{ seedBlock: null, seed: null, minWei: null, maxWei: null, payoutBps: null, amountWei: sumOf(SUMMED) },
  },
]
const ROUND: Distribution = {
  ...{ id: 7, mode: 'treasury', nodeCount: 4, createdAt: new Date(0), txHash: TX, blockNumber: 900 },
  ...{ totalWei: 2n * sumOf(SINGLES), turns: TURNS },
}

/** A service that says this of the round. */
function saying(singles: readonly SingleTurn[]): LedgerClient {
  return {
    getWellKnown: async () => ({ factoryAddress: FACTORY }),
    getTurns: async (_: number, { offset = 0 } = {}): Promise<SingleTurns> => ({
      total: singles.length,
      turns: singles.slice(offset, offset + 2),
    }),
  } as unknown as LedgerClient
}

/** A chain whose transaction credited the true round. */
const chain = createClient({
  transport: custom({
    async request({ method, params }) {
      if (method === 'eth_getTransactionReceipt') return receipt()
      const number = Number((params as [string])[0])
      assert.equal(method, 'eth_getBlockByNumber')
      const hash = keccak256(toHex(`block ${number}`))
      return { number: toHex(number), timestamp: toHex(number * BLOCK_SEC), hash, mixHash: randomnessOf(number) }
    },
  }),
})

function receipt() {
  const logs = TURNS.map((turn, index) => ({
    ...{ address: FACTORY, blockNumber: '0x384', transactionHash: TX, logIndex: toHex(index), transactionIndex: '0x0' },
    ...{ blockHash: TX, removed: false },
    topics: encodeEventTopics({
      abi: factoryAbi,
      eventName: 'Credited',
      args: { round: 7n, cohort: BigInt(turn.cohort) },
    }),
    data: encodeAbiParameters(Array(4).fill({ type: 'uint256' }), [
      BigInt(turn.dueSec),
      BigInt(turn.count),
      turn.amountWei,
      BigInt(turn.nodeCount),
    ]),
  }))
  return {
    status: '0x1',
    type: '0x2',
    blockNumber: '0x384',
    transactionIndex: '0x0',
    gasUsed: '0x1',
    cumulativeGasUsed: '0x1',
    effectiveGasPrice: '0x1',
    logs,
  }
}

const matches = async (round: Distribution, singles: readonly SingleTurn[] = SINGLES) =>
  (await verifyRound(saying(singles), round, chain)).matches

test('a true round is right, with every turn of a sum recomputed, page by page', async () => {
  const verified = await verifyRound(saying(SINGLES), ROUND, chain)
  assert.deepEqual(
    verified.turns.map(({ singles, amountMatches, seedMatches, creditedMatches }) => [
      ...[singles.length, amountMatches, seedMatches, creditedMatches],
    ]),
    [
      [1, true, true, true],
      [3, true, true, true],
    ],
  )
  assert.deepEqual([verified.matches, verified.totalMatches, verified.allListed], [true, true, true])
  const arithmetic = await verifyRound(saying(SINGLES), ROUND)
  assert.deepEqual([arithmetic.matches, arithmetic.allListed, arithmetic.turns[1]?.seedMatches], [true, null, null])
})

test('a round whose turns the service hides, some or all, is not right', async () => {
  for (const turns of [[], TURNS.slice(1), TURNS.slice(0, 1)]) {
    const totalWei = turns.reduce((sum, { amountWei }) => sum + 2n * amountWei, 0n)
    assert.equal(await matches({ ...ROUND, turns, totalWei }), false, `${turns.length} listed`)
  }
})

test('a field of a turn that is not true is told', async () => {
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  const lies: [string, Partial<Turn>][] = [
    ['amount', { amountWei: alone.amountWei + 1n }],
    ['nodes', { nodeCount: 1 }],
    ['due', { dueSec: alone.dueSec + 1 }],
    ['seed', { seed: randomnessOf(1) }],
    ['seed block', { seedBlock: 501 }],
    ['range', { minWei: 1_001n }],
    ['rate', { payoutBps: 14_999 }],
    ['count', { count: 2 }],
    ['cohort', { cohort: 3 }],
  ]
  for (const [name, lie] of lies)
    assert.equal(await matches({ ...ROUND, turns: [{ ...alone, ...lie }, sum] }), false, name)
  for (const lie of [{ count: 2 }, { dueSec: 4_004 }, { amountWei: sum.amountWei - 1n }, { nodeCount: 3 }])
    assert.equal(
      await matches({ ...ROUND, turns: [alone, { ...sum, ...lie }] }),
      false,
      JSON.stringify(Object.keys(lie)),
    )
  assert.equal(await matches({ ...ROUND, totalWei: ROUND.totalWei + 1n }), false, 'total')
  assert.equal(await matches({ ...ROUND, id: 8 }), false, 'another round’s transaction')
})

test('single turns that are too few, of other times, or of other seeds than the chain’s are told', async () => {
  const [first = assert.fail(), second = assert.fail(), third = assert.fail()] = SUMMED
  const lies: [string, SingleTurn[]][] = [
    ['none', []],
    ['one left out', [first, third]],
    ['one twice', [first, second, third, third]],
    ['out of step, to the same sum', [first, { ...single(2, 4_106), amountWei: second.amountWei }, third]],
    ['without terms', [first, { ...second, seed: null }, third]],
  ]
  for (const [name, singles] of lies) assert.equal(await matches(ROUND, [ALONE, ...singles]), false, name)
  // Their sum may be made to fit by the terms that are published, but not their times.
  const shifted = [4_005, 4_095, 4_205].map((due) => single(2, due))
  const target = sumOf(SUMMED) - sumOf(shifted.slice(0, 2))
  const range = { minWei: target, maxWei: target, payoutBps: 10_000 }
  const fitted = [...shifted.slice(0, 2), { ...single(2, 4_205), ...range, amountWei: target }]
  const verified = await verifyRound(saying([ALONE, ...fitted]), ROUND, chain)
  assert.deepEqual([verified.turns[1]?.expectedWei, verified.turns[1]?.amountMatches], [sumOf(SUMMED), false])
})

test('a turn without terms cannot be recomputed, which is not right', async () => {
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  const verified = await verifyRound(saying(SINGLES), { ...ROUND, turns: [{ ...alone, minWei: null }, sum] }, chain)
  assert.deepEqual([verified.turns[0]?.amountMatches, verified.matches], [null, false])
})
