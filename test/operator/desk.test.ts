// The operator's other acts on a real chain: the pause as passes and health see it, grants, the deny list, and the rescan.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { type Hash, hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { rescan } from '../../src/operator/acts/rescan.ts'
import { mintData } from '../support/factory.ts'
import { payInside, putForwarder, traceNothing } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, INTERVAL_SEC, paymentOf, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const health = async () => (await desk.service.get('/api/cron/health')).json

describe('the pause', () => {
  it('stops crediting, not minting, is in the health report, and ends with all missed turns', async () => {
    await world.pay(5, BASIC)
    await world.settle()
    await desk.post('pause')
    await world.chain.mine(2, 2 * INTERVAL_SEC)
    assert.equal((await world.credit()).reason, 'paused')
    assert.equal((await health()).paused, true)
    const txHash = await world.pay(6, BASIC)
    await world.settle()
    assert.equal(await told(txHash), 'minted')
    await desk.post('resume')
    desk.service.clock.now += 60_000
    assert.equal((await health()).paused, false)
    await world.rest()
    const [node] = (await desk.service.get(`/api/nodes/${world.at(5)}`)).json
    assert.ok(BigInt(node.creditedWei) > 0n)
  })
})

describe('a grant', () => {
  it('has an unpaid node credited, and until then its cohort alone waits', async () => {
    const [open] = await world.pool<{ cohort: number }[]>`
      SELECT cohort FROM cohorts WHERE tier_no = 1 AND next_due > (SELECT block_time + 120 FROM cursors) LIMIT 1`
    const cohort = open?.cohort ?? assert.fail('no cohort of the tier takes nodes')
    const data = mintData({ to: world.at(7), cohort, ref: hash(`0x${'77'.repeat(32)}`) })
    await world.call(1, world.factory, data)
    await world.settle()
    const { nodes } = (await desk.get('nodes/unpaid?open=true')).json
    assert.equal(nodes.length, 1)
    const [{ nodeId, owner, grant }] = nodes
    assert.deepEqual([owner, grant], [world.at(7), null])
    await world.chain.mine(2, INTERVAL_SEC + 60)
    await world.rest()
    const credited = async () => BigInt((await desk.service.get(`/api/node/${nodeId}`)).json.creditedWei)
    assert.equal(await credited(), 0n)
    assert.equal((await desk.post(`nodes/${nodeId}/grant`)).status, 400, 'a grant needs a reason')
    const granted = await desk.post(`nodes/${nodeId}/grant`, { reason: 'a prize' })
    const says = 'Granted: its cohort is credited again from the next pass on.'
    assert.deepEqual(granted.json, { nodeId, granted: true, changed: true, says })
    assert.equal((await desk.post(`nodes/${nodeId}/grant`, { reason: 'again' })).json.changed, false)
    await world.rest()
    assert.ok((await credited()) > 0n)
    assert.deepEqual((await desk.get('nodes/unpaid?open=true')).json.nodes, [])
    assert.equal((await desk.get('nodes/unpaid')).json.nodes[0].grant.reason, 'a prize')
    assert.equal((await desk.post('nodes/1/grant', { reason: 'x' })).status, 409, 'that one was paid for')
    assert.equal((await desk.post('nodes/999/grant', { reason: 'x' })).status, 404)
    assert.equal((await desk.post(`nodes/${nodeId}/revoke`, { reason: 'a mistake' })).json.granted, false)
    assert.equal((await desk.get('nodes/unpaid?open=true')).json.nodes.length, 1)
    await desk.post(`nodes/${nodeId}/grant`, { reason: 'a prize after all' })
    const actions = (await desk.get(`audit?subject=${nodeId}`)).json.entries.map((e: { action: string }) => e.action)
    assert.deepEqual(actions, ['granted', 'grantRevoked', 'granted'])
  })
})

describe('the deny list', () => {
  it('holds a listed wallet’s payments, until the operator releases them or removes the wallet', async () => {
    const address = world.at(8)
    assert.equal((await desk.post('senders', { address, label: 'Exchange' })).status, 400, 'a reason is asked for')
    assert.equal((await desk.post('senders', { address, label: 'Exchange', reason: 'hot wallet' })).status, 200)
    const txHash = await world.pay(8, BASIC)
    await world.settle()
    assert.equal(await told(txHash), 'held senderDenied')
    const [listed] = (await desk.get('senders')).json.senders
    assert.deepEqual([listed.address, listed.label, listed.addedBy], [address, 'Exchange', 'ada'])
    assert.equal((await desk.post(`payments/${txHash}/release`)).json.tierId, 'basic')
    assert.equal((await desk.post(`senders/${address}/remove`)).json.removed, true)
    assert.equal((await desk.post(`senders/${address}/remove`)).status, 404)
    assert.equal((await desk.post('senders/0x12/remove')).status, 400)
    const next = await world.pay(8, BASIC)
    await world.settle()
    assert.deepEqual([await told(txHash), await told(next)], ['minted', 'minted'])
  })
})

describe('a payment without sender', () => {
  it('can be dismissed or refunded, never released', async () => {
    await putForwarder(world)
    traceNothing(world)
    await payInside(world, BASIC)
    await world.settle()
    const [held] = (await desk.get('payments?reason=unattributed')).json.payments
    assert.deepEqual([held.txHash, held.from, held.valueWei], [null, null, BASIC.toString()])
    const refused = await desk.post(`payments/${held.id}/release`, { tierId: 'basic' })
    assert.equal(refused.status, 409)
    assert.match(refused.json.error, /dismissed or refunded/)
    const refundTxHash = await world.chain.send({
      from: world.at(10),
      to: world.at(9),
      value: `0x${BASIC.toString(16)}`,
    })
    await world.chain.mine()
    assert.equal((await desk.post(`payments/${held.id}/refund`, { refundTxHash })).json.status, 'refunded')
    const [shown] = (await desk.get(`payments/${held.id}`)).json.payments
    assert.equal(shown.verdicts.at(-1).evidence.recipientChecked, false)
  })
})

describe('a rescan', () => {
  it('finds what is missing, rewinds to before it, and the next pass keeps every decision', async () => {
    const released = await world.pay(5, BASIC - 1n)
    const dismissed = await world.pay(6, BASIC - 1n)
    await world.settle()
    await desk.post(`payments/${released}/release`, { tierId: 'basic' })
    await desk.post(`payments/${dismissed}/dismiss`)
    const lost = await world.pay(7, BASIC)
    await world.settle()
    const blockOf = async (txHash: Hash) => (await desk.get(`payments/${txHash}`)).json.payments[0].blockNumber
    const [fromBlock, node] = [await blockOf(released), await paymentOf(world, lost)]
    const nodeId = node?.nodeId ?? assert.fail('it was not minted')
    const lostIn = await blockOf(lost)
    await world.pool`ALTER TABLE node_transfers DISABLE TRIGGER ALL`
    const gone = await world.pool`DELETE FROM node_transfers WHERE node_id = ${nodeId} RETURNING block_number`
    assert.equal(gone.count, 1)
    const preview = await desk.post('rescan', { fromBlock, dryRun: true })
    assert.equal(preview.json.wentBackTo, null)
    assert.deepEqual(
      preview.json.missing.map(({ key }: { key: string }) => key.split(' ')[0]),
      ['transfer'],
    )
    const done = await desk.post('rescan', { fromBlock, reason: 'a transfer is missing' })
    assert.equal(done.json.wentBackTo, gone[0]?.block_number - 1)
    assert.ok(done.json.wentBackTo >= lostIn)
    await world.rest()
    assert.deepEqual(
      [await told(released), await told(dismissed), await told(lost)],
      ['minted', 'dismissed wrongAmount', 'minted'],
    )
    assert.equal((await world.pool`SELECT FROM node_transfers WHERE node_id = ${nodeId}`).count, 1)
    assert.deepEqual((await desk.post('rescan', { fromBlock })).json.missing, [])
    const minted = await world.pool<{ ref: Hash; mint_tx_hash: Hash }[]>`
      SELECT ref, mint_tx_hash FROM nodes WHERE payment_id IS NULL`
    const [unpaidRefs, foreign] = [minted.map((row) => row.ref), minted.map((row) => row.mint_tx_hash)]
    await checkInvariants(world, { unpaidRefs, foreign })
    const actions = (await desk.get('audit?actor=ada&limit=3')).json.entries.map((e: { action: string }) => e.action)
    assert.deepEqual(actions, ['rescanned', 'rescanned', 'wentBack'])
  })

  it('refuses to dismiss a payment that a pending mint may yet deliver, and warns at its refund', async () => {
    const paid = await world.pay(15, BASIC)
    await world.chain.mine()
    await world.payments()
    assert.equal(await told(paid), 'minting')
    const [{ txHash } = assert.fail()] = await world.pool<{ txHash: Hash }[]>`
      SELECT tx_hash AS "txHash" FROM outbox_attempts ORDER BY outbox_id DESC LIMIT 1`
    await world.chain.rpc('anvil_dropTransaction', [txHash])
    const { blockNumber } = (await desk.get(`payments/${paid}`)).json.payments[0]
    const [fork, cursor] = [await readBlock(world.pool, blockNumber - 1), await readCursor(world.pool)]
    assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
    await desk.post('senders', { address: world.at(15), label: 'exchange', reason: 'named meanwhile' })
    await world.instance({ minter: null }).payments()
    assert.equal(await told(paid), 'held senderDenied')
    const refused = await desk.post(`payments/${paid}/dismiss`)
    assert.equal(refused.status, 409, refused.text)
    assert.match(refused.json.error, /is pending/)
    const back = await world.chain.send({ from: world.at(10), to: world.at(15), value: `0x${BASIC.toString(16)}` })
    await world.chain.mine()
    const refunded = await desk.post(`payments/${paid}/refund`, { refundTxHash: back })
    assert.equal(refunded.json.alarm, 'refundTooEarly', refunded.text)
    await world.settle()
    assert.equal(await told(paid), 'minted')
  })

  it('is refused after a reorg, before it reads or meanwhile', async () => {
    const fromBlock = Number((await world.chain.block()).number) - 3
    await world.chain.rpc('anvil_rollback', [1])
    const behind = await desk.post('rescan', { fromBlock })
    assert.equal(behind.status, 409, behind.text)
    assert.match(behind.json.error, /being reorganised, or the provider lags/)
    await world.pay(5, 1n)
    await world.rest()
    const { chain } = world.ctx
    const observe: typeof chain.observe = async (...range) => {
      await world.chain.reorg(1)
      return chain.observe(...range)
    }
    const deps = operatorDeps({ ...world.ctx, chain: { ...chain, observe } }, world.pool)
    const refused = await rescan(deps, { name: 'ada', requestId: null }, { fromBlock })
    assert.match(isOperatorRefusal(refused) ? refused.message : 'done', /is being reorganised: the next pass/)
    await world.rest()
    assert.deepEqual((await desk.post('rescan', { fromBlock })).json.missing, [])
  })
})
