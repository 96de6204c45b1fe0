// GET /api/can-buy/:address: its form, its cache, bad input, and what it answers without a chain or while histories differ.
// test/models/preview.test.ts and test/passes/payers/can-buy.test.ts compare the rules.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { wei } from '../../../src/domain/units.ts'
import type { BuyerReading, Readings } from '../../../src/ports/contract.ts'
import { type Service, startService } from '../../support/http.ts'
import { insertSmallLedger, walletOf } from '../../support/http-ledger.ts'

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
  const reading = READ
  let asked = 0
  const traced = true
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
