// The pay of a turn: terms of its own time, a seed that no one can choose, and a draw without bias.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type CreditTerms,
  creditMaxWei,
  seedOf,
  termsAt,
  turnAmountWei,
} from '../../../src/domain/rounds/turn-amounts.ts'
import { type Hash, hash, UINT256_MAX, wei, ZERO_HASH } from '../../../src/domain/units.ts'
import { headers, randomness } from '../../chain/prove/published.ts'
import '../../support/property.ts'

const terms = (fromTime: number): CreditTerms => ({
  fromTime,
  payouts: true,
  minWei: wei(1n),
  maxWei: wei(2n),
  intervalSec: 100,
  slotSec: 10,
})

test('the latest terms that began by a time count, in any order of reading', () => {
  const all = [terms(200), terms(100), terms(300)]
  const cases: [number, number | null][] = [
    [99, null],
    [100, 100],
    [199, 100],
    [200, 200],
    [9999, 300],
  ]
  for (const [time, expected] of cases) assert.equal(termsAt(all, time)?.fromTime ?? null, expected)
  const twice = [terms(100), { ...terms(100), slotSec: 20 }]
  assert.equal(termsAt(twice, 100), twice[0], 'of two entries for one time the first holds')
})

test('a published block’s seed is its mixHash if the chain has randomness there, else its hash', () => {
  const published = [...headers(), ...randomness()].filter(({ block }) => block.mixHash !== undefined)
  const random = published.filter(({ block: { hash, mixHash } }) => {
    const prevrandao = mixHash as Hash
    return seedOf({ hash: hash as Hash, prevrandao }, { prevrandao: ZERO_HASH }) === prevrandao
  })
  const of = (list: typeof published) => [...new Set(list.map(({ chain, fork }) => `${chain}, ${fork}`))].sort()
  assert.deepEqual(of(random), [
    ...['Ethereum Classic, before London', 'Ethereum test chain, Amsterdam'],
    ...['Ethereum, Cancun', 'Ethereum, London', 'Ethereum, Shanghai', 'Gnosis, London, proof of stake'],
    ...['OP Mainnet, Isthmus', 'Taiko, Shanghai'],
  ])
  const others = of(published.filter((one) => !random.includes(one)))
  for (const chain of ['Arbitrum One', 'Avalanche C', 'BSC', 'Polygon'])
    assert.ok(
      others.some((name) => name.startsWith(chain)),
      `${chain} is among them`,
    )
})

test('prevrandao is the seed if its words are at least 2^32 and it differs from the parent’s', () => {
  const block = hash(`0x${'aa'.repeat(32)}`)
  const LEAST = '0000000100000000'
  const seedBy = (...words: string[]) => seedOf({ hash: block, prevrandao: hash(`0x${words.join('')}`) }, null)
  assert.equal(seedBy(LEAST, LEAST, LEAST, LEAST), `0x${LEAST.repeat(4)}`)
  for (let at = 0; at < 4; at++)
    for (const small of ['00000000ffffffff', '0000000000000000'])
      assert.equal(seedBy(...[0, 1, 2, 3].map((place) => (place === at ? small : 'f'.repeat(16)))), block, `word ${at}`)
})

test('the seed is prevrandao, or the block’s hash if prevrandao is constant', () => {
  const block = hash(`0x${'aa'.repeat(32)}`)
  const random = hash(`0x${'bb'.repeat(32)}`)
  assert.equal(seedOf({ hash: block, prevrandao: random }, { prevrandao: ZERO_HASH }), random)
  assert.equal(seedOf({ hash: block, prevrandao: random }, null), random)
  assert.equal(seedOf({ hash: block, prevrandao: ZERO_HASH }, { prevrandao: random }), block)
  assert.equal(seedOf({ hash: block, prevrandao: random }, { prevrandao: random }), block)
})

test('both ends of the range are drawn, and each value as often as any other', () => {
  const counts = new Map<bigint, number>()
  for (let digest = 0n; digest < 400n; digest++) {
    const amount = turnAmountWei(digest, { minWei: 5n, maxWei: 8n }, 10_000)
    counts.set(amount, (counts.get(amount) ?? 0) + 1)
  }
  assert.deepEqual(
    [...counts],
    [5n, 6n, 7n, 8n].map((amount) => [amount, 100]),
  )
})

test('the draw of any digest is within its range with edges, and the payout is rounded down', () => {
  const uint = fc.bigInt({ min: 0n, max: UINT256_MAX })
  const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
  fc.assert(
    fc.property(uint, amount, amount, fc.integer({ min: 0, max: 1_000_000 }), (digest, a, b, bps) => {
      const range = { minWei: a < b ? a : b, maxWei: a < b ? b : a }
      const base = turnAmountWei(digest, range, 10_000)
      assert.ok(base >= range.minWei && base <= range.maxWei)
      const paid = turnAmountWei(digest, range, bps)
      const exact = base * BigInt(bps)
      assert.ok(paid * 10_000n <= exact && (paid + 1n) * 10_000n > exact)
    }),
  )
})

test('a range of one value pays that value; a payout of zero pays nothing', () => {
  assert.equal(turnAmountWei(UINT256_MAX, { minWei: 7n, maxWei: 7n }, 10_000), 7n)
  assert.equal(turnAmountWei(3n, { minWei: 7n, maxWei: 9n }, 0), 0n)
  assert.equal(turnAmountWei(0n, { minWei: 9_999n, maxWei: 9_999n }, 1), 0n)
})

test('the highest credit of a turn fits 80 bits for a hundred years of turns', () => {
  const day = creditMaxWei(86_400, 10_000)
  const turns = (100n * 31_557_600n) / 86_400n + 1n
  assert.equal(turns, 36_526n)
  assert.ok(day * turns <= 2n ** 80n - 1n && (day + 1n) * turns > 2n ** 80n - 1n)
  assert.equal(creditMaxWei(86_400, 20_000), day / 2n)
  assert.equal(creditMaxWei(86_400, 0), creditMaxWei(86_400, 1), 'a tier that is paid nothing sets no bound')
  assert.equal(creditMaxWei(Number(100n * 31_557_600n), 10_000), (2n ** 80n - 1n) / 2n)
})
