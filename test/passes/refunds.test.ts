// Recorded refunds are looked after until they are final: one that a reorganisation takes back is found out whenever that happens,
// and one that a provider cannot show, or shows on another fork, stays as it is.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ChainReader, FactoryCall } from '../../src/chain/port.ts'
import { readRecheck } from '../../src/db/recheck.ts'
import type { Hash } from '../../src/domain/units.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const WRONG = ETHER / 100n - 1n
/** Blocks on top of a refund with which it is final, and with which it would be given up were it gone. */
const MANY = 70

let desk: Desk
/** Sent with the minter's key past the service. */
const foreign: Hash[] = []
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
})
after(() => desk.close())

const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state
const refundOf = async (txHash: Hash) => {
  const [row] = await world.pool<{ hash: Hash; number: number; final: boolean }[]>`
    SELECT r.block_hash AS hash, r.block_number AS number, r.final FROM refunds r JOIN payments p ON p.ref = r.payment_ref
    WHERE p.tx_hash = ${txHash}`
  return row ?? assert.fail('no refund')
}

/** A payment of the wrong amount, paid back in the head's block by a wallet of the operator, and recorded. */
async function refunded(account: number): Promise<Hash> {
  const payment = await world.pay(account, WRONG)
  await world.settle()
  const back = { from: world.at(10), to: world.at(account), value: `0x${WRONG.toString(16)}` } as const
  const refundTxHash = await world.chain.send(back)
  await world.chain.mine()
  assert.equal((await desk.post(`payments/${payment}/refund`, { refundTxHash })).status, 200)
  return payment
}
const through = (parts: Partial<ChainReader>) => world.instance({ chain: { ...world.ctx.chain, ...parts } })

test('one that was looked at and is taken back afterwards is found out all the same', async () => {
  const payment = await refunded(5)
  await world.payments()
  assert.equal((await refundOf(payment)).final, false)
  await world.chain.reorg(1)
  await world.chain.mine(MANY)
  await world.payments()
  assert.equal(await stateOf(payment), 'held')
})

test('one that a lagging provider does not show stays, however long it has been', async () => {
  const payment = await refunded(6)
  const { number } = await refundOf(payment)
  await world.chain.mine(MANY)
  await through({
    finalized: async () => null,
    transaction: async () => null,
    block: async (asked) => (asked >= number ? null : world.ctx.chain.block(asked)),
  }).payments()
  assert.equal(await stateOf(payment), 'refunded')
})

test('one that a provider shows in a block which is not canonical is not moved there', async () => {
  const payment = await refunded(7)
  const before = await refundOf(payment)
  const elsewhere = `0x${'ab'.repeat(32)}` as Hash
  await through({
    transaction: async (txHash) => {
      const tx = await world.ctx.chain.transaction(txHash)
      return tx && { ...tx, blockHash: elsewhere }
    },
  }).payments()
  assert.deepEqual(await refundOf(payment), before)
})

test('one that fails in the block it comes back in is taken back here at once', async () => {
  const payment = await refunded(12)
  const [{ hash } = assert.fail()] = await world.pool<{ hash: Hash }[]>`
    SELECT r.tx_hash AS hash FROM refunds r JOIN payments p ON p.ref = r.payment_ref WHERE p.tx_hash = ${payment}`
  const raw = await world.raw(hash)
  await world.chain.reorg(1)
  await world.chain.rpc('anvil_setCode', [world.at(12), '0x5f5ffd'])
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.chain.rpc('anvil_setCode', [world.at(12), '0x'])
  assert.equal(await world.succeeded(hash), false)
  await world.payments()
  assert.equal(await stateOf(payment), 'held')
})

test('one whose block is final is final, and looked at no more', async () => {
  const payment = await refunded(8)
  await world.chain.mine(MANY)
  await world.payments()
  assert.equal((await refundOf(payment)).final, true)
  const looked: Hash[] = []
  const transaction = (txHash: Hash) => {
    looked.push(txHash)
    return world.ctx.chain.transaction(txHash)
  }
  await through({ transaction }).payments()
  assert.deepEqual(looked, [])
  assert.equal(await stateOf(payment), 'refunded')
})

test('a node minted with the minter’s key for a payment that was refunded is told to the operator', async () => {
  const payment = await refunded(9)
  const { minter } = world.ctx
  assert.ok(minter)
  const paid = await world.pay(11, ETHER / 100n)
  await world.settle()
  const [{ cohort } = { cohort: 0 }] = await world.pool<
    { cohort: number }[]
  >`SELECT cohort FROM nodes WHERE ref = ${paid}`
  const call: FactoryCall = { kind: 'mint', orders: [{ to: world.at(9), cohort, ref: payment }], guard: null }
  const options = { nonce: await minter.nonce(), gasLimit: 500_000n, fees: await minter.fees() }
  const { raw, txHash } = await minter.sign(call, options)
  await minter.broadcast(raw)
  foreign.push(txHash)
  await world.settle()
  assert.equal(await stateOf(payment), 'minted')
  const told = await world.pool`SELECT FROM audit WHERE action = 'mintedThoughNotAccepted' AND subject = ${payment}`
  assert.equal(told.length, 1)
  assert.equal(await readRecheck(world.pool), null, 'and says nothing about what else the ledger knows')
})

test('of all of this the ledger says what the chain says', () => checkInvariants(world, { foreign }))
