// The safety of a refund: decided at a final block, never from missing data.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefundSafe, judgeRefund, type RefundFacts } from '../../src/domain/refund-safety.ts'

const FACTS: RefundFacts = {
  final: { number: 100, time: 5_000 },
  signedUntil: null,
  lostUntil: null,
  blockNumber: 100,
  proof: 'proven',
  trustsOne: false,
}

test('a refund is safe once every signed mint has lapsed and the payment’s block is final', () => {
  const rows: [Partial<RefundFacts>, { safeAfter: number | null; mayStillMint: boolean; isPaymentFinal: boolean }][] = [
    [{}, { safeAfter: null, mayStillMint: false, isPaymentFinal: true }],
    [{ signedUntil: 4_999 }, { safeAfter: 4_999, mayStillMint: false, isPaymentFinal: true }],
    // In that very second it can still be executed.
    [{ signedUntil: 5_000 }, { safeAfter: 5_000, mayStillMint: true, isPaymentFinal: true }],
    [{ lostUntil: 5_000 }, { safeAfter: 5_000, mayStillMint: true, isPaymentFinal: true }],
    [
      { signedUntil: 4_000, lostUntil: 6_000 },
      { safeAfter: 6_000, mayStillMint: true, isPaymentFinal: true },
    ],
    [
      { signedUntil: 6_000, lostUntil: 4_000 },
      { safeAfter: 6_000, mayStillMint: true, isPaymentFinal: true },
    ],
    [{ blockNumber: 101 }, { safeAfter: null, mayStillMint: false, isPaymentFinal: false }],
    [{ blockNumber: null }, { safeAfter: null, mayStillMint: false, isPaymentFinal: false }],
    [
      { final: null, signedUntil: 1 },
      { safeAfter: 1, mayStillMint: true, isPaymentFinal: false },
    ],
    [{ final: null }, { safeAfter: null, mayStillMint: false, isPaymentFinal: false }],
  ]
  for (const [facts, expected] of rows) {
    const judged = judgeRefund({ ...FACTS, ...facts })
    assert.deepEqual(judged, { ...expected, isSenderKnown: true }, JSON.stringify(facts))
    assert.equal(isRefundSafe(judged), !expected.mayStillMint && expected.isPaymentFinal)
  }
})

test('a payer whom only one provider reports gets no refund, unless its word is enough there', () => {
  for (const proof of ['proven', 'agreed', 'believed', null] as const)
    for (const trustsOne of [true, false])
      assert.equal(isRefundSafe(judgeRefund({ ...FACTS, proof, trustsOne })), proof !== 'believed' || trustsOne)
})
