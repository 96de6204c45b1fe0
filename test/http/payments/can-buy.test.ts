// GET /api/can-buy/:address: an unreadable fact is null and never a yes, pending payments count, and bad input is
// rejected. test/passes/payers/can-buy.test.ts compares the rules with real payments.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { wei } from '../../../src/domain/units.ts'
import type { BuyerReading, Readings } from '../../../src/ports/contract.ts'
import { type Service, startService } from '../../support/http.ts'
import { hashOf, insertPayment, insertSmallLedger, walletOf } from '../../support/http-ledger.ts'

const BUYER = walletOf(50)
const BASIC_WEI = '10000000000000000'
const READ: BuyerReading = {
  blockNumber: 100,
  balanceWei: wei(10n ** 18n),
  gasPriceWei: wei(10n ** 9n),
  walletMax: 3,
  code: { kind: 'none' },
  heldWei: 10n ** 21n,
}

describe('the checks before a purchase', () => {
  let service: Service
  let reading = READ
  let asked = 0
  let traced = true
  before(async () => {
    const buyer: Readings['buyer'] = async () => {
      asked++
      return reading
    }
    const readings = { buyer, tracesWork: async () => traced } as Partial<Readings>
    service = await startService({ listen: true, readings: readings as Readings })
    await insertSmallLedger(service.sql)
  })
  after(() => service.close())
  const ask = async (tier: string, wallet = BUYER) => {
    service.clock.now += 60_000
    const { status, json } = await service.get(`/api/can-buy/${wallet}${tier === '' ? '' : `?tier=${tier}`}`)
    assert.equal(status, 200)
    const checks: { check: string; passes: boolean | null; underWay?: number }[] = json.checks
    return {
      ...json,
      checks: Object.fromEntries(checks.map((check) => [check.check, check])),
      order: Object.keys(json),
    }
  }

  it('are all there in their order, and cached for a moment', async () => {
    const { json, headers } = await service.get(`/api/can-buy/${BUYER}?tier=basic`)
    const before = asked
    await service.get(`/api/can-buy/${BUYER}?tier=basic`)
    assert.equal(asked, before)
    assert.match(headers['cache-control'] ?? '', /s-maxage=2/)
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.deepEqual(
      json.checks.map(({ check }: { check: string }) => check),
      ['onSale', 'allowance', 'cap', 'holding', 'ether', 'review'],
    )
    assert.deepEqual([json.canBuy, json.priceWei, json.blockNumber], [true, BASIC_WEI, 100])
    assert.equal((await ask('')).tierId, 'basic')
  })

  it('that could not be made are null, one by one, and so is the whole unless one fails', async () => {
    const cases: [Partial<BuyerReading>, string][] = [
      [{ walletMax: null }, 'cap'],
      [{ heldWei: null }, 'holding'],
      [{ balanceWei: null }, 'ether'],
      [{ gasPriceWei: null }, 'ether'],
      [{ code: null }, 'review'],
    ]
    for (const [unread, check] of cases) {
      reading = { ...READ, ...unread }
      const { canBuy, checks } = await ask('founder')
      assert.deepEqual([canBuy, checks[check].passes], [null, null], check)
    }
    reading = { ...READ, walletMax: null, balanceWei: wei(5n) }
    assert.equal((await ask('founder')).canBuy, false)
    // A tier without a required holding does not wait for one to be read.
    reading = { ...READ, heldWei: null }
    assert.equal((await ask('basic')).canBuy, true)
    reading = READ
  })

  it('are undecided while histories differ for long, and then nothing is quoted, with the reason', async () => {
    const note = (lasts: boolean, stops: boolean) =>
      service.sql`INSERT INTO troubles (name, value) VALUES ('parted', jsonb_build_object('lasts', ${lasts}::boolean, 'stops', ${stops}::boolean))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`
    const shown = async () => {
      const { canBuy, checks } = await ask('basic')
      const { status, json } = await service.get('/api/deploy-quote?tier=basic')
      return [canBuy, checks.onSale.passes, status, json.error]
    }
    for (const [lasts, stops] of [
      [false, true],
      [true, false],
    ] as const) {
      await note(lasts, stops)
      assert.deepEqual(await shown(), [true, true, 200, undefined])
    }
    await note(true, true)
    const says = 'Providers of the chain contradict each other, so nothing is sold until they agree.'
    assert.deepEqual(await shown(), [null, null, 503, says])
    await service.sql`DELETE FROM troubles WHERE name = 'parted'`
    assert.deepEqual(await shown(), [true, true, 200, undefined])
  })

  it('count the payments that wait, each for its tier, and none that buys nothing by itself', async () => {
    const wallet = walletOf(51)
    const pay = (name: string, fields: Partial<Parameters<typeof insertPayment>[1]>) =>
      insertPayment(service.sql, { txHash: hashOf(name), from: wallet, valueWei: BASIC_WEI, ...fields })
    await pay('seen', {})
    await pay('accepted', { state: 'accepted', tierId: 'basic' })
    await pay('for room', { state: 'held', reason: 'walletLimit', tierId: 'plus', valueWei: '25000000000000000' })
    await pay('priceless', { valueWei: '7' })
    await pay('held', { state: 'held', reason: 'wrongAmount', valueWei: '8' })
    const { canBuy, checks } = await ask('basic', wallet)
    assert.deepEqual([canBuy, checks.allowance.underWay, checks.cap.underWay, checks.cap.passes], [false, 2, 3, false])
    assert.equal((await ask('plus', wallet)).checks.allowance.underWay, 1)
  })

  it('are undecided while pending payments hold every place left, and fail once all are sold', async () => {
    await service.sql`UPDATE tiers SET supply = 2 WHERE tier_id = 'founder'`
    const one = { from: walletOf(60), valueWei: '50000000000000000' }
    const rivals = [await insertPayment(service.sql, { ...one, txHash: hashOf('rival 1') })]
    const supply = async () => {
      const { canBuy, checks } = await ask('founder')
      return [canBuy, checks.supply]
    }
    const found = { check: 'supply', limit: 2 }
    assert.deepEqual(await supply(), [true, { ...found, passes: true, sold: 0, reserved: 1 }])
    rivals.push(await insertPayment(service.sql, { ...one, txHash: hashOf('rival 2') }))
    assert.deepEqual(await supply(), [null, { ...found, passes: null, sold: 0, reserved: 2 }])
    await service.sql`UPDATE payments SET state = 'accepted', tier_id = 'founder', tier_version = 1 WHERE id = ANY(${rivals}::bigint[])`
    assert.deepEqual(await supply(), [false, { ...found, passes: false, sold: 2, reserved: 0 }])
    await service.sql`UPDATE tiers SET supply = NULL WHERE tier_id = 'founder'`
  })

  it('let a wallet pay by an inner call only if the sale accepts it and the block has traces', async () => {
    const contract = { kind: 'contract', codeHash: hashOf('code'), implementation: null } as const
    const delegation = { kind: 'delegation', to: walletOf(52) } as const
    const cases = [
      [{ code: { kind: 'none' } }, true, false],
      [{ code: null }, true, null],
      [{ code: contract }, true, false],
      [{ code: delegation }, true, true],
      [{ code: delegation }, false, false],
    ] as const
    for (const [read, isTraced, inner] of cases) {
      reading = { ...READ, ...read }
      traced = isTraced
      assert.equal((await ask('basic')).inner, inner, `${JSON.stringify(read)} ${isTraced}`)
    }
    reading = READ
  })

  it('mark a tier off sale, and refuse an unknown one', async () => {
    const { canBuy, checks } = await ask('legacy')
    assert.deepEqual([canBuy, checks.onSale.passes, checks.allowance.passes], [false, false, true])
    for (const path of [`${BUYER}?tier=nothing`, `${BUYER}?tier=%20`, '0x12', '0x12?tier=basic'])
      assert.equal((await service.get(`/api/can-buy/${path}`)).status, 400, path)
  })
})

describe('without a chain', () => {
  it('nothing of the chain could be checked, which is no refusal', async () => {
    const service = await startService()
    await insertSmallLedger(service.sql)
    const { json } = await service.get(`/api/can-buy/${BUYER}?tier=basic`)
    const passes = json.checks.map((check: { passes: boolean | null }) => check.passes)
    assert.deepEqual([json.canBuy, json.blockNumber, passes], [null, null, [true, true, null, true, null, null]])
    await service.close()
  })
})
