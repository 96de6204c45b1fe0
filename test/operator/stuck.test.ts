// The reasons for a stuck transaction, as the operator reads them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listStuck } from '../../src/operator/acts/transactions.ts'
import { isOneNode } from '../faults/stage.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const GWEI = 10n ** 9n
const DEAR = `0x${(600n * GWEI).toString(16)}`

let world: World
before(async () => {
  world = await startWorld({ feeCapWei: 500n * GWEI })
  await world.settle()
})
after(async () => world.close())

const stuck = async () => {
  const { transactions } = await listStuck({ pool: world.pool })
  return transactions as { nonce: number; kind: string; pendingBlocks: number; why: string }[]
}

test('a mint below the blocks’ fees is reported after twelve blocks, until it is mined', async () => {
  const payment = await world.pay(5, ETHER / 100n)
  await world.chain.mine()
  await world.payments()
  for (let block = 0; block < 11; block++) {
    await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [DEAR])
    await world.chain.mine()
  }
  await world.payments()
  assert.deepEqual(await stuck(), [])
  await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [DEAR])
  await world.chain.mine()
  await world.payments()
  const [mint, ...others] = await stuck()
  assert.deepEqual([mint?.kind, mint?.pendingBlocks, mint?.why, others.length], ['mint', 12, 'fee', 0])
  await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${GWEI.toString(16)}`])
  await world.settle()
  assert.deepEqual(await stuck(), [])
  await isOneNode(world, payment)
})
