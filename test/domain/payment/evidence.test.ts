// What a verdict keeps of the facts by which it was reached.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgePayment, type PaymentFacts } from '../../../src/domain/judgement.ts'
import { wei } from '../../../src/domain/units.ts'
import { contract, good, LIST, listedFor, sale, TOKEN, tier } from './facts.ts'

test('a verdict keeps the times, list, place and payer that led to it, if the tier has them', () => {
  const of = (facts: Partial<PaymentFacts>) => {
    const verdict = judgePayment({ ...good, ...facts })
    const { rule, receivedWei, expectedWei, tierId, tierVersion, ...evidence } =
      'evidence' in verdict ? verdict.evidence : assert.fail()
    assert.equal(verdict.kind === 'held' ? verdict.reason : verdict.kind, rule)
    return evidence
  }
  const wallet = { walletMax: 20, walletNodes: 0, walletInFlight: 0 }
  const holding = { holdingToken: TOKEN, holdingNeededWei: '1000', holdingReadWei: '1000' }
  const allowance = { allowance: 2, nodesOfTier: 0, inFlightOfTier: 0 }
  const met = { byGrace: false, ...allowance, ...wallet, ...holding }
  const untimed = { opensAt: null, closesAt: null, graceSec: 900, blockTime: 1_000 }
  assert.deepEqual(of({}), met)
  const opened = { blockNumber: 7, txIndex: 2, innerIndex: 1 }
  const openedAt = { openedBlock: 7, openedTxIndex: 2, openedInnerIndex: 1 }
  for (const [terms, times] of [
    [{ opensAt: 500 }, { opensAt: 500 }],
    [{ closesAt: 2_000 }, { closesAt: 2_000 }],
    [
      { opensAfter: 'basic', opened },
      { opensAfter: 'basic', ...openedAt },
    ],
    [
      { opensAfter: 'basic', opened: null },
      { opensAfter: 'basic', openedBlock: null },
    ],
  ]) {
    const timed = { ...tier, ...terms }
    assert.deepEqual(of({ selection: sale(timed) }), { ...met, ...untimed, ...times })
    const place = { supply: 5, sold: 5, reserved: 1 }
    const soldOut = { selection: sale(timed), supply: 5, sold: 5, reserved: 1 }
    assert.deepEqual(of(soldOut), { ...place, ...untimed, ...times })
    assert.deepEqual(of({ selection: { kind: 'offSale', tier: timed } }), { ...untimed, ...times })
    assert.deepEqual(of({ selection: { kind: 'notOpenYet', tier: timed } }), { ...untimed, ...times })
  }
  assert.deepEqual(of({ selection: { kind: 'offSale', tier } }), untimed)
  assert.deepEqual(of(listedFor(2, 1)), { ...met, allowlist: LIST, allocation: 2, used: 1 })
  assert.deepEqual(of(listedFor(2, 2)), { allowlist: LIST, allocation: 2, used: 2 })
  assert.deepEqual(of({ beforeRestore: true }), allowance)
  assert.deepEqual(of({ walletNodes: 20 }), { ...wallet, walletNodes: 20 })
  const { mode, signedIn, allowed } = contract
  const payer = { mode, signedIn, allowed, knownWallets: 1, payerCode: 'contract', codeHash: `0x${'1'.repeat(64)}` }
  assert.deepEqual(of({ payer: contract }), { ...allowance, ...payer, implementation: null, knownWallet: null })
})

test('a sale is by grace if the tier is past its closing, or if an earlier version sells', () => {
  const byGrace = (selection: PaymentFacts['selection']) => {
    const verdict = judgePayment({ ...good, selection })
    return verdict.kind === 'accepted' ? verdict.evidence.byGrace : assert.fail(verdict.kind)
  }
  const dear = { ...tier, holdingWei: wei(1_001n) }
  assert.equal(byGrace(sale(tier)), false)
  assert.equal(byGrace(sale(tier, dear)), false)
  assert.equal(byGrace({ ...sale(tier), byGrace: true }), true)
  assert.equal(byGrace(sale(dear, tier)), true)
})
