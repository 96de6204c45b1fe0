// What counts as final by the code and by the second reading, for up to four providers that name blocks of one chain or of another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  canAgree,
  FINAL_DEPTH,
  firmHeight,
  foundInWords,
  leastFinal,
  tracesCount,
  trustsOne,
  voicesNeeded,
  weakest,
} from '../../src/domain/finality.ts'
import type { Proof } from '../../src/domain/observed.ts'
import type { Hash } from '../../src/domain/units.ts'
import { cases } from '../support/property.ts'
import * as model from './finality.ts'

const hashAt = (number: number, fork: string) => `0x${fork}${number}` as Hash

test('the final block is the lowest that any provider reports, and a lone voice counts late', () => {
  const compare = (named: { number: number; fork: string }[], gaps: number[]) => {
    const said = named.map(({ number, fork }) => ({ number, hash: hashAt(number, fork), voices: 1 }))
    const expected = model.finalOf(said)
    const found = leastFinal(said)
    assert.deepEqual(found && { ...found }, expected && { ...expected })
    const times = [0]
    for (const gap of gaps) times.push((times.at(-1) ?? 0) + gap)
    const heights = { followed: gaps.length, aged: model.aged(times) }
    if (found && expected) assert.equal(firmHeight(found, heights), model.firm(expected, times))
  }
  const named = fc.record({ number: fc.nat(90), fork: fc.constantFrom('a', 'a', 'b') })
  const near = fc.record({ number: fc.nat(2), fork: fc.constantFrom('a', 'a', 'b') })
  const gaps = fc.array(fc.constantFrom(1, 12, 15, 900), { maxLength: FINAL_DEPTH + 20, size: 'max' })
  fc.assert(fc.property(fc.array(fc.oneof(named, near), { maxLength: 4 }), gaps, compare), { numRuns: cases(2_000) })
})

const TRUST = [true, false]
const chains = [1, 2, 3].map((length) => ({ providers: { length } }))

test('two must agree if there are two, and the only one is enough otherwise', () => {
  assert.deepEqual(chains.map(canAgree), [false, true, true])
  assert.deepEqual([1, 2, 3].map(voicesNeeded), [1, 2, 2])
})

test('a finding in words has the block, and the part that cannot be proven', () => {
  assert.equal(foundInWords({ mode: 'proven', block: 5, added: [] }), 'block 5 proves itself')
  const finding = { mode: 'agreed', part: 'header', block: 5, why: 'odd fields' } as const
  assert.equal(foundInWords(finding), 'the header of block 5 cannot be proven: odd fields')
})

test('traces count if two providers agree, or if the operator trusts the only one', () => {
  for (const trustsProvider of TRUST)
    assert.deepEqual(
      chains.map((chain) => tracesCount(chain, { trustsProvider })),
      [trustsProvider, true, true],
    )
})

test('a single provider is trusted alone if blocks have no proofs and the operator sets that', () => {
  for (const trustsProvider of TRUST)
    assert.deepEqual(
      chains.flatMap((chain) =>
        [null, 'proven' as const, 'agreed' as const].map((mode) => trustsOne(chain, mode, { trustsProvider })),
      ),
      [...[false, false, trustsProvider], ...Array<boolean>(6).fill(false)],
    )
})

test('a fact that follows from others is proven as the weakest of them is', () => {
  const order: Proof[] = ['believed', 'agreed', 'proven']
  const anyProofs = fc.array(fc.constantFrom(...order), { maxLength: 4 })
  fc.assert(
    fc.property(anyProofs, (proofs) => {
      let found = order.length - 1
      for (const proof of proofs) found = Math.min(found, order.indexOf(proof))
      assert.equal(weakest(proofs), order[found])
    }),
  )
})
