// The console on a phone: every section fits its width, whatever was entered and however long a pass's error is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wallet } from '../../support/service.ts'
import type { ConsoleUnderTest } from '../console.ts'

/** Declares it, within the describe of the console. */
export function testPhone(opened: ConsoleUnderTest): void {
  const { key, go, unfold, dialog, axe } = opened

  test('every section fits a phone, in the dark theme too, with any entries', async () => {
    const { page, service, wellKnown } = opened
    const long = { address: wallet(9, wellKnown).address, label: 'W'.repeat(64), reason: 'w'.repeat(400) }
    const headers = { 'x-admin-key': key(), 'content-type': 'application/json' }
    const url = `${service.url}/api/admin/senders`
    assert.equal((await fetch(url, { method: 'POST', headers, body: JSON.stringify(long) })).status, 200)
    await page.setViewportSize({ width: 360, height: 640 })
    await page.emulateMedia({ colorScheme: 'dark' })
    // A due round, with all digits in its amount, which would be rare here.
    await page.route('**/api/admin/credit/preview', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { round: Record<string, unknown> }
      body.round.totalWei = '1234123456789012345678'
      await route.fulfill({ response, json: body })
    })
    await page.route('**/api/admin/reconciliation', async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { passes: Record<string, object> }
      body.passes.credit = { ...body.passes.credit, error: 'w'.repeat(200) }
      await route.fulfill({ response, json: body })
    })
    await opened.showSections()
    const sections = page.getByRole('navigation', { name: 'Sections of the console' }).getByRole('link')
    for (const name of await sections.allTextContents()) {
      await go(name)
      if (name === 'Overview') await page.getByText('w'.repeat(200)).waitFor()
      if (name === 'Deny list') await page.getByText(long.label, { exact: true }).waitFor()
      if (name === 'Payments') {
        await page.getByLabel('State').selectOption('dismissed')
        await unfold('dismissed')
        await page.getByRole('link', { name: /^Payment \d+$/ }).waitFor()
      }
      await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      await axe()
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.ok((overflow as number) <= 0, `${name} scrolls sideways by ${overflow}`)
    }
    await go('Deny list')
    await page.getByRole('button', { name: 'Add a wallet…' }).click()
    // Nothing on the page covers a dialog of full height.
    await dialog().getByRole('button', { name: 'Close' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.unrouteAll()
    await page.setViewportSize({ width: 1280, height: 720 })
    await page.emulateMedia({ colorScheme: null })
  })
}
