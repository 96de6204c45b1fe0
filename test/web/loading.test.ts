// Pages with a missing part, and browsers that store nothing. Real Chromium and the real service; the test drops the missing parts between.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page, Route } from 'playwright-core'
import { RpcFault } from '../../src/ports/faults.ts'
import type { Passes } from '../../src/ports/outcomes.ts'
import { installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { hashOf, insertPayment, insertSmallLedger, walletOf } from '../support/http-ledger.ts'
import { HANGING_MS, until } from '../support/until.ts'

const SOURCE = fileURLToPath(new URL('../../web/src', import.meta.url))
const FAILED = 'This part could not be shown.'

describe('what does not arrive', { skip: noBrowser }, () => {
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
  async function open(): Promise<{ page: Page; loads: () => number }> {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(HANGING_MS)
    let loads = 0
    // A load counts even if the next one cuts it short.
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads++
    })
    return { page, loads: () => loads }
  }
  const gone = (route: Route) => route.fulfill({ status: 404, body: 'gone' })

  test('is requested again, and for a lost script the page reloads', async () => {
    const { page, loads } = await open()
    await page.route(/\/assets\/round-/, (route) => route.abort(), { times: 1 })
    await page.goto(at('/round/1'))
    await page.getByRole('heading', { name: 'Round 1' }).waitFor()
    assert.equal(loads(), 2)
    await page.context().close()
  })

  test('if lost for good, reloads the page once, then shows that with a button that reloads it', async () => {
    const { page, loads } = await open()
    await page.route(/\/assets\/round-/, gone)
    await page.goto(at('/'))
    await page.goto(at('/round/1'))
    const again = page.getByRole('button', { name: 'Try again' })
    await until('the page is loaded anew', () => loads() >= 3)
    await page.getByText(FAILED).waitFor()
    await page.getByRole('link', { name: 'My nodes' }).waitFor()
    assert.equal(loads(), 3, 'two visits, and one of them anew')
    await page.unroute(/\/assets\/round-/)
    await again.click()
    await page.getByRole('heading', { name: 'Round 1' }).waitFor()
    assert.equal(loads(), 4)
    await page.context().close()
  })

  test('later than the page is reported, with a button that reloads the page', async () => {
    const { page, loads } = await open()
    await page.route(/\/assets\/recompute-/, gone)
    await page.goto(at('/round/1'))
    await page.getByRole('button', { name: 'Try again' }).click()
    await until('the page is loaded anew', () => loads() >= 2)
    await page.context().close()
  })

  test('a missing first script of a past release reloads the page once', async () => {
    const { page, loads } = await open()
    await page.route(/\/assets\/index-.*\.js/, gone, { times: 1 })
    await page.goto(at('/buy'))
    await until('the page is loaded anew', () => loads() >= 2)
    await page.locator('.top search').waitFor()
    assert.equal(loads(), 2)
    await page.context().close()
  })

  test('the first script, for good, leaves a text in place of a white page', async () => {
    const { page } = await open()
    await page.route(/\/assets\/index-.*\.js/, gone)
    await page.goto(at('/buy'))
    await page.getByText('These pages could not be loaded yet.').waitFor()
    await page.context().close()
  })

  test('or makes no sense, fails its own part alone', async () => {
    const { page } = await open()
    await page.route(/\/api\/cover$/, (route) => route.fulfill({ json: { contractBalanceWei: {} } }))
    await page.goto(at('/'))
    await page.getByText(FAILED).waitFor()
    await page.getByRole('heading', { name: 'Basic' }).waitFor()
    await page.context().close()
  })

  for (const [why, script] of [
    [
      'forbids storage',
      "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('Access is denied for this document.', 'SecurityError') } })",
    ],
    [
      'has no room in storage',
      "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
    ],
  ] as const)
    test(`a browser that ${why} shows every page, and its wallet and theme are kept until the page is left`, async () => {
      const { page } = await open()
      const complaints = complaintsOf(page)
      await page.addInitScript(script)
      await installWallet(page, 3, 'http://127.0.0.1:9')
      await page.goto(at('/buy/basic'))
      await page.getByRole('button', { name: 'Connect a wallet' }).click()
      await page.getByRole('button', { name: WALLET_NAME }).click()
      await page.getByText('Disconnect').waitFor()
      await page.getByRole('button', { name: /^Theme/ }).click()
      await page.getByRole('button', { name: 'Theme: light' }).waitFor()
      await page.goto(at('/owner'))
      await page.getByText('Disconnect').waitFor()
      await page.goto(at('/console'))
      await page.getByLabel('Admin key').fill('wrong')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('alert').waitFor()
      assert.deepEqual(
        complaints.filter((complaint) => complaint.startsWith('script:')),
        [],
      )
      await page.context().close()
    })
})

describe('a browser', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    const brand = { name: null, logo: null, color: null, contact: 'mailto:help@shop.example', termsUrl: null }
    ;[service, browser] = await Promise.all([
      startService({
        settings: { factoryAddress: walletOf(0xfac), site: { chainName: null, explorerUrl: null, brand } },
        passes: {
          claim: () => Promise.reject(new RpcFault('error', 'eth_getLogs: internal error')),
        } as unknown as Passes,
      }),
      startBrowser(),
    ])
    await insertSmallLedger(service.sql)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `http://127.0.0.1:${service.port}${path}`

  test('copies without TLS, too, from the selection', async () => {
    const page = await browser.newPage()
    await page.addInitScript(`{
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
      delete Crypto.prototype.randomUUID
      document.addEventListener('copy', () => { window.copied = document.activeElement.value })
    }`)
    await page.goto(at('/buy/basic'))
    await page.getByLabel('QR or by hand').check()
    await page.getByRole('button', { name: 'Copy exact amount' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(await page.evaluate('window.copied'), '0.01')
    await page.close()
  })

  test('with a wallet that does not announce itself offers it', async () => {
    const page = await browser.newPage()
    await page.addInitScript(`addEventListener('eip6963:announceProvider', (event) => {
      event.stopImmediatePropagation()
      window.ethereum = event.detail.provider
    }, true)`)
    const own = await installWallet(page, 3, 'http://127.0.0.1:9')
    await page.goto(at('/buy/basic'))
    await page.getByRole('button', { name: 'Connect a wallet' }).click()
    await page.getByRole('button', { name: 'Wallet of this browser' }).click()
    await page.locator('.connected').getByText(own.address.slice(-4)).waitFor()
    await page.close()
  })

  test('shows that it cannot check a payment on an unclear chain, not that all is out of reach', async () => {
    const page = await browser.newPage()
    await page.goto(at(`/payment/${hashOf('unclear')}`))
    const said = page.getByRole('alert')
    await said.getByText('We cannot check this payment right now.').waitFor()
    assert.equal(await said.getByText(/reached|asked/).count(), 0)
    assert.equal(await page.getByText('Not in a block yet').count(), 0)
    await page.close()
  })

  test('shows the truth about each held payment, and contacts the operator with its hash', async () => {
    const page = await browser.newPage()
    for (const [reason, says, notSays] of [
      ['oldWallet', /went to that wallet\. The operator decides/, /Nothing is lost/],
      ['mintedElsewhere', /Nothing is lost. .* The operator sends it back/, /decides/],
      ['recheck', /Nothing is lost. .* looks into it/, /decides/],
      ['senderDenied', /Nothing is lost. .* The operator decides/, /sends it back/],
      ['refunding', /about to .* Nothing is lost/, /decides/],
    ] as const) {
      await insertPayment(service.sql, {
        txHash: hashOf(reason),
        from: walletOf(9),
        valueWei: '10000000000000000',
        state: 'held',
        reason,
      })
      await page.goto(at(`/payment/${hashOf(reason)}`))
      const held = page.locator('.held')
      await held.getByText(says).waitFor()
      assert.equal(await held.getByText(notSays).count(), 0, reason)
      const heading = reason === 'refunding' ? 'Your refund is being prepared' : 'We hold your payment'
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), heading)
      const letter = await held.getByRole('link', { name: 'Ask the operator' }).getAttribute('href')
      assert.equal(letter, `mailto:help@shop.example?subject=Payment%20${hashOf(reason)}`)
    }
    await page.close()
  })
})

const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => [name, readFileSync(join(SOURCE, name), 'utf8')] as const)

test('storage is read and written in one file, which works without any', () => {
  const bare = sources.filter(([name, text]) => name !== 'kept.ts' && /\b(local|session)Storage\b/.test(text))
  assert.deepEqual(
    bare.map(([name]) => name),
    [],
  )
})

test('no browser translates addresses, hashes, keys and commands', () => {
  const open = sources.flatMap(([name, text]) =>
    [...text.matchAll(/<code(?![a-z])[^>]*>/g)]
      .filter(([tag]) => !tag.includes('translate="no"'))
      .map(([tag]) => `${name}: ${tag}`),
  )
  assert.deepEqual(open, [])
})
