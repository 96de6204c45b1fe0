// Amounts, addresses and hashes at their edges; cover; drift between ledger and contract.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coverOf } from '../../src/domain/cover.ts'
import { type Counters, compareCounters, compareNodes, type NodeFacts } from '../../src/domain/drift.ts'
import {
  address,
  hash,
  inEther,
  larger,
  parseWei,
  smaller,
  sumWei,
  UINT256_MAX,
  wei,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../src/domain/units.ts'

test('an amount is 0 to 2^256 - 1, and nothing else', () => {
  for (const value of [0n, 1n, UINT256_MAX]) assert.equal(wei(value), value)
  for (const value of [-1n, UINT256_MAX + 1n]) assert.throws(() => wei(value), RangeError)
})

test('a decimal string is read exactly; any other writing of a number is refused', () => {
  assert.equal(parseWei('0'), 0n)
  assert.equal(parseWei(UINT256_MAX.toString()), UINT256_MAX)
  for (const text of ['', '-1', '+1', '01', '1e3', '1.0', '0x10', ' 1', '1 ', '1_000', (UINT256_MAX + 1n).toString()])
    assert.throws(() => parseWei(text), RangeError, text)
})

test('a sum that no uint256 can carry is refused, not wrapped', () => {
  assert.equal(sumWei([]), 0n)
  assert.equal(sumWei([1n, 2n, 3n]), 6n)
  assert.throws(() => sumWei([UINT256_MAX, 1n]), RangeError)
})

test('an amount in ether is exact, and has no zero at its end', () => {
  const rows: [bigint, string][] = [
    [0n, '0'],
    [1n, '0.000000000000000001'],
    [10n, '0.00000000000000001'],
    [10n ** 17n, '0.1'],
    [10n ** 18n, '1'],
    [10n ** 18n + 1n, '1.000000000000000001'],
    [100n * 10n ** 18n, '100'],
    [120_304n * 10n ** 15n, '120.304'],
    [UINT256_MAX, '115792089237316195423570985008687907853269984665640564039457.584007913129639935'],
  ]
  for (const [amount, text] of rows) {
    assert.equal(inEther(amount), text)
    if (amount > 0n) assert.equal(inEther(-amount), `-${text}`)
  }
})

test('of two amounts one is the larger and one the smaller', () => {
  for (const [a, b] of [
    [1n, 2n],
    [2n, 2n],
    [2n ** 200n, 2n ** 200n + 1n],
  ] as const) {
    assert.deepEqual([larger(a, b), larger(b, a)], [b, b])
    assert.deepEqual([smaller(a, b), smaller(b, a)], [a, a])
  }
})

test('addresses and hashes are lower case from the moment they enter, and of their exact length', () => {
  assert.equal(address(`0x${'Ab'.repeat(20)}`), `0x${'ab'.repeat(20)}`)
  assert.equal(hash(`0x${'Cd'.repeat(32)}`), `0x${'cd'.repeat(32)}`)
  for (const text of [
    '',
    '0x',
    'ab'.repeat(20),
    `0x${'ab'.repeat(19)}`,
    `0x${'ab'.repeat(21)}`,
    `0x${'gg'.repeat(20)}`,
    `x0x${'ab'.repeat(20)}`,
  ])
    assert.throws(() => address(text), RangeError, text)
  for (const text of [`0x${'ab'.repeat(20)}`, `0x${'ab'.repeat(33)}`, `x0x${'ab'.repeat(32)}`, `0x${'g'.repeat(64)}`])
    assert.throws(() => hash(text), RangeError, text)
})

const covers: [string, bigint, bigint, bigint, number | null][] = [
  ['nothing owed has no ratio', 5n, 0n, 5n, null],
  ['exactly covered', 7n, 7n, 0n, 10_000],
  ['short by one wei is rounded down, never to covered', 9_999_999n, 10_000_000n, -1n, 9_999],
  ['a surplus', 15n, 10n, 5n, 15_000],
  ['nothing there', 0n, 10n, -10n, 0],
]
for (const [sentence, balance, owed, surplusWei, coverBps] of covers) {
  test(`cover: ${sentence}`, () => {
    assert.deepEqual(coverOf(wei(balance), wei(owed)), { surplusWei, coverBps })
  })
}

const OWNER = address(`0x${'11'.repeat(20)}`)
const OTHER = address(`0x${'22'.repeat(20)}`)
const node = (nodeId: bigint, fields: Partial<NodeFacts> = {}): NodeFacts => ({
  nodeId,
  owner: OWNER,
  creditedWei: 10n,
  withdrawnWei: 4n,
  cohort: 1,
  ...fields,
})

test('equal statements of both sides are no drift, in any order', () => {
  assert.deepEqual(compareNodes([node(1n), node(2n)], [node(2n), node(1n)]), [])
  const counters: Counters = { nodes: 2n, round: 1, outstandingWei: 12n }
  assert.deepEqual(compareCounters(counters, { ...counters }), [])
})

test('each differing field is reported with both values', () => {
  const theirs = node(1n, { owner: OTHER, creditedWei: 11n, withdrawnWei: 5n, cohort: 2 })
  assert.deepEqual(compareNodes([node(1n)], [theirs]), [
    { kind: 'node', nodeId: '1', field: 'owner', ledger: OWNER, chain: OTHER },
    { kind: 'node', nodeId: '1', field: 'creditedWei', ledger: '10', chain: '11' },
    { kind: 'node', nodeId: '1', field: 'withdrawnWei', ledger: '4', chain: '5' },
    { kind: 'node', nodeId: '1', field: 'cohort', ledger: '1', chain: '2' },
  ])
  assert.deepEqual(
    compareCounters({ nodes: 1n, round: 2, outstandingWei: 3n }, { nodes: 2n, round: 2, outstandingWei: 4n }),
    [
      { kind: 'counter', name: 'nodes', ledger: '1', chain: '2' },
      { kind: 'counter', name: 'outstandingWei', ledger: '3', chain: '4' },
    ],
  )
})

test('a node on one side only is reported for that side', () => {
  assert.deepEqual(compareNodes([node(1n), node(2n)], [node(1n), node(3n)]), [
    { kind: 'notInLedger', nodeId: '3' },
    { kind: 'notOnChain', nodeId: '2' },
  ])
})

test('the bounds are those of the chain', () => {
  assert.equal(UINT256_MAX.toString(16), 'f'.repeat(64))
  assert.equal(ZERO_ADDRESS, `0x${'0'.repeat(40)}`)
  assert.equal(ZERO_HASH, `0x${'0'.repeat(64)}`)
})

test('a refused value is shown, and cut if it is long', () => {
  const long = 'z'.repeat(500)
  assert.throws(() => wei(-5n), { message: 'not an amount of wei: -5' })
  assert.throws(() => parseWei(long), { message: `not a decimal amount of wei: ${long.slice(0, 90)}` })
  assert.throws(() => address(long), { message: `not an address: ${long.slice(0, 90)}` })
  assert.throws(() => hash(long), { message: `not a 32-byte hash: ${long.slice(0, 90)}` })
})
