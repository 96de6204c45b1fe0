// What the console's pages show and send, as functions: amounts, verdicts in words, changes, forms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnOf } from '../../src/operator/columns.ts'
import { fieldsOf, filledIn, problemsOf, readForm } from '../../web/src/console/act-form.ts'
import { difference, weiOf } from '../../web/src/console/amounts.ts'
import { sentenceOf, type Tiers } from '../../web/src/console/payments/sentences.ts'
import { reasonsOf } from '../../web/src/console/payments/states.ts'
import { changesOf, headingOf, inUnits, inWords } from '../../web/src/console/values.ts'
import { plainEther } from '../../web/src/format.ts'
import { nearestTier } from '../../web/src/nearest.ts'

const tier = (label: string, priceWei: bigint) => ({ id: label.toLowerCase(), label, priceWei }) as Tiers[number]
const TIERS = [tier('Basic', 10n ** 16n), tier('Founder', 10n ** 17n)]

test('an amount in ether is its exact wei, or none', () => {
  const cases: [string, bigint | null][] = [
    ['0.01', 10n ** 16n],
    [' 1 ', 10n ** 18n],
    ['0.000000000000000007', 7n],
    ['0.0000000000000000007', null],
    ['1,5', null],
    ['-1', null],
    ['1e3', null],
    ['0x10', null],
    ['', null],
  ]
  for (const [text, wei] of cases) assert.equal(weiOf(text), wei, text)
  assert.equal(weiOf(plainEther(1234567890123456789012n)), 1234567890123456789012n)
})

test('a difference has the unit that makes it short', () => {
  assert.equal(difference(10n ** 16n + 7n, 10n ** 16n), '7 wei more')
  assert.equal(difference(10n ** 16n, 3n * 10n ** 16n), '0.02 ETH less')
})

test('the nearest tier is above or below', () => {
  assert.equal(nearestTier(10n ** 16n + 7n, TIERS)?.id, 'basic')
  assert.equal(nearestTier(9n * 10n ** 16n, TIERS)?.id, 'founder')
  assert.equal(nearestTier(1n, []), null)
})

test('a verdict is a sentence; a rule that has none is left to its numbers', () => {
  const says = (evidence: Record<string, unknown> & { rule: string }) => sentenceOf({ evidence }, TIERS)
  assert.equal(
    says({ rule: 'wrongAmount', receivedWei: '9999999999999999' }),
    'It matched no tier’s price when it was paid: 1 wei less than Basic.',
  )
  assert.match(
    says({ rule: 'tierAllowance', tierId: 'basic', nodesOfTier: 2, inFlightOfTier: 1, allowance: 2 }) ?? '',
    /has 2 nodes of tier basic, and 1 under way; allowed are 2/,
  )
  assert.equal(says({ rule: 'toString' }), null)
  // A new reason must have a sentence.
  for (const reason of reasonsOf(undefined)) assert.ok(says({ rule: reason }), reason)
  assert.ok(!reasonsOf('ignored').includes('wrongAmount'))
  assert.deepEqual(reasonsOf('minted'), [])
})

test('changes are the fields that differ, amounts in ether and wei', () => {
  assert.deepEqual(changesOf({ priceWei: '5', label: 'A', gone: 1 }, { priceWei: '10000000000000000', label: 'A' }), [
    { name: 'priceWei', before: '0.000000000000000005 ETH (5 wei)', after: '0.01 ETH (10000000000000000 wei)' },
  ])
  assert.deepEqual(changesOf(null, { tierId: 'basic' }), [{ name: 'tierId', before: '–', after: 'basic' }])
  assert.deepEqual(
    changesOf(null, [{ minWei: '1' }]).map(({ name }) => name),
    ['minWei'],
  )
  assert.deepEqual(
    changesOf([{ a: 1 }], [{ a: 1 }, { a: 2 }]).map(({ name }) => name),
    ['1. a', '2. a'],
  )
  // Tokens have their own unit.
  assert.equal(inUnits('holdingReadWei', 7n), '7')
})

test('a form has its act’s fields, sends what changed, and marks the field of a refusal', () => {
  const declared = {
    priceWei: { help: 'its price', value: 'wei', required: true },
    mode: { help: 'hold or all', value: 'word', required: true, words: ['hold', 'all'] },
    onSale: { help: 'whether it is on sale', value: 'true|false', required: false, words: ['true', 'false'] },
    immediately: { help: 'for a mistake', value: null, required: false, words: ['true', 'false'] },
    address: { help: 'the wallet', value: 'address', required: true },
    reason: { help: 'your reason', value: 'text', required: false },
  }
  const all = fieldsOf(declared, { address: '0x12' }, undefined, { priceWei: { was: '0.01' } })
  assert.deepEqual(
    all.map(({ name, label, choices }) => [name, label, choices?.map(([, word]) => word)]),
    [
      ['priceWei', 'Price, in ETH', undefined],
      ['mode', 'Hold or all', ['hold', 'all']],
      ['onSale', 'Whether it is on sale', ['unchanged', 'yes', 'no']],
      ['immediately', 'For a mistake', ['no', 'yes']],
      ['reason', 'Reason', undefined],
    ],
  )
  const fields = fieldsOf(declared, {}, ['priceWei'], { priceWei: { was: '0.01' } })
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['priceWei', 'reason'],
  )
  const form = (priceWei: string) => readForm(fields, { priceWei, reason: '' })
  assert.deepEqual(form('0.01'), { values: {}, wrong: {} })
  assert.deepEqual(form('0.02'), { values: { priceWei: '20000000000000000' }, wrong: {} })
  assert.deepEqual(Object.keys(form('10 finney').wrong), ['priceWei'])

  const problems = [
    { field: 'priceWei', code: 'malformed', text: 'must be positive' },
    { field: null, code: 'invalid', text: 'nothing else is known' },
    { field: 'graceSec', code: 'missing', text: 'is required' },
  ] as const
  const one = problemsOf(Object.assign(new Error('said by the service'), { problems }), fields)
  assert.deepEqual(one.byField, { priceWei: 'Must be positive.' })
  assert.equal(one.rest?.message, 'nothing else is known; graceSec is required.')
  const other = new Error('The tier is off sale.')
  assert.deepEqual(problemsOf(other, fields), { byField: {}, rest: other })
})

test('a field follows another until the operator changes it', () => {
  const fields = [
    { name: 'label', label: 'Name' },
    { name: 'tierId', label: 'Id', follows: ['label', (text: string) => text.toLowerCase()] as const },
  ]
  const first = filledIn(fields, {}, 'label', 'Early')
  assert.deepEqual(first, { label: 'Early', tierId: 'early' })
  const changed = filledIn(fields, first, 'tierId', 'own')
  assert.deepEqual(filledIn(fields, changed, 'label', 'Late'), { label: 'Late', tierId: 'own' })
})

test('a column’s field decides how it is shown: a block’s number as a count, a cohort as a group', () => {
  const kindOf = (field: string) => columnOf(field).kind
  assert.deepEqual(['blockNumber', 'fromBlockNumber', 'feeWei', 'txHash'].map(kindOf), [
    'count',
    'count',
    'ether',
    'hash',
  ])
  assert.equal(inWords('openCohorts'), 'open groups')
  assert.deepEqual(['distributionId', 'txHash', 'mintTxHash', 'createdAt', 'at'].map(headingOf), [
    'Round',
    'Transaction',
    'Mint',
    'Created',
    'When',
  ])
})
