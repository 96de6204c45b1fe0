// Every page, in both themes, on a phone and on a desk: nothing for axe to object to, nothing that breaks the content security
// policy, no sideways scrolling, and no reading that is missing shown as a zero.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Browser, Route } from 'playwright-core'
import { complaintsOf, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { insertSmallLedger, walletOf } from '../support/http-ledger.ts'

const DIST = new URL('../../web/dist/', import.meta.url)
const SCRIPT_BYTES_MAX = 250_000
const PAGES = {
  '/': 'Overview',
  '/tiers': 'Tiers',
  '/rounds': 'Rounds',
  '/round/1': 'Round 1',
  '/node/1': 'Node 1',
  [`/address/${walletOf(1)}`]: /^Wallet 0x/,
  '/buy': 'Buy a node',
  '/buy/basic': 'Buy Basic',
  '/owner': 'My nodes',
}

describe('the pages', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([
      startService({ settings: { factoryAddress: walletOf(0xfac) } }),
      startBrowser(),
    ])
    await insertSmallLedger(service.sql)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `http://127.0.0.1:${service.port}${path}`

  // Each page is loaded once for a width, in the theme that comes first, and changed to the other as a system changes its own.
  for (const [width, themes] of [
    [360, ['light', 'dark']],
    [1280, ['dark', 'light']],
  ] as const) {
    test(`${themes.join(' and ')}, ${width} wide`, async () => {
      // bypassCSP would hide what this looks for; axe comes in by the debugger, which needs no leave.
      const context = await browser.newContext({ viewport: { width, height: 900 } })
      const page = await context.newPage()
      const complaints = complaintsOf(page)
      for (const [path, title] of Object.entries(PAGES)) {
        await page.emulateMedia({ colorScheme: themes[0] })
        await page.goto(at(path))
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
        for (const colorScheme of themes) {
          await page.emulateMedia({ colorScheme })
          assert.deepEqual(await violations(page), [], `${path}, ${colorScheme}`)
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          assert.ok((overflow as number) <= 0, `${path} scrolls sideways by ${overflow}`)
          const hidden = await page.evaluate(
            "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.top nav'))",
          )
          assert.ok((hidden as number) <= 0, `${hidden} pixels of the pages' names are out of sight`)
        }
      }
      assert.deepEqual(
        complaints.filter((complaint) => !complaint.includes('status of 401')),
        [],
      )
      await context.close()
    })
  }

  test('a value that could not be read is marked, and never looks like zero', async () => {
    const page = await browser.newPage()
    await page.goto(at('/'))
    // This service has no chain behind it.
    await page.getByText('Could not be checked.').waitFor()
    await page.goto(at('/node/1'))
    await page.getByText('chain not read').waitFor()
    await page.route('**/api/stats', (route) => route.fulfill({ status: 503, json: { error: 'no' } }))
    await page.goto(at('/'))
    await page.getByText('The service cannot answer this at present.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 1)
    await page.close()
  })

  for (const [how, answer, sign] of [
    ['does not answer', () => undefined, '[aria-label="Loading"]'],
    ['fails', (route: Route) => route.fulfill({ status: 503, json: { error: 'no' } }), 'main [role="alert"]'],
  ] as const) {
    test(`every page has its heading while the service ${how}`, async () => {
      const page = await browser.newPage({ viewport: { width: 360, height: 800 } })
      await page.route(/\/(api|\.well-known)\//, answer)
      for (const path of Object.keys(PAGES)) {
        await page.goto(at(path))
        await page.locator(sign).first().waitFor()
        await page.getByRole('heading', { level: 1 }).waitFor()
        assert.equal(await page.locator('h1').count(), 1, path)
        assert.deepEqual(await violations(page), [], path)
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.close()
    })
  }

  test('long names and large amounts stay within a phone’s width', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } })
    const [wei, label] = [`${10n ** 31n + 123_456_789_012_345_678n}`, 'W'.repeat(64)]
    const amounts = (body: string) =>
      body.replace(/("\w+Wei"):"[0-9]+"/g, `$1:"${wei}"`).replace('"Basic"', `"${label}"`)
    await page.route('**/api/price', (route) => route.fulfill({ json: { usd: 98_765.43 } }))
    await page.route(/\/api\/(stats|tiers|node|nodes|distributions|deploy-quote)/, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: amounts(await answer.text()) })
    })
    for (const path of Object.keys(PAGES)) {
      await page.goto(at(path))
      await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.ok((overflow as number) <= 0, `${path} scrolls sideways by ${overflow}`)
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.close()
  })

  test('a held payment is looked at again, until it is decided', async () => {
    const page = await browser.newPage()
    await page.clock.install()
    const txHash = `0x${'1'.repeat(64)}`
    const payment = { txHash, from: walletOf(1), tierId: 'basic', valueWei: '1', blockNumber: 1, updatedAt: null }
    let status = 'held'
    await page.route('**/api/payments/claim', (route) =>
      route.fulfill({ json: { ...payment, status, reason: 'walletLimit', nodeId: '3', mintTxHash: null } }),
    )
    await page.goto(at('/buy'))
    await page.getByLabel('Hash of the transfer').fill(txHash)
    await page.getByRole('button', { name: 'Look for it' }).click()
    await page.getByText('Once one is moved away, this node is minted by itself.').waitFor()
    status = 'minted'
    await page.clock.fastForward(20_000)
    await page.getByText('Node 3 is yours.').waitFor()
    await page.close()
  })

  test('can be gone through by keyboard: skip link, pages, and the focus at the new page’s heading', async () => {
    const page = await browser.newPage()
    await page.goto(at('/'))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
    for (let tab = 0; tab < 3; tab++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tiers' }).waitFor()
    await page.locator('h1:focus', { hasText: 'Tiers' }).waitFor()
    // A page that is loaded with its first use.
    await page.getByRole('link', { name: 'Buy', exact: true }).press('Enter')
    await page.locator('h1:focus', { hasText: 'Buy a node' }).waitFor()
    await page.close()
  })

  test('a plot tells the time as the text beside it does, wherever one is', async () => {
    const page = await browser.newPage({ timezoneId: 'Asia/Kathmandu' })
    await page.goto(at('/rounds'))
    const plot = page.locator('.chart')
    await plot.locator('.u-over').hover()
    const time = plot.locator('.u-legend .u-value').first()
    await time.filter({ hasText: 'UTC' }).waitFor()
    const caption = (await plot.locator('figcaption').textContent()) ?? ''
    assert.ok(caption.includes((await time.textContent()) ?? '?'), caption)
    await page.close()
  })

  test('the theme that was chosen stays', async () => {
    const page = await browser.newPage()
    await page.goto(at('/'))
    await page.getByRole('button', { name: 'Theme: system' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    await page.reload()
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    await page.close()
  })

  test('the search finds a node by its number and a wallet by its address', async () => {
    const page = await browser.newPage()
    await page.goto(at('/'))
    const search = page.getByRole('searchbox')
    await search.fill('#3')
    await search.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Node 3' }).waitFor()
    await search.fill(walletOf(1))
    await search.press('Enter')
    await page.getByRole('heading', { level: 1, name: /^Wallet/ }).waitFor()
    await search.fill('nonsense')
    await search.press('Enter')
    await page.getByRole('alert').waitFor()
    // Asking again would change nothing.
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await page.close()
  })

  test('no page loads more than 250 kB of script', async () => {
    const sizes = new Map(
      readdirSync(new URL('assets/', DIST))
        .filter((name) => name.endsWith('.js'))
        .map((name) => [name, gzipSync(readFileSync(new URL(`assets/${name}`, DIST))).length]),
    )
    for (const path of Object.keys(PAGES)) {
      const page = await browser.newPage()
      const loaded = new Set<string>()
      page.on('response', (response) => loaded.add(new URL(response.url()).pathname.replace('/assets/', '')))
      await page.goto(at(path), { waitUntil: 'networkidle' })
      const bytes = [...loaded].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0)
      assert.ok(bytes > 0 && bytes < SCRIPT_BYTES_MAX, `${path} loads ${bytes} bytes of script`)
      await page.close()
    }
  })
})
