// The fate of a transaction that is stored and not in a block: the order of the cases, and the offer of a bump.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  affordablePart,
  decideSend,
  leastMintGas,
  type Outstanding,
  type SendView,
  STUCK_AFTER_BLOCKS,
} from '../../src/domain/send.ts'
import '../support/property.ts'

const tx: Outstanding = { nonce: 7, attempts: 1, maxFeeWei: 800n, maxPriorityFeeWei: 80n, signedAtBlock: 100 }
const view: SendView = {
  headBlock: 101,
  accountNonce: 7,
  feesNow: { maxFeeWei: 500n, maxPriorityFeeWei: 50n },
  feeCapWei: 10_000n,
}
const stuck = tx.signedAtBlock + STUCK_AFTER_BLOCKS

const cases: [string, Partial<SendView>, ReturnType<typeof decideSend>][] = [
  ['a fresh one is handed over again', {}, { kind: 'resend' }],
  ['one whose nonce is used waits for the follower', { accountNonce: 8 }, { kind: 'wait', why: 'mined' }],
  ['a used nonce comes before a stuck fee', { accountNonce: 8, headBlock: 500 }, { kind: 'wait', why: 'mined' }],
  [
    'a used nonce comes before the cap',
    { accountNonce: 8, headBlock: 500, feeCapWei: 1n },
    { kind: 'wait', why: 'mined' },
  ],
  ['one block before it counts as stuck it is resent', { headBlock: stuck - 1 }, { kind: 'resend' }],
  ['patience comes before the cap', { headBlock: stuck - 1, feeCapWei: 1n }, { kind: 'resend' }],
  [
    'a stuck one is raised by an eighth',
    { headBlock: stuck },
    { kind: 'bump', maxFeeWei: 900n, maxPriorityFeeWei: 90n },
  ],
  [
    'a stuck one offers what a new one would, where that is more',
    { headBlock: stuck, feesNow: { maxFeeWei: 2000n, maxPriorityFeeWei: 5n } },
    { kind: 'bump', maxFeeWei: 2000n, maxPriorityFeeWei: 90n },
  ],
  [
    'a raise up to the cap is made',
    { headBlock: stuck, feeCapWei: 900n },
    { kind: 'bump', maxFeeWei: 900n, maxPriorityFeeWei: 90n },
  ],
  [
    'a tip is raised up to the cap, too',
    { headBlock: stuck, feesNow: { maxFeeWei: 5n, maxPriorityFeeWei: 950n }, feeCapWei: 950n },
    { kind: 'bump', maxFeeWei: 900n, maxPriorityFeeWei: 950n },
  ],
  [
    'a tip beyond the cap is not offered',
    { headBlock: stuck, feesNow: { maxFeeWei: 5n, maxPriorityFeeWei: 951n }, feeCapWei: 950n },
    { kind: 'capped' },
  ],
  ['a raise beyond the cap is not', { headBlock: stuck, feeCapWei: 899n }, { kind: 'capped' }],
  ['an account nonce behind ours is no reason to wait', { accountNonce: 3 }, { kind: 'resend' }],
]
for (const [sentence, fields, expected] of cases) {
  test(sentence, () => assert.deepEqual(decideSend(tx, { ...view, ...fields }), expected))
}

test('every bump offers at least an eighth more on both fields, and never more than the cap', () => {
  const fee = fc.bigInt({ min: 0n, max: 10n ** 13n })
  fc.assert(
    fc.property(fee, fee, fee, fee, fee, (maxFeeWei, maxPriorityFeeWei, feeNow, tipNow, feeCapWei) => {
      const decision = decideSend(
        { ...tx, maxFeeWei, maxPriorityFeeWei },
        { ...view, headBlock: stuck, feesNow: { maxFeeWei: feeNow, maxPriorityFeeWei: tipNow }, feeCapWei },
      )
      if (decision.kind !== 'bump') return assert.equal(decision.kind, 'capped')
      // In eighths, so that no rounding can hide a shortfall.
      assert.ok(decision.maxFeeWei * 8n >= maxFeeWei * 9n && decision.maxPriorityFeeWei * 8n >= maxPriorityFeeWei * 9n)
      assert.ok(decision.maxFeeWei > maxFeeWei && decision.maxPriorityFeeWei > maxPriorityFeeWei)
      assert.ok(decision.maxFeeWei >= feeNow && decision.maxPriorityFeeWei >= tipNow)
      assert.ok(decision.maxFeeWei <= feeCapWei && decision.maxPriorityFeeWei <= feeCapWei)
    }),
  )
})

test('a tip of nothing is raised, too', () => {
  const quiet = { ...view, headBlock: stuck, feesNow: { maxFeeWei: 5n, maxPriorityFeeWei: 0n } }
  const decision = decideSend({ ...tx, maxPriorityFeeWei: 0n }, quiet)
  assert.ok(decision.kind === 'bump' && decision.maxPriorityFeeWei === 1n)
})

test('the part of a batch to try is what the ether pays for, at least one, and less than before', () => {
  assert.equal(affordablePart(200, { hasWei: 50n, needsWei: 200n }), 50)
  assert.equal(affordablePart(200, { hasWei: 0n, needsWei: 200n }), 1)
  assert.equal(affordablePart(200, { hasWei: 199n, needsWei: 200n }), 199)
  assert.equal(affordablePart(2, { hasWei: 199n, needsWei: 200n }), 1)
})

test('a mint is given gas for each order, and for itself', () => {
  assert.deepEqual([0, 1, 200].map(leastMintGas), [0n, 120_000n, 16_040_000n])
})
