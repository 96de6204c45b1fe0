// Many held payments at the operator's desk, over HTTP and on a real chain: listed by payer and tier, counted, and decided together.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { beginSlot, ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const SMALL = BASIC / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
/** Payments of the wrong amount from two wallets, held. */
async function holdTwo(): Promise<[Hash, Hash]> {
  const held: [Hash, Hash] = [await world.pay(14, BASIC - 9n), await world.pay(15, BASIC - 9n)]
  await world.settle()
  assert.deepEqual([await told(held[0]), await told(held[1])], ['held wrongAmount', 'held wrongAmount'])
  return held
}

describe('held payments', () => {
  it('are listed by payer and by tier, and counted by reason with their sum', async () => {
    const oldest = await world.pay(14, BASIC - 9n)
    await world.settle()
    await beginSlot(world)
    const [mine, others] = await holdTwo()
    await world.pay(16, BASIC)
    await world.settle()
    const hashes = async (query: string) =>
      (await desk.get(`payments?${query}`)).json.payments.map(({ txHash }: { txHash: string }) => txHash)
    assert.deepEqual(await hashes(`from=${world.at(14)}`), [mine, oldest])
    assert.deepEqual(await hashes(`from=${world.at(15)}&status=held`), [others])
    const sold = await hashes('tierId=basic&status=minted')
    assert.ok(sold.length > 0 && !sold.includes(mine))
    assert.deepEqual(await hashes('tierId=founder'), [])
    for (const query of ['from=0x12', `tierId=${'x'.repeat(33)}`])
      assert.equal((await desk.get(`payments?${query}`)).status, 400, query)
    const { open, atMost } = (await desk.get('payments/counts')).json
    const { payments } = (await desk.get('payments?status=held&reason=wrongAmount&limit=200')).json
    const sumWei = payments.reduce((sum: bigint, { valueWei }: { valueWei: string }) => sum + BigInt(valueWei), 0n)
    // The newest come first.
    const oldestAt = payments.at(-1).blockTime
    assert.ok(oldestAt < payments[0].blockTime)
    assert.ok(atMost > payments.length)
    assert.deepEqual(
      open.filter(({ reason }: { reason: string }) => reason === 'wrongAmount'),
      [{ status: 'held', reason: 'wrongAmount', count: payments.length, sumWei: String(sumWei), oldestAt }],
    )
    await desk.post('payments/decide', { decision: 'dismiss', payments: [mine, others, oldest] })
  })

  it('are decided together, each for itself, after a preview that decides nothing', async () => {
    const [first, second] = await holdTwo()
    const priced = await world.pay(16, BASIC)
    await world.settle()
    assert.equal(await told(priced), 'minted')
    const all = { decision: 'release', payments: [first, priced, second, first], tierId: 'basic', reason: 'by mail' }
    const untold = await desk.post('payments/decide', { ...all, tierId: '', dryRun: true })
    assert.match(untold.json.results[0].refusal, /release the payment with a tierId/)
    const preview = await desk.post('payments/decide', { ...all, dryRun: true })
    const shape = ({ json: { dryRun, decided, results } }: typeof preview) => [
      dryRun,
      decided,
      results.map(({ payment, status }: { payment: string; status: string | null }) => [payment, status]),
    ]
    const expected = [
      [first, 'accepted'],
      [priced, null],
      [second, 'accepted'],
      [first, null],
    ]
    assert.deepEqual(shape(preview), [true, 2, expected])
    assert.match(preview.json.results[3].refusal, /Given twice/)
    assert.match(preview.json.results[1].refusal, /only held payments can be decided/)
    assert.deepEqual([await told(first), await told(second)], ['held wrongAmount', 'held wrongAmount'])
    assert.deepEqual((await desk.get(`audit?subject=${first}`)).json.entries, [])

    assert.deepEqual(shape(await desk.post('payments/decide', all)), [false, 2, expected])
    const [entry] = (await desk.get(`audit?subject=${second}`)).json.entries
    assert.deepEqual([entry.actor, entry.detail.after.note], ['ada', 'by mail'])
    await world.settle()
    assert.deepEqual([await told(first), await told(second)], ['minted', 'minted'])
    const [third] = await holdTwo()
    const done = await desk.post('payments/decide', { decision: 'dismiss', payments: [third] })
    assert.deepEqual(shape(done), [false, 1, [[third, 'dismissed']]])
    for (const wrong of [
      {},
      { decision: 'refund', payments: [third] },
      { decision: 'dismiss', payments: [] },
      { decision: 'dismiss', payments: third },
      { decision: 'dismiss', payments: Array.from({ length: 101 }, (_, i) => i + 1) },
    ])
      assert.equal((await desk.post('payments/decide', wrong)).status, 400, JSON.stringify(wrong))
    const unknown = await desk.post('payments/decide', { decision: 'dismiss', payments: ['nonsense', '987654'] })
    assert.equal(unknown.json.decided, 0)
  })

  it('share the places that are left, in the preview as in the act', async () => {
    const tier = { tierId: 'last', label: 'Last', priceWei: String(ETHER), maxPerWallet: 9, supply: 1 }
    assert.equal((await desk.post('tiers', tier)).status, 200)
    const [first, second] = await holdTwo()
    const both = { decision: 'release', payments: [first, second], tierId: 'last', reason: 'by mail' }
    const [preview, act] = [
      await desk.post('payments/decide', { ...both, dryRun: true }),
      await desk.post('payments/decide', both),
    ]
    assert.equal(act.json.decided, 1, act.text)
    assert.match(act.json.results[1].refusal, /of this tier are sold/)
    assert.deepEqual(preview.json.results, act.json.results)
    await desk.post('payments/decide', { decision: 'dismiss', payments: [second] })
    await world.settle()
  })

  it('with a pending mint cannot be decided alone or with dust, even if they are judged again', async () => {
    const txHash = await world.pay(7, SMALL - 4n)
    await world.settle()
    await desk.post(`payments/${txHash}/release`, { tierId: 'basic' })
    await world.payments()
    // As after a rescan that finds another reason.
    await world.pool`UPDATE payments SET state = 'held', reason = 'wrongAmount', node_id = NULL WHERE tx_hash = ${txHash}`
    assert.equal((await desk.post(`payments/${txHash}/dismiss`, {})).status, 409)
    const preview = await desk.post('payments/dismiss', { belowWei: SMALL.toString(), dryRun: true })
    assert.equal(preview.json.count, 0)
    await world.settle()
    assert.equal(await told(txHash), 'minted')
  })
})
