// A minter with no budget left: the service sells nothing until the contract's owner allows more, and a paid buyer sees whom the payment waits for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeState } from '../../src/db/core/state.ts'
import { isSoldOut } from '../../src/domain/budget.ts'
import type { Readings } from '../../src/ports/contract.ts'
import { noBrowser, startBrowser } from '../support/chromium.ts'
import { startService } from '../support/http.ts'
import { hashOf, insertPayment, insertSmallLedger, insertTiers, walletOf } from '../support/http-ledger.ts'

test('quotes nothing while the minter may mint no node more, or a payment waits for its budget', async () => {
  const unread = { blockNumber: null, balanceWei: null, gasPriceWei: null, walletMax: null, code: null, heldWei: null }
  const service = await startService({
    settings: { quoteTier: null },
    readings: { buyer: async () => unread } as unknown as Readings,
  })
  await insertTiers(service.sql)
  const offer = async () => {
    service.clock.now += 60_000
    const [quote, named, tiers, buyer] = await Promise.all(
      ['deploy-quote', 'deploy-quote?tier=plus', 'tiers', `can-buy/${walletOf(9)}`].map((path) =>
        service.get(`/api/${path}`),
      ),
    )
    const soldOut = new Set(tiers?.json.tiers.map((tier: { soldOut: boolean }) => tier.soldOut))
    return [quote?.status, named?.status, [...soldOut], buyer?.status, buyer?.json.canBuy, named?.json.error]
  }
  const refused = 'Sold out for now: the owner of the contract has to allow more nodes first.'
  const soldOut = [503, 503, [true], 200, false, refused]
  const onSale = [200, 200, [false], 200, null, undefined]
  for (const [budget, expected] of [
    [{ nodes: 1, cohorts: 0, spent: null }, onSale],
    [{ nodes: 0, cohorts: 9, spent: null }, soldOut],
    [{ nodes: 9, cohorts: 9, spent: null }, onSale],
    [{ nodes: 9, cohorts: 0, spent: 'cohorts' }, soldOut],
    [{ nodes: 9, cohorts: 9, spent: 'nodes' }, soldOut],
  ] as const) {
    await writeState(service.sql, 'budget', { ...budget, soldOut: isSoldOut({ ...budget }) } as never)
    assert.deepEqual(await offer(), expected, JSON.stringify(budget))
  }
  await service.close()
})

test('the pages offer nothing meanwhile, and a payment shows whom it waits for', { skip: noBrowser }, async () => {
  const readings = { maxPerWallet: async () => 3 } as unknown as Readings
  const [service, browser] = await Promise.all([startService({ readings }), startBrowser()])
  const at = (path: string) => `http://127.0.0.1:${service.port}${path}`
  try {
    await insertSmallLedger(service.sql)
    await service.sql`UPDATE tiers SET price_wei = 12345678901234567 WHERE tier_id = 'plus'`
    const page = await browser.newPage()
    const budget = { nodes: 0, cohorts: 0, low: ['nodes'], spent: 'nodes', soldOut: true }
    await writeState(service.sql, 'budget', budget as never)
    await insertPayment(service.sql, {
      txHash: hashOf('waits'),
      from: walletOf(9),
      valueWei: '10000000000000000',
      state: 'accepted',
      tierId: 'basic',
    })
    await page.goto(at('/buy'))
    await page.getByText('sold out for now').first().waitFor()
    assert.equal(await page.getByRole('link', { name: /^Buy / }).count(), 0)
    // A tier of this ledger allows 10 nodes a wallet; the contract allows fewer.
    await page.getByText('3 nodes').first().waitFor()
    assert.equal(await page.getByText('10 nodes').count(), 0)
    // A price of 18 digits stays in its card.
    await page.getByRole('button', { name: '0.012345678', exact: true }).click()
    await page.getByText('0.012345678901234567').waitFor()
    const overflows =
      'document.querySelectorAll(".tier").values().filter((one) => one.scrollWidth > one.clientWidth).toArray().length'
    assert.equal(await page.evaluate(overflows), 0)
    await page.goto(at('/buy/basic'))
    await page.getByText('Sold out for now. The contract’s owner').first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Connect a wallet' }).count(), 0)
    await page.goto(at(`/payment/${hashOf('waits')}`))
    await page.getByText('waits until the contract’s owner allows more nodes').waitFor()
    await service.sql`UPDATE cursors SET block_time = extract(epoch FROM now())::bigint`
    for (const tierId of ['basic', 'legacy']) {
      const late = { txHash: hashOf(`late ${tierId}`), from: walletOf(9), valueWei: '1', state: 'held', tierId }
      const id = await insertPayment(service.sql, { ...late, reason: 'soldOut' })
      await service.sql`UPDATE payments SET block_time = now() WHERE id = ${id}`
    }
    await page.goto(at(`/payment/${hashOf('late basic')}`))
    await page.getByText('If a place becomes free within a day of the payment').waitFor()
    // Its tier is off sale, so it gets no place by itself, however recent it is.
    await page.goto(at(`/payment/${hashOf('late legacy')}`))
    await page.getByText('It no longer takes a place that becomes free.').waitFor()
    // There is no chain here, so the page says nothing of a transaction that the ledger does not have.
    await page.goto(at(`/payment/${hashOf('unknown')}`))
    await page.getByText('Cannot check now').waitFor({ state: 'attached' })
    assert.equal(await page.getByText('Waiting for a block').count(), 0)
  } finally {
    await browser.close()
    await service.close()
  }
})
