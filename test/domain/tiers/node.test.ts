// Whether a node is in the tier that its payment bought: the first rule that applies decides.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NodeTierFacts, nodeTierOf } from '../../../src/domain/tiers.ts'

/** A payment of no price that was judged to buy nothing. */
const UNSOLD: NodeTierFacts = {
  ...{ tierNo: 1, isOdd: false, paidTierNo: null, succeeded: true, innerIndex: 0, isJudged: true },
  ...{ isTierPrice: null, isPriceInForce: null, beforeRestore: null },
}
const tierOf = (facts: Partial<NodeTierFacts>) => nodeTierOf({ ...UNSOLD, ...facts })

test('a failed transfer has no node, and a cohort of a thief is of no tier', () => {
  assert.equal(tierOf({ succeeded: false, paidTierNo: 1 }), 'other')
  assert.equal(tierOf({ isOdd: true, paidTierNo: 1 }), 'other')
})

test('the tier of a verdict counts before the price', () => {
  assert.equal(tierOf({ paidTierNo: 1, isTierPrice: false, isPriceInForce: true }), 'own')
  assert.equal(tierOf({ paidTierNo: 2, isTierPrice: true, innerIndex: 1 }), 'other')
})

test('without a verdict the price decides, but not of an inner transfer', () => {
  assert.equal(tierOf({ isTierPrice: true, isPriceInForce: true }), 'own')
  assert.equal(tierOf({ isPriceInForce: true, isJudged: false, beforeRestore: true }), 'other')
  assert.equal(tierOf({ innerIndex: 1, isTierPrice: true }), 'unknown')
  assert.equal(tierOf({ innerIndex: 1, isPriceInForce: true }), 'unknown')
})

test('a payment that bought nothing has no node, unless its release may have been lost', () => {
  assert.equal(tierOf({}), 'other')
  assert.equal(tierOf({ isTierPrice: false, isPriceInForce: false }), 'other')
  assert.equal(tierOf({ isJudged: false }), 'unknown')
  assert.equal(tierOf({ beforeRestore: true }), 'unknown')
  assert.equal(tierOf({ beforeRestore: false }), 'other')
})
