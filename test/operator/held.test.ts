// The operator's decisions about held payments, over HTTP and on a real chain: released and minted, dismissed for good,
// or refunded from their own wallet, which only the chain proves.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { payInside, putForwarder } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { meetAt } from '../support/postgres.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** No price, and too much to be sorted out when stored. */
const SMALL = BASIC / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
/** A payment of the wrong amount, held. */
async function heldPayment(from: number, valueWei = BASIC - 1n): Promise<Hash> {
  const txHash = await world.pay(from, valueWei)
  await world.settle()
  assert.equal(await told(txHash), 'held wrongAmount')
  return txHash
}
/** A plain transfer between two accounts, mined. */
async function transfer(from: number, to: string, valueWei: bigint): Promise<Hash> {
  const txHash = await world.chain.send({ from: world.at(from), to, value: `0x${valueWei.toString(16)}` })
  await world.chain.mine()
  return txHash
}
/** Presses these in this order, before any of them has the payment. */
const pressed = (txHash: Hash, acts: readonly string[], refundTxHash?: Hash) =>
  meetAt(
    world.pool,
    (sql) => sql`SELECT FROM payments WHERE tx_hash = ${txHash} FOR UPDATE`,
    acts.map((act) => () => {
      const body = { release: { tierId: 'basic' }, refund: { refundTxHash } }[act]
      return desk.post(`payments/${txHash}/${act}`, body)
    }),
  )

describe('held payments', () => {
  it('are listed with their evidence, newest first, by state and reason, page by page', async () => {
    const hashes = [await heldPayment(5), await heldPayment(6), await heldPayment(7)]
    const first = await desk.get('payments?status=held&reason=wrongAmount&limit=2')
    assert.deepEqual(
      first.json.payments.map(({ txHash }: { txHash: string }) => txHash),
      [hashes[2], hashes[1]],
    )
    const [payment] = first.json.payments
    assert.deepEqual(
      [payment.from, payment.valueWei, payment.verdict.decidedBy, payment.verdict.evidence.rule],
      [world.at(7), (BASIC - 1n).toString(), 'pass', 'wrongAmount'],
    )
    const second = await desk.get(`payments?status=held&limit=2&cursor=${first.json.nextCursor}`)
    assert.equal(second.json.payments[0].txHash, hashes[0])
    assert.equal(second.json.nextCursor, null)
    assert.deepEqual((await desk.get('payments?status=minted')).json.payments, [])
    assert.equal((await desk.get('payments?status=nonsense')).status, 400)
  })

  it('of a wrong amount are released in the operator’s tier, and minted by the next pass', async () => {
    const txHash = await heldPayment(5)
    const unnamed = await desk.post(`payments/${txHash}/release`)
    assert.equal(unnamed.status, 400)
    assert.match(unnamed.json.error, /release the payment with a tierId/)
    assert.equal((await desk.post(`payments/${txHash}/release`, { tierId: 'nope' })).status, 400)
    const released = await desk.post(`payments/${txHash}/release`, { tierId: 'basic', reason: 'one wei short' })
    assert.deepEqual([released.status, released.json.status, released.json.tierId], [200, 'accepted', 'basic'])
    await world.settle()
    assert.equal(await told(txHash), 'minted')
    const { payments } = (await desk.get(`payments/${txHash.toUpperCase().replace('0X', '0x')}`)).json
    const [shown] = payments
    assert.equal(payments.length, 1)
    assert.equal(shown.mint.owner, world.at(5))
    assert.equal(BigInt(shown.mint.nodeId), await world.read('nodeOfRef', [txHash]))
    assert.equal(shown.intent.kind, 'mint')
    assert.equal(shown.intent.attempts[0].txHash, shown.mint.mintTxHash)
    assert.deepEqual(
      shown.verdicts.map((v: { verdict: string; decidedBy: string }) => [v.verdict, v.decidedBy]),
      [
        ['held', 'pass'],
        ['accepted', 'ada'],
      ],
    )
    const { receivedWei, expectedWei, heldFor, note, tierVersion } = shown.verdicts[1].evidence
    assert.deepEqual(
      [receivedWei, expectedWei, heldFor, note, tierVersion],
      [(BASIC - 1n).toString(), BASIC.toString(), 'wrongAmount', 'one wei short', 1],
    )
    const audit = (await desk.get(`audit?subject=${txHash}`)).json.entries
    assert.deepEqual(
      [audit[0].action, audit[0].actor, audit[0].detail.before.reason],
      ['released', 'ada', 'wrongAmount'],
    )
    assert.equal((await desk.get(`payments/${shown.id}`)).json.payments[0].txHash, txHash)
  })

  it('that are dismissed are never minted, even if their block is lost and they return', async () => {
    const txHash = await heldPayment(9)
    const raw = await world.raw(txHash)
    assert.equal((await desk.post(`payments/${txHash}/dismiss`, { reason: 'a test' })).json.status, 'dismissed')
    assert.equal((await desk.post(`payments/${txHash}/release`, { tierId: 'basic' })).status, 409)
    const blockNumber = (await desk.get(`payments/${txHash}`)).json.payments[0].blockNumber
    const head = Number((await world.chain.block()).number)
    await world.chain.rpc('anvil_reorg', [head - blockNumber + 1, []])
    await world.chain.mine()
    await world.payments()
    assert.equal(await told(txHash), 'orphaned wrongAmount')
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.settle()
    assert.equal(await told(txHash), 'dismissed wrongAmount')
    assert.equal(await world.read('nodeOfRef', [txHash]), 0n)
  })

  it('are refused with 404 if they do not exist, and with 400 if the identifier is invalid', async () => {
    const missing = `0x${'ab'.repeat(32)}`
    assert.equal((await desk.get(`payments/${missing}`)).status, 404)
    assert.equal((await desk.get('payments/999999')).status, 404)
    for (const act of ['release', 'dismiss']) assert.equal((await desk.post(`payments/${missing}/${act}`)).status, 404)
    for (const name of ['0x12', 'abc', '-1', '1.5', '00', '1'.repeat(40)])
      assert.equal((await desk.get(`payments/${name}`)).status, 400, name)
  })

  it('pressed twice together are decided once, and the other gets 409', async () => {
    for (const acts of [
      ['release', 'dismiss', 'dismiss'],
      ['dismiss', 'release', 'dismiss'],
    ]) {
      const txHash = await heldPayment(6, BASIC - 2n)
      const answers = await pressed(txHash, acts)
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409])
      await world.settle()
      const { verdicts } = (await desk.get(`payments/${txHash}`)).json.payments[0]
      assert.equal(verdicts.filter((v: { decidedBy: string }) => v.decidedBy === 'ada').length, 1)
    }
  })

  it('are refunded, with anything else pressed meanwhile, because the refund is on chain', async () => {
    for (const acts of [
      ['refund', 'release', 'dismiss'],
      ['release', 'refund', 'dismiss'],
      ['dismiss', 'refund', 'release'],
    ]) {
      const txHash = await heldPayment(6, BASIC - 3n)
      const refundTxHash = await transfer(10, world.at(6), BASIC - 3n)
      const answers = await pressed(txHash, acts, refundTxHash)
      assert.deepEqual(
        answers.map(({ status }) => status),
        acts.map((act, place) => (place === 0 || act === 'refund' ? 200 : 409)),
      )
      await world.settle()
      assert.match((await told(txHash)) ?? '', /^refunded/)
      assert.equal(await world.read('nodeOfRef', [txHash]), 0n)
    }
  })

  it('that are dust are dismissed together, after a preview of their number and sum', async () => {
    const [, second = '0x' as Hash] = [await world.pay(7, SMALL - 5n), await world.pay(8, SMALL - 6n)]
    const large = await heldPayment(9)
    const [released, exact] = [await heldPayment(11, SMALL - 7n), await heldPayment(12, SMALL)]
    await desk.post(`payments/${released}/release`, { tierId: 'basic' })
    await world.settle()
    const preview = await desk.post('payments/dismiss', { belowWei: SMALL.toString(), dryRun: true })
    const sumWei = (2n * SMALL - 11n).toString()
    const found = '2 payments, 0.000199999999999989 ETH in all'
    const would = `${found}: neither a node nor a refund.`
    assert.deepEqual(preview.json, { dryRun: true, count: 2, sumWei, remaining: 2, says: would })
    assert.equal(await told(second), 'held wrongAmount')
    const done = await desk.post('payments/dismiss', { belowWei: SMALL.toString(), reason: 'dust' })
    const says = `Dismissed ${found}; 0 left.`
    assert.deepEqual(done.json, { dryRun: false, count: 2, sumWei, remaining: 0, says })
    assert.deepEqual([await told(second), await told(large)], ['dismissed wrongAmount', 'held wrongAmount'])
    assert.deepEqual([await told(released), await told(exact)], ['minted', 'held wrongAmount'])
    const [entry] = (await desk.get('audit?action=dustDismissed')).json.entries
    assert.deepEqual([entry.actor, entry.detail.after.count, entry.detail.after.sumWei], ['ada', 2, sumWei])
    for (const belowWei of ['', '-1', '0x5', 5, (BASIC + 1n).toString()])
      assert.equal((await desk.post('payments/dismiss', { belowWei })).status, 400, String(belowWei))
  })

  it('that are dust and being rewound are left out, and two deciders never wait for each other', async () => {
    const [first = '0x' as Hash, second = '0x' as Hash] = [
      await world.pay(7, SMALL - 6n),
      await world.pay(8, SMALL - 5n),
    ]
    await world.settle()
    await world.pool.begin(async (sql) => {
      // As a reorganisation rewinds them: in another order than dust is dismissed in.
      await sql`SELECT FROM payments WHERE tx_hash = ${second} FOR UPDATE`
      const done = await desk.post('payments/dismiss', { belowWei: SMALL.toString(), reason: 'dust' })
      const says = 'Dismissed 1 payment, 0.000099999999999994 ETH in all; 1 left.'
      assert.deepEqual(done.json, { dryRun: false, count: 1, sumWei: (SMALL - 6n).toString(), remaining: 1, says })
      await sql`SELECT FROM payments WHERE tx_hash = ${first} FOR UPDATE`
    })
    assert.deepEqual([await told(first), await told(second)], ['dismissed wrongAmount', 'held wrongAmount'])
    await desk.post('payments/dismiss', { belowWei: SMALL.toString(), reason: 'dust' })
    assert.equal(await told(second), 'dismissed wrongAmount')
  })
})

describe('a refund', () => {
  const refund = (txHash: Hash, refundTxHash: string) => desk.post(`payments/${txHash}/refund`, { refundTxHash })

  it('is recorded once the chain proves it, from any wallet of the operator', async () => {
    const txHash = await heldPayment(5)
    const looks = async () => {
      const [{ looksRefundedBy }] = (await desk.get(`payments/${txHash}`)).json.payments
      return looksRefundedBy.map((back: { txHash: string }) => back.txHash)
    }
    await transfer(3, world.at(5), BASIC - 2n)
    const refundTxHash = await transfer(3, world.at(5), BASIC - 1n)
    assert.deepEqual(await looks(), [])
    await world.settle()
    assert.deepEqual(
      await looks(),
      [refundTxHash],
      'from the payments wallet it is seen, also by a ledger that knows of no refund',
    )
    const recorded = await refund(txHash, refundTxHash)
    assert.deepEqual([recorded.status, recorded.json.status], [200, 'refunded'])
    const [shown] = (await desk.get(`payments/${txHash}`)).json.payments
    assert.deepEqual(
      [shown.refund.txHash, shown.refund.from, shown.refund.to, shown.refund.valueWei, shown.refund.recordedBy],
      [refundTxHash, world.at(3), world.at(5), (BASIC - 1n).toString(), 'ada'],
    )
    assert.deepEqual(await looks(), [])
    await world.settle()
    assert.equal(await world.read('nodeOfRef', [txHash]), 0n)
  })

  it('by a Safe’s inner call is proven by its trace, and followed if a reorg moves it', async () => {
    const safe = world.at(18)
    await putForwarder(world, safe)
    const txHash = await heldPayment(5, BASIC - 7n)
    const payBack = async (from: number, valueWei: bigint) =>
      (await payInside(world, valueWei, { from, by: safe, to: world.at(5) })).txHash
    const ofAnotherValue = await refund(txHash, await payBack(10, BASIC - 8n))
    assert.match(ofAnotherValue.json.error, /inner transfer of exactly that amount/)
    const byThePayer = await refund(txHash, await payBack(5, BASIC - 7n))
    assert.match(byThePayer.json.error, /nothing moved/)

    const refundTxHash = await payBack(10, BASIC - 7n)
    const recorded = await refund(txHash, refundTxHash)
    assert.deepEqual([recorded.status, recorded.json.status], [200, 'refunded'], recorded.text)
    const refundOf = async () => (await desk.get(`payments/${txHash}`)).json.payments[0].refund
    const { from, to, blockNumber } = await refundOf()
    assert.deepEqual([from, to], [safe, world.at(5)])

    const raw = await world.raw(refundTxHash)
    const head = Number((await world.chain.block()).number)
    await world.chain.rpc('anvil_reorg', [head - blockNumber + 1, []])
    await world.chain.mine()
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.chain.mine()
    await world.payments()
    assert.equal((await refundOf()).blockNumber, head + 2)
    assert.equal(await told(txHash), 'refunded wrongAmount')
  })

  it('proves nothing if it is of another value, wallet or sender, failed, or too old', async () => {
    const early = await transfer(10, world.at(6), BASIC - 3n)
    const txHash = await heldPayment(6, BASIC - 3n)
    const failed = await world.call(10, world.factory, '0xdeadbeef', 0n)
    assert.equal(await world.succeeded(failed), false)
    for (const [refundTxHash, words] of [
      [early, /older than the payment/],
      [await transfer(10, world.at(6), BASIC - 2n), /carries/],
      [await transfer(10, world.at(6), BASIC - 4n), /carries/],
      [await transfer(10, world.at(7), BASIC - 3n), /another address cannot be recorded/],
      [await transfer(6, world.at(6), BASIC - 3n), /nothing moved/],
      [failed, /failed on chain/],
      [txHash, /went to/],
    ] as const) {
      const answer = await refund(txHash, refundTxHash)
      assert.equal(answer.status, 400)
      assert.match(answer.json.error, words)
    }
    assert.equal(await told(txHash), 'held wrongAmount')
  })

  it('that a reorg removes is undone here too: the payment is held again', async () => {
    const txHash = await heldPayment(9, BASIC - 6n)
    const refundTxHash = await transfer(10, world.at(9), BASIC - 6n)
    assert.equal((await refund(txHash, refundTxHash)).status, 200)
    await world.chain.rpc('anvil_reorg', [1, []])
    for (let i = 0; i < 63; i++) await world.chain.mine()
    await world.payments()
    assert.equal(await told(txHash), 'refunded wrongAmount', 'it may come back for a while')
    for (let i = 0; i < 4; i++) await world.chain.mine()
    await world.payments()
    assert.equal(await told(txHash), 'held recheck')
    const [entry] = (await desk.get('audit?action=refundGone')).json.entries
    assert.deepEqual([entry.subject, entry.detail.refundTxHash], [txHash, refundTxHash])
    const again = await transfer(10, world.at(9), BASIC - 6n)
    assert.equal((await refund(txHash, again)).status, 200)
  })
})
