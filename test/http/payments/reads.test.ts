// GET /api/payment/:hash and GET /api/payments/:address: the ledger's record of a payment and of a payer, in every
// state, without a look at the chain, and without a hint of the operator's deny list.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Service, startService } from '../../support/http.ts'
import { blockTime, hashOf, insertPayment, insertSmallLedger, walletOf } from '../../support/http-ledger.ts'

const PRICE_WEI = '10000000000000000'
const BUYER = walletOf(5)

describe('the reads of payments', () => {
  let service: Service
  before(async () => {
    service = await startService()
    await insertSmallLedger(service.sql)
  })
  after(() => service.close())
  const pay = (name: string, fields: Partial<Parameters<typeof insertPayment>[1]> = {}) =>
    insertPayment(service.sql, { txHash: hashOf(name), from: BUYER, valueWei: PRICE_WEI, ...fields })

  it('answer a minted payment with its node and its times, though no provider answers', async () => {
    const { status, json, headers } = await service.get(`/api/payment/${hashOf('pay 1')}`)
    assert.equal(status, 200)
    assert.match(headers['cache-control'] ?? '', /s-maxage=1/)
    const { payments, updatedAt, ...first } = json
    assert.deepEqual(payments, [{ ...first, updatedAt }])
    assert.deepEqual(first, {
      txHash: hashOf('pay 1'),
      status: 'minted',
      reason: null,
      verdict: null,
      waitsForPlace: false,
      from: walletOf(1),
      tierId: 'basic',
      valueWei: PRICE_WEI,
      blockNumber: 9,
      paidAt: new Date(blockTime(9) * 1000).toISOString(),
      assurance: 'believed',
      nodeId: '1',
      mintTxHash: hashOf('mint 1'),
      refundTxHash: null,
    })
  })

  it('show whether a late payment still takes a place that becomes free', async () => {
    const late = { state: 'held', reason: 'soldOut', block: 99 }
    await pay('too late', { ...late, tierId: 'basic' })
    await pay('spent', { ...late, reason: 'supplySpent', tierId: 'basic' })
    await pay('off sale', { ...late, tierId: 'legacy' })
    await pay('paid something', { ...late, from: walletOf(61), tierId: 'basic' })
    await pay('else', { ...late, reason: 'tierAllowance', tierId: 'basic' })
    await service.sql`
      INSERT INTO wallet_outflows (ref, tx_hash, wallet, to_address, value_wei, fee_wei, block_number, block_hash, block_time)
      VALUES (${hashOf('paid')}, ${hashOf('paid')}, ${walletOf(0xfee)}, ${walletOf(61)}, 1, 0, 100, ${hashOf('block 100')}, now())`
    const waits = async () => {
      const names = ['too late', 'spent', 'off sale', 'paid something', 'else']
      service.clock.now += 60_000
      const answers = await Promise.all(names.map((name) => service.get(`/api/payment/${hashOf(name)}`)))
      return answers.map(({ json }) => json.waitsForPlace)
    }
    assert.deepEqual(await waits(), [true, true, false, false, false])
    await service.sql`UPDATE cursors SET block_time = block_time + 86_400`
    assert.deepEqual(await waits(), [false, false, false, false, false])
    await service.sql`UPDATE cursors SET block_time = block_time - 86_400`
    await service.sql`DELETE FROM payments WHERE block_number = 99`
  })

  it('include the transaction that refunded a payment', async () => {
    await pay('paid back', { state: 'refunded', reason: 'wrongAmount' })
    await service.sql`
      INSERT INTO refunds (payment_ref, tx_hash, from_address, to_address, value_wei, block_number, block_hash, recorded_by)
      VALUES (${hashOf('paid back')}, ${hashOf('refund')}, ${walletOf(0xfee)}, ${BUYER}, ${PRICE_WEI}, 7, ${hashOf('block 7')}, 'test')`
    const { json } = await service.get(`/api/payment/${hashOf('paid back')}`)
    assert.deepEqual([json.status, json.refundTxHash], ['refunded', hashOf('refund')])
  })

  it('explain any transaction of the ledger', async () => {
    const did = async (name: string) => {
      const { status, json } = await service.get(`/api/transaction/${hashOf(name)}`)
      if (status !== 200) return status
      assert.equal(json.txHash, hashOf(name))
      return Object.fromEntries(
        Object.entries(json).filter(([field, of]) => field !== 'txHash' && String(of || '') !== ''),
      )
    }
    assert.deepEqual(await did('pay 1'), { isPayment: true })
    assert.deepEqual(await did('mint 2'), { mintedNodeIds: ['2'] })
    assert.deepEqual(await did('round 2'), { rounds: [2] })
    assert.deepEqual(await did('withdraw 1 85'), { withdrawnNodeIds: ['1'] })
    assert.deepEqual(await did('refund'), { refundedTxHashes: [hashOf('paid back')] })
    // A failed withdrawal moved nothing.
    for (const unknown of ['withdraw 1 86', 'never sent']) assert.equal(await did(unknown), 404)
    assert.equal((await service.get('/api/transaction/0x12')).status, 400)
  })

  it('show a payer on the deny list only that a person looks first', async () => {
    await pay('denied', { state: 'held', reason: 'senderDenied' })
    const one = await service.get(`/api/payment/${hashOf('denied')}`)
    const all = await service.get(`/api/payments/${BUYER}`)
    assert.deepEqual([one.json.status, one.json.reason], ['held', 'review'])
    for (const { text } of [one, all]) assert.doesNotMatch(text, /denied/i)
  })

  it('answer 404 for an unknown payment and for no sale, 400 for no hash', async () => {
    await pay('of nothing', { state: 'ignored', reason: 'zero', valueWei: '0' })
    assert.equal((await service.get(`/api/payment/${hashOf('never paid')}`)).status, 404)
    assert.equal((await service.get(`/api/payment/${hashOf('of nothing')}`)).status, 404)
    assert.equal((await service.get('/api/payment/0x12')).status, 400)
    assert.equal((await service.get('/api/payments/0x12')).status, 400)
    assert.equal((await service.get(`/api/payments/${BUYER}?limit=0`)).status, 400)
    assert.equal((await service.get('/api/payments/claim')).status, 405)
  })

  it('list a wallet’s payments, newest first, with reorganised ones, without what is no sale', async () => {
    const buyer = walletOf(6)
    const states = [
      { state: 'held', reason: 'holding' },
      { state: 'orphaned' },
      { state: 'ignored', reason: 'failed' },
      {},
    ]
    for (const [index, fields] of states.entries()) await pay(`listed ${index}`, { from: buyer, ...fields })
    const listed = async (query = '') => {
      service.clock.now += 60_000
      const { json } = await service.get(`/api/payments/${buyer}${query}`)
      return (json as { txHash: string; paidAt: string | null }[]).map(({ txHash, paidAt }) => [
        txHash,
        paidAt !== null,
      ])
    }
    const all = [
      [hashOf('listed 3'), true],
      [hashOf('listed 1'), false],
      [hashOf('listed 0'), true],
    ]
    assert.deepEqual(await listed(), all)
    assert.deepEqual(await listed('?limit=2'), all.slice(0, 2))
    assert.deepEqual((await service.get(`/api/payments/${walletOf(77)}`)).json, [])
  })
})
