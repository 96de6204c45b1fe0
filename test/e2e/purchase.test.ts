// One purchase in a browser, from the first page to the node, and the main state of every page on the way. The other tests of pages look closer.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { HANGING_MS } from '../support/until.ts'

const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'

describe('a purchase in a browser', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([startServiceHere({ ADMIN_KEY }), startBrowser()])
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  test('a buyer pays, and every page shows its main state', async () => {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(HANGING_MS)
    const complaints = complaintsOf(page)
    const { rpcUrl } = await service.get<WellKnown>('/.well-known/node-ledger.json')
    const own = await installWallet(page, 5, rpcUrl)
    const press = (name: string | RegExp) => page.getByRole('button', { name }).click()

    await page.goto(service.url)
    await page.getByRole('heading', { level: 1, name: /^Nodes that earn ETH/ }).waitFor()
    await page.goto(`${service.url}/buy`)
    await page.getByRole('link', { name: 'Buy Basic' }).click()
    await press('Connect a wallet')
    await press(WALLET_NAME)
    await page.getByText('All checks pass').waitFor()
    await press('Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()
    const [, txHash] = /tx=(0x[0-9a-f]{64})$/.exec(page.url()) ?? []
    await page.getByRole('link', { name: 'See the node' }).click()
    await page.getByText('matches the chain').waitFor()

    for (const [path, title] of [
      [`/payment/${txHash}`, /^Node \d+ is minted$/],
      [`/address/${own.address}`, /^Wallet 0x/],
      ['/rounds', 'Rounds'],
      ['/tiers', 'Buy a node'],
      ['/owner', 'My nodes'],
      ['/docs', /API/],
      ['/withdraw.html', /Withdraw/],
    ] as const) {
      await page.goto(`${service.url}${path}`)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
    }

    await page.goto(`${service.url}/console`)
    await page.getByLabel('Admin key').fill(ADMIN_KEY)
    await page.keyboard.press('Enter')
    await page.getByText('no difference on record').waitFor()
    assert.deepEqual(
      complaints.filter((complaint) => !/responded with a status of (401|404|409)/.test(complaint)),
      [],
    )
  })
})
