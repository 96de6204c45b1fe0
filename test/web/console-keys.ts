// The story of an admin key at the console: made for somebody, used with the rights it has, revoked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConsoleUnderTest } from './console.ts'

/** Declares it, within the describe of the console. */
export function testKeys(opened: ConsoleUnderTest): void {
  const { go, dialog, confirm, axe } = opened

  test('a key is made for somebody, may do what it says and no more, and is revoked', async () => {
    const { page } = opened
    const leave = () => page.getByRole('button', { name: 'Leave', exact: true }).click()
    await go('Keys')
    await page.getByText('The ledger has no key.').waitFor()
    await page.getByRole('button', { name: 'Make a key…' }).click()
    await dialog().getByLabel('Label').fill('clerk')
    await dialog().getByLabel('Scopes').fill('read, all')
    await confirm('Make a key')
    await dialog()
      .getByRole('alert')
      .filter({ hasText: /^Scopes.* must be some of/ })
      .waitFor()
    await dialog().getByLabel('Scopes').fill('read, decide')
    await confirm('Make a key')
    await dialog().getByText('It is not shown again.').waitFor()
    await axe()
    const key = (await dialog().getByText(/^nlk_/).textContent()) ?? ''
    await confirm('Done')
    await page.getByRole('row', { name: 'clerk' }).getByText('read, decide').waitFor()
    await axe()

    await leave()
    await page.getByLabel('Admin key').fill(key)
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('clerk: read, decide').waitFor()
    await page.getByText('Your key lacks “operate”.').waitFor()
    await go('Tiers')
    const create = page.getByRole('button', { name: 'Create a tier (your key lacks “prices”)' })
    await create.waitFor()
    assert.ok(await create.isDisabled())
    await go('Deny list')
    assert.ok(await page.getByRole('button', { name: 'Add a wallet…' }).isEnabled())

    await leave()
    await page.getByLabel('Admin key').fill(opened.key())
    await page.getByRole('button', { name: 'Enter' }).click()
    await go('Keys')
    const row = page.getByRole('row', { name: 'clerk' })
    await row.getByRole('button', { name: 'Revoke…' }).click()
    await confirm('Revoke')
    await confirm('Done')
    await row.getByText('revoked').waitFor()
  })
}
