// Lists and their roots: src/chain/prove/body.ts, with receipts that encode or not, the chain's own one at the end, elsewhere or twice, and a root over some or all of
// them, counts what the second reading counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proveReceipts } from '../../../src/chain/prove/body.ts'
import { listRoot } from '../../../src/chain/prove/list-root.ts'
import { encodeReceipt } from '../../../src/chain/prove/receipt.ts'
import { account, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './covered.ts'

const usual = fc.constantFrom(true, true, true, true, true, true, false)
const item = fc.record({ isOwn: usual.map((one) => !one), encodes: usual })
const drawn = fc.record({
  items: fc.array(item, { maxLength: 3 }),
  last: fc.option(fc.record({ isOwn: fc.constantFrom(true, true, false), encodes: fc.boolean() }), { freq: 4 }),
  /** How many of the last items are outside of the root; null: it is another list's. */
  outside: fc.constantFrom(0, 0, 1, 1, 2, null),
  hasLogs: fc.boolean(),
})

/** Each differs from the others in its gas, so that no shorter list has the same root. */
function receiptOf({ isOwn, encodes }: model.Item, n: number, hasLogs: boolean) {
  const logs = hasLogs ? [{ address: account(7), topics: [word(n)], data: '0x01' }] : []
  const of = isOwn
    ? { from: account(0), to: account(0), gasUsed: '0x0' }
    : { from: account(5), to: account(6), gasUsed: '0x5208' }
  return { ...of, type: '0x2', cumulativeGasUsed: `0x${(n + 1).toString(16)}`, logs, ...(encodes && { status: '0x1' }) }
}

const leafOf = (receipt: object) => {
  const encoded = encodeReceipt(receipt)
  return 'bytes' in encoded ? [encoded.bytes] : []
}

test('a root proves its whole list, or all but the chain’s last item, and counts no more', async () => {
  const compare = async ({
    items: some,
    last,
    outside,
    hasLogs,
  }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const items = last === null ? some : [...some, last]
    const receipts = items.map((one, n) => receiptOf(one, n, hasLogs))
    const inside = outside === null ? null : Math.max(0, items.length - outside)
    const leaves = receipts.slice(0, inside ?? 0).flatMap(leafOf)
    const receiptsRoot = inside === null ? word(9) : await listRoot(leaves)
    // If one of them has no bytes, it is the root of what is left, which is a list of fewer.
    const isWhole = items.slice(0, inside ?? 0).every(({ encodes }) => encodes)
    const isShorter = leaves.length === items.length - 1 && items.slice(0, -1).every(({ encodes }) => encodes)
    const of = inside === null ? null : isWhole ? inside : isShorter ? leaves.length : null
    const { verdict, count } = await proveReceipts({ receiptsRoot }, receipts)
    assert.deepEqual({ kind: verdict.kind, count }, model.covered(items, { of }))
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(600) })
})
