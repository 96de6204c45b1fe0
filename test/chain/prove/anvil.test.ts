// The development chain's answers recompute like a real chain's, so a ledger on it can be proven. The exception is an
// account that it impersonates, which has signed nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { proveReceipts, proveTransactions } from '../../../src/chain/prove/body.ts'
import { proveHeader } from '../../../src/chain/prove/header.ts'
import type { Fields } from '../../../src/chain/prove/items.ts'
import { proveSender } from '../../../src/chain/prove/transaction.ts'
import { type Hex, startTestChain, type TestChain } from '../../support/anvil.ts'

let chain: TestChain
before(async () => {
  chain = await startTestChain()
})
after(() => chain.stop())

async function proveBlock(number: Hex): Promise<Fields[]> {
  const block = await chain.rpc<Fields & { transactions: Fields[] }>('eth_getBlockByNumber', [number, true])
  const receipts = await chain.rpc<Fields[]>('eth_getBlockReceipts', [number])
  assert.equal(proveHeader(block).kind, 'proven')
  const { transactions } = block
  assert.deepEqual(await proveTransactions(block, async () => null), {
    verdict: { kind: 'proven', part: 'transactions' },
    count: transactions.length,
  })
  assert.deepEqual(await proveReceipts(block, receipts), {
    verdict: { kind: 'proven', part: 'receipts' },
    count: receipts.length,
  })
  return transactions
}

test('its headers, transactions, receipts and senders are proven, by fork', async () => {
  await proveBlock('0x0')
  const [sender, recipient] = chain.accounts.map(({ address }) => address) as [Hex, Hex]
  const price = { gasPrice: '0x77359400' }
  const accessList = [{ address: recipient, storageKeys: [`0x${'00'.repeat(32)}`] }]
  // LOG2 of no data, and a plain transfer in each of the types that it signs itself.
  await chain.send({ from: sender, data: '0x6001600260006000a2', gas: '0x100000' })
  await chain.send({ from: sender, to: recipient, value: '0x7b', ...price })
  await chain.rpc('eth_sendTransaction', [{ from: sender, to: recipient, value: '0x7b', ...price, accessList }])
  await chain.send({ from: recipient, to: sender, value: '0x7b' })
  const { number } = await chain.mine()
  const transactions = await proveBlock(number)
  assert.deepEqual(new Set(transactions.map(({ type }) => type)), new Set(['0x0', '0x1', '0x2']))
  for (const tx of transactions) assert.equal((await proveSender(tx)).kind, 'proven')
})

test('an impersonated account has signed nothing', async () => {
  const stranger = `0x${'ab'.repeat(20)}`
  const to = `0x${'cd'.repeat(20)}`
  await chain.rpc('anvil_setBalance', [stranger, '0xde0b6b3a7640000'])
  await chain.rpc('anvil_impersonateAccount', [stranger])
  await chain.send({ from: stranger, to, value: '0x1' })
  const { number } = await chain.mine()
  const { transactions } = await chain.rpc<{ transactions: Fields[] }>('eth_getBlockByNumber', [number, true])
  assert.notEqual((await proveSender(transactions[0])).kind, 'proven')
})
