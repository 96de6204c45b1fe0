// Published blocks of real chains recompute to their published hashes and roots, by chain and fork.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveReceipts, proveTransactions } from '../../../src/chain/prove/body.ts'
import { proveHeader } from '../../../src/chain/prove/header.ts'
import type { Fields } from '../../../src/chain/prove/items.ts'
import { encodeReceipt } from '../../../src/chain/prove/receipt.ts'
import { isUnsigned, proveSender, proveTransaction } from '../../../src/chain/prove/transaction.ts'
import { block, blocks, headers, read } from './published.ts'

const proven = (part: string) => ({ kind: 'proven', part })
/** Most signatures to recover per block, because each takes a millisecond. */
const SENDERS_MAX = 40

for (const { chain, fork, source, block: given } of [...headers(), ...blocks()]) {
  test(`${chain}, ${fork}, block ${Number(given.number)}: its header has its hash (${source})`, () => {
    assert.deepEqual(proveHeader(given), proven('header'))
  })
}

for (const { chain, block: given, receipts } of [...blocks(), block('tempo-20636966'), block('stable-42767022')]) {
  const { transactions } = given
  if (transactions)
    test(`${chain}, block ${Number(given.number)}: its transactions have its root, and their hashes and senders`, async () => {
      const expected = { verdict: proven('transactions'), count: transactions.length }
      assert.deepEqual(await proveTransactions(given, async () => null), expected)
      for (const tx of transactions) assert.deepEqual(proveTransaction(tx), proven('transaction'))
      for (const tx of transactions.filter((each) => !isUnsigned(each)).slice(0, SENDERS_MAX))
        assert.deepEqual(await proveSender(tx), proven('sender'))
    })
  if (receipts)
    test(`${chain}, block ${Number(given.number)}: its receipts have its root`, async () => {
      const expected = { verdict: proven('receipts'), count: receipts.length }
      assert.deepEqual(await proveReceipts(given, receipts), expected)
    })
}

for (const { chain, transaction } of read<{ chain: string; transaction: Fields }[]>('transactions.json')) {
  test(`${chain}: a transaction of type ${transaction.type} has its hash`, async () => {
    assert.deepEqual(proveTransaction(transaction), proven('transaction'))
    const sender = await proveSender(transaction)
    assert.equal(sender.kind, isUnsigned(transaction) ? 'unprovable' : 'proven')
  })
}

test('Base Goerli, Regolith: a deposit’s receipt has a nonce that is not under the root', async () => {
  const { receipts, ...block } = read<{ receiptsRoot: string; receipts: Fields[] }>('receipts.json')
  assert.equal(receipts[0]?.depositNonce, '0x3d3bbf')
  assert.deepEqual((await proveReceipts(block, receipts)).verdict, proven('receipts'))
})

test('since Canyon a deposit’s receipt is encoded with its nonce and version', () => {
  const deposit = { type: '0x7e', status: '0x1', cumulativeGasUsed: '0xb741', logs: [], depositNonce: '0x3d3bbf' }
  const encoded = encodeReceipt({ ...deposit, depositReceiptVersion: '0x1' })
  // alloy-rs/op-alloy, crates/consensus/src/receipts/deposit.rs, post_canyon_receipt_roundtrip.
  const bytes = `7ef9010d0182b741b90100${'00'.repeat(256)}c0833d3bbf01`
  assert.equal('bytes' in encoded && Buffer.from(encoded.bytes).toString('hex'), bytes)
})

test('a header with unknown fields or another consensus does not have its hash', async () => {
  const tempo = proveHeader(block('tempo-20636966').block)
  assert.match(tempo.kind === 'contradicted' ? String(tempo.beside) : '', /sharedGasLimit/)
  for (const name of ['stable-42767022', 'cronos-11446765'])
    assert.equal(proveHeader(block(name).block).kind, 'contradicted')
  const cronos = block('cronos-11446765')
  assert.equal((await proveTransactions(cronos.block, async () => null)).verdict.kind, 'contradicted')
})
