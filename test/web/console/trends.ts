// The trends in the console: a test for the file that has it open, after a sale and while nothing is held.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wallet } from '../../support/service.ts'
import type { ConsoleUnderTest } from '../console.ts'

const HELD_WEI = 10n ** 16n + 16n

export function testTrends(opened: ConsoleUnderTest): void {
  const { go, key, axe } = opened
  test('trends are plotted by the hour and by the day, with what was sold and what is held', async () => {
    const { page, service, wellKnown } = opened
    await go('Trends')
    await page.getByText('Payments count at the time of their block, in their present state.').waitFor()
    await page
      .locator('.tile')
      .filter({ hasText: /^Sold0\.0[1-9]/ })
      .waitFor()
    const figures = page.getByRole('table', { name: 'Figures by the hour, the newest first' })
    // Whatever hour it is now.
    await figures
      .getByText(/^0\.01/)
      .first()
      .waitFor()
    await page.getByLabel('90 days').check()
    const days = page.getByRole('table', { name: 'Figures by the day, the newest first' })
    await days.waitFor()
    await axe()
    // The day's sales and held payments.
    const hash = await wallet(6, wellKnown).pay(wellKnown.paymentAddress, HELD_WEI)
    const { totalSalesWei } = await service.get<{ totalSalesWei: string }>('/api/stats')
    for (const wei of [totalSalesWei, HELD_WEI]) await days.getByTitle(`${wei} wei`, { exact: true }).waitFor()
    const asked = {
      method: 'POST',
      headers: { 'x-admin-key': key(), 'content-type': 'application/json' },
      body: '{"reason":"a test"}',
    }
    assert.equal((await fetch(`${service.url}/api/admin/payments/${hash}/dismiss`, asked)).status, 200)
    await go('Payments')
  })
}
