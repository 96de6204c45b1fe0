// What to do with a stored transaction that pools refuse, or that the account cannot pay, and the parts and gas of a mint.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  affordablePart,
  decideSend,
  leastGas,
  type Outstanding,
  type SendView,
  STUCK_AFTER_BLOCKS,
} from '../../src/domain/send.ts'

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
