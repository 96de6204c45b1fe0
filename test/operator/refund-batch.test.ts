// Several refunds at once: one act prepares them, each for itself, and one file for a Safe pays them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checksum } from '../../src/chain/digest.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { lockPayers } from '../../src/db/payments/lock-order.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { batchChecksum } from '../../src/operator/acts/refunds/safe-batch.ts'
import { SPLIT, splitTo } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { meetAt } from '../support/postgres.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({}, { between: twice })
  world = desk.world
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const refund = (txHash: Hash, refundTxHash: Hash) => desk.post(`payments/${txHash}/refund`, { refundTxHash })
/** A payment of the wrong amount, held. */
async function heldPayment(from: number, valueWei: bigint): Promise<Hash> {
  const txHash = await world.pay(from, valueWei)
  await world.settle()
  assert.equal(await told(txHash), 'held wrongAmount')
  return txHash
}

test('several refunds are prepared by one act, each for itself, and paid by one file for a Safe', async () => {
  const [first, second] = [await heldPayment(5, BASIC - 21n), await heldPayment(6, BASIC - 22n)]
  const sold = await world.pay(7, BASIC)
  await world.settle()
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  const prepare = async (payments: unknown) => desk.post('payments/refunds/prepare', { payments, reason: 'by mail' })
  const early = await prepare([first, sold, 'x', second])
  assert.deepEqual([early.json.safeBatch, early.json.sendNowWei], [null, '0'], early.text)
  const refusals = early.json.results.map(({ refusal }: { refusal: string | null }) => refusal)
  assert.deepEqual([refusals[0], refusals[3]], [null, null])
  assert.match(refusals[1], /is minted/)
  assert.match(refusals[2], /as its transaction hash/)
  assert.deepEqual([await told(first), await told(second)], ['held refunding', 'held refunding'])
  assert.deepEqual((await prepare([])).status, 400)
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
  const { json } = await prepare([first, second, first])
  assert.equal(json.sendNowWei, String(2n * BASIC - 43n))
  const { chainId, transactions } = json.safeBatch
  assert.equal(chainId, String(world.chain.chainId))
  assert.deepEqual(transactions, [
    { to: checksum(world.at(5)), value: String(BASIC - 21n), data: '0x' },
    { to: checksum(world.at(6)), value: String(BASIC - 22n), data: '0x' },
  ])
  // The file's transfers, sent as one transaction, refund each.
  const splitter = world.at(17)
  await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
  const parts = transactions.map(
    ({ to, value }: { to: string; value: string }) => [to as Address, BigInt(value)] as const,
  )
  const paid = await world.call(10, splitter, splitTo(...parts), BigInt(json.sendNowWei))
  for (const txHash of [first, second]) assert.equal((await refund(txHash, paid)).json.alarm, null)
})

test('of two simultaneous requests for a file, one gets it, and the other learns that', async () => {
  const txHash = await heldPayment(6, BASIC - 32n)
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
  const ask = () => desk.post('payments/refunds/prepare', { payments: [txHash] })
  const answers = await meetAt(world.pool, (sql) => lockPayers(sql, [world.at(6)], { wait: true }), [ask, ask])
  for (const isTold of [false, true])
    assert.equal(answers.filter(({ json }) => (json.results[0].prepared.fileMadeAt !== null) === isTold).length, 1)
  assert.equal(answers.filter(({ json }) => json.safeBatch !== null).length, 1)
})

test('the file has the Transaction Builder’s checksum, with any order of fields', () => {
  const to = '0x49d4450977E2c95362C13D3a31a09311E0Ea26A6'
  const file = {
    transactions: [{ value: '7', to, data: '0x' }],
    meta: { description: 'd', name: 'Refunds' },
    chainId: '31337',
    createdAt: 1,
    version: '1.0',
  }
  const known = '0x1c47851e43a8ef036e6a595a14a9b5ad528b225ab3bbfec9d3c947d367a7d05f'
  assert.equal(batchChecksum(file), known)
  assert.equal(batchChecksum({ ...file, meta: { ...file.meta, name: 'renamed' } }), known)
  assert.notEqual(batchChecksum({ ...file, chainId: '1' }), known)
})
