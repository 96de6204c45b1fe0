// Blooms, against ones computed the slow way: they never exclude a logged entry, and do exclude one whose bits are missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from 'ethers'
import fc from 'fast-check'
import { createBloomCheck, isEmptyBloom } from '../../../src/chain/prove/bloom.ts'
import { cases } from '../../support/property.ts'

const bytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((b): `0x${string}` => `0x${Buffer.from(b).toString('hex')}`)

/** The three bits of a value: each pair of the digest's first six bytes, modulo 2048. */
const bitsOf = (value: string) =>
  [0, 1, 2].map((i) => Number.parseInt(keccak256(value).slice(2 + 4 * i, 6 + 4 * i), 16) % 2048)
const bloomOf = (bits: Iterable<number>) => {
  let bloom = 0n
  for (const bit of bits) bloom |= 1n << BigInt(bit)
  return `0x${bloom.toString(16).padStart(512, '0')}`
}

test('a bloom rules out exactly what its bits rule out', () => {
  fc.assert(
    fc.property(
      bytes(20),
      fc.array(bytes(32), { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(bytes(20), bytes(32)), { maxLength: 4 }),
      fc.subarray([0, 1, 2, 3]),
      fc.option(fc.nat({ max: 11 })),
      (address, topics, others, logged, dropped) => {
        const values = [address, ...topics].filter((_, i) => logged.includes(i))
        const bits = [...others, ...values].flatMap(bitsOf)
        const kept = new Set(bits.filter((bit) => dropped === null || bit !== bits[bits.length - 1 - dropped]))
        const bloom = bloomOf(kept)
        const holds = (value: string) => bitsOf(value).every((bit) => kept.has(bit))
        const check = createBloomCheck(address, topics)
        for (const topic of [...topics, ...others.filter((o) => o.length === 66)])
          assert.equal(check.mayHold(bloom, topic as `0x${string}`), holds(address) && holds(topic))
        assert.equal(check.mayHoldAny(bloom), holds(address) && topics.some(holds))
      },
    ),
    { numRuns: cases(300) },
  )
})

test('the bloom of a block without logs is empty, any other is not', () => {
  assert.equal(isEmptyBloom(bloomOf([])), true)
  assert.equal(isEmptyBloom('0x0'), true)
  for (const bit of [0, 5, 1024, 2047]) assert.equal(isEmptyBloom(bloomOf([bit])), false)
  for (const text of ['0x', '', '00', 'x0x00', '0x00\n1']) assert.equal(isEmptyBloom(text), false, text)
})
