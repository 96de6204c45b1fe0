// Fees, nonces and refunds: src/domain/{fees,send,nonces,refunds}.ts and the second reading agree over random blocks and transactions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { feeLimits, offerFees } from '../../src/domain/fees.ts'
import type { BlockFees } from '../../src/domain/observed.ts'
import { isRefundSafe, judgeRefund } from '../../src/domain/refund-safety.ts'
import { decideSend, type Outstanding, type SendView, whyStuck } from '../../src/domain/send.ts'
import { cases } from '../support/property.ts'
import * as fees from './fees.ts'
import * as refunds from './refunds.ts'

const GWEI = 10n ** 9n
const wei = fc.constantFrom(
  0n,
  0n,
  0n,
  1n,
  7n,
  8n,
  9n,
  GWEI - 1n,
  GWEI,
  GWEI + 1n,
  2n * GWEI,
  5n * GWEI,
  40n * GWEI,
  10n ** 18n,
)
const block = fc.record({ baseFeeWei: fc.option(wei, { freq: 4 }), tipWei: fc.option(wei, { freq: 3 }) })
const caps = fc.record({
  feeCapWei: fc.constantFrom(GWEI, 10n * GWEI, 500n * GWEI),
  tipMaxWei: fc.constantFrom(1n, GWEI, 10n * GWEI),
})

test('no offer exceeds what blocks show and caps allow, under any provider’s suggestion', () => {
  const compare = (recent: fees.Paid[], rules: fees.Caps, baseFeeWei: bigint, tipWei: bigint) => {
    const limits = feeLimits(recent as unknown as BlockFees[], rules)
    const most = fees.believed(recent, rules)
    assert.deepEqual([limits.tipMaxWei, limits.baseFeeMaxWei], [most.tipWei, most.baseFeeWei])
    const offer = offerFees({ baseFeeWei, tipWei }, limits)
    assert.deepEqual(fees.breaks(offer, { baseFeeWei, tipWei }, recent, rules), [])
    // A lie beyond the bounds changes nothing.
    const lie = offerFees({ baseFeeWei: baseFeeWei + 10n ** 24n, tipWei: tipWei + 10n ** 24n }, limits)
    const bound = offerFees({ baseFeeWei: most.baseFeeWei ?? baseFeeWei + 10n ** 24n, tipWei: most.tipWei }, limits)
    assert.deepEqual(lie, bound)
  }
  fc.assert(fc.property(fc.array(block, { maxLength: 4 }), caps, wei, wei, compare), { numRuns: cases(2_000) })
})

test('a pending transaction is sent again, and raised by an eighth after 12 blocks', () => {
  const fee = fc.record({ maxFeeWei: wei, maxPriorityFeeWei: wei })
  const compare = (tx: fees.Offer, feesNow: fees.Offer, capWei: bigint, ahead: number, age: number) => {
    const sent = { ...tx, nonce: 5, signedAtBlock: 100 }
    const model = fees.pending(sent, { head: 100 + age, accountNonce: 5 + ahead, feesNow, feeCapWei: capWei })
    for (const lastOutcome of [null, 'accepted']) {
      const outstanding: Outstanding = { ...sent, attempts: 1, lastOutcome }
      const offers = { feesNow, suggested: feesNow, feeCapWei: capWei, tipMaxWei: GWEI }
      const view: SendView = { headBlock: 100 + age, accountNonce: 5 + ahead, ...offers, isLapsed: false }
      const code = decideSend(outstanding, view)
      if (model === 'mined') assert.deepEqual(code, { kind: 'wait', why: 'mined' })
      else if (typeof model === 'string') assert.deepEqual(code, { kind: model })
      else assert.deepEqual(code, { kind: 'bump', ...model.atLeast })
    }
  }
  const age = fc.constantFrom(0, 1, 11, 12, 13, 100)
  fc.assert(fc.property(fee, fee, wei, fc.constantFrom(-1, 0, 1), age, compare), { numRuns: cases(2_000) })
})

test('a stuck transaction has the first of the reasons that apply', () => {
  for (let bits = 0; bits < 32; bits++) {
    const [isAhead, isBehind, isOver, isCheap, isKnown] = [1, 2, 4, 8, 16].map((bit) => (bits & bit) !== 0)
    const applies = [isAhead, isBehind, isOver, isCheap, !isKnown, true]
    const facts = { isAhead, isBehind, isOver, isCheap, lastOutcome: isKnown ? 'accepted' : 'feeTooLow' }
    assert.equal(whyStuck(facts as Parameters<typeof whyStuck>[0]), fees.STUCK[applies.indexOf(true)])
  }
})

test('a refund is safe once a final block is later than every signed mint, to a known payer', () => {
  const anyProof = fc.constantFrom(null, 'believed' as const, 'agreed' as const, 'proven' as const)
  const compare = (
    [signed, lost, time, paid]: [number | null, number | null, number | null, number | null],
    proof: 'believed' | 'agreed' | 'proven' | null,
    trustsOne: boolean,
  ) => {
    const final = time === null ? null : { number: 50, time }
    const one = { mintsUntil: [signed, lost].filter((until) => until !== null), block: paid }
    const code = judgeRefund({
      ...{ final, signedUntil: signed, lostUntil: lost, blockNumber: paid, proof, trustsOne },
    })
    const model = {
      safeAfter: refunds.safeAfter(one),
      mayStillMint: refunds.mayStillMint(one, final),
      isPaymentFinal: refunds.isFinal(one, final),
      isSenderKnown: refunds.isSenderKnown(proof, trustsOne),
    }
    assert.deepEqual(code, model)
    assert.equal(isRefundSafe(code), !model.mayStillMint && model.isPaymentFinal && model.isSenderKnown)
  }
  const until = fc.constantFrom(null, 999, 1_000, 1_001)
  const paid = fc.constantFrom(null, 49, 50, 51)
  fc.assert(fc.property(fc.tuple(until, until, until, paid), anyProof, fc.boolean(), compare), { numRuns: cases(500) })
})
