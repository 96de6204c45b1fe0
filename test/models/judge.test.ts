// The verdict on a payment: the code of src/domain/judgement.ts and the second reading of the rules agree over random facts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgePayment, type PaymentFacts, type Verdict } from '../../src/domain/judgement.ts'
import { KNOWN_IMPLEMENTATIONS, KNOWN_PROXIES } from '../../src/domain/payers/known-wallets.ts'
import type { ContractWalletMode as Mode, PayerCode } from '../../src/domain/payers/payer.ts'
import type { TierVersion } from '../../src/domain/tiers.ts'
import type { Hash } from '../../src/domain/units.ts'
import { cases } from '../support/property.ts'
import { type Facts, judge, judgedBy, type Outcome, type Terms } from './judge.ts'

const BUYER = '0x00000000000000000000000000000000000000b1'
const WALLET = '0x00000000000000000000000000000000000000a1'
const MINTER = '0x00000000000000000000000000000000000000c1'
const TOKENS = ['0x00000000000000000000000000000000000000d1', '0x00000000000000000000000000000000000000d2'] as const
const rootOf = ({ version }: Terms) => `0x${String(version).repeat(64)}` as Hash
const SENDERS = { buyer: BUYER, paymentsWallet: WALLET, operator: MINTER } as const

/** A payment that every rule lets pass. */
const FINE: Facts = {
  succeeded: true,
  valueWei: 10n,
  sender: 'buyer',
  toOldWallet: false,
  isDenied: false,
  choice: 'sells',
  mayOpen: false,
  terms: [{ version: 1, maxPerWallet: 2, token: 0, holdingWei: 0n, heldWei: null, allocation: null }],
  paidOfTier: 0,
  ofTier: 0,
  ofWallet: 0,
  walletCap: 3,
  beforeRestore: false,
  restsOnOne: false,
  supply: null,
  sold: 0,
  reservedBefore: 0,
  payerMayBuy: true,
  waitedSec: 0,
  retrySec: 600,
}

function versionOf(one: Terms, facts: Facts): TierVersion {
  const version = {
    ...{ tierId: 'basic', version: one.version, tierNo: 1, label: 'Basic', priceWei: 10n, payoutBps: 10_000 },
    ...{ maxPerWallet: one.maxPerWallet, holdingWei: one.holdingWei, onSale: true, graceSec: 900 },
    holdingToken: one.holdingWei === 0n ? null : TOKENS[one.token],
    holdingRetrySec: facts.retrySec,
    ...{ supply: null, opensAt: null, closesAt: null, opensAfter: null, openedBlock: null },
    allowlist: one.allocation === null ? null : rootOf(one),
    ...{ fromBlock: 1, fromTime: 1 },
  }
  return version as unknown as TierVersion
}

function selectionOf(facts: Facts): PaymentFacts['selection'] {
  const [tier, ...others] = facts.terms.map((one) => versionOf(one, facts))
  if (facts.choice === 'wrongAmount' || facts.choice === 'held' || tier === undefined) return { kind: 'none' }
  if (facts.choice === 'notOpenYet') return { kind: 'notOpenYet', tier }
  if (facts.choice === 'saleClosed') return { kind: 'offSale', tier }
  return { kind: 'onSale', tier, others, byGrace: false, supply: null }
}

const CONTRACT = { kind: 'contract', codeHash: `0x${'22'.repeat(32)}`, implementation: null } as const
const SAFE_PROXY = KNOWN_PROXIES.find(({ at }) => at === 'slot0') ?? assert.fail('no proxy of a Safe is known')
const SAFE = KNOWN_IMPLEMENTATIONS.find(({ at }) => at === 'slot0') ?? assert.fail('no Safe is known')
const KNOWN = { kind: 'contract', codeHash: SAFE_PROXY.codeHash, implementation: SAFE } as const
const payer = (mode: Mode, code: PayerCode, of: { signedIn?: true; allowed?: true; oneProvider?: true } = {}) =>
  ({ kind: 'inner', mode, signedIn: false, allowed: false, code: { kind: 'read', code }, ...of }) as const

/** Payers who may buy, and payers who may not: the deny list, the tier and the wallet's room decide beside each of them alike. */
const MAY_BUY: PaymentFacts['payer'][] = [
  { kind: 'plain' },
  payer('hold', { kind: 'delegation', to: BUYER }),
  payer('all', CONTRACT),
  payer('proven', CONTRACT, { signedIn: true }),
  payer('proven', CONTRACT, { allowed: true }),
  payer('proven', KNOWN),
]
const MAY_NOT: PaymentFacts['payer'][] = [
  payer('hold', CONTRACT),
  payer('hold', KNOWN, { signedIn: true, allowed: true }),
  payer('proven', CONTRACT),
  payer('all', { kind: 'none' }),
  payer('all', KNOWN, { oneProvider: true }),
  { kind: 'unsigned', type: 126, from: BUYER },
]
const MODES: Mode[] = ['hold', 'proven', 'all']

function payerOf(mayBuy: boolean | null, sinceSec: number, pick: number): PaymentFacts['payer'] {
  if (mayBuy === null) return { ...payer(MODES[pick % 3] ?? 'hold', CONTRACT), code: { kind: 'unreadable', sinceSec } }
  const among = mayBuy ? MAY_BUY : MAY_NOT
  return among[pick % among.length] ?? { kind: 'plain' }
}

function toCode(facts: Facts, split: number): PaymentFacts {
  const { payerMayBuy } = facts
  const tierNodes = Math.min(split, facts.ofTier)
  const walletNodes = Math.min(split, facts.ofWallet)
  const heldWei = (facts.terms.find((one) => one.holdingWei > 0n) ?? facts.terms[0])?.heldWei ?? null
  return {
    from: SENDERS[facts.sender],
    blockTime: 1_000,
    ...{ valueWei: facts.valueWei, succeeded: facts.succeeded, wallets: [WALLET], isToOldWallet: facts.toOldWallet },
    ...{ serviceAccounts: [MINTER, null], senderDenied: facts.isDenied, beforeRestore: facts.beforeRestore },
    selection: selectionOf(facts),
    supply: facts.supply,
    ...{ walletNodes, walletInFlight: facts.ofWallet - walletNodes, walletMax: facts.walletCap },
    ...{ tierNodes, tierInFlight: facts.ofTier - tierNodes, sold: facts.sold, reserved: facts.reservedBefore },
    mayOpen: facts.mayOpen,
    listed: facts.terms.flatMap((one) =>
      one.allocation === null ? [] : { root: rootOf(one), allocation: one.allocation, used: facts.paidOfTier },
    ),
    holding:
      heldWei === null ? { kind: 'unreadable', sinceSec: facts.waitedSec } : { kind: 'read', amountWei: heldWei },
    payer: payerOf(payerMayBuy, facts.waitedSec, split),
    restsOnOne: facts.restsOnOne,
  }
}

function inWords(verdict: Verdict): Outcome {
  if (verdict.kind === 'accepted') return { kind: 'pass' }
  if (verdict.kind === 'undecided') return { kind: 'waits', why: verdict.missing }
  return { kind: verdict.kind, why: verdict.reason }
}

const anyTerms = fc.record({
  maxPerWallet: fc.integer({ min: 1, max: 4 }),
  holdingWei: fc.constantFrom(0n, 5n, 6n),
  token: fc.constantFrom(0, 0, 1),
  allocation: fc.option(fc.nat(3), { freq: 2 }),
})

/** Facts at the edges: each limit is met, missed by one, or far away, and most payments are in order but for one or two rules. */
const anyFacts = fc
  .record(
    {
      succeeded: fc.constant(false),
      valueWei: fc.constant(0n),
      sender: fc.constantFrom('paymentsWallet' as const, 'operator' as const),
      toOldWallet: fc.constant(true),
      isDenied: fc.constant(true),
      choice: fc.constantFrom('wrongAmount' as const, 'notOpenYet' as const, 'saleClosed' as const),
      mayOpen: fc.boolean(),
      paidOfTier: fc.nat(3),
      ofTier: fc.nat(4),
      ofWallet: fc.nat(4),
      beforeRestore: fc.constant(true),
      restsOnOne: fc.constant(true),
      place: fc.record({ supply: fc.constantFrom(1, 2, 3), sold: fc.nat(3), reservedBefore: fc.nat(3) }),
      payerMayBuy: fc.constantFrom(false, null),
      retrying: fc.record({
        waitedSec: fc.constantFrom(0, 599, 600, 601, 3_599, 3_600, 3_601, 7_200),
        retrySec: fc.constantFrom(0, 600, 3_600, 7_200),
      }),
    },
    { requiredKeys: [] },
  )
  .chain((some) =>
    fc
      .tuple(
        fc.array(anyTerms, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(null, 0n, 4n, 5n, 6n, 7n),
        fc.uniqueArray(fc.constantFrom(...Object.keys(some)), { maxLength: 3 }),
        fc.boolean(),
      )
      .map(([terms, heldWei, kept, keepsAll]): Facts => {
        const entries = Object.entries(some).filter(([name]) => keepsAll || kept.includes(name))
        const { place, retrying, ...rest } = Object.fromEntries(entries) as typeof some
        const facts: Facts = { ...FINE, ...rest, ...place, ...retrying }
        // Of several tokens only the first that a version asks for is read. A version that asks for another does not sell.
        const token = terms.find((one) => one.holdingWei > 0n)?.token ?? 0
        const known = (one: (typeof terms)[number]) => (one.token === token ? heldWei : -1n)
        return { ...facts, terms: terms.map((one, i) => ({ ...one, version: terms.length - i, heldWei: known(one) })) }
      }),
  )

test('a payment gets the verdict of the rules, in their order', () => {
  const compare = (facts: Facts, split: number) => {
    const verdict = judgePayment(toCode(facts, split))
    assert.deepEqual(inWords(verdict), judge(facts))
    if (verdict.kind === 'accepted') assert.equal(verdict.tier.version, judgedBy(facts)?.version)
  }
  fc.assert(fc.property(anyFacts, fc.nat(11), compare), { numRuns: cases(6_000) })
})
