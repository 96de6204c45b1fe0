// What counts as final by the code and by the second reading, for up to four providers that name blocks of the ledger, others, or ones to come.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FINAL_DEPTH, firmHeight, leastFinal } from '../../src/domain/finality.ts'
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
  }
  const named = fc.record({ number: fc.nat(8), fork: fc.constantFrom('a', 'a', 'b') })
  const followed = fc.constantFrom(0, 1, 4, 7, 8, 9, FINAL_DEPTH - 1, FINAL_DEPTH, FINAL_DEPTH + 4, FINAL_DEPTH + 9)
  fc.assert(fc.property(fc.array(named, { maxLength: 4 }), fc.nat(9), followed, compare), { numRuns: cases(2_000) })
})
