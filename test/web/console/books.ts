// The books in the console: the statement, its files, the transactions and the audit log. The last story of the file that has it open.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConsoleUnderTest } from '../console.ts'

/** Declares it, within the describe of the console. */
export function testBooks(opened: ConsoleUnderTest): void {
  const { go, axe } = opened
  test('the statement adds up, its file arrives, and the audit log shows who did what', async () => {
    const { page } = opened
    await go('Books')
    await page.getByText('Total sales').waitFor()
    await page.getByText(/^[0-9]+ payments, [0-9.]+ ETH, confirmed by one provider only\.$/).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    assert.match(file.suggestedFilename(), /^node-ledger-statement-\d+\.csv$/)
    const month = await page.getByLabel('Month').inputValue()
    const exported = page.waitForRequest('**/api/admin/exports/*')
    await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'refunds' }).click()])
    assert.match((await exported).url(), new RegExp(`/exports/refunds.csv\\?month=${month}$`))
    await axe()
    await go('Transactions')
    await page
      .getByText(/^Open \d+ groups$/)
      .first()
      .waitFor()
    const [kind, state] = await page.getByRole('table', { name: 'Transactions' }).getByRole('cell').allInnerTexts()
    assert.match(
      `${kind}, ${state}`,
      /^((Round|Mint|Open) .+, (Pending|Mined|Displaced)|Not sent by this service, Displaced)$/,
    )
    await axe()
    await page.getByLabel('State').selectOption('reverted')
    await page.getByText('None of these.').waitFor()
    await go('Audit log')
    await page.getByRole('button', { name: 'Older' }).click()
    const released = page.getByRole('row').filter({ hasText: 'a few wei too many' })
    await released.waitFor()
    const fields = released.getByText('status: held → accepted')
    if (!(await fields.isVisible())) await released.locator('summary').click()
    await fields.waitFor()
    await axe()
    await page.getByLabel('By whom').selectOption('pass')
    await released.waitFor({ state: 'detached' })
    const find = page.getByLabel('Hash, address, tier or node')
    await find.fill('no such subject')
    await find.press('Enter')
    await page.getByText('None of these.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin key').waitFor()
    assert.deepEqual(
      opened.complaints.filter((complaint) => !/responded with a status of (4\d\d)/.test(complaint)),
      [],
    )
  })
}
