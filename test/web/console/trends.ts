// The trends in the console: a test for the file that has it open, after a sale and while nothing is held.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wallet } from '../../support/service.ts'
import type { ConsoleUnderTest } from '../console.ts'

const HELD_WEI = 10n ** 16n + 16n
const DAY_MS = 86_400_000

interface Trends {
  by: 'hour' | 'day'
  bins: { startAt: string }[]
}

export function testTrends(opened: ConsoleUnderTest): void {
  const { go, key, axe } = opened
  test('trends show what was sold and what is held, and from a second day on by the day', async () => {
    const { page, service, wellKnown } = opened
    const tile = (text: RegExp) => page.locator('.tile').filter({ hasText: text }).waitFor()
    const hash = await wallet(6, wellKnown).pay(wellKnown.paymentAddress, HELD_WEI)
    const { totalSalesWei } = await service.get<{ totalSalesWei: string }>('/api/stats')
    await go('Overview')
    await page.getByText(/^1 payment is held, paid (now|\d+ \w+ ago)$/).waitFor()
    await go('Trends')
    await page.getByText('Payments count at the time of their block, in their present state.').waitFor()
    await page.getByLabel('90 days').check()
    await tile(/^Sold0\.0[0-9]+ ETH[0-9]+ payments?/)
    await tile(/^Held0\.010000 ETH1 payment/)
    for (const wei of [totalSalesWei, HELD_WEI]) await page.locator('.tile').getByTitle(`${wei} wei`).waitFor()
    await axe()
    // The service has run for a moment only, so the test answers for the day before.
    await page.route('**/api/admin/trends?*', async (route) => {
      const response = await route.fetch()
      const { by, bins } = (await response.json()) as Trends
      const [last] = bins.slice(-1)
      const before = { ...last, startAt: new Date(Date.parse(last?.startAt ?? '') - DAY_MS).toISOString() }
      await route.fulfill({ response, json: { by, bins: [...bins.slice(0, -2), before, ...bins.slice(-1)] } })
    })
    const days = page.getByRole('table', { name: 'Figures by the day, the newest first' })
    await days.waitFor()
    for (const wei of [totalSalesWei, HELD_WEI])
      assert.equal(await days.getByTitle(`${wei} wei`, { exact: true }).count(), 2)
    await axe()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    const asked = {
      method: 'POST',
      headers: { 'x-admin-key': key(), 'content-type': 'application/json' },
      body: '{"reason":"a test"}',
    }
    assert.equal((await fetch(`${service.url}/api/admin/payments/${hash}/dismiss`, asked)).status, 200)
    await go('Payments')
  })
}
