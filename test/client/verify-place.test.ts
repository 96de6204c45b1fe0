// Where a verifier reads: a block that is recent by the caller's own provider, the contract and chain that the caller knows, and the contract's own
// interval.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAbiParameters, encodeEventTopics } from 'viem'
import { factoryAbi } from '../../client/src/viem/factory.ts'
import { type VerifyOptions, verifyCover, verifyNode, verifyRound } from '../../client/src/viem/verify.ts'
import {
  ALONE,
  CHAIN_ID,
  COVER,
  chain,
  chainWith,
  FACTORY,
  NODE,
  ROUND,
  randomnessOf,
  SINGLES,
  saying,
  sayingOf,
  single,
  sumOf,
  TURNS,
  TX,
} from './verified.ts'

test('a reading of an old block is reported, however true it was then', async () => {
  const differencesAt = async (head: number, options: VerifyOptions = {}) => {
    const late = chainWith(randomnessOf, { head })
    const ledger = sayingOf({ node: NODE, cover: COVER })
    const verified = [await verifyCover(ledger, late, options), await verifyNode(ledger, late, 5, options)]
    for (const { matches: isRight, differences } of verified) assert.equal(isRight, differences.length === 0)
    return verified.map(({ differences }) => differences)
  }
  const [fresh, old] = [
    [[], []],
    [['blockNumber'], ['chain.blockNumber']],
  ]
  // A block every ten seconds: 90 blocks are 900 seconds.
  assert.deepEqual(await differencesAt(990), fresh)
  assert.deepEqual(await differencesAt(991), old)
  assert.deepEqual(await differencesAt(991, { maxAge: { sec: 910 } }), fresh)
  assert.deepEqual(await differencesAt(991, { maxAge: { blocks: 91 } }), fresh)
  assert.deepEqual(await differencesAt(910, { maxAge: { blocks: 5, sec: 60 } }), old)
  assert.deepEqual(await differencesAt(890), fresh, 'the provider is behind the service')
})

test('a time at which the block was not yet, or no longer, the newest is reported', async () => {
  const differencesOf = async (checkedSec: number, head = 950) => {
    const cover = { ...COVER, checkedAt: new Date(checkedSec * 1000) }
    return (await verifyCover(sayingOf({ cover }), chainWith(randomnessOf, { head }))).differences
  }
  for (const sec of [9_000, 9_005, 8_880, 9_910]) assert.deepEqual(await differencesOf(sec), [], `${sec}`)
  for (const sec of [8_879, 9_911]) assert.deepEqual(await differencesOf(sec), ['checkedAt'], `${sec}`)
  assert.deepEqual(await differencesOf(99_000, 900), [], 'no block has come since')
})

test('a service that names another contract or chain than the caller knows is reported', async () => {
  const elsewhere = `0x${'0C'.repeat(20)}` as const
  const ledger = sayingOf({ node: NODE, cover: COVER })
  for (const [options, differences] of [
    [{ factoryAddress: FACTORY.toUpperCase().replace('0X', '0x'), chainId: CHAIN_ID }, []],
    [{ factoryAddress: elsewhere }, ['factoryAddress']],
  ] as const) {
    const isRight = differences.length === 0
    const cover = await verifyCover(ledger, chain, options)
    assert.deepEqual([cover.differences, cover.matches], [differences, isRight])
    const node = await verifyNode(ledger, chain, 5, options)
    assert.deepEqual([node.differences, node.matches], [differences, isRight])
    assert.equal((await verifyRound(saying(SINGLES), ROUND, chain, options)).matches, isRight)
  }
  const unread = { ...Object.fromEntries(Object.keys(COVER).map((field) => [field, null])) }
  const { differences, matches: isRight } = await verifyCover(sayingOf({ cover: unread }), chain, {
    factoryAddress: elsewhere,
  })
  assert.deepEqual([differences, isRight], [['factoryAddress'], false])
  const other = chainWith(randomnessOf, {
    answer: async ({ method }) => (method === 'eth_chainId' ? '0x1' : undefined),
  })
  assert.deepEqual((await verifyCover(ledger, other, { chainId: 1 })).differences, ['chainId'])
  for (const verify of [
    () => verifyCover(ledger, other, { chainId: CHAIN_ID }),
    () => verifyNode(ledger, other, 5, { chainId: CHAIN_ID }),
    () => verifyRound(saying(SINGLES), ROUND, other, { chainId: CHAIN_ID }),
  ])
    await assert.rejects(verify, { code: 'wrongChain' })
})

test('several turns are as far apart as the contract says, not as the service does', async () => {
  const shifted = [4_005, 4_055, 4_105].map((due) => single(2, due))
  const [alone = assert.fail(), sum = assert.fail()] = TURNS
  const totalWei = 2n * (sumOf([ALONE]) + sumOf(shifted))
  const round = { ...ROUND, turns: [alone, { ...sum, amountWei: sumOf(shifted) }], totalWei }
  const verified = await verifyRound(saying([ALONE, ...shifted]), round, chain)
  assert.deepEqual([verified.turns[1]?.amountMatches, verified.turns[1]?.intervalMatches], [true, false])
  assert.equal(verified.matches, false)

  /** A provider without the state of the round's block. */
  const saysOf = async (logs: unknown[] | null) => {
    const answer = async ({ method, params }: { method: string; params: unknown }) => {
      if (method === 'eth_getLogs') return logs ?? Promise.reject(new Error('too many blocks'))
      if (method === 'eth_call' && (params as [object, string])[1] !== 'latest') throw new Error('no such state')
      return undefined
    }
    const { turns, matches: isRight } = await verifyRound(saying(SINGLES), ROUND, chainWith(randomnessOf, { answer }))
    return [turns[1]?.intervalMatches, isRight]
  }
  const set = (former: bigint) => ({
    ...{ address: FACTORY, blockNumber: '0x385', transactionHash: TX, logIndex: '0x0', transactionIndex: '0x0' },
    ...{ blockHash: TX, removed: false },
    topics: encodeEventTopics({ abi: factoryAbi, eventName: 'IntervalSet', args: { cohort: 2n } }),
    data: encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [70n, former]),
  })
  assert.deepEqual(await saysOf([]), [true, true], 'it has not changed since')
  assert.deepEqual(await saysOf([set(100n), set(70n)]), [true, true])
  assert.deepEqual(await saysOf([set(50n)]), [false, false])
  assert.deepEqual(await saysOf(null), [null, false])
})
