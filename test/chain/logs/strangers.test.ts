// Oddities in other people's transactions. None may stop following. The same oddity in one of our accounts is rejected all the same.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createChainReader } from '../../../src/chain/evidence/reader.ts'
import type { ObservedRange } from '../../../src/domain/observed.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { forging, type Rule } from '../false-provider.ts'
import { type Stage, startStage } from '../stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage.close())

const word = (digit: string) => `0x${digit.repeat(64)}`

/** Everything that `act` does, observed through a provider that lies by `rule`. */
async function observedBehind(rule: Rule, act: () => Promise<unknown>): Promise<ObservedRange> {
  const { number } = await stage.head()
  await act()
  await stage.chain.mine()
  const { rpc, provider } = await stage.behind()
  provider.rule = rule
  return await createChainReader(rpc, stage.watched).observe(number + 1, (await stage.head()).number, null)
}

test('a stranger’s failed transaction counts as failed, even with another contract’s log', async () => {
  // Polygon logs the fee of every transaction, even if it failed.
  const feeLog = { address: `0x${'0'.repeat(36)}1010`, topics: [word('f')], data: word('1'), logIndex: '0x0' }
  const failed = forging('eth_getTransactionReceipt', (found) => {
    const { transactionHash, transactionIndex, blockHash, blockNumber } = found
    const at = { transactionHash, transactionIndex, blockHash, blockNumber }
    return { ...found, status: '0x0', logs: [{ ...feeLog, ...at }] }
  })
  const range = await observedBehind(failed, async () => {
    await stage.pay(5, 7n)
    await stage.act(5, 'withdraw', [1n, stage.at(9), 10n ** 18n])
  })
  assert.deepEqual(
    range.transfers.map(({ valueWei, succeeded }) => ({ valueWei, succeeded })),
    [{ valueWei: 7n, succeeded: false }],
  )
  assert.deepEqual(
    range.failedWithdrawals.map(({ caller }) => caller),
    [stage.at(5)],
  )
})

test('a huge nonce, odd logs or a missing fee are no faults in a stranger’s payment', async () => {
  const oddNonce = forging('eth_getBlockByNumber', (block) => ({
    ...block,
    transactions: (block.transactions as object[]).map((tx) => ({ ...tx, nonce: `0x1${'0'.repeat(20)}` })),
  }))
  const oddReceipt = forging('eth_getTransactionReceipt', ({ effectiveGasPrice, ...found }) => ({
    ...found,
    logs: [{ address: stage.at(9), topics: ['0x01'] }],
  }))
  const nullFee = forging('eth_getTransactionReceipt', (found) => ({ ...found, effectiveGasPrice: null }))
  for (const rule of [oddNonce, oddReceipt, nullFee]) {
    const { transfers } = await observedBehind(rule, () => stage.pay(5, 7n))
    assert.deepEqual(
      transfers.map(({ from, valueWei, succeeded }) => ({ from, valueWei, succeeded })),
      [{ from: stage.at(5), valueWei: 7n, succeeded: true }],
    )
  }
})

test('a missing fee of our own transaction is a retryable fault', async () => {
  const silent: Rule = async ({ method }, forward) => {
    if (method !== 'eth_getTransactionReceipt' && method !== 'eth_getBlockByNumber') return undefined
    return JSON.parse(JSON.stringify(await forward()).replaceAll(/"(effectiveGasPrice|gasPrice)":"[^"]*",?/g, ''))
  }
  const answer = observedBehind(silent, () =>
    stage.chain.send({ from: stage.at(3), to: stage.at(9), value: '0x1', gas: '0x80000' }),
  )
  await assert.rejects(
    answer,
    (error) => error instanceof ChainFault && error.retryable && /malformed fee/.test(String(error)),
  )
})

test('an empty transaction list is retried if the header has transactions, and accepted if not', async () => {
  const emptied = forging('eth_getBlockByNumber', (block) => ({ ...block, transactions: [] }))
  await assert.rejects(
    observedBehind(emptied, () => stage.pay(5, 7n)),
    /came without its transactions/,
  )
  const { transfers } = await observedBehind(emptied, async () => {})
  assert.deepEqual(transfers, [])
})
