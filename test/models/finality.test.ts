// What counts as final by the code and by the second reading, for up to four providers that name blocks of the ledger, others, or ones to come.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  FINAL_DEPTH,
  firmHeight,
  isBelievedAlone,
  leastFinal,
  tracesCount,
  weakest,
} from '../../src/domain/finality.ts'
import type { Proof } from '../../src/domain/observed.ts'
import type { Hash } from '../../src/domain/units.ts'
import { cases } from '../support/property.ts'
import * as model from './finality.ts'

const hashAt = (number: number, fork: string) => `0x${fork}${number}` as Hash

test('the final block is the lowest one that providers of this chain name, with a voice for each that names a block of the ledger', () => {
  const compare = (named: { number: number; fork: string }[], known: number, followed: number) => {
    const said = named.map(({ number, fork }) => ({ number, hash: hashAt(number, fork), voices: 1 }))
    const own = new Map(Array.from({ length: known }, (_, number) => [number, hashAt(number, 'a')]))
    const expected = model.finalOf(said, own)
    const found = leastFinal(said, own)
    assert.deepEqual(found && { ...found }, expected && { ...expected })
    if (found && expected) assert.equal(firmHeight(found, followed), model.firm(expected, followed))
    // Without a ledger each provider is believed to be on the chain.
    const all = new Map(said.map(({ number, hash }) => [number, hash]))
    const alone = said.filter((word) => all.get(word.number) === word.hash)
    assert.deepEqual(leastFinal(alone), model.finalOf(alone, all))
  }
  const named = fc.record({ number: fc.nat(8), fork: fc.constantFrom('a', 'a', 'b') })
  const followed = fc.constantFrom(0, 1, 4, 7, 8, 9, FINAL_DEPTH - 1, FINAL_DEPTH, FINAL_DEPTH + 4, FINAL_DEPTH + 9)
  fc.assert(fc.property(fc.array(named, { maxLength: 4 }), fc.nat(9), followed, compare), { numRuns: cases(2_000) })
})

const TRUST = [true, false]

test('traces count if two providers agree, or if the operator trusts the only one', () => {
  for (const trustsProvider of TRUST)
    assert.deepEqual(
      [1, 2, 3].map((providers) => tracesCount(providers, { trustsProvider })),
      [trustsProvider, true, true],
    )
})

test('an only provider is believed about what others gave up to prove, or what was never proven if it is trusted', () => {
  for (const trustsProvider of TRUST)
    for (const [state, expected] of [
      ['lowered', true],
      ['askedFor', false],
      [undefined, trustsProvider],
    ] as const) {
      const states = new Map(state === undefined ? [] : [['receipts', state]]) as never
      assert.equal(isBelievedAlone(states, 'receipts', { trustsProvider }), expected, `${state} ${trustsProvider}`)
    }
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
