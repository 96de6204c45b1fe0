// What to do with a stored transaction that is not in a block: the order of the cases, and the fee of a bump.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  affordablePart,
  decideSend,
  leastGas,
  type Outstanding,
  type SendView,
  STUCK_AFTER_BLOCKS,
} from '../../src/domain/send.ts'
import '../support/property.ts'

const tx: Outstanding = {
  nonce: 7,
  attempts: 1,
  maxFeeWei: 800n,
  maxPriorityFeeWei: 80n,
  signedAtBlock: 100,
  lastOutcome: 'accepted',
}
const view: SendView = {
  headBlock: 101,
  accountNonce: 7,
  feesNow: { maxFeeWei: 500n, maxPriorityFeeWei: 50n },
  suggested: { maxFeeWei: 3_000n, maxPriorityFeeWei: 2_400n },
  feeCapWei: 10_000n,
  tipMaxWei: 6_000n,
  isLapsed: false,
}
const stuck = tx.signedAtBlock + STUCK_AFTER_BLOCKS

function bumpTo(maxFeeWei: bigint, maxPriorityFeeWei: bigint): ReturnType<typeof decideSend> {
  return { kind: 'bump', maxFeeWei, maxPriorityFeeWei }
}

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
    'a stuck one offers what a new one would, if that is more',
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

const refused: [string, Partial<Outstanding>, Partial<SendView>, ReturnType<typeof decideSend>][] = [
  ['is raised to what the provider suggests, in the next block', {}, {}, bumpTo(3_120n, 2_400n)],
  ['is not raised again in the block of its last raise', {}, { headBlock: 100 }, { kind: 'resend' }],
  [
    'offers twice the tip after that',
    { attempts: 2, maxPriorityFeeWei: 2_400n, maxFeeWei: 3_120n },
    {},
    bumpTo(5_520n, 4_800n),
  ],
  [
    'offers no more than TIP_MAX',
    { attempts: 3, maxPriorityFeeWei: 4_800n, maxFeeWei: 5_520n },
    {},
    bumpTo(6_720n, 6_000n),
  ],
  ['waits at TIP_MAX', { attempts: 4, maxPriorityFeeWei: 6_000n, maxFeeWei: 6_720n }, {}, { kind: 'capped' }],
  [
    'is raised for a base fee that rose, at TIP_MAX, too',
    { attempts: 4, maxPriorityFeeWei: 6_000n, maxFeeWei: 6_720n },
    { suggested: { maxFeeWei: 7_600n, maxPriorityFeeWei: 1n } },
    bumpTo(7_600n, 6_000n),
  ],
  ['offers no more than the fee cap', {}, { feeCapWei: 2_900n }, bumpTo(2_900n, 2_400n)],
  ['offers no tip above the fee cap', {}, { feeCapWei: 2_000n }, bumpTo(2_000n, 2_000n)],
  [
    'is raised in its tip alone at the fee cap',
    { maxPriorityFeeWei: 1_000n, maxFeeWei: 2_000n },
    { feeCapWei: 2_000n },
    bumpTo(2_000n, 2_000n),
  ],
  [
    'waits above a fee cap that was lowered',
    { maxPriorityFeeWei: 1_000n, maxFeeWei: 2_000n },
    { feeCapWei: 1_999n },
    { kind: 'capped' },
  ],
  [
    'waits at the fee cap',
    { attempts: 2, maxPriorityFeeWei: 2_000n, maxFeeWei: 2_000n },
    { feeCapWei: 2_000n, suggested: { maxFeeWei: 2_000n, maxPriorityFeeWei: 2_000n } },
    { kind: 'capped' },
  ],
  [
    'rises by an eighth if the provider suggests less',
    {},
    { suggested: { maxFeeWei: 1n, maxPriorityFeeWei: 1n } },
    bumpTo(900n, 90n),
  ],
  ['waits for the follower once its nonce is used', {}, { accountNonce: 8 }, { kind: 'wait', why: 'mined' }],
]
for (const [sentence, of, fields, expected] of refused)
  test(`what a pool refused ${sentence}`, () =>
    assert.deepEqual(decideSend({ ...tx, lastOutcome: 'feeTooLow', ...of }, { ...view, ...fields }), expected))

test('a transaction beyond the account’s ether keeps its fee, unless its time is over', () => {
  const poor = { ...tx, lastOutcome: 'insufficientFunds' }
  assert.deepEqual(decideSend(poor, { ...view, headBlock: stuck }), { kind: 'resend' })
  assert.equal(decideSend(poor, { ...view, headBlock: stuck, isLapsed: true }).kind, 'bump')
})

test('every bump offers at least an eighth more on both fields, and never more than the cap', () => {
  const fee = fc.bigInt({ min: 0n, max: 10n ** 13n })
  fc.assert(
    fc.property(fee, fee, fee, fee, fee, (maxFeeWei, maxPriorityFeeWei, feeNow, tipNow, feeCapWei) => {
      const decision = decideSend(
        { ...tx, maxFeeWei, maxPriorityFeeWei },
        { ...view, headBlock: stuck, feesNow: { maxFeeWei: feeNow, maxPriorityFeeWei: tipNow }, feeCapWei },
      )
      if (decision.kind !== 'bump') return assert.equal(decision.kind, 'capped')
      // In eighths, so rounding cannot hide a shortfall.
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
  assert.equal(affordablePart(200, { hasWei: 0n, needsWei: 0n }), 199)
  // A provider may refuse what we reckon to be paid for, by an L1 fee or its own rules.
  for (const hasWei of [200n, 201n, 10n ** 20n])
    assert.equal(affordablePart(200, { hasWei, needsWei: 200n }), 199, `less than before with ${hasWei}`)
})

test('a mint is given gas for each order, and for itself', () => {
  assert.deepEqual(
    [0, 1, 200].map((orders) => leastGas('mint', orders)),
    [0n, 120_000n, 16_040_000n],
  )
})
