// Detection of a service that lies: each field of a round, a node and the cover is false once. The test names the
// fields that cannot be checked, and a new field must go on one side or the other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cover, Distribution, SingleTurn, Turn } from '../../client/src/index.ts'
import { recomputeRound } from '../../client/src/viem/turns.ts'
import { verifyCover, verifyNode, verifyRound } from '../../client/src/viem/verify.ts'
import {
  ALONE,
  chain,
  chainWith,
  hashOf,
  NODE,
  OTHER_TX,
  ROUND,
  randomnessOf,
  SINGLES,
  SUMMED,
  saying,
  sayingOf,
  single,
  sumOf,
  TURNS,
  TX,
} from './verified.ts'

const matches = async (round: Distribution, singles: readonly SingleTurn[] = SINGLES) =>
  (await verifyRound(saying(singles), round, chain)).matches

test('a true round is right, with every turn of a sum recomputed, page by page', async () => {
  const verified = await verifyRound(saying(SINGLES), ROUND, chain)
  assert.deepEqual(
    verified.turns.map(({ singles, amountMatches, seedMatches, creditedMatches, intervalMatches }) => [
      ...[singles.length, amountMatches, seedMatches, creditedMatches, intervalMatches],
    ]),
    [
      [1, true, true, true, true],
      [3, true, true, true, true],
    ],
  )
  assert.deepEqual([verified.matches, verified.totalMatches, verified.allListed], [true, true, true])
  const arithmetic = await verifyRound(saying(SINGLES), ROUND)
  assert.deepEqual([arithmetic.matches, arithmetic.allListed, arithmetic.turns[1]?.seedMatches], [true, null, null])
})

test('a round whose turns the service hides, some or all, is not right', async () => {
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  for (const turns of [[], [sum], [alone], [alone, alone], [sum, sum], [alone, sum, sum]]) {
    const totalWei = turns.reduce((total, { amountWei }) => total + 2n * amountWei, 0n)
    const round = { ...ROUND, turns, totalWei, nodeCount: 2 * turns.length }
    for (const txHash of [TX, OTHER_TX])
      assert.equal(await matches({ ...round, txHash }), false, `${turns.length} listed, of ${txHash}`)
  }
  const hidden = { ...ROUND, turns: [], totalWei: 0n, nodeCount: 0 }
  assert.equal((await verifyRound(saying([]), hidden)).matches, false, 'the chain is not asked')
})

/** Every field of the type either has a lie or is named as one that cannot be checked. */
function assertAllTried(truth: object, lies: readonly (readonly [string, unknown])[], unchecked: readonly string[]) {
  assert.deepEqual([...new Set(lies.map(([field]) => field)), ...unchecked].sort(), Object.keys(truth).sort())
}

test('each field of a round that is a lie is reported', async () => {
  const lies: [keyof Distribution, unknown][] = [
    ['id', 8],
    ['mode', 'swaps'],
    ['nodeCount', 5],
    ['createdAt', new Date(9_000_001)],
    ['txHash', OTHER_TX],
    ['blockNumber', 901],
    ['totalWei', ROUND.totalWei + 1n],
    ['turns', TURNS.slice(1)],
  ]
  assertAllTried(ROUND, lies, [])
  for (const [field, lie] of lies) assert.equal(await matches({ ...ROUND, [field]: lie }), false, field)
  const untold = { ...ROUND, mode: null, createdAt: null }
  assert.equal(await matches(untold), true, 'what the service does not say is no lie')
})

test('each field of a turn that is a lie is reported', async () => {
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  const lies: [keyof Turn, unknown][] = [
    ['cohort', 3],
    ['cohort', 2],
    ['due', new Date(5_001_000)],
    ['dueSec', alone.dueSec + 1],
    ['count', 2],
    ['seedBlock', 501],
    ['seedBlock', null],
    ['seed', randomnessOf(1)],
    ['seed', null],
    ['minWei', 1_001n],
    ['maxWei', 9_001n],
    ['maxWei', 0n],
    ['payoutBps', 10_000],
    ['amountWei', alone.amountWei + 1n],
    ['nodeCount', 1],
  ]
  assertAllTried(alone, lies, ['tierId', 'assurance'])
  for (const [field, lie] of lies)
    assert.equal(await matches({ ...ROUND, turns: [{ ...alone, [field]: lie }, sum] }), false, `${field} ${lie}`)
  for (const [field, lie] of [
    ['count', 2],
    ['due', new Date(4_004_000)],
    ['dueSec', 4_004],
    ['amountWei', sum.amountWei - 1n],
    ['nodeCount', 3],
  ])
    assert.equal(
      await matches({ ...ROUND, turns: [alone, { ...sum, [field as string]: lie }] }),
      false,
      `sum: ${field}`,
    )
})

test('a seed is that of the first block not before the turn, and of no later one, whatever the terms are made to be', async () => {
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  for (const seedBlock of [499, 501, 700]) {
    const fitted = { seedBlock, seed: randomnessOf(seedBlock), minWei: alone.amountWei, maxWei: alone.amountWei }
    const turn = { ...alone, ...fitted, payoutBps: 10_000 }
    const verified = await verifyRound(saying(SINGLES), { ...ROUND, turns: [turn, sum] }, chain)
    const [told] = verified.turns
    assert.deepEqual([told?.amountMatches, told?.seedMatches, verified.matches], [true, false, false], `${seedBlock}`)
  }
})

test('on a chain without randomness the seed is the hash of the block, and nothing else', async () => {
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  const seedBlock = alone.seedBlock as number
  const mixHash = (words: number[]) => `0x${words.map((word) => word.toString(16).padStart(16, '0')).join('')}`
  const least = (block: number) => Array(4).fill(2 ** 32 + seedBlock - block)
  const chains: Record<string, (block: number) => string | undefined> = {
    Arbitrum: (block) => mixHash([block, 17_000_000 + block, 40, 0]),
    BSC: (block) => mixHash([0, 0, 0, block % 1_000]),
    Polygon: () => mixHash([0, 0, 0, 0]),
    'one that leaves the field out': () => undefined,
    'one that never changes it': () => mixHash(least(seedBlock)),
  }
  for (let at = 0; at < 4; at++)
    chains[`one whose word ${at} is small`] = (block) => mixHash(least(block).with(at, 2 ** 32 - 1))
  const saysOf = async (seed: string, mixHashOf: (block: number) => string | undefined) => {
    const round = { ...ROUND, turns: [{ ...alone, seed: seed as Turn['seed'] }, sum] }
    return (await verifyRound(saying(SINGLES), round, chainWith(mixHashOf))).turns[0]?.seedMatches
  }
  for (const [name, mixHashOf] of Object.entries(chains)) {
    assert.equal(await saysOf(hashOf(seedBlock), mixHashOf), true, name)
    assert.equal(await saysOf(mixHashOf(seedBlock) ?? randomnessOf(1), mixHashOf), false, name)
  }
  assert.equal(await saysOf(mixHash(least(seedBlock)), (block) => mixHash(least(block))), true)
})

test('each field of a single turn that is a lie is reported', async () => {
  const [first = assert.fail(), second = assert.fail(), third = assert.fail()] = SUMMED
  const lies: [keyof SingleTurn, unknown][] = [
    ['cohort', 1],
    ['tierId', 'other'],
    ['due', new Date(4_104_000)],
    ['dueSec', 4_106],
    ['seedBlock', 412],
    ['seed', randomnessOf(1)],
    ['minWei', 1_001n],
    ['maxWei', 9_001n],
    ['payoutBps', 10_000],
    ['amountWei', (second.amountWei ?? 0n) + 1n],
    ['amountWei', null],
    ['nodeCount', 3],
  ]
  assertAllTried(second, lies, ['assurance'])
  for (const [field, lie] of lies)
    assert.equal(await matches(ROUND, [ALONE, first, { ...second, [field]: lie }, third]), false, `${field} ${lie}`)
})

test('the amounts of a round are recomputed without a chain, those of several turns from the single ones', async () => {
  assert.equal(await recomputeRound(saying(SINGLES), ROUND), true)
  const [, summed = assert.fail()] = TURNS
  const wrong = { ...summed, amountWei: summed.amountWei + 1n }
  assert.equal(await recomputeRound(saying(SINGLES), { ...ROUND, turns: [...TURNS.slice(0, 1), wrong] }), false)
  assert.equal(await recomputeRound(saying(SINGLES), { ...ROUND, totalWei: ROUND.totalWei + 1n }), false)
  const noTerms = SINGLES.map((turn) => ({ ...turn, minWei: null }))
  assert.equal(await recomputeRound(saying(noTerms), ROUND), null)
})

test('single turns that are too few, of other times, or of other seeds than the chain’s are reported', async () => {
  const [first = assert.fail(), second = assert.fail(), third = assert.fail()] = SUMMED
  const lies: [string, SingleTurn[]][] = [
    ['none', []],
    ['one left out', [first, third]],
    ['one twice', [first, second, third, third]],
    ['out of step, to the same sum', [first, { ...single(2, 4_106), amountWei: second.amountWei }, third]],
    ['without terms', [first, { ...second, seed: null }, third]],
  ]
  for (const [name, singles] of lies) assert.equal(await matches(ROUND, [ALONE, ...singles]), false, name)
  // A liar can make their sum fit through the published terms, but not their times.
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

test('each field of a node that is a lie is reported, quotes of the chain included', async () => {
  const verify = async (node: object, id: number | bigint | string = 5) => verifyNode(sayingOf({ node }), chain, id)
  assert.deepEqual((await verify(NODE)).differences, [])
  assert.deepEqual((await verify({ ...NODE, chain: null }, '5')).differences, [])
  assert.deepEqual((await verify({ ...NODE, matchedBy: 'id' }, 9n)).differences, [])
  const other = { owner: `0x${'0b'.repeat(20)}`, balanceWei: 71n, creditedWei: 101n, withdrawnWei: 31n }
  for (const [field, lie] of Object.entries(other)) {
    // If the record itself is wrong, the service may say so, or not.
    for (const matchesLedger of [true, false])
      assert.ok(
        (await verify({ ...NODE, [field]: lie, chain: { ...NODE.chain, matchesLedger } })).differences.includes(field),
        field,
      )
    const quoted = await verify({ ...NODE, chain: { ...NODE.chain, [field]: lie } })
    assert.deepEqual(quoted.differences, [`chain.${field}`])
    assert.equal(quoted.matches, false)
  }
  const hushed = await verify({ ...NODE, chain: { ...NODE.chain, matchesLedger: false } })
  assert.deepEqual(hushed.differences, ['chain.matchesLedger'])
  // Another node, whose own record is true.
  const another = { ...NODE, nodeId: '6', balanceWei: 1n, creditedWei: 1n, withdrawnWei: 0n, chain: null }
  assert.deepEqual((await verify(another)).differences, ['nodeId'])
  assert.deepEqual((await verify({ ...NODE, matchedBy: 'id' })).differences, ['nodeId'])
  // Whether a node was expelled, either way. The contract does not say when.
  const expelledAt = new Date(9_000_000)
  assert.deepEqual((await verify({ ...NODE, expelledAt })).differences, ['expelledAt'])
  const gone = { ...another, nodeId: '7' }
  assert.deepEqual((await verify({ ...gone, expelledAt }, 7)).differences, [])
  assert.deepEqual((await verify(gone, 7)).differences, ['expelledAt'])
  const fields = [...Object.keys(other), 'nodeId', 'matchedBy', 'chain', 'id', 'expelledAt']
  const unchecked = ['tierId', 'priceWei', 'paymentTxHash', 'mintTxHash', 'mintedAt', 'lastCreditedAt']
  const tried = fields.map((field) => [field, null] as const)
  assertAllTried(NODE, tried, [...unchecked, 'nextCreditAt', 'createdAt', 'credits', 'withdrawals'])
})

test('each field of the cover that is a lie is reported; what the service could not read is null', async () => {
  const cover: Cover = {
    ...{ contractBalanceWei: 3_000n, outstandingWei: 2_000n, surplusWei: 1_000n, coverBps: 15_000, isSolvent: true },
    ...{ blockNumber: 900, checkedAt: null },
  }
  const verify = async (said: object) => verifyCover(sayingOf({ cover: said }), chain)
  assert.deepEqual((await verify(cover)).differences, [])
  const lies = {
    contractBalanceWei: 3_001n,
    outstandingWei: 1_999n,
    surplusWei: 1_001n,
    coverBps: 15_001,
    isSolvent: false,
  }
  for (const [field, lie] of Object.entries(lies))
    for (const said of [lie, null]) {
      const { differences, matches: isRight } = await verify({ ...cover, [field]: said })
      assert.deepEqual([differences, isRight], [[field], false], `${field} ${said}`)
    }
  assertAllTried(cover, Object.entries(lies), ['blockNumber', 'checkedAt'])
  const unread = { ...Object.fromEntries(Object.keys(cover).map((field) => [field, null])) }
  const { differences, matches: isRight } = await verify(unread)
  assert.deepEqual([differences, isRight], [[], null], 'a service that could not read says nothing that could be wrong')
})
