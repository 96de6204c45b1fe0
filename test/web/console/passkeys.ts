// The story of a passkey in the console: the operator invites someone, who creates one, leaves, signs in with it, and
// is signed out once it is revoked. The device is Chromium's own virtual one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { HANGING_MS, until } from '../../support/until.ts'
import type { ConsoleUnderTest } from '../console.ts'

const DEVICE = {
  ...({ protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const),
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
}

/** Declares it, within the describe of the console. */
export function testPasskeys(opened: ConsoleUnderTest): void {
  const { go, dialog, confirm, axe, enter } = opened

  test('a person is invited, makes a passkey, signs in with it, and is shut out once it is revoked', async () => {
    const { page, service } = opened
    const press = (name: string) => page.getByRole('button', { name }).click()
    await go('Keys')
    await page.getByText('No passkeys yet.').waitFor()
    await press('Invite a person…')
    await dialog().getByLabel('Who uses it').fill('ina')
    await dialog().getByLabel('Some of read').fill('read, operate')
    await confirm('Invite a person')
    const link = (await dialog().getByText('#invite=').textContent()) ?? ''
    await confirm('Done')
    await page.getByRole('table', { name: 'Invitations' }).getByRole('row', { name: 'ina' }).waitFor()

    const devices = await page.context().newCDPSession(page)
    await devices.send('WebAuthn.enable')
    await devices.send('WebAuthn.addVirtualAuthenticator', { options: DEVICE })
    await page.setViewportSize({ width: 360, height: 640 })
    // By the host name for which browsers create passkeys on a local machine.
    assert.match(link, /^http:\/\/localhost:\d+\/console#invite=nli_/)
    await page.goto(link)
    await page.getByText('To act here as ina, with these scopes: read, operate.').waitFor()
    await axe()
    const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.ok((over as number) <= 0, `scrolls sideways by ${over}`)
    // A phone folds whose key is in use.
    await page.setViewportSize({ width: 1280, height: 720 })
    await makeThoughAnAnswerIsLost(page, link)
    assert.ok(!page.url().includes('nli_'), 'the code is gone from the address')

    await press('Sign out')
    await pressUntil(page, 'Sign in with a passkey', 'ina: read, operate')
    await go('Keys')
    const row = page.getByRole('table', { name: 'Passkeys' }).getByRole('row', { name: 'ina' })
    await row.getByText('open').waitFor()
    assert.equal(
      await row.getByRole('cell').nth(4).textContent(),
      '2',
      'of the lost session and two others, one was left',
    )
    await axe()
    await row.getByRole('button', { name: 'Revoke…' }).click()
    await confirm('Revoke')
    await page.getByText('Your key was revoked').waitFor()
    await axe()

    await page.goto(link)
    await page.getByRole('alert').filter({ hasText: 'This invitation was used' }).waitFor()
    await press('I have a key or a passkey already')
    await page.getByLabel('Admin key').waitFor()
    await page.goto(`${service.url}/console`)
    await enter()
  })
}

/** The service makes the passkey, but its answer is lost. The next press signs in with it. */
async function makeThoughAnAnswerIsLost(page: Page, link: string): Promise<void> {
  await page.route('**/api/passkeys/make', async (asked) => {
    const headers = { ...asked.request().headers(), origin: new URL(link).origin }
    // A busy service answers 503, perhaps after it made the passkey, and 409 once the invitation is used.
    const make = async () => (await asked.fetch({ headers, timeout: HANGING_MS })).status()
    await until('the passkey', async () => [200, 409].includes(await make()))
    await asked.fulfill({ status: 408, json: { error: 'The answer was lost.' } })
  })
  await page.getByRole('button', { name: 'Make a passkey' }).click()
  await page.getByRole('alert').waitFor()
  await page.unroute('**/api/passkeys/make')
  await pressUntil(page, 'Make a passkey', 'ina: read, operate')
}

/** Presses again while the page shows a failure, because a loaded machine may answer too late. */
async function pressUntil(page: Page, name: string, text: string): Promise<void> {
  await until(text, async () => {
    const button = page.getByRole('button', { name, disabled: false })
    if (await button.isVisible()) await button.click()
    return page.getByText(text).isVisible()
  })
}
