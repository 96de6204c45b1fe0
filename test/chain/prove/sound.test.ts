// What a ledger does with an answer that fails its proof, by its mode.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertSound,
  isHeaderSound,
  isSound,
  mustProve,
  noteFailed,
  type Soundness,
} from '../../../src/chain/prove/sound.ts'
import type { Verdict } from '../../../src/chain/prove/verdict.ts'
import { ProofFault } from '../../../src/ports/faults.ts'
import { hashed, headers } from './published.ts'

const soundness = (mode: Soundness['mode']): Soundness => ({ mode, chainId: null, failed: [], voices: [] })
const VERDICTS: readonly (readonly [Verdict, words: string, isFalse: boolean])[] = [
  [{ kind: 'contradicted', part: 'receipts', given: '0x1', computed: '0x2' }, 'given 0x1, computed 0x2', true],
  [{ kind: 'unprovable', part: 'receipts', why: 'no list' }, 'no list', false],
]

/** The fault that a call throws. */
function faultOf(call: () => unknown): ProofFault {
  try {
    call()
  } catch (error) {
    if (error instanceof ProofFault) return error
  }
  return assert.fail('no fault')
}

test('only a ledger that requires proofs rejects unproven blocks', () => {
  const block = headers().find(({ fork }) => fork === 'Prague')?.block ?? assert.fail()
  const added = hashed({ ...block, ofAFork: '0x7' }, ['ofAFork'])
  for (const mode of ['proven', 'agreed', null] as const) {
    const must = soundness(mode)
    assert.equal(mustProve(must), mode === 'proven')
    assert.equal(isSound(must, 'receipts', { kind: 'proven', part: 'receipts' }, 7), true)
    assert.equal(isHeaderSound(must, block, 7), true)
    assert.deepEqual(assertSound(must, block, 7), [])
    assert.deepEqual(assertSound(must, added, 7), mode === 'proven' ? ['ofAFork'] : [])
    for (const [verdict, words, isFalse] of VERDICTS) {
      if (mode !== 'proven') {
        assert.equal(isSound(must, 'receipts', verdict, 7), false)
        continue
      }
      const { part, blockNumber, says, isFalse: known } = faultOf(() => isSound(must, 'receipts', verdict, 7))
      assert.deepEqual([part, blockNumber, says, known], ['receipts', 7, words, isFalse])
    }
    const wrong = { ...block, number: '0x1' }
    if (mode !== 'proven') assert.deepEqual([isHeaderSound(must, wrong, 7), assertSound(must, wrong, 7)], [false, []])
    else
      for (const call of [isHeaderSound, assertSound]) assert.equal(faultOf(() => call(must, wrong, 7)).part, 'header')
  }
})

test('a few false answers are noted with their provider, and none that only lacked a proof', () => {
  const into = soundness('proven')
  for (let number = 0; number < 20; number++)
    for (const isFalse of [false, true])
      noteFailed(into, new ProofFault('header', number, 'words', { isFalse }), 'host')
  assert.deepEqual(
    into.failed,
    Array.from({ length: 16 }, (_, number) =>
      new ProofFault('header', number, 'words', { isFalse: true }).failedBy('host'),
    ),
  )
})
