// The table of events, read a second time: words and need from docs/WEBHOOKS.md; rows of the audit log, pages and fields from the tables below.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { actsOf, eventOf, KINDS, linksOf } from '../../../src/domain/webhooks/kinds.ts'

/** The rows of the audit log that are each event. The other kinds come from triggers of the schema. */
const ACTS: Readonly<Record<string, string>> = {
  'payment.decided': 'released dismissed dustDismissed attributed refunding refunded refundPrepared refundCancelled',
  'rounds.paused': 'paused',
  'rounds.resumed': 'unpaused',
  'refund.alarm':
    'mintedThoughRefunding mintedThoughRefunded refundTooEarly refundOfMinted refundOfOrphaned refundGone',
  'drift.found': 'drift',
  'funds.low': 'fundsLow',
  'budget.low': 'budgetLow',
  'budget.spent': 'budgetSpent',
  'chain.reorganised': 'reorganisation',
  'passes.halted': 'halted',
  'passes.stuck': 'stuck',
  'passes.waiting': 'unsent',
  'passes.resumed': 'resumed haltWithdrawn unstuck sentAgain historiesAgree',
  'terms.changed': 'termsEntered termsCancelled',
  'tiers.changed': 'tierCreated tierChanged tierPlanned tierPlanCancelled',
  'referrals.changed': 'referralRegistered',
  'tier.scarce': 'tierNearlySold',
  'tier.sold': 'tierSoldOut',
  'tier.unfit': 'tierUnfit',
  'wallet.changed': 'walletChanged walletCancelled walletClosed',
  'signer.down': 'signerDown',
  'signer.restored': 'signerRestored',
  'role.lost': 'roleLost',
  'role.restored': 'roleRestored',
  'fee.capped': 'feeCapped',
  'key.used': 'foreignTransaction',
  'proof.failed': 'proofFailed',
  'guard.refused': 'guardRefused',
  'keys.wrong': 'wrongAdminKeys passkeyCopied',
  'action.proposed': 'proposed',
  'keys.changed': 'keyMade keyRevoked keysRevoked passkeyInvited invitationRevoked passkeyMade passkeyRevoked',
  'node.expelled': 'paidNodeExpelled',
  'ledger.restored': 'restored',
}

/** Where each event is handled. `NAMED` stands for the page of the payment or node that the event names. */
const NAMED = `0x${'ab'.repeat(32)}`
const PLACES: Readonly<Record<string, string>> = {
  'payment.held payment.minted payment.decided node.expelled': `/console/payments/${NAMED}`,
  'round.credited rounds.paused rounds.resumed': '/console/rounds',
  'withdrawal.seen': '/node/17',
  'refund.alarm chain.reorganised guard.refused keys.wrong': '/console/audit',
  'drift.found funds.low budget.low budget.spent passes.halted passes.stuck passes.waiting passes.resumed proof.failed':
    '/console',
  'terms.changed': '/console/terms',
  'tiers.changed tier.scarce tier.sold tier.unfit': '/console/tiers',
  'referrals.changed': '/console/referrals',
  'wallet.changed': '/console/wallets',
  'signer.down signer.restored role.lost role.restored fee.capped key.used': '/console/transactions',
  'action.proposed': '/console/proposals',
  'keys.changed': '/console/keys',
  'ledger.restored': '/console/payments?status=held&reason=recheck',
}

const ORIGIN = 'https://nodes.example'
const told = (type: string, data: object) => ({ type, timestamp: '', data: { ...data } })
const pageOf = (type: string, data: object) => linksOf(told(type, data), ORIGIN).consoleUrl.replace(ORIGIN, '')

test('the document has the kinds, their words, and whether they need a person', () => {
  const page = readFileSync(new URL('../../../docs/WEBHOOKS.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z.]+)` \| ([^|`]+) \| (yes)? ?\|$/gm)]
  const documented = rows.map(([, type, words, asks]) => [type, words, asks === 'yes'])
  assert.deepEqual(
    Object.entries(KINDS).map(([type, { words, asks = false }]) => [type, words, asks]),
    documented,
  )
})

test('each row of the audit log is the event of its kind, and no other row is one', () => {
  for (const [type, acts] of Object.entries(ACTS)) {
    assert.deepEqual(actsOf(type), acts.split(' '), type)
    for (const action of acts.split(' '))
      assert.equal(eventOf({ actor: 'pass', action, detail: { drifts: [] } })?.type, type, action)
  }
  assert.deepEqual(actsOf('terms.changed', 'rounds.paused'), ['termsEntered', 'termsCancelled', 'paused'])
  const others = Object.keys(KINDS).filter((type) => !(type in ACTS))
  assert.deepEqual(others, ['payment.held', 'payment.minted', 'round.credited', 'withdrawal.seen'])
  assert.deepEqual(actsOf(...others, 'no.kind'), [])
  for (const action of ['', 'signedIn', 'payment.held'])
    assert.equal(eventOf({ actor: 'pass', action, detail: {} }), null, action)
})

test('an event shows the actor, act and subject, or its kind’s detail', () => {
  const detail = { low: ['nodes'], spent: 'nodes', soldOut: true, lasts: 60, count: 21, other: '7' }
  const drifts = Array.from({ length: 21 }, (_, number) => ({ number }))
  const shown: Readonly<Record<string, object>> = {
    'refund.alarm': { ...detail, drifts, ref: 'it' },
    'drift.found': { count: 21, drifts: drifts.slice(0, 20) },
    'funds.low': { spent: 'nodes', soldOut: true, lasts: 60, count: 21, other: '7', drifts },
    'budget.low': { low: ['nodes'], lasts: 60, count: 21, other: '7', drifts },
    'budget.spent': { spent: 'nodes', lasts: 60, count: 21, other: '7', drifts },
    'chain.reorganised': { ...detail, drifts },
    'passes.stuck': { low: ['nodes'], spent: 'nodes', soldOut: true, count: 21, other: '7', drifts },
    'passes.waiting': { low: ['nodes'], spent: 'nodes', soldOut: true, count: 21, other: '7', drifts },
    'tier.scarce': { ...detail, drifts },
    'tier.sold': { ...detail, drifts },
    'tier.unfit': { ...detail, drifts },
    'fee.capped': { ...detail, drifts, address: 'it' },
    'tiers.changed': { before: null, after: {}, action: '', actor: 'ann', subject: 'it' },
  }
  for (const [type, acts] of Object.entries(ACTS))
    for (const action of acts.split(' ')) {
      const row = { actor: 'ann', action, detail: { ...detail, drifts } }
      const usual = { action, actor: 'ann', subject: 'it' }
      const named = { 'refund.alarm': { alarm: action }, 'tiers.changed': { action } }[type]
      const expected = shown[type] ? { ...shown[type], ...named } : usual
      assert.deepEqual(eventOf({ ...row, subject: 'it' }), { type, data: expected }, action)
      if (!(type in shown)) assert.deepEqual(eventOf(row)?.data, { ...usual, subject: null }, action)
    }
})

test('a change of a tier shows its terms before and after, and nothing else of the old version', () => {
  const row = { actor: 'ann', action: 'tierChanged', subject: 'basic' }
  const after = { priceWei: '12', onSale: true }
  const detail = { before: { ...after, priceWei: '10', enteredBy: 'bob' }, after, reason: 'spring' }
  const data = {
    action: 'tierChanged',
    actor: 'ann',
    subject: 'basic',
    before: { priceWei: '10', onSale: true },
    after,
  }
  assert.deepEqual(eventOf({ ...row, detail })?.data, data)
})

test('each event leads to its place in the console, and to the runbook if it needs a person', () => {
  const places = Object.entries(PLACES).flatMap(([types, place]) =>
    types.split(' ').map((type) => [type, place] as const),
  )
  assert.deepEqual(places.map(([type]) => type).sort(), Object.keys(KINDS).sort())
  for (const [type, place] of places) {
    assert.equal(pageOf(type, { txHash: NAMED, subject: NAMED, nodeId: '17' }), place, type)
    const anchor = type.split('.').join('')
    const runbookUrl = KINDS[type]?.asks ? `${ORIGIN}/runbook.html#${anchor}` : null
    assert.equal(linksOf(told(type, {}), ORIGIN).runbookUrl, runbookUrl, type)
  }
  assert.deepEqual(linksOf(told('no.kind', {}), ORIGIN), { consoleUrl: `${ORIGIN}/console/audit`, runbookUrl: null })
})

test('an event identifies a payment by hash or number, and else leads to a list', () => {
  const names = [NAMED, '1', '17', 17]
  const others = [
    undefined,
    null,
    '',
    '0',
    '01',
    '1x',
    'x1',
    NAMED.slice(1),
    NAMED.slice(0, -1),
    `${NAMED}a`,
    ` ${NAMED}`,
  ]
  const capitals = NAMED.toUpperCase()
  for (const name of names) {
    assert.equal(pageOf('payment.minted', { txHash: name }), `/console/payments/${name}`)
    assert.equal(pageOf('payment.decided', { subject: name }), `/console/payments/${name}`)
  }
  for (const name of [...others, capitals]) {
    assert.equal(pageOf('payment.held', { txHash: name }), '/console/payments?status=held', `${name}`)
    for (const type of ['payment.decided', 'node.expelled'])
      assert.equal(pageOf(type, { subject: name }), '/console/audit', `${name}`)
  }
})
