// Stories of admin keys and passkeys in the console: created for someone, used with its rights, and revoked; and a second person who confirms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../../src/db/core/sql.ts'
import { createKey } from '../../../src/operator/acts/keys/admin-keys.ts'
import type { ConsoleUnderTest } from '../console.ts'
import { testPasskeys } from './passkeys.ts'

/** Declares them, within the describe of the console. */
export function testKeys(opened: ConsoleUnderTest): void {
  testOneKey(opened)
  testSecondPerson(opened)
  testPasskeys(opened)
}

function testOneKey(opened: ConsoleUnderTest): void {
  const { go, dialog, confirm, axe } = opened

  test('a key is made for a person, may do what its scopes allow, and is revoked', async () => {
    const { page } = opened
    const leave = () => page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await go('Keys')
    await page.getByText('has every right').waitFor()
    await page.getByRole('button', { name: 'Make a key…' }).click()
    await dialog().getByLabel('Who uses it').fill('clerk')
    await dialog().getByLabel('Some of read').fill('read, all')
    await confirm('Make a key')
    await dialog()
      .getByRole('alert')
      .filter({ hasText: /^Must be some of/ })
      .waitFor()
    await dialog().getByLabel('Some of read').fill('read, decide')
    await confirm('Make a key')
    await dialog().getByText('It is not shown again.').waitFor()
    await axe()
    const key = (await dialog().getByText(/^nlk_/).textContent()) ?? ''
    await confirm('Done')
    await page.getByRole('row', { name: 'clerk' }).getByText('read, decide').waitFor()
    await axe()

    await leave()
    await page.getByLabel('Admin key').fill(key)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
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
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await go('Keys')
    const row = page.getByRole('row', { name: 'clerk' })
    await row.getByRole('button', { name: 'Revoke…' }).click()
    await confirm('Revoke')
    await confirm('Done')
    await row.getByText('revoked').waitFor()
  })
}

function testSecondPerson(opened: ConsoleUnderTest): void {
  const { go, dialog, confirm, axe } = opened

  test('another person confirms a proposal', async () => {
    const { page, service } = opened
    const enterAs = async (key: string) => {
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByLabel('Admin key').fill(key)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    await go('Approvals')
    await page.getByText('No action needs a second person now').waitFor()
    await page.getByRole('button', { name: 'Require a second person…' }).click()
    await dialog().getByLabel('The amount above which an action needs a second person').fill('0')
    await confirm('Require a second person')
    await confirm('Done')
    await page.getByText('A release or refund of more than 0 ETH').waitFor()
    await page.getByRole('button', { name: 'Switch the rule off…' }).click()
    await confirm('Switch the rule off')
    await dialog().getByText('Not done yet: a second person has to confirm it').waitFor()
    await confirm('Done')
    const row = page.getByRole('row', { name: 'setSecondPerson' })
    await row.getByText('open').waitFor()
    assert.equal(await row.getByRole('button', { name: 'Confirm…' }).count(), 0, 'not their own')
    await axe()
    // Several together, too.
    await go('Payments')
    await page.getByLabel('Choose all shown').check()
    await page.getByRole('button', { name: 'Refund…' }).click()
    await confirm('Prepare the refunds')
    await dialog().getByText('Not done yet: a second person has to confirm it').waitFor()
    await page.keyboard.press('Escape')
    await go('Approvals')
    await page.getByRole('row', { name: 'prepareRefunds' }).getByText('open').waitFor()

    await enterAs(await madeByCommand(service.databaseUrl))
    await row.getByRole('button', { name: 'Confirm…' }).click()
    // Only a final block's payment is in a file, so the test answers with two in the service's place.
    await page.route('**/proposals/*/confirm', async (route) => {
      const answer = await route.fetch()
      const done = { safeBatches: [{ version: '1.0' }, { version: '1.0' }] }
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), done } })
    })
    await confirm('Confirm')
    await dialog().getByText('Confirmed. Off: nothing needs a second person.').waitFor()
    assert.equal(await dialog().getByRole('button', { name: 'File for a Safe' }).count(), 2)
    await page.unrouteAll()
    await confirm('Done')
    await page.getByText('No action needs a second person now').waitFor()
    await enterAs(opened.key())
  })
}

/** A key of a person for whom the operator in the console has created none. */
async function madeByCommand(databaseUrl: string): Promise<string> {
  const pool = connect(databaseUrl, { max: 1, prepare: false, applicationName: 'test' })
  try {
    const given = { label: 'second', scopes: 'read,operate' }
    const made = await createKey({ pool, environmentKeys: [] }, { name: 'cli:test', requestId: null }, given)
    return (made as { key: string }).key
  } finally {
    await pool.end({ timeout: 1 })
  }
}
