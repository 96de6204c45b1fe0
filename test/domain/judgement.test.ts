// The judgement of a payment: each refusal, which of two comes first, and what a verdict keeps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgePayment, type PaymentFacts, PLACE_RESERVED_SEC, retryTimeOf } from '../../src/domain/judgement.ts'
import { BUYER, contract, good, listedFor, listedOnly, RETRY_SEC, sale, TOKEN, tier, WALLET } from './payment/facts.ts'

const verdictOf = (facts: PaymentFacts) => {
  const verdict = judgePayment(facts)
  return 'reason' in verdict ? `${verdict.kind} ${verdict.reason}` : verdict.kind
}

/** Every refusal in its order of precedence, with the facts that cause it. */
const column: [string, Partial<PaymentFacts>][] = [
  ['ignored failed', { succeeded: false }],
  ['ignored zero', { valueWei: 0n }],
  ['ignored self', { from: WALLET }],
  ['ignored operator', { serviceAccounts: [BUYER, WALLET] }],
  ['held senderDenied', { senderDenied: true }],
  ['held wrongAmount', { selection: { kind: 'none' } }],
  ['held saleClosed', { selection: { kind: 'offSale', tier } }],
  ['held notOpenYet', { selection: { kind: 'notOpenYet', tier } }],
  ['held notListed', listedFor(0, 0)],
  ['held tierAllowance', { tierNodes: 1, tierInFlight: 1 }],
  ['held recheck', { beforeRestore: true }],
  ['held soldOut', { supply: 5, sold: 5 }],
  ['held contractWallet', { payer: contract }],
  ['held walletLimit', { walletNodes: 19, walletInFlight: 1 }],
  ['held holding', { holding: { kind: 'read', amountWei: 999n } }],
]

test('a payment that satisfies every rule is accepted at the terms selected, with its evidence', () => {
  const verdict = judgePayment(good)
  assert.equal(verdict.kind, 'accepted')
  assert.deepEqual(verdict.kind === 'accepted' && [verdict.tier, verdict.evidence], [
    tier,
    {
      rule: 'accepted',
      receivedWei: '50',
      expectedWei: '50',
      tierId: 'founder',
      tierVersion: 3,
      byGrace: false,
      allowance: 2,
      nodesOfTier: 0,
      inFlightOfTier: 0,
      walletMax: 20,
      walletNodes: 0,
      walletInFlight: 0,
      holdingToken: TOKEN,
      holdingNeededWei: '1000',
      holdingReadWei: '1000',
    },
  ])
})

for (const [row, [expected, broken]] of column.entries()) {
  test(`${expected}: alone, and before every rule that comes after it`, () => {
    assert.equal(verdictOf({ ...good, ...broken }), expected)
    for (const [, later] of column.slice(row + 1)) {
      const facts = { ...good, ...later, ...broken }
      assert.equal(verdictOf(facts), expected, `together with ${JSON.stringify(Object.keys(later))}`)
    }
  })
}

test('a held payment keeps what was received, what was expected and what it was measured by', () => {
  const evidenceOf = (broken: Partial<PaymentFacts>) => {
    const verdict = judgePayment({ ...good, ...broken })
    return verdict.kind === 'held' ? verdict.evidence : assert.fail(`not held: ${verdict.kind}`)
  }
  assert.deepEqual(evidenceOf({ valueWei: 51n, selection: { kind: 'none' } }), {
    rule: 'wrongAmount',
    receivedWei: '51',
    expectedWei: null,
    tierId: null,
    tierVersion: null,
  })
  const terms = { receivedWei: '50', expectedWei: '50', tierId: 'founder', tierVersion: 3 }
  assert.deepEqual(evidenceOf({ tierNodes: 2 }), {
    rule: 'tierAllowance',
    ...terms,
    allowance: 2,
    nodesOfTier: 2,
    inFlightOfTier: 0,
  })
  assert.deepEqual(evidenceOf({ holding: { kind: 'read', amountWei: 0n } }), {
    rule: 'holding',
    ...terms,
    holdingToken: TOKEN,
    holdingNeededWei: '1000',
    holdingReadWei: '0',
  })
  assert.deepEqual(evidenceOf({ holding: { kind: 'unreadable', sinceSec: RETRY_SEC } }), {
    rule: 'holding',
    ...terms,
    holdingToken: TOKEN,
    holdingNeededWei: '1000',
    holdingReadWei: null,
    unreadable: true,
  })
})

test('a verdict about a place keeps what recomputes it', () => {
  const evidenceOf = (facts: Partial<PaymentFacts>) => {
    const verdict = judgePayment({ ...good, supply: 5, ...facts })
    const { supply, sold, reserved, place } = 'evidence' in verdict ? verdict.evidence : assert.fail()
    return { supply, sold, reserved, place }
  }
  assert.deepEqual(evidenceOf({ sold: 3, reserved: 1 }), { supply: 5, sold: 3, reserved: 1, place: 4 })
  assert.deepEqual(evidenceOf({ sold: 5, reserved: 1 }), { supply: 5, sold: 5, reserved: 1, place: undefined })
})

test('a transfer that is ignored keeps why, a payment that nothing matched has no tier', () => {
  assert.deepEqual(judgePayment({ ...good, valueWei: 0n }), {
    kind: 'ignored',
    reason: 'zero',
    evidence: { rule: 'zero' },
  })
  const unmatched = judgePayment({ ...good, selection: { kind: 'none' } })
  assert.equal(unmatched.kind === 'held' && unmatched.tier, null)
  assert.deepEqual(judgePayment({ ...good, holding: { kind: 'notNeeded' } }), { kind: 'undecided', missing: 'holding' })
})

test('an undecided payment reports the missing fact', () => {
  const missing = (facts: Partial<PaymentFacts>) => {
    const verdict = judgePayment({ ...good, ...facts })
    return verdict.kind === 'undecided' ? verdict.missing : assert.fail(verdict.kind)
  }
  const unread = { kind: 'unreadable' as const, sinceSec: PLACE_RESERVED_SEC }
  const slow = sale({ ...tier, holdingRetrySec: PLACE_RESERVED_SEC + 1 })
  assert.equal(missing({ selection: { kind: 'notOpenYet', tier }, mayOpen: true }), 'opening')
  assert.equal(missing({ selection: listedOnly }), 'list')
  assert.equal(missing({ restsOnOne: true }), 'proof')
  assert.equal(missing({ restsOnOne: true, succeeded: false }), 'proof', 'nor does one provider make it fail')
  assert.equal(missing({ payer: { ...contract, code: { kind: 'unread' } } }), 'payer')
  assert.equal(missing({ selection: slow, holding: unread }), 'holding', 'without a supply it keeps no place')
  assert.equal(missing({ supply: 5, sold: 4, reserved: 1 }), 'place')
})

test('an unreadable holding is retried after half of the wait so far, at latest at its hold', () => {
  const sold = (supply: number | null, holdingRetrySec: number) => ({
    ...{ kind: 'onSale' as const, tier: { ...tier, holdingRetrySec }, others: [], byGrace: false, supply },
  })
  const at = (now: number) => retryTimeOf({ blockTime: 1_000, now }, sold(null, 3_600))
  assert.deepEqual([1_000, 1_001, 1_012, 1_100, 2_000].map(at), [1_000, 1_001, 1_018, 1_150, 2_300])
  assert.deepEqual([4_590, 4_600, 9_000].map(at), [4_600, 4_600, 9_000])
  // The clock of another fork may be behind the payment's block.
  assert.equal(at(900), 900)
  // A place in a tier with a supply is reserved for an hour.
  assert.deepEqual(
    [null, 10].map((supply) => retryTimeOf({ blockTime: 1_000, now: 4_590 }, sold(supply, 7_200))),
    [4_890, 4_600],
  )
})
