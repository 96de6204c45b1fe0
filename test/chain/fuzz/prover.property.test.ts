// What src/chain/prove proves, and what the second reading of the same rules does: over blocks of every form that is recorded, over made-up transactions,
// headers and receipts of every form that we know, whole, with each field spoilt in turn and with random changes. Half of the changed ones are sealed
// again: their hash and roots are right for what they have become. Whole verdicts are compared.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ADDED_MAX,
  FORM_NAMES,
  formOf as formOfHeader,
  headerHash,
  provenHeader,
  unknownIn,
} from '../../models/proofs/header.ts'
import { hashOf, isObject, type Wire } from '../../models/proofs/items.ts'
import {
  formOf,
  isOfUnsignedType,
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
import { compareHeader, compareReceipts, compareTransaction, compareTransactions } from '../prove/told.ts'
import {
  type Dice,
  mutated,
  objectBy,
  one,
  STATE_SYNC,
  STATE_SYNC_RECEIPT,
  withEachField,
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

/** Runs a property with dice that are the same for the same seed of the property. */
const played = (usual: number, play: (dice: Dice) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => play(randomBelow(seed))),
    { numRuns: cases(usual) },
  )
/** Both verdicts must be frequent, or a comparison says little. A run with few cases cannot tell. */
function assertBothSeen({ proven, not }: { proven: number; not: number }, rare = 1): void {
  if (proven + not < 40) return
  assert.ok(proven * 9 > not && not * 9 > proven, `${proven} proven, ${not} not`)
  if (proven + not >= 300) assert.ok(rare > 0, 'none of the rare kind')
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
  await played(60, async (dice) => {
    let block = changedBy(dice, one(dice, HEADERS), (given) => withMutatedField(dice, given, HEADERS))
    if (dice(12) === 0)
      for (let left = 1 + dice(6); left > 0; left--)
        block = { ...block, [`new${left}`]: one(dice, ['0x', '0x0', '0x7', '0x0700', block.stateRoot]) }
    if (dice(2) === 0) block = sealed(dice, block)
    const expected = compareHeader(block)
    seen[expected ? 'proven' : 'not']++
    if (expected?.added.length) seen.added++
  })
  assertBothSeen(seen, seen.added)
})

/** Fields that answers have beside a header's, some of them known. */
const BESIDE =
  'size:number totalDifficulty:number transactions:hashes uncles:hashes withdrawals:hashes author:20 sealFields:hashes l1BlockNumber:number ' +
  'sendCount:number sendRoot:32 milliTimestamp:number blockExtraData:bytes'

test('a header of each form is proven, each spoilt field reported; an unknown one is no base fee', async () => {
  await played(1, async (dice) => {
    for (const name of FORM_NAMES) {
      const [first, added] = [objectBy(dice, formOfHeader(name)), formOfHeader(name).split(' ').length - 15]
      // Up to the fork that added a field.
      const last = Object.keys(first).slice(0, 15 + Math.max(1, dice(added + 1)))
      const fields = Object.fromEntries(last.map((field) => [field, first[field]]))
      const block = { ...fields, ...objectBy(dice, BESIDE), hash: headerHash(fields, name) }
      compareHeader(block)
      const names = Object.keys(first)
      const old = Object.fromEntries(
        names.slice(0, names.indexOf('baseFeePerGas')).map((field) => [field, first[field]]),
      )
      compareHeader({ ...old, unknown: '0x7', hash: headerHash({ ...old, unknown: '0x7' }, name, ['unknown']) })
      for (const spoilt of withEachField(dice, block)) {
        compareHeader(spoilt)
        const unknown = { unknown: '0x1b2c3d', ['long'.repeat(1 + dice(60))]: '0x1b2c3e' }
        if (dice(8) === 0) compareHeader({ ...spoilt, ...unknown })
      }
    }
    for (const nothing of [null, undefined, 1, 'x', []]) compareHeader(nothing)
  })
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
  const seen = { proven: 0, not: 0 }
  const all = TRANSACTIONS.flat()
  await played(60, async (dice) => {
    const changed = changedBy(dice, one(dice, one(dice, TRANSACTIONS)), (given) =>
      dice(3) === 0 ? withMutatedSignature(dice, given, TYPES) : withMutatedField(dice, given, all),
    )
    const bytes = transactionBytes(changed)
    const tx = bytes && dice(2) === 0 ? { ...changed, hash: hashOf(bytes) } : changed
    seen[(await compareTransaction(tx)).hash === 'proven' ? 'proven' : 'not']++
  })
  assertBothSeen(seen)
})

/** A transaction of a type, with its hash. */
function transactionOf(dice: Dice, type: number): Wire {
  const { yParity, ...fields } = objectBy(dice, formOf(type))
  // Arbitrum leaves the cap out if it is the price.
  const { maxFeePerGas } = fields
  const price =
    isOfUnsignedType({ type }) && dice(2) && maxFeePerGas ? { maxFeePerGas: null, gasPrice: maxFeePerGas } : {}
  const parity =
    yParity === undefined ? {} : { [one(dice, ['yParity', 'v'])]: one(dice, ['0x0', '0x1', '0x1b', '0x1c']) }
  const tx = { ...fields, ...price, ...parity, ...(type > 0 || dice(2) ? { type: `0x${type.toString(16)}` } : {}) }
  const bytes = transactionBytes(tx)
  return { from: `0x${'12'.repeat(20)}`, ...tx, hash: bytes && hashOf(bytes) }
}

test('a transaction of each type is proven, and each spoilt field is reported', async () => {
  await played(1, async (dice) => {
    for (const type of TYPES) {
      const tx = transactionOf(dice, type)
      assert.equal((await compareTransaction(tx)).hash, 'proven')
      for (const spoilt of withEachField(dice, tx)) await compareTransaction(spoilt)
      for (let left = 12; left > 0; left--) await compareTransaction(withMutatedSignature(dice, tx, TYPES))
    }
    for (const nothing of [null, undefined, 1, 'x', []]) await compareTransaction(nothing)
  })
})

const RECEIPT = 'cumulativeGasUsed:number logs:logs'
test('a receipt of each type is proven, and each spoilt field is reported', async () => {
  await played(2, async (dice) => {
    for (const type of [null, 0, 2, 0x78, 0x7b, 0x7e, 0x7f, 0x80]) {
      const own = one(dice, ['', ' baseFee:number', ' depositNonce:number depositReceiptVersion:number'])
      const outcome = one(dice, ['status:number', 'root:32'])
      const fields = objectBy(dice, `${outcome} ${RECEIPT}${own}`)
      const receipt = { ...fields, type: type === null ? null : `0x${type.toString(16)}` }
      const bytes = receiptBytes(receipt)
      const receiptsRoot = bytes && (await rootOf([bytes]))
      for (const spoilt of [receipt, ...withEachField(dice, receipt)]) await compareReceipts({ receiptsRoot }, [spoilt])
    }
  })
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
  const own = dice(2) ? last : withMutatedField(dice, last, [last])
  if (dice(6) === 0) given.push(own)
  const others = one(dice, lists)
  let list = changedBy(dice, given, (items) => {
    if (dice(3) > 0 || items.length === 0 || !isObject(items.at(-1))) return withMutatedItem(dice, items, others)
    const at = dice(items.length)
    const item = items[at]
    if (!isObject(item)) return items
    return items.with(at, dice(2) ? mutated(dice, item, others) : withOther(dice, item, TYPES))
  })
  const leaves = (dice(2) === 0 ? list : given).map(leafOf)
  if (dice(6) === 0) list = [...list, own]
  if (dice(12) === 0) leaves.splice(-1 - dice(2), 1)
  const isThere = (leaf: Uint8Array | null): leaf is Uint8Array => leaf !== null
  return { list, root: await rootOf(leaves.filter(isThere)) }
}

test('a list of transactions is proven by the code as far as by the second reading', async () => {
  const seen = { proven: 0, not: 0 }
  await played(120, async (dice) => {
    // What the provider gives for an item that we cannot encode.
    const bytes = Uint8Array.from([one(dice, [0x7f, 0x55, 0x55, 2, 0xc0]), dice(256), dice(256)])
    const raw = (index: number) => (index % 3 < 2 ? bytes : null)
    const leafOf = (tx: unknown, index: number) => transactionBytes(tx) ?? raw(index)
    const { list, root } = await listed(dice, TRANSACTIONS, {
      last: STATE_SYNC,
      leafOf,
      withOther: withMutatedSignature,
    })
    const chainId = one(dice, [null, null, '0x1', '0xa4b1'])
    const block = withoutChainId(dice, one(dice, [list, list, list, list, null, {}]), root)
    seen[(await compareTransactions(block, raw, chainId)) === 'proven' ? 'proven' : 'not']++
  })
  assertBothSeen(seen)
})

/** Some nodes leave the chain's id out of a block's transactions. */
function withoutChainId(dice: Dice, transactions: unknown, transactionsRoot: string): Wire {
  if (!Array.isArray(transactions) || dice(4) > 0) return { transactions, transactionsRoot }
  const bare = transactions.map((tx) =>
    isObject(tx) && dice(3) > 0 ? { ...tx, chainId: one(dice, [null, undefined]) } : tx,
  )
  return { transactions: bare, transactionsRoot }
}

test('we request the bytes of only a few transactions of a block', async () => {
  const bytes = Uint8Array.of(0x55, 1)
  for (const length of [15, 16, 17, 18]) {
    const transactionsRoot = await rootOf(Array.from({ length }, () => bytes))
    const block = { transactions: Array.from({ length }, () => ({ type: '0x55' })), transactionsRoot }
    await compareTransactions(block, () => bytes)
  }
})

test('a list of receipts is proven by the code as far as by the second reading', async () => {
  const seen = { proven: 0, not: 0 }
  await played(120, async (dice) => {
    const { list, root } = await listed(dice, RECEIPTS, {
      last: STATE_SYNC_RECEIPT,
      leafOf: receiptBytes,
      withOther: withMutatedOutcome,
    })
    const receipts = one(dice, [list, list, list, list, null, {}])
    const kind = await compareReceipts({ receiptsRoot: root }, receipts)
    seen[kind === 'proven' ? 'proven' : 'not']++
  })
  assertBothSeen(seen)
})
