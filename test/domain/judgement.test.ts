// The judgement of a payment: each refusal, which of two comes first, and that unread facts are never accepted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  judgePayment,
  type PaymentFacts,
  PLACE_RESERVED_SEC,
  refuseTransfer,
  retryTimeOf,
} from '../../src/domain/judgement.ts'
import type { TierVersion } from '../../src/domain/tiers.ts'
import { wei } from '../../src/domain/units.ts'
import '../support/property.ts'
import {
  account,
  BUYER,
  contract,
  good,
  LIST,
  listedFor,
  listedOnly,
  RETRY_SEC,
  sale,
  TOKEN,
  tier,
  WALLET,
} from './payment/facts.ts'

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

const edges: [string, Partial<PaymentFacts>, string][] = [
  ['a wallet buys up to its allocation', listedFor(2, 1), 'accepted'],
  ['a wallet whose allocation is used buys no more', listedFor(2, 2), 'held notListed'],
  ['an allocation lowered to less than is used buys no more', listedFor(1, 2), 'held notListed'],
  ['a list that was not read buys nothing', { selection: listedOnly, listed: [] }, 'undecided'],
  ['the last node of an allowance is sold', { tierNodes: 1 }, 'accepted'],
  ['payments in flight use the allowance up', { tierInFlight: 2 }, 'held tierAllowance'],
  ['a gift uses the allowance up', { tierNodes: 2 }, 'held tierAllowance'],
  ['the last place in a wallet is sold', { walletNodes: 18, walletInFlight: 1 }, 'accepted'],
  ['a holding of exactly what is needed suffices', { holding: { kind: 'read', amountWei: 1000n } }, 'accepted'],
  ['a holding one unit short does not', { holding: { kind: 'read', amountWei: 999n } }, 'held holding'],
  ['an unreadable holding is retried', { holding: { kind: 'unreadable', sinceSec: 0 } }, 'undecided'],
  [
    'an unreadable holding is retried to the last second',
    { holding: { kind: 'unreadable', sinceSec: RETRY_SEC - 1 } },
    'undecided',
  ],
  [
    'an unreadable holding is held in the end',
    { holding: { kind: 'unreadable', sinceSec: RETRY_SEC } },
    'held holding',
  ],
  ['a holding that was not read is never passed', { holding: { kind: 'notNeeded' } }, 'undecided'],
  [
    'a tier open to anyone needs no reading',
    {
      selection: { ...sale({ ...tier, holdingToken: null, holdingWei: wei(0n) }), byGrace: true },
      holding: { kind: 'notNeeded' },
    },
    'accepted',
  ],
  ['a refusal does not wait for a reading', { tierNodes: 2, holding: { kind: 'notNeeded' } }, 'held tierAllowance'],
]
for (const [sentence, facts, expected] of edges) {
  test(sentence, () => assert.equal(verdictOf({ ...good, ...facts }), expected))
}

test('with any facts, accepted means that each rule was checked and met, and vice versa', () => {
  const small = fc.integer({ min: 0, max: 3 })
  const own: TierVersion[] = [tier, { ...tier, holdingToken: null, holdingWei: wei(0n) }]
  const selected = own.flatMap((t) => [t, { ...t, allowlist: LIST }])
  const facts = fc.record<PaymentFacts>({
    blockTime: fc.constant(1_000),
    sold: small,
    reserved: small,
    mayOpen: fc.boolean(),
    listed: fc.array(fc.record({ root: fc.constant(LIST), allocation: small, used: small }), { maxLength: 1 }),
    from: fc.constantFrom(BUYER, WALLET, account(1)),
    valueWei: fc.constantFrom(0n, 50n),
    succeeded: fc.boolean(),
    wallets: fc.constant([WALLET]),
    isToOldWallet: fc.boolean(),
    serviceAccounts: fc.constant([account(1), account(2)]),
    senderDenied: fc.boolean(),
    beforeRestore: fc.boolean(),
    selection: fc.oneof(
      fc.constant<PaymentFacts['selection']>({ kind: 'none' }),
      fc.constantFrom(...selected).map((t): PaymentFacts['selection'] => ({ kind: 'offSale', tier: t })),
      fc.tuple(fc.constantFrom(...selected), fc.boolean()).map(([t, byGrace]): PaymentFacts['selection'] => ({
        ...{ kind: 'onSale', tier: t, others: [], byGrace, supply: null },
      })),
    ),
    supply: fc.constantFrom(null, 1, 2, 3, 4),
    walletNodes: small,
    walletInFlight: small,
    walletMax: fc.integer({ min: 1, max: 6 }),
    tierNodes: small,
    tierInFlight: small,
    holding: fc.oneof(
      fc.constant<PaymentFacts['holding']>({ kind: 'notNeeded' }),
      fc.integer({ min: 998, max: 1001 }).map((n): PaymentFacts['holding'] => ({ kind: 'read', amountWei: BigInt(n) })),
      fc
        .integer({ min: RETRY_SEC - 1, max: RETRY_SEC + 1 })
        .map((sinceSec): PaymentFacts['holding'] => ({ kind: 'unreadable', sinceSec })),
    ),
    payer: fc.constantFrom<PaymentFacts['payer']>({ kind: 'plain' }, contract, { ...contract, mode: 'all' }),
    restsOnOne: fc.boolean(),
  })
  // Mostly sound facts, so acceptance is common.
  const mostlyGood = fc
    .tuple(facts, fc.subarray(Object.keys(good) as (keyof PaymentFacts)[]))
    .map(([random, kept]): PaymentFacts => ({ ...random, ...Object.fromEntries(kept.map((key) => [key, good[key]])) }))
  fc.assert(
    fc.property(fc.oneof(facts, mostlyGood), (f) => {
      const { selection } = f
      const sound =
        f.succeeded &&
        f.valueWei > 0n &&
        f.from === BUYER &&
        !f.isToOldWallet &&
        !f.senderDenied &&
        !f.beforeRestore &&
        !f.restsOnOne &&
        (f.payer.kind === 'plain' || (f.payer.kind === 'inner' && f.payer.mode === 'all')) &&
        selection.kind === 'onSale' &&
        f.tierNodes + f.tierInFlight < selection.tier.maxPerWallet &&
        (selection.tier.allowlist === null || f.listed.some(({ used, allocation }) => used < allocation)) &&
        (f.supply === null || f.sold + f.reserved < f.supply) &&
        f.walletNodes + f.walletInFlight < f.walletMax &&
        (selection.tier.holdingToken === null ||
          (f.holding.kind === 'read' && f.holding.amountWei >= selection.tier.holdingWei))
      assert.equal(judgePayment(f).kind === 'accepted', sound)
    }),
    { numRuns: 2000 },
  )
})

const places: [string, Partial<PaymentFacts>, string][] = [
  ['the last place is sold', { sold: 4 }, 'accepted'],
  ['beyond the supply nothing is sold', { sold: 5 }, 'held soldOut'],
  ['a supply lowered to less than is sold sells nothing', { sold: 6 }, 'held soldOut'],
  ['the last place without a reservation is sold', { sold: 3, reserved: 1 }, 'accepted'],
  ['for a place that an undecided payment reserves, a later one waits', { sold: 4, reserved: 1 }, 'undecided'],
  ['no place is a verdict without a reading of the chain', { sold: 5, holding: { kind: 'notNeeded' } }, 'held soldOut'],
  [
    'what cannot be read for an hour gives its place up',
    { holding: { kind: 'unreadable', sinceSec: PLACE_RESERVED_SEC } },
    'held holding',
  ],
  ['until then it keeps it', { holding: { kind: 'unreadable', sinceSec: PLACE_RESERVED_SEC - 1 } }, 'undecided'],
]
for (const [sentence, facts, expected] of places)
  test(sentence, () => {
    const slow = { ...tier, holdingRetrySec: 2 * PLACE_RESERVED_SEC }
    assert.equal(verdictOf({ ...good, selection: sale(slow), supply: 5, ...facts }), expected)
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

test('the transfer alone reveals that it is no sale', () => {
  assert.equal(refuseTransfer(good), null)
  assert.equal(refuseTransfer({ ...good, from: account(2) }), 'operator')
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

test('by grace a wallet buys by all terms of one version, never by the best of several', () => {
  const open = { ...tier, version: 1, maxPerWallet: 9, holdingToken: null, holdingWei: wei(0n) }
  const strict = { ...tier, version: 2, maxPerWallet: 1 }
  const short = { ...good, tierNodes: 1, holding: { kind: 'read' as const, amountWei: 0n } }
  const judged = (selection: PaymentFacts['selection'], facts: Partial<PaymentFacts> = {}) => {
    const verdict = judgePayment({ ...short, ...facts, selection })
    return verdict.kind === 'held' ? verdict.reason : verdict.kind
  }
  assert.equal(judged(sale(strict)), 'tierAllowance')
  assert.equal(judged(sale(strict, open)), 'accepted')
  // The one asks for the token, the other has no room.
  assert.equal(judged(sale({ ...strict, maxPerWallet: 9 }, { ...open, maxPerWallet: 1 })), 'holding')
  assert.equal(judged(sale({ ...open, maxPerWallet: 1 }, tier), { holding: { kind: 'notNeeded' } }), 'undecided')
})

test('a version by grace that asks for another token than the first does not sell, read or not', () => {
  const other = { ...tier, version: 2, holdingToken: account(10), holdingWei: wei(1n) }
  const read = (amountWei: bigint) => ({ holding: { kind: 'read' as const, amountWei } })
  const full = { ...tier, maxPerWallet: 1 }
  assert.equal(verdictOf({ ...good, ...read(999n), selection: sale(tier, other) }), 'held holding')
  const one = { ...good, tierNodes: 1 }
  assert.equal(verdictOf({ ...one, ...read(999n), selection: sale(full, other) }), 'held tierAllowance')
  assert.equal(
    verdictOf({ ...one, selection: sale(full, other), holding: { kind: 'notNeeded' } }),
    'held tierAllowance',
  )
  // What is read of the first token is too little for a second version, too.
  assert.equal(verdictOf({ ...one, ...read(999n), selection: sale(full, tier) }), 'held tierAllowance')
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

test('in any order of payments, each wallet gets at most its allowance, unmoved by other wallets', () => {
  const bought = fc.array(fc.tuple(fc.constantFrom(BUYER, account(6), account(7)), fc.boolean()), { maxLength: 30 })
  fc.assert(
    fc.property(
      bought,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      (payments, allowance, walletMax) => {
        const selection = sale({ ...tier, maxPerWallet: allowance })
        /** Judges in order; a payment is pending, or already a node if `minted`. */
        const judgeAll = (of: readonly (readonly [typeof BUYER, boolean])[]) => {
          const use = new Map<string, { nodes: number; inFlight: number }>()
          return of.map(([from, minted]) => {
            const has = use.get(from) ?? { nodes: 0, inFlight: 0 }
            const counts = {
              walletNodes: has.nodes,
              walletInFlight: has.inFlight,
              tierNodes: has.nodes,
              tierInFlight: has.inFlight,
            }
            const verdict = verdictOf({ ...good, from, selection, walletMax, ...counts })
            if (verdict === 'accepted') has[minted ? 'nodes' : 'inFlight']++
            use.set(from, has)
            return verdict
          })
        }
        const verdicts = judgeAll(payments)
        for (const wallet of [BUYER, account(6), account(7)]) {
          const own = payments.filter(([from]) => from === wallet)
          const got = verdicts.filter((_, i) => payments[i]?.[0] === wallet)
          assert.deepEqual(got, judgeAll(own), 'as if the others had not been')
          const accepted = got.filter((verdict) => verdict === 'accepted').length
          assert.equal(accepted, Math.min(own.length, allowance, walletMax))
        }
      },
    ),
  )
})

test('a version in its grace sells by all its terms, and lends none of them to another version', () => {
  const free = { ...tier, holdingToken: null, holdingWei: wei(0n) }
  const [forListed, forHolders] = [
    { ...free, version: 2, allowlist: LIST },
    { ...tier, allowlist: null },
  ]
  const at = (allocation: number, amountWei: bigint, selection = sale(forHolders, forListed)) =>
    verdictOf({
      ...good,
      ...{ selection, listed: [{ root: LIST, allocation, used: 0 }], holding: { kind: 'read', amountWei } },
    })
  assert.deepEqual([at(0, 0n), at(1, 0n), at(0, 1000n)], ['held holding', 'accepted', 'accepted'])
  const reversed = sale(forListed, forHolders)
  const outcomes = [at(0, 0n, reversed), at(1, 0n, reversed), at(0, 1000n, reversed)]
  assert.deepEqual(outcomes, ['held notListed', 'accepted', 'accepted'])
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
