// What src/chain/prove proves, and what the second reading of the same rules does: over blocks of every form that is recorded, whole and with random
// changes. Half of the changed blocks are sealed again, so that their hash and roots are right for what they have become.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proveReceipts, proveTransactions } from '../../../src/chain/prove/body.ts'
import { proveHeader, settlesOthers } from '../../../src/chain/prove/header.ts'
import { proveSender, proveTransaction } from '../../../src/chain/prove/transaction.ts'
import type { Verdict } from '../../../src/chain/prove/verdict.ts'
import { ADDED_MAX, FORM_NAMES, headerHash, provenHeader, unknownIn } from '../../models/proofs/header.ts'
import { hashOf, isObject, type Wire } from '../../models/proofs/items.ts'
import {
  isSenderProven,
  isTransactionProven,
  provenReceipts,
  provenTransactions,
  receiptBytes,
  rootOf,
  TYPES,
  transactionBytes,
} from '../../models/proofs/lists.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { block as blockOf, blocks, headers, read } from '../prove/published.ts'
import {
  type Dice,
  mutated,
  one,
  STATE_SYNC,
  STATE_SYNC_RECEIPT,
  withMutatedField,
  withMutatedItem,
  withMutatedOutcome,
  withMutatedSignature,
} from './mutate.ts'

const BLOCKS = [...blocks(), blockOf('tempo-20636966'), blockOf('stable-42767022'), blockOf('cronos-11446765')]
const RECEIPTS = [
  ...BLOCKS.flatMap(({ receipts }) => (receipts ? [receipts as Wire[]] : [])),
  read<{ receipts: Wire[] }>('receipts.json').receipts,
]
const TRANSACTIONS = [
  ...BLOCKS.flatMap(({ block }) => (block.transactions ? [block.transactions as Wire[]] : [])),
  read<{ transaction: Wire }[]>('transactions.json').map(({ transaction }) => transaction),
]
const HEADERS: Wire[] = [...headers(), ...BLOCKS].map(({ block: { transactions: _, ...header } }) => header)

const isProven = ({ kind }: Verdict) => kind === 'proven'
/** Runs a property with dice that are the same for the same seed of the property. */
const played = (usual: number, play: (dice: Dice) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => play(randomBelow(seed))),
    { numRuns: cases(usual) },
  )
/** Both verdicts must be frequent, or a comparison says little. A run with few cases cannot tell. */
function assertBothSeen({ proven, not }: { proven: number; not: number }, rare = 1): void {
  if (proven + not < 300) return
  assert.ok(proven * 5 > not && not * 5 > proven && rare > 0, `${proven} proven, ${not} not, ${rare} of the rare kind`)
}

/** Changes something none to three times, mostly once. */
function changedBy<T>(dice: Dice, given: T, change: (given: T) => T): T {
  let result = given
  for (let left = one(dice, [0, 1, 1, 1, 1, 1, 2, 3]); left > 0; left--) result = change(result)
  return result
}

test('recorded blocks are proven by the second reading, part by part', async () => {
  for (const { chain, block, receipts } of blocks()) {
    assert.ok(provenHeader(block), chain)
    if (block.transactions) {
      assert.equal(await provenTransactions(block, () => null), block.transactions.length, chain)
      for (const tx of block.transactions) assert.ok(isTransactionProven(tx), chain)
    }
    if (receipts) assert.equal(await provenReceipts(block, receipts), receipts.length, chain)
  }
  for (const { chain, block } of headers()) assert.ok(provenHeader(block), chain)
})

test('a header is proven by the code if it is by the second reading, however it was changed', async () => {
  const seen = { proven: 0, not: 0, added: 0 }
  await played(500, async (dice) => {
    let block = changedBy(dice, one(dice, HEADERS), (given) => withMutatedField(dice, given, HEADERS))
    if (dice(12) === 0)
      for (let left = 1 + dice(6); left > 0; left--)
        block = { ...block, [`new${left}`]: one(dice, ['0x', '0x0', '0x7', '0x0700', block.stateRoot]) }
    if (dice(2) === 0) block = sealed(dice, block)
    const [found, expected] = [proveHeader(block), provenHeader(block)]
    assert.equal(isProven(found), expected !== null, JSON.stringify(block))
    // Two fields with the same bytes may stand for each other.
    assert.equal(found.added?.length ?? 0, expected?.added.length ?? 0, JSON.stringify(block))
    if (expected) {
      const isSettling = expected.form === 'avalanche' && block.settledHeight != null
      assert.equal(settlesOthers(block), isSettling, JSON.stringify(block))
    }
    seen[expected ? 'proven' : 'not']++
    if (expected?.added.length) seen.added++
  })
  assertBothSeen(seen, seen.added)
})

/** A block with the hash of its header by one of the forms, with some of its unknown fields in some order. */
function sealed(dice: Dice, block: Wire): Wire {
  const behind: string[] = []
  for (const name of dice(3) === 0 ? [] : unknownIn(block).slice(0, ADDED_MAX + 1))
    behind.splice(dice(behind.length + 1), 0, name)
  const forms = FORM_NAMES.map((name) => headerHash(block, name, behind)).filter((hash) => hash !== null)
  return forms.length === 0 ? block : { ...block, hash: one(dice, forms) }
}

test('a transaction and its sender are proven by the code if they are by the second reading', async () => {
  const seen = { proven: 0, not: 0, signed: 0 }
  const all = TRANSACTIONS.flat()
  await played(500, async (dice) => {
    const changed = changedBy(dice, one(dice, one(dice, TRANSACTIONS)), (given) =>
      dice(3) === 0 ? withMutatedSignature(dice, given, TYPES) : withMutatedField(dice, given, all),
    )
    const bytes = transactionBytes(changed)
    const tx = bytes && dice(2) === 0 ? { ...changed, hash: hashOf(bytes) } : changed
    const expected = isTransactionProven(tx)
    assert.equal(isProven(proveTransaction(tx)), expected, JSON.stringify(tx))
    const isSigned = isSenderProven(tx)
    assert.equal(isProven(await proveSender(tx)), isSigned, JSON.stringify(tx))
    seen[expected ? 'proven' : 'not']++
    if (isSigned) seen.signed++
  })
  assertBothSeen(seen, seen.signed)
})

/** A few of the items of a list, one after another, because a whole block takes long. */
function some(dice: Dice, list: readonly Wire[]): Wire[] {
  const from = dice(list.length)
  return list.slice(from, from + 1 + dice(dice(10) === 0 ? 40 : 6))
}

interface ListOf {
  /** What the roots may leave out at the end. */
  last: Wire
  leafOf: (item: unknown, index: number) => Uint8Array | null
  /** An item with another type, signature or outcome. */
  withOther: (dice: Dice, item: Wire, types: readonly number[]) => Wire
}

/** A list with some change, the root of its leaves before or after it, and what the roots may leave out behind it. */
async function listed(dice: Dice, lists: readonly Wire[][], { last, leafOf, withOther }: ListOf) {
  const given: unknown[] = some(dice, one(dice, lists))
  if (dice(6) === 0) given.push(last)
  const others = one(dice, lists)
  let list = changedBy(dice, given, (items) => {
    if (dice(3) > 0 || items.length === 0 || !isObject(items.at(-1))) return withMutatedItem(dice, items, others)
    const at = dice(items.length)
    const item = items[at]
    if (!isObject(item)) return items
    return items.with(at, dice(2) ? mutated(dice, item, others) : withOther(dice, item, TYPES))
  })
  const leaves = (dice(2) === 0 ? list : given).map(leafOf)
  if (dice(6) === 0) list = [...list, last]
  const isThere = (leaf: Uint8Array | null): leaf is Uint8Array => leaf !== null
  return { list, root: await rootOf(leaves.filter(isThere)) }
}

test('a list of transactions is proven by the code as far as by the second reading', async () => {
  const seen = { proven: 0, not: 0 }
  await played(400, async (dice) => {
    // What the provider gives for an item that we cannot encode.
    const bytes = Uint8Array.from([one(dice, [0x7f, 0x55, 0x55, 2, 0xc0]), dice(256), dice(256)])
    const raw = (index: number) => (index % 3 < 2 ? bytes : null)
    const leafOf = (tx: unknown, index: number) => transactionBytes(tx) ?? raw(index)
    const { list, root } = await listed(dice, TRANSACTIONS, {
      last: STATE_SYNC,
      leafOf,
      withOther: withMutatedSignature,
    })
    const block = { transactions: list, transactionsRoot: root }
    const { verdict, count } = await proveTransactions(block, async (index) => raw(index))
    const expected = await provenTransactions(block, raw)
    assert.deepEqual([isProven(verdict), count], [expected !== null, expected ?? 0], JSON.stringify(block))
    seen[expected === null ? 'not' : 'proven']++
  })
  assertBothSeen(seen)
})

test('a list of receipts is proven by the code as far as by the second reading', async () => {
  const seen = { proven: 0, not: 0 }
  await played(400, async (dice) => {
    const { list, root } = await listed(dice, RECEIPTS, {
      last: STATE_SYNC_RECEIPT,
      leafOf: receiptBytes,
      withOther: withMutatedOutcome,
    })
    const block = { receiptsRoot: root }
    const { verdict, count } = await proveReceipts(block, list)
    const expected = await provenReceipts(block, list)
    assert.deepEqual([isProven(verdict), count], [expected !== null, expected ?? 0], JSON.stringify({ block, list }))
    seen[expected === null ? 'not' : 'proven']++
  })
  assertBothSeen(seen)
})
