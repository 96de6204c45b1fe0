// Headers beside the second reading, one difference at a time: each form up to each fork, each field of a fork missing or of a wrong kind, fields of
// other forms beside it, and new fields behind it in each number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveHeader } from '../../../src/chain/prove/header.ts'
import { ADDED_MAX, FORM_NAMES, type FormName, formOf, headerHash } from '../../models/proofs/header.ts'
import type { Wire } from '../../models/proofs/items.ts'
import { randomBelow } from '../../support/property.ts'
import { objectBy } from '../fuzz/mutate.ts'
import { compareHeader } from './told.ts'

const SHARED = 15
const whole = (name: FormName): Wire => objectBy(randomBelow(7), formOf(name))
const sealed = (block: Wire, name: FormName, behind: readonly string[] = []): Wire => ({
  ...block,
  hash: headerHash(block, name, behind),
})

/** The header up to each fork. */
function* upToEachFork(name: FormName): Generator<Wire> {
  const fields = Object.entries(whole(name))
  for (let count = SHARED; count <= fields.length; count++) yield Object.fromEntries(fields.slice(0, count))
}

test('a header is proven up to each fork, with each field missing, and by no other form', () => {
  const others = Object.entries(Object.assign({}, ...FORM_NAMES.map(whole)) as Wire)
  for (const name of FORM_NAMES) {
    const forks = [...upToEachFork(name)]
    for (const [index, block] of forks.entries())
      assert.equal(compareHeader(sealed(block, name)) !== null, name !== 'avalanche' || index > 0)
    const [first, last] = [forks[1] as Wire, forks.at(-1) as Wire]
    for (const field of Object.keys(last).slice(SHARED)) compareHeader(sealed({ ...last, [field]: null }, name))
    for (const block of [first, last]) {
      const beside = others.filter(([field]) => block[field] == null)
      for (const own of [beside, ...beside.map((each) => [each])])
        compareHeader({ ...sealed(block, name), ...Object.fromEntries(own) })
    }
  }
})

const ODD = [undefined, null, '', '0x', '0x0', '0x00', '0x1', `0x${'1'.repeat(64)}`, `0x${'1'.repeat(66)}`]

test('each field of a header must be of its kind, and the verdict reports each other field', () => {
  for (const name of FORM_NAMES) {
    const block = sealed(whole(name), name)
    for (const field of Object.keys(block).slice(name === 'ethereum' ? 0 : SHARED))
      for (const odd of ODD) compareHeader({ ...block, [field]: odd })
    for (const field of BESIDE) compareHeader({ ...block, hash: block.parentHash, [field]: '0x1' })
  }
})

/** Fields that nodes show beside a header's, and some that no node shows. */
const BESIDE = [
  ...['size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author', 'sealFields', 'l1BlockNumber'],
  ...['sendCount', 'sendRoot', 'milliTimestamp', 'blockExtraData', 'x'.repeat(200), 'y'.repeat(183), 'y'.repeat(184)],
]

test('up to five new fields of any kind are proven behind those that we know', () => {
  const values = [
    '0x',
    '0x0',
    '0x00',
    '0x7',
    '0x07',
    '0x0700',
    '0x123',
    `0x${'ab'.repeat(32)}`,
    `0x${'a'.repeat(65)}`,
    'x',
    7,
  ]
  for (const name of FORM_NAMES) {
    const block = whole(name)
    for (const value of values) {
      const added = { ...block, added: value }
      compareHeader(sealed(added, name, ['added']))
      for (const behind of [[], ['added']]) compareHeader(sealed({ ...added, baseFeePerGas: null }, name, behind))
      compareHeader({ ...added, hash: block.parentHash })
    }
  }
  const block = whole('ethereum')
  const names = ['slotNumber', 'blockAccessListHash', 'one', 'two', 'three', 'four']
  for (let count = 1; count <= ADDED_MAX + 1; count++) {
    const added = names.slice(0, count)
    const given = { ...block, ...Object.fromEntries(added.map((name, at) => [name, `0x${at + 1}`])), other: null }
    const found = compareHeader(sealed(given, 'ethereum', added.toReversed()))
    assert.deepEqual(found?.added ?? null, count > ADDED_MAX ? null : added.slice(2).toReversed())
    compareHeader(sealed(given, 'ethereum', added.slice(1)))
  }
})

test('an error that is no fault of the answer is thrown', () => {
  const block = { ...whole('ethereum'), hash: '0x1' }
  const failing = Object.defineProperty({ ...block }, 'gasUsed', { get: () => assert.fail('broken') })
  assert.throws(() => proveHeader(failing), /broken/)
})
