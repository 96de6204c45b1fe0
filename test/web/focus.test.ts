// Whatever control goes when it is pressed, the focus stays on the page: it never falls to the body, from which a keyboard user starts from the top.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { insertSmallLedger, walletOf } from '../support/http-ledger.ts'
import { HANGING_MS, until } from '../support/until.ts'

/** What has the focus: its tag, and its text's start. */
const FOCUSED = "document.activeElement.tagName + ' ' + document.activeElement.textContent.slice(0, 40)"

describe('the focus', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let page: Page
  before(async () => {
    ;[service, browser] = await Promise.all([
      startService({ settings: { factoryAddress: walletOf(0xfac) } }),
      startBrowser(),
    ])
    await insertSmallLedger(service.sql)
    page = await browser.newPage()
    page.setDefaultTimeout(HANGING_MS)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `http://127.0.0.1:${service.port}${path}`
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).press('Enter')
  /** Fails unless the focus comes to a part that matches, once the page has drawn. */
  const isOn = (selector: string) =>
    until(`the focus on ${selector}, not on the body`, async () => {
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
      return await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)
    }).catch(async (error) => assert.fail(`${error}; it is on ${await page.evaluate(FOCUSED)}`))

  test('goes to the part around a button that its press disables, and back once it is enabled', async () => {
    await page.goto(at('/buy/basic'))
    await press('One more')
    await press('One fewer')
    await isOn('fieldset')
    assert.deepEqual(await violations(page), [])
    await press('One more')
    await isOn('button[aria-label="One more"]')
  })

  test('goes to the part around a button that its press removes', async () => {
    await page.route('**/api/distributions*', async (route) => {
      const response = await route.fetch()
      const [round] = (await response.json()) as { id: number }[]
      await route.fulfill({ response, json: Array.from({ length: 40 }, (_, n) => ({ ...round, id: 40 - n })) })
    })
    await page.goto(at('/rounds'))
    await press('Show all 40')
    await isOn('section.card')
    await page.unrouteAll()
  })

  test('goes to the part around a retry that succeeds', async () => {
    await page.route('**/api/distributions*', (route) => route.fulfill({ status: 503, json: { error: 'no' } }))
    await page.goto(at('/round/1'))
    await page.getByRole('button', { name: 'Try again' }).focus()
    await page.unrouteAll()
    await press('Try again')
    await isOn('main')
  })

  test('returns from a dialog whose opener is gone, and from a disconnected wallet', async () => {
    await installWallet(page, 3, 'http://127.0.0.1:9')
    await page.goto(at('/owner'))
    await press('Connect a wallet')
    await page.getByRole('button', { name: WALLET_NAME }).press('Enter')
    await page.getByText('Disconnect').waitFor()
    await isOn('h1, main, main *')
    await press('Disconnect')
    await page.getByRole('button', { name: 'Connect a wallet' }).waitFor()
    await isOn('h1, main, main *')
  })

  for (const path of [
    '/',
    '/rounds',
    '/round/1',
    '/node/1',
    `/address/${walletOf(1)}`,
    '/buy',
    '/buy/basic',
    '/owner',
    '/console',
  ])
    test(`stays on the page with any button of ${path}`, async () => {
      await page.goto(at(path))
      await page.locator('.skip').waitFor({ state: 'attached' })
      await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      const buttons = page.locator('button:enabled')
      const count = await buttons.count()
      assert.ok(count > 0)
      for (let nth = 0; nth < count; nth++) {
        await page.keyboard.press('Escape')
        const button = buttons.nth(nth)
        if (!(await button.isVisible())) continue
        await button.press('Enter')
        await isOn(':not(body)')
      }
    })

  test('stays at the user’s choice: a press beside every control takes it from all of them', async () => {
    await page.goto(at('/buy/basic'))
    await page.getByRole('button', { name: 'One more' }).focus()
    await page.locator('h1').click()
    await page.evaluate('document.querySelector(\'[aria-label="One more"]\').remove()')
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    assert.match(await page.evaluate<string>(FOCUSED), /^(BODY|H1)/)
  })
})
