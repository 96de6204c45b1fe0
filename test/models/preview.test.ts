// The public preview of a purchase: src/domain/payers/can-buy.ts agrees with the second reading, and says no more than the judge would.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgePayment, type PaymentFacts } from '../../src/domain/judgement.ts'
import { type BuyerFacts, canBuy, canBuyInside, checkBuyer } from '../../src/domain/payers/can-buy.ts'
import { selectTier, type TierVersion } from '../../src/domain/tiers.ts'
import { cases } from '../support/property.ts'
import * as model from './preview.ts'
import { contractMayBuy } from './wallets.ts'

const NOW = 1_000
const BUYER = '0x00000000000000000000000000000000000000b1'
const LIST = `0x${'11'.repeat(32)}` as const
const GAS = 21_000n

const anyTier = fc
  .record({
    opensAt: fc.constantFrom(null, null, NOW - 1, NOW, NOW + 1),
    closesAt: fc.constantFrom(null, null, null, NOW - 900, NOW - 899, NOW - 1, NOW, NOW + 1),
    opensAfter: fc.constantFrom(null, null, null, 'first'),
    opened: fc.constantFrom(null, { blockNumber: 5, txIndex: 0, innerIndex: 0 }),
    maxPerWallet: fc.constantFrom(1, 2, 3),
    holdingWei: fc.constantFrom(0n, 0n, 5n),
    onSale: fc.constantFrom(true, true, true, true, false),
  })
  .map(
    (one) =>
      ({
        ...{ tierId: 'basic', version: 1, tierNo: 1, label: 'Basic', priceWei: 10n, payoutBps: 10_000, graceSec: 900 },
        ...{ holdingRetrySec: 600, supply: null, allowlist: null, fromBlock: 1, fromTime: 1 },
        ...one,
        opened: one.opensAfter === null ? null : one.opened,
        holdingToken: one.holdingWei === 0n ? null : '0xd1',
      }) as unknown as TierVersion,
  )
/** Another tier, which anyone may buy at 20 wei. */
const PLUS = {
  ...{ tierId: 'plus', version: 1, tierNo: 2, label: 'Plus', priceWei: 20n, payoutBps: 10_000, graceSec: 900 },
  ...{ maxPerWallet: 9, holdingWei: 0n, holdingToken: null, holdingRetrySec: 600, onSale: true, supply: null },
  ...{ opensAt: null, closesAt: null, opensAfter: null, opened: null, allowlist: null, fromBlock: 1, fromTime: 1 },
} as unknown as TierVersion
const codes = fc.constantFrom(
  ...[{ kind: 'none' }, { kind: 'none' }, { kind: 'none' }, null],
  ...[
    { kind: 'delegation', to: '0x01' },
    { kind: 'contract', codeHash: `0x${'22'.repeat(32)}`, implementation: null },
  ],
)
/** Facts of a wallet that may buy. */
const FINE = {
  ...{ quoted: true, places: { sold: 0, reserved: 0, most: null }, listed: null, waiting: [], denied: false },
  ...{ use: { walletNodes: 0, walletInFlight: 0, tierNodes: 0, tierInFlight: 0 }, beforeRestore: false },
  ...{ contract: { mode: 'hold', signedIn: false, allowed: false }, code: { kind: 'none' }, walletMax: 20 },
  ...{ heldWei: 6n, balanceWei: 10n + GAS, gasPriceWei: 1n },
}
const anyRecord = fc.record({
  tier: anyTier,
  quoted: fc.constantFrom(true, true, true, false, null),
  places: fc.record({ sold: fc.nat(3), reserved: fc.nat(2), most: fc.constantFrom(null, null, 2, 3, 4) }),
  listed: fc.option(fc.record({ allocation: fc.nat(3), used: fc.nat(2) }), { freq: 2 }),
  use: fc.record({
    walletNodes: fc.nat(1),
    walletInFlight: fc.nat(1),
    tierNodes: fc.nat(1),
    tierInFlight: fc.nat(1),
  }),
  /** Payments that wait: the tier of their verdict, or the amount of one that is not judged yet. */
  waiting: fc.array(fc.constantFrom(1, 2, 20n, 21n), { maxLength: 2 }),
  denied: fc.constantFrom(false, false, false, true),
  beforeRestore: fc.constantFrom(false, false, false, true),
  contract: fc.record({
    mode: fc.constantFrom('hold', 'proven', 'all'),
    signedIn: fc.boolean(),
    allowed: fc.boolean(),
  }),
  code: codes,
  walletMax: fc.constantFrom(null, 3, 4, 5, 20, 20),
  heldWei: fc.constantFrom(null, 4n, 5n, 6n),
  balanceWei: fc.constantFrom(
    null,
    9n,
    10n,
    ...[1n, 2n].flatMap((gas) => [-1n, 0n, 1n].map((near) => 10n + gas * GAS + near)),
  ),
  gasPriceWei: fc.constantFrom(null, 1n, 1n, 2n),
})
const anyFacts = fc
  .tuple(anyRecord, fc.subarray(Object.keys(FINE), { maxLength: 5 }), fc.boolean())
  .map(([some, fine, isMixed]) => {
    const kept = Object.entries(FINE).filter(([name]) => !isMixed && !fine.slice(0, 3).includes(name))
    return { ...some, ...Object.fromEntries(kept) } as typeof some
  })
  .map(({ places, listed, use, waiting, denied, beforeRestore, ...rest }) => {
    const payment = { blockNumber: 9, blockTime: NOW }
    const standing = { wallets: ['0xa1'], serviceAccounts: ['0xc1'], senderDenied: denied, beforeRestore }
    const tier = { ...rest.tier, allowlist: listed === null ? null : LIST }
    return {
      ...{ ...rest, ...places, from: BUYER, tier, versions: [tier, PLUS], now: NOW, use, standing },
      listed: listed === null ? null : { root: LIST, ...listed },
      waiting: waiting.map((one) =>
        typeof one === 'bigint'
          ? { ...payment, valueWei: one, tierNo: null }
          : { ...payment, valueWei: 10n, tierNo: one },
      ),
    } as unknown as BuyerFacts
  })

/** Whether the payer's ether would be taken without a look; null if its code is unknown. */
function mayBuy({ code, contract }: BuyerFacts): boolean | null {
  if (code === null) return null
  if (code.kind === 'none') return true
  const { signedIn, allowed: isAllowed, mode } = contract
  return contractMayBuy({ code: code.kind, signedIn, isAllowed, isKnown: false }, mode)
}

/** The waiting payments that take a place, in this tier and in all. */
function placesOf({ waiting }: BuyerFacts): { ofTier: number; ofAll: number } {
  const taking = waiting.filter((one) => one.tierNo !== null || one.valueWei === 20n)
  return { ofTier: taking.filter((one) => one.tierNo === 1).length, ofAll: taking.length }
}

function asModel(facts: BuyerFacts): model.Preview {
  const { tier, use, listed, code, gasPriceWei } = facts
  const { ofTier, ofAll } = placesOf(facts)
  const byContract = code?.kind === 'contract'
  const gasWei = gasPriceWei === null ? null : GAS * gasPriceWei
  return {
    ...{ isQuoted: facts.quoted, time: facts.now, opensAt: tier.opensAt, closesAt: tier.closesAt },
    ladder: tier.opensAfter === null ? null : tier.opened === null ? 'shut' : 'open',
    ...{ supply: facts.most, sold: facts.sold, reserved: facts.reserved },
    allocation: listed?.allocation ?? null,
    paidOfTier: (listed?.used ?? 0) + ofTier,
    ...{ maxPerWallet: tier.maxPerWallet, nodesOfTier: use.tierNodes, underWayOfTier: use.tierInFlight + ofTier },
    ...{ walletCap: facts.walletMax, nodes: use.walletNodes, underWay: use.walletInFlight + ofAll },
    ...{ holdingWei: tier.holdingWei, heldWei: facts.heldWei, balanceWei: facts.balanceWei },
    neededWei: byContract ? tier.priceWei : gasWei === null ? null : tier.priceWei + gasWei,
    isDenied: facts.standing.senderDenied || facts.standing.beforeRestore,
    payerMayBuy: mayBuy(facts),
  }
}

/** The wallet's payment in the next block, with every fact read. */
function asPayment(facts: BuyerFacts): PaymentFacts {
  const { tier, use, listed, code, contract, walletMax, heldWei, standing, sold, most, reserved } = facts
  const selection = selectTier([tier], {
    ...{ valueWei: tier.priceWei, blockNumber: 10, blockTime: NOW, txIndex: 0, innerIndex: 0 },
  })
  const { ofTier, ofAll } = placesOf(facts)
  const inner = { kind: 'inner' as const, ...contract }
  return {
    ...{
      from: facts.from,
      blockTime: NOW,
      valueWei: tier.priceWei,
      succeeded: true,
      isToOldWallet: false,
      ...standing,
    },
    selection,
    supply: most,
    ...{ walletNodes: use.walletNodes, walletInFlight: use.walletInFlight + ofAll, walletMax: walletMax ?? 0 },
    ...{ tierNodes: use.tierNodes, tierInFlight: use.tierInFlight + ofTier, sold, reserved, mayOpen: false },
    listed: listed === null ? [] : [{ ...listed, used: listed.used + ofTier }],
    holding: heldWei === null ? { kind: 'notNeeded' } : { kind: 'read', amountWei: heldWei },
    payer:
      code?.kind === 'none'
        ? { kind: 'plain' }
        : { ...inner, code: code === null ? { kind: 'unread' } : { kind: 'read', code } },
    restsOnOne: false,
  }
}

const iso = (time: number | null) => (time === null ? null : new Date(time * 1000).toISOString())

/** The figures of each check, as api/openapi.yaml names them. */
function figuresOf(facts: BuyerFacts): Record<string, object> {
  const { tier, walletMax, listed, heldWei, balanceWei } = facts
  const one = asModel(facts)
  return {
    onSale: {},
    opening: { opensAt: iso(tier.opensAt), closesAt: iso(tier.closesAt), opensAfter: tier.opensAfter },
    supply: { limit: one.supply, sold: one.sold, reserved: one.reserved },
    allowlist: { root: LIST, limit: listed?.allocation, used: one.paidOfTier },
    allowance: { limit: one.maxPerWallet, owned: one.nodesOfTier, underWay: one.underWayOfTier },
    cap: { limit: walletMax, owned: one.nodes, underWay: one.underWay },
    holding: { token: tier.holdingToken, requiredWei: tier.holdingWei, heldWei },
    ether: { requiredWei: one.neededWei, balanceWei },
    review: {},
  }
}

test('each check answers by the rules, and the answer is the worst of them', () => {
  const compare = (facts: BuyerFacts) => {
    const code = checkBuyer(facts)
    const expected = model.checks(asModel(facts))
    assert.deepEqual(
      code.map(({ check, passes }) => [check, passes]),
      expected,
    )
    assert.equal(canBuy(code), model.canBuy(expected))
    const figures = figuresOf(facts)
    assert.deepEqual(
      code,
      expected.map(([check, passes]) => ({ check, passes, ...figures[check] })),
    )
  }
  fc.assert(fc.property(anyFacts, compare), { numRuns: cases(3_000) })
})

test('a wallet may pay by an inner call if its ether is accepted and two providers trace it', () => {
  const compare = (facts: BuyerFacts, tracesCount: boolean) => {
    const { code, contract, standing } = facts
    const by = code && { code: code.kind, signedIn: contract.signedIn, isAllowed: contract.allowed, isKnown: false }
    const isHeld = standing.senderDenied || standing.beforeRestore
    const buys = by && !isHeld && tracesCount && contractMayBuy(by, contract.mode)
    assert.equal(canBuyInside({ ...facts, tracesCount }), buys)
  }
  fc.assert(fc.property(anyFacts, fc.boolean(), compare), { numRuns: cases(1_000) })
})

/** The checks that the judge does not make: what a wallet has to pay with, and whether a page would offer the tier to someone new. */
const BEYOND = ['ether', 'onSale', 'opening']

test('a yes is a sale by the judge, and a no by a rule of the judge’s is none', () => {
  let [sales, refusals] = [0, 0]
  const compare = (facts: BuyerFacts) => {
    const checks = checkBuyer(facts)
    const verdict = judgePayment(asPayment(facts))
    if (canBuy(checks) === true && facts.tier.onSale) {
      assert.equal(verdict.kind, 'accepted')
      sales += 1
    }
    if (checks.some(({ check, passes }) => passes === false && !BEYOND.includes(check))) {
      assert.notEqual(verdict.kind, 'accepted')
      refusals += 1
    }
    // What cannot be checked is no sale either, until it is read or the place is free.
    if (checks.some(({ check, passes }) => passes === null && !BEYOND.includes(check)))
      assert.notEqual(verdict.kind, 'accepted')
  }
  fc.assert(fc.property(anyFacts, compare), { numRuns: cases(3_000) })
  assert.ok(sales >= cases(20) && refusals >= cases(200), `${sales} sales, ${refusals} refusals`)
})
