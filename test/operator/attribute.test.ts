// Value from an internal call, as a Safe sends it: the operator names its transaction, the trace proves who sent it,
// and the service mints to that sender. It survives a reorganisation and a rebuild.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { rebuild } from '../../src/mending/rebuild/rebuild.ts'
import { FORWARD, forwardTo, payInside, putForwarder, traceNothing } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { openDatabase } from '../support/postgres.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const SAFE = 18

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
  traceNothing(world)
  await putForwarder(world, world.at(SAFE))
  await world.settle()
})
after(() => desk.close())

/** Pays from the Safe, by an internal call; the follower files the payment and holds it. */
async function payFromSafe(valueWei = BASIC) {
  const { txHash } = await payInside(world, valueWei, { by: world.at(SAFE) })
  await world.settle()
  const [payment] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
  assert.deepEqual([payment.txHash, payment.valueWei], [null, valueWei.toString()])
  return { txHash, id: payment.id as number }
}
const show = async (id: number) => (await desk.get(`payments/${id}`)).json.payments[0]

describe('a payment by an internal call', () => {
  it('is minted to its proven sender, once the operator has identified and released it', async () => {
    const { txHash, id } = await payFromSafe()
    const attributed = await desk.post(`payments/${id}/attribute`, { txHash, reason: 'their Safe' })
    assert.equal(attributed.status, 200, attributed.text)
    const { from, innerIndex, ref, status } = attributed.json
    assert.deepEqual([from, innerIndex, status], [world.at(SAFE), 1, 'held'])
    const again = await desk.post(`payments/${id}/attribute`, { txHash })
    assert.equal(again.status, 409)
    assert.equal(again.json.error, `The payment came from ${from}: it needs no attribution.`)
    assert.equal((await desk.post(`payments/${txHash}/release`, { tierId: 'basic' })).json.status, 'accepted')
    await world.settle()
    const { status: stands, mint } = await show(id)
    assert.deepEqual([stands, mint.owner], ['minted', world.at(SAFE)])
    assert.equal(await world.read('nodeOfRef', [ref]), BigInt(mint.nodeId))
  })

  it('does not count a transfer that its transaction reverted', async () => {
    const [undoes, tries] = [world.at(17), world.at(16)]
    await world.chain.rpc('anvil_setCode', [undoes, `${FORWARD.slice(0, -2)}5f5ffd`])
    // Sends all it has to the contract that forwards it and reverts, and then forwards it itself.
    const callUndoes = `60206000600037600060006020600034 73${undoes.slice(2)} 5af150`.replaceAll(' ', '')
    await world.chain.rpc('anvil_setCode', [tries, `0x${callUndoes}${FORWARD.slice(2)}`])
    const { txHash } = await payInside(world, BASIC, { by: tries })
    await world.settle()
    const [{ id }] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
    const { from, innerIndex } = (await desk.post(`payments/${id}/attribute`, { txHash })).json
    assert.deepEqual([from, innerIndex], [tries, 1])
    await desk.post(`payments/${id}/dismiss`)
  })

  it('gets no sender from another block, another value, no trace, or another payment', async () => {
    const other = await payFromSafe(BASIC * 2n)
    const { id } = await payFromSafe(BASIC)
    const plain = await world.pay(5, BASIC)
    await world.settle()
    const attribute = (txHash: string) => desk.post(`payments/${id}/attribute`, { txHash })
    assert.match((await attribute(other.txHash)).json.error, /did not arrive/)
    assert.match((await attribute(plain)).json.error, /did not arrive/)
    assert.equal((await attribute(`0x${'ef'.repeat(32)}`)).status, 409)
    assert.equal((await attribute('0x12')).status, 400)
    assert.equal((await show(id)).from, null)
    const refused = await desk.post(`payments/${id}/release`, { tierId: 'basic' })
    assert.match(refused.json.error, /attribute it first/)
    for (const payment of [id, other.id]) await desk.post(`payments/${payment}/dismiss`)
  })

  it('gets no sender from a transaction of another amount, for example one of two in a block', async () => {
    const pay = (valueWei: bigint) =>
      world.chain.send({
        from: world.at(9),
        to: world.at(SAFE),
        data: forwardTo(world.at(3)),
        gas: '0x200000',
        value: `0x${valueWei.toString(16)}`,
      })
    const [txHash] = [await pay(BASIC), await pay(BASIC * 2n)]
    await world.settle()
    const [{ id, valueWei }] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
    assert.equal(valueWei, (BASIC * 3n).toString())
    const refused = await desk.post(`payments/${id}/attribute`, { txHash })
    assert.equal(refused.status, 400)
    assert.match(refused.json.error, /no inner transfer of/)
    assert.equal((await show(id)).from, null)
    await desk.post(`payments/${id}/dismiss`)
  })

  it('keeps its decision after its block is lost and returns, also if its node returns first', async () => {
    const { txHash, id } = await payFromSafe()
    const { blockNumber } = await show(id)
    await desk.post(`payments/${id}/attribute`, { txHash })
    await desk.post(`payments/${id}/release`, { tierId: 'plus' })
    await world.settle()
    const minted = await show(id)
    assert.equal(minted.status, 'minted')
    const [fork, cursor] = [await readBlock(world.pool, blockNumber - 1), await readCursor(world.pool)]
    assert.ok(fork && cursor)
    assert.ok(await rewindTo(world.ctx, fork, cursor))
    const orphan = await show(id)
    assert.deepEqual([orphan.status, orphan.from, orphan.txHash, orphan.mint], ['orphaned', null, null, null])
    await world.settle()
    const back = await show(id)
    assert.deepEqual(
      [back.status, back.from, back.txHash, back.tierId, back.mint.nodeId],
      ['minted', world.at(SAFE), txHash, 'plus', minted.mint.nodeId],
    )
    assert.equal((await desk.get('nodes/unpaid')).json.nodes.length, 0)
  })

  it('that is released and not minted is minted to its sender after its block returns', async () => {
    const { txHash, id } = await payFromSafe()
    const { blockNumber } = await show(id)
    await desk.post(`payments/${id}/attribute`, { txHash })
    await desk.post(`payments/${id}/release`, { tierId: 'basic' })
    const [fork, cursor] = [await readBlock(world.pool, blockNumber - 1), await readCursor(world.pool)]
    assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
    await world.settle()
    const { status, from, mint } = await show(id)
    assert.deepEqual([status, from, mint?.owner], ['minted', world.at(SAFE), world.at(SAFE)])
  })

  it('is minted once its block is as deep as it has to be, however early it was released', async () => {
    const { payments } = world.instance({ rules: { finality: 3 }, facts: { guardUsable: false } })
    const { txHash } = await payInside(world, BASIC, { by: world.at(SAFE) })
    await payments()
    const [{ id }] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
    await desk.post(`payments/${id}/attribute`, { txHash })
    await desk.post(`payments/${id}/release`, { tierId: 'basic' })
    await world.chain.mine(2)
    await payments()
    assert.equal((await show(id)).status, 'accepted')
    await world.chain.mine()
    await payments()
    assert.equal((await show(id)).status, 'minting')
    await world.settle()
  })

  it('is the same payment in a rebuilt ledger', async () => {
    await world.rest()
    await using database = await openDatabase(5)
    const { pool } = database
    const again = world.instance({ pool, directUrl: database.url })
    const { comparison } = await rebuild(again.ctx, world.pool, () => {})
    assert.deepEqual(comparison?.differences, [])
    const states = await pool<{ state: string }[]>`SELECT state FROM payments WHERE inner_index > 0`
    assert.deepEqual(states.map(({ state }) => state).sort(), ['dismissed', 'minted', 'minted', 'minted', 'minted'])
    assert.equal((await pool`SELECT FROM nodes WHERE payment_id IS NULL`).count, 0)
  })

  it('from an owner’s withdrawal comes from the factory, which can hold no node: it is held', async () => {
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
    const [{ id: nodeId } = assert.fail()] = await world.pool<{ id: number }[]>`
      SELECT node_id AS id FROM nodes WHERE owner = ${world.at(5)} ORDER BY node_id LIMIT 1`
    const txHash = await world.act(5, 'withdraw', [nodeId, world.at(3), 1000n])
    await world.settle()
    const [{ id }] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
    assert.equal((await desk.post(`payments/${id}/attribute`, { txHash })).json.from, world.factory)
    await desk.post(`payments/${id}/release`, { tierId: 'basic' })
    await world.settle()
    const { status, reason } = await show(id)
    assert.deepEqual([status, reason], ['held', 'mintReverted'])
    await desk.post(`payments/${id}/dismiss`)
  })

  it('that vanishes and returns in another block is a new payment, which needs a decision', async () => {
    const { txHash, id } = await payFromSafe()
    const raw = await world.raw(txHash)
    const { blockNumber } = await show(id)
    await desk.post(`payments/${id}/attribute`, { txHash })
    await desk.post(`payments/${id}/release`, { tierId: 'basic' })
    await world.chain.rpc('anvil_reorg', [Number((await world.chain.block()).number) - blockNumber + 1, []])
    await world.chain.mine()
    await world.settle()
    assert.equal((await show(id)).status, 'orphaned')
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.settle()
    const [fresh] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
    assert.notEqual(fresh.id, id)
    assert.equal((await desk.post(`payments/${fresh.id}/attribute`, { txHash })).status, 200)
    assert.equal((await desk.post(`payments/${fresh.id}/release`, { tierId: 'basic' })).status, 200)
    await world.settle()
    assert.equal((await show(fresh.id)).mint.owner, world.at(SAFE))
    assert.equal((await show(id)).status, 'orphaned')
  })
})
