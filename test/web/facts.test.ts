// Facts as pages show them: long prices stay in their cards, caps are those that hold, what is chosen shows without our
// colours, and a service without a price feed marks nothing as missing.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Readings } from '../../src/ports/contract.ts'
import { announceWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { misshapen, noBrowser, startBrowser } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { insertSmallLedger, walletOf } from '../support/http-ledger.ts'

/** Between the caps of the tiers: 10 of basic, 5 of plus, 2 of founder. */
const CONTRACTS_CAP = 5

describe('facts', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    const readings = { maxPerWallet: async () => CONTRACTS_CAP, cover: async () => null, paused: async () => null }
    ;[service, browser] = await Promise.all([
      startService({ readings: readings as unknown as Readings, settings: { factoryAddress: walletOf(0xfac) } }),
      startBrowser(),
    ])
    await insertSmallLedger(service.sql)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `http://127.0.0.1:${service.port}${path}`
  const card = (page: Page, tier: string) =>
    page.locator('.tier').filter({ has: page.getByRole('heading', { name: tier }) })

  test('a price has at most ten figures; all of them, at a press, stay within its card', async () => {
    // On both sides of the length from which every amount may break.
    for (const [priceWei, width] of [1_234_567_890_123_456_789n, 12_345_678_901_234_567_890n].flatMap((priceWei) =>
      [360, 760, 1280].map((width) => [priceWei, width] as const),
    )) {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      await page.route(/\/api\/(tiers|deploy-quote)/, async (route) => {
        const answer = await route.fetch()
        const body = (await answer.text()).replace(/("priceWei"):"[0-9]+"/g, `$1:"${priceWei}"`)
        await route.fulfill({ response: answer, body })
      })
      for (const path of ['/buy', '/buy/basic']) {
        await page.goto(at(path))
        // The quote replaces the first price, with whatever was pressed on it.
        if (path === '/buy/basic') await page.getByLabel('QR or by hand').waitFor()
        const price = page.locator('.price .more').first()
        assert.match(await price.innerText(), /^1[.0-9]{10}$/, 'at most ten figures')
        await price.click()
        await page
          .getByText(`.${priceWei % 10n ** 18n}`.replace(/0$/, ''))
          .first()
          .waitFor()
        const outside = await page.evaluate(`[...document.querySelectorAll('.price, .amount')].flatMap((part) => {
          const card = part.closest('.card')
          const range = document.createRange()
          range.selectNodeContents(part)
          const isOutside = card && range.getBoundingClientRect().right > card.getBoundingClientRect().right
          return isOutside ? [part.textContent] : []
        })`)
        assert.deepEqual(outside, [], `${path}, ${width} wide`)
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.close()
    }
  })

  test('an address or hash stays whole in its box beside others, also when it is expanded', async () => {
    for (const width of [360, 1280]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      for (const path of ['/withdraw.html', '/docs', '/runbook.html', '/nowhere', '/console']) {
        await page.goto(at(path))
        await page.getByRole('heading', { level: 1 }).waitFor()
        assert.deepEqual(await misshapen(page), [], `${path}, ${width} wide`)
      }
      await page.goto(at('/buy/basic'))
      await page.getByLabel('QR or by hand').check()
      await page.getByLabel('Your paying address').fill(walletOf(1))
      await page.getByRole('button', { name: 'Copy exact amount' }).waitFor()
      assert.deepEqual(await misshapen(page), [], `by hand, ${width} wide`)
      await page.close()
    }
  })

  test('on a phone, a round has no room for its transaction', async () => {
    for (const width of [360, 1280]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      await page.goto(at('/rounds'))
      const row = await page.locator('.table tbody tr').first().innerText()
      assert.equal(/0x/.test(row), width > 360, row)
      await page.close()
    }
  })

  test('only a chosen item has an outline if a browser forces its own colours', async () => {
    const page = await browser.newPage({ forcedColors: 'active' })
    for (const path of ['/', '/buy/basic', '/rounds', '/node/1', '/owner']) {
      await page.goto(at(path))
      await page.locator('.top search').waitFor()
      await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      const outlined = (parts: string) =>
        page.evaluate<string[]>(
          `[...document.querySelectorAll(${JSON.stringify(parts)})].map((part) => getComputedStyle(part).outlineStyle)`,
        )
      const chosen = await outlined('.switch :checked + span, nav [aria-current]')
      const others = await outlined('.switch :not(:checked) + span, nav a:not([aria-current])')
      assert.deepEqual([...new Set(chosen)], ['solid'], path)
      assert.deepEqual([...new Set(others)], ['none'], path)
    }
    await page.close()
  })

  test('a wallet may hold as many nodes of a tier as the lower of tier and contract caps allows', async () => {
    const page = await browser.newPage()
    await page.goto(at('/buy'))
    for (const [tier, most] of [
      ['BASIC', '5 nodes'],
      ['PLUS', '5 nodes'],
      ['FOUNDER', '2 nodes'],
    ] as const)
      await card(page, tier).getByText(most, { exact: true }).waitFor()
    await page.close()
  })

  test('the verdict on the newest round follows a reorganisation that replaces the round', async () => {
    const page = await browser.newPage()
    const terms = { cohort: 1, due: '2026-01-02T03:04:05.000Z', dueSec: 1_767_323_045, count: 1, nodeCount: 1 }
    const range = { seedBlock: 5, seed: `0x${'5e'.repeat(32)}`, minWei: '7', maxWei: '7', payoutBps: 10_000 }
    const turn = { ...terms, ...range, tierId: 'basic', assurance: 'proven', amountWei: '7' }
    const round = { id: 1, mode: 'treasury', nodeCount: 1, createdAt: null, txHash: walletOf(1), blockNumber: 9 }
    // The same number, in another transaction, and an amount that does not follow from its seed.
    let rounds = [{ ...round, totalWei: '7', turns: [turn] }]
    const replaced = { ...round, txHash: walletOf(2), totalWei: '8', turns: [{ ...turn, amountWei: '8' }] }
    await page.route(/\/api\/distributions/, (route) => route.fulfill({ json: rounds }))
    await page.goto(at('/'))
    const proof = page.getByRole('region', { name: 'Your browser checks the payouts' })
    await proof.getByText(/It recomputed the last round/).waitFor()
    rounds = [replaced]
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await proof.getByText('An amount does not follow from its seed.').waitFor()
    await page.close()
  })

  test('without a price feed nothing is marked missing, and amounts appear without dollars', async () => {
    const page = await browser.newPage()
    let isConnected = false
    await announceWallet(page, async ({ method }) => {
      if (method === 'eth_requestAccounts') isConnected = true
      return method === 'eth_chainId' ? '0x7a69' : isConnected ? [walletOf(1)] : []
    })
    await page.goto(at('/owner'))
    await page.getByRole('button', { name: 'Connect a wallet' }).click()
    await page.getByRole('button', { name: WALLET_NAME }).click()
    const history = page.getByRole('table', { name: 'History' })
    await history.getByRole('link', { name: 'round 1' }).first().waitFor()
    assert.equal(await page.locator('.unknown, .usd').count(), 0)
    assert.equal(await history.getByRole('columnheader', { name: 'Worth then' }).count(), 0)
    await page.close()
  })
})
