// Lists of a block beside the second reading, one difference at a time: what Polygon appends, with each field in each form, and the chain's id where a
// node leaves it out. The root covers the last item, or all but the last, or something else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withChainId } from '../../../src/chain/prove/body.ts'
import { type BloomBits, encodeReceipt } from '../../../src/chain/prove/receipt.ts'
import type { Wire } from '../../models/proofs/items.ts'
import { receiptBytes, rootOf, transactionBytes } from '../../models/proofs/lists.ts'
import { STATE_SYNC, STATE_SYNC_RECEIPT } from '../fuzz/mutate.ts'
import { block } from './published.ts'
import { compareReceipts, compareTransactions, filled } from './told.ts'

const NOBODY = `0x${'0'.repeat(40)}`
/** A field in each form that it may have at the end of a list, or beside it. */
const FORMS: readonly unknown[] = [
  ...[
    undefined,
    null,
    0,
    '',
    '0',
    '0x',
    '0x0',
    '0x00',
    '0x1',
    '0x10',
    'x0x0',
    NOBODY,
    `${NOBODY}0`,
    NOBODY.slice(0, -1),
  ],
  ...[`${NOBODY.slice(0, -1)}1`, `1${NOBODY.slice(1)}`, [NOBODY]],
]

/** Each item that differs from it in the form of one of these fields. */
function* eachOf(last: Wire, names: readonly string[]): Generator<Wire> {
  for (const name of names) for (const form of FORMS) yield { ...last, [name]: form }
}

interface ListOf {
  item: Wire
  last: Wire
  leafOf: (item: unknown) => Uint8Array | null
  compare: (list: unknown, root: unknown) => Promise<string>
}

/** Compares a list with the roots of all items and of all but the last. @returns how many roots prove it. */
async function compareRoots(list: readonly unknown[], { leafOf, compare }: ListOf): Promise<number> {
  const leaves = list.map(leafOf).filter((leaf) => leaf !== null)
  let provenCount = 0
  for (const covered of [leaves, leaves.slice(0, -1)])
    if ((await compare(list, await rootOf(covered))) === 'proven') provenCount++
  return provenCount
}

test('only what Polygon appends may be outside of the roots, and only at the end', async () => {
  const [sent] = block('ethereum-1000000').block.transactions as [Wire]
  const transactions: ListOf = {
    item: sent,
    last: STATE_SYNC,
    leafOf: transactionBytes,
    compare: (list, transactionsRoot) => compareTransactions({ transactions: list, transactionsRoot }),
  }
  const receipts: ListOf = {
    item: { ...STATE_SYNC_RECEIPT, from: sent.from },
    last: STATE_SYNC_RECEIPT,
    leafOf: receiptBytes,
    compare: (list, receiptsRoot) => compareReceipts({ receiptsRoot }, list),
  }
  for (const kind of [transactions, receipts]) {
    const { item, last, leafOf, compare } = kind
    const covering = (list: readonly Wire[]) => list.map(leafOf).filter((leaf) => leaf !== null)
    assert.equal(await compareRoots([item, last], kind), 2)
    assert.equal(await compareRoots([last], kind), 2)
    for (const list of [[last, item], [last, item, item], [item, item], [item], [last, null], []])
      await compareRoots(list, kind)
    // Two of its kind are outside, or one that is not the last, or the order is another.
    const odd = { ...last, type: 'x' }
    for (const list of [
      [item, last, last],
      [item, odd, item],
      [item, odd, last],
      [item, last, odd],
    ])
      await compare(list, await rootOf(covering([item])))
    await compare([item, last], await rootOf(covering([last, item])))
    for (const root of [null, undefined, 7, '', '0X', '0x', `0x${'1'.repeat(65)}`]) await compare([item, last], root)
    let provenCount = 0
    for (const other of eachOf(last, ['from', 'to', 'gas', 'gasUsed', 'r', 's']))
      provenCount += await compareRoots([item, other], kind)
    assert.ok(provenCount > 100, `${provenCount}`)
  }
})

test('the chain’s id is filled in where a type has one and the node left it out', () => {
  const ids = [{}, { chainId: null }, { chainId: undefined }, { chainId: '0x0' }, { chainId: '0x5' }]
  const types = [{}, ...[null, '0x0', '0x1', '0x2', '0x7e', 'x'].map((type) => ({ type }))]
  const transactions = [null, undefined, 7, 'x', [], ...ids.flatMap((id) => types.map((type) => ({ ...type, ...id })))]
  for (const block of [{ number: '0x7', transactions }, { transactions: null }, { transactions: { 0: {} } }, {}])
    for (const chainId of [null, '0x1']) {
      const expected = 'transactions' in block ? { ...block, transactions: filled(block.transactions, chainId) } : block
      assert.deepEqual(withChainId(block, chainId), expected)
    }
})

/** Every combination of one of each. */
const combined = (first: readonly Wire[], ...others: readonly (readonly Wire[])[]): Wire[] =>
  others.reduce<Wire[]>((all, next) => all.flatMap((one) => next.map((other) => ({ ...one, ...other }))), [...first])

const ODD_LOGS: readonly (readonly [name: string, forms: readonly unknown[]])[] = [
  ['address', [null, 'x', '0x', NOBODY, `${NOBODY}00`, NOBODY.slice(0, -2), [NOBODY]]],
  ['topics', [null, {}, [], [null], ['0x'], [NOBODY], [`${NOBODY}${'1'.repeat(24)}`], [`${NOBODY}${'1'.repeat(26)}`]]],
  ['data', [null, 7, '0x', '0x7', '0x07', '0xzz']],
]
const RECEIPT_TYPES = [0, 1, 2, 4, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x100, 0x178]

test('a receipt is proven with exactly the fields that its type and its fork have', async () => {
  const root = `0x${'5a'.repeat(32)}`
  const outcomes = [
    { status: '0x1' },
    { root },
    { status: null, root },
    { status: '0x0', root },
    { status: '0x01' },
    {},
  ]
  const own = [
    ...[{}, { baseFee: null }, { baseFee: '0x7' }, { depositNonce: '0x7' }, { depositReceiptVersion: '0x1' }],
    ...[
      { depositNonce: '0x7', depositReceiptVersion: '0x1' },
      { depositNonce: '0x7', depositReceiptVersion: null },
    ],
  ]
  const types = [{}, { type: null }, { type: 'x' }, { type: 2 }]
  const numbered = RECEIPT_TYPES.map((type) => ({ type: `0x${type.toString(16)}` }))
  const own20 = `0x${'12'.repeat(20)}`
  const log = { address: own20, topics: [root, own20.padEnd(66, '0'), root], data: '0x07' }
  const logs = ODD_LOGS.flatMap(([name, forms]) => forms.map((form) => ({ logs: [log, { ...log, [name]: form }] })))
  const lists = [null, undefined, [], {}, [null], [[]], [log], [log, log]].map((form) => ({ logs: form }))
  const all = [
    ...combined([...types, ...numbered], outcomes, own),
    ...combined([{ type: '0x0' }, { type: '0x2' }], [{ status: '0x1' }], [...lists, ...logs]),
  ]
  let provenCount = 0
  for (const fields of all) {
    const receipt = { cumulativeGasUsed: '0x5208', logs: [], ...fields }
    const bytes = receiptBytes(receipt)
    const receiptsRoot = bytes && (await rootOf([bytes]))
    if ((await compareReceipts({ receiptsRoot }, [receipt])) === 'proven') provenCount++
  }
  assert.ok(provenCount > 300, `${provenCount}`)
  // The receipts of a block share what was hashed.
  const bits: BloomBits = new Map()
  encodeReceipt({ status: '0x1', cumulativeGasUsed: '0x5208', logs: [log, log] }, bits)
  assert.equal(bits.size, 3)
})
