// The cost of a transaction, by its receipt: gas, and the fees that rollups and blobs add.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receipt } from '../../src/chain/rpc/wire.ts'

const HASH = `0x${'ab'.repeat(32)}`
const feeOf = (more: object) =>
  receipt({
    transactionHash: HASH,
    blockHash: HASH,
    blockNumber: '0x1',
    from: `0x${'11'.repeat(20)}`,
    to: null,
    status: '0x1',
    gasUsed: '0x186a0',
    effectiveGasPrice: '0x2',
    contractAddress: null,
    logs: [],
    type: '0x2',
    ...more,
  }).feeWei
const GAS = 200_000n

test('the fee is gas used at the effective price, with a rollup’s fee for its data', () => {
  assert.equal(feeOf({}), GAS)
  assert.equal(feeOf({ l1Fee: '0x64' }), GAS + 100n)
})

test('an OP stack chain charges a constant plus gas, in millionths before Jovian, then hundreds', () => {
  const operator = { operatorFeeScalar: '0x1e8480', operatorFeeConstant: '0x5' }
  assert.equal(feeOf(operator), GAS + 200_000n + 5n)
  assert.equal(feeOf({ ...operator, operatorFeeScalar: '0x3', daFootprintGasScalar: '0x190' }), GAS + 30_000_000n + 5n)
  assert.equal(feeOf({ operatorFeeScalar: '0x0', operatorFeeConstant: '0x0' }), GAS)
  assert.equal(feeOf({ operatorFeeScalar: '0x1e8480' }), GAS, 'half of it says nothing')
})

test('only blob transactions pay for blobs, a rollup’s field of that name means another thing', () => {
  const blobs = { blobGasUsed: '0x20000', blobGasPrice: '0x3' }
  assert.equal(feeOf({ ...blobs, type: '0x3' }), GAS + 393_216n)
  assert.equal(feeOf(blobs), GAS)
})

test('a fee that no amount can be is malformed, and no answer', () => {
  const most = `0x${'f'.repeat(64)}`
  for (const more of [{ effectiveGasPrice: most }, { l1Fee: most }, { gasUsed: most }])
    assert.throws(() => feeOf(more), { name: 'ChainFault', kind: 'retryable' })
})
