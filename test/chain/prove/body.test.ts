// A block's contents are as good as its header's roots: no provider can add, change or leave out anything.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBytes } from 'viem/utils'
import { proveReceipts, proveTransactions, withChainId } from '../../../src/chain/prove/body.ts'
import type { Fields } from '../../../src/chain/prove/items.ts'
import { listRoot } from '../../../src/chain/prove/list-root.ts'
import { encodeTransaction } from '../../../src/chain/prove/transaction.ts'
import { block } from './published.ts'

const arbitrum = block('arbitrum-150000000')
const receipts = arbitrum.receipts as Fields[]
const transactions = arbitrum.block.transactions as Fields[]

const bytesOfTransaction = (tx: Fields): Uint8Array => {
  const encoded = encodeTransaction(tx)
  return 'bytes' in encoded ? encoded.bytes : assert.fail(encoded.why)
}

test('no transaction can be added, changed or left out', async () => {
  const [first, second, ...others] = transactions as [Fields, Fields]
  const lists = [
    ...[others, [second, first, ...others], [...transactions, first]],
    ...['to', 'value', 'nonce'].map((name) => [
      first,
      { ...second, [name]: name === 'to' ? first.to : '0x77' },
      ...others,
    ]),
  ]
  for (const list of lists) {
    const { verdict, count } = await proveTransactions({ ...arbitrum.block, transactions: list })
    assert.deepEqual([verdict.kind, count], ['contradicted', 0])
  }
  const unknown = await proveTransactions({
    ...arbitrum.block,
    transactions: [{ ...first, type: '0x71' }, second, ...others],
  })
  assert.deepEqual(unknown.verdict, {
    kind: 'unprovable',
    part: 'transactions',
    why: 'number 0: type 0x71 is not known',
  })
  assert.equal((await proveTransactions({ ...arbitrum.block, transactions: undefined })).verdict.kind, 'unprovable')
})

test('no receipt, status or log can be added, changed or left out, and a bloom that is wrong is not used', async () => {
  const at = receipts.findIndex(({ logs }) => (logs as Fields[]).length > 0)
  const { logs, ...rest } = receipts[at] as Fields & { logs: Fields[] }
  const withLogs = (changed: unknown) =>
    receipts.map((each, index) => (index === at ? { ...rest, logs: changed } : each))
  const [log] = logs as [Fields]
  const lists = [
    ...[withLogs([]), withLogs([...logs, log]), withLogs(logs.map((each) => ({ ...each, data: '0x01' })))],
    ...[withLogs(logs.map((each) => ({ ...each, address: `0x${'33'.repeat(20)}` }))), receipts.slice(1)],
    receipts.map((each, index) => (index === at ? { ...each, status: each.status === '0x1' ? '0x0' : '0x1' } : each)),
  ]
  for (const list of lists) assert.equal((await proveReceipts(arbitrum.block, list)).verdict.kind, 'contradicted')
  const wider = receipts.map((each) => ({ ...each, type: `0x${(256 + Number(each.type)).toString(16)}` }))
  assert.equal((await proveReceipts(arbitrum.block, wider)).verdict.kind, 'unprovable')
  const blooming = receipts.map((each) => ({ ...each, logsBloom: `0x${'ff'.repeat(256)}` }))
  assert.equal((await proveReceipts(arbitrum.block, blooming)).verdict.kind, 'proven')
})

test('a transaction without the chain’s id is proven with it, and with no other', async () => {
  const chainId = String(transactions.find((tx) => Number(tx.type) > 0)?.chainId)
  const block = { ...arbitrum.block, transactions: transactions.map(({ chainId: _, ...tx }) => tx) }
  const proven = async (id: string | null) => (await proveTransactions(withChainId(block, id))).verdict.kind
  assert.deepEqual(
    [await proven(chainId), await proven('0x1'), await proven(null)],
    ['proven', 'contradicted', 'unprovable'],
  )
})

test('a state-sync transaction that is under no root is left out of what is proven', async () => {
  const nobody = `0x${'00'.repeat(20)}`
  const sync = {
    type: '0x0',
    from: nobody,
    to: nobody,
    gas: '0x0',
    v: '0x0',
    r: '0x0',
    s: '0x0',
    nonce: '0x0',
    value: '0x0',
  }
  const proven = await proveTransactions({ ...arbitrum.block, transactions: [...transactions, sync] })
  assert.deepEqual([proven.verdict.kind, proven.count], ['proven', transactions.length])
  const receipt = { from: nobody, to: nobody, gasUsed: '0x0', logs: [{ address: nobody, topics: [], data: '0x' }] }
  const both = await proveReceipts(arbitrum.block, [...receipts, receipt])
  assert.deepEqual([both.verdict.kind, both.count], ['proven', receipts.length])
  const bare = { from: nobody, to: nobody, gas: '0x0', r: null, s: null }
  assert.equal(
    (await proveTransactions({ ...arbitrum.block, transactions: [...transactions, bare] })).count,
    transactions.length,
  )
  const twice = await proveTransactions({ ...arbitrum.block, transactions: [...transactions, sync, sync] })
  assert.notEqual(twice.verdict.kind, 'proven')
  const first = await proveTransactions({ ...arbitrum.block, transactions: [sync, ...transactions] })
  assert.notEqual(first.verdict.kind, 'proven')
})

// Never seen: the form of Polygon since Madhugiri, after PIP-74 and core/types of 0xPolygon/bor.
test('a state-sync transaction under the roots counts by its bytes, which the provider gives for its place', async () => {
  const nobody = `0x${'00'.repeat(20)}`
  const sync = {
    type: '0x7f',
    from: nobody,
    to: nobody,
    gas: '0x0',
    nonce: '0x0',
    value: '0x0',
    hash: arbitrum.block.hash,
  }
  const raw = hexToBytes('0x7fc3c20102')
  const leaves = [...transactions.map(bytesOfTransaction), raw]
  const block = {
    ...arbitrum.block,
    transactions: [...transactions, sync],
    transactionsRoot: await listRoot(leaves),
  }
  const asked: number[] = []
  const give = (bytes: Uint8Array | null) => async (index: number) => {
    asked.push(index)
    return bytes
  }
  const proven = await proveTransactions(block, give(raw))
  assert.deepEqual([proven.verdict.kind, proven.count, asked], ['proven', leaves.length, [transactions.length]])
  for (const other of [hexToBytes('0x7fc3c20103'), null])
    assert.equal((await proveTransactions(block, give(other))).verdict.kind, 'contradicted')
})

test('a transaction that is listed under an unknown type counts only if its bytes are of one', async () => {
  const [first, ...others] = transactions as [Fields, ...Fields[]]
  const block = { ...arbitrum.block, transactions: [{ ...first, type: '0x55' }, ...others] }
  assert.equal((await proveTransactions(block, async () => bytesOfTransaction(first))).verdict.kind, 'unprovable')
})
