// The seeds of published blocks, and the highest credit of a turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { creditMaxWei, seedOf } from '../../../src/domain/rounds/turn-amounts.ts'
import { type Hash, ZERO_HASH } from '../../../src/domain/units.ts'
import { headers, randomness } from '../../chain/prove/published.ts'

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

test('the highest credit of a turn fits 80 bits for a hundred years of turns', () => {
  const day = creditMaxWei(86_400, 10_000)
  const turns = (100n * 31_557_600n) / 86_400n + 1n
  assert.equal(turns, 36_526n)
  assert.ok(day * turns <= 2n ** 80n - 1n && (day + 1n) * turns > 2n ** 80n - 1n)
  assert.equal(creditMaxWei(86_400, 20_000), day / 2n)
  assert.equal(creditMaxWei(86_400, 0), creditMaxWei(86_400, 1), 'a tier that is paid nothing sets no bound')
  assert.equal(creditMaxWei(Number(100n * 31_557_600n), 10_000), (2n ** 80n - 1n) / 2n)
})
