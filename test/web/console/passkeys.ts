// The story of a passkey in the console: the operator invites someone, who creates one, leaves, signs in with it, and
// is signed out once it is revoked. The device is Chromium's own virtual one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
    await page.getByText('Nobody has a passkey.').waitFor()
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
    await page.getByText('To act here as ina, with these rights: read, operate.').waitFor()
    await axe()
    const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert.ok((over as number) <= 0, `scrolls sideways by ${over}`)
    await press('Make a passkey')
    await page.getByText('ina: read, operate').waitFor()
    assert.ok(!page.url().includes('nli_'), 'the code is gone from the address')
    await page.setViewportSize({ width: 1280, height: 720 })

    await press('Leave')
    await press('Sign in with a passkey')
    await page.getByText('ina: read, operate').waitFor()
    await go('Keys')
    const row = page.getByRole('table', { name: 'Passkeys' }).getByRole('row', { name: 'ina' })
    await row.getByText('open').waitFor()
    assert.equal(await row.getByRole('cell').nth(4).textContent(), '1', 'of two sessions one was left')
    await axe()
    await row.getByRole('button', { name: 'Revoke…' }).click()
    await confirm('Revoke')
    await page.getByText('Your key is revoked').waitFor()
    await axe()

    await page.goto(link)
    await page.getByRole('alert').filter({ hasText: 'This invitation was used' }).waitFor()
    await press('I have a key or a passkey already')
    await page.getByLabel('Admin key').waitFor()
    await page.goto(`${service.url}/console`)
    await enter()
  })
}
