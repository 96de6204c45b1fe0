// The first paint of pages that sell, in Chromium: what the service sends is painted before any script, no later paint is larger, and hardly
// anything moves when the rest comes.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { noBrowser, startBrowser } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { insertSmallLedger, insertTiers, walletOf } from '../support/http-ledger.ts'
import { HANGING_MS, until } from '../support/until.ts'

/** The most that may move, by the measure of the Core Web Vitals, whose limit this is. */
const SHIFT_MAX = 0.1
/** Collects the largest paints so far, and how much moved. */
const OBSERVE = `window.largest = []
window.shifts = []
new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value, sources }) =>
  ({ value, moved: sources.map(({ node, previousRect, currentRect }) => [node?.className || node?.nodeName, previousRect.y, currentRect.y]) }))))
  .observe({ type: 'layout-shift', buffered: true })
new PerformanceObserver((list) => window.largest.push(...list.getEntries().map(({ element, size }) => [size, element?.textContent])))
  .observe({ type: 'largest-contentful-paint', buffered: true })`
/** The accent, as text in it would have it. */
const ACCENT =
  "(() => { const text = document.body.appendChild(document.createElement('i')); text.style.color = 'var(--accent)'; return getComputedStyle(text).color })()"

/** The most by which the faces that stand in for Geist may differ in width, on average over a page. */
const STAND_IN_OFF_MAX = 0.03
/** How much wider texts are in the faces that stand in for Geist until it is decoded. */
const STAND_IN = `document.fonts.load('16px Geist').then(() => {
  const [own, ...others] = getComputedStyle(document.body).fontFamily.split(', ')
  const brush = document.createElement('canvas').getContext('2d')
  const widthIn = (font, text) => Object.assign(brush, { font }).measureText(text).width
  const ratios = [400, 650].flatMap((weight) => [...document.querySelectorAll('p, dd, h1')].map(({ textContent: text }) =>
    widthIn(weight + ' 100px ' + others.join(', '), text) / widthIn(weight + ' 100px ' + own, text)))
  return ratios.filter(Number.isFinite)
})`

describe('the first paint', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    const brand = { name: 'Aurora', logo: null, color: '#1a6b52', contact: null, termsUrl: null }
    const site = { chainName: 'Aurora chain', explorerUrl: null, brand }
    ;[service, browser] = await Promise.all([
      startService({ settings: { factoryAddress: walletOf(0xfac), site } }),
      startBrowser(),
    ])
    await insertSmallLedger(service.sql)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })

  for (const width of [360, 1280])
    test(`has the price in the seller’s colour without a script, and stays the largest, ${width} wide`, async () => {
      for (const path of ['/', '/buy', '/buy/basic']) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: 'light' })
        page.setDefaultTimeout(HANGING_MS)
        const held = Promise.withResolvers<void>()
        await page.route(/\/assets\/.*\.js$/, async (route) => {
          await held.promise
          await route.continue()
        })
        await page.addInitScript(OBSERVE)
        await page.goto(`http://127.0.0.1:${service.port}${path}`, { waitUntil: 'commit' })
        await page.locator('main .price', { hasText: '0.01 ETH' }).waitFor()
        assert.equal(await page.evaluate(ACCENT), 'rgb(26, 107, 82)', path)
        const largest = () => page.evaluate<[number, string][]>('window.largest')
        await until('a first paint', async () => (await largest()).length > 0)
        const first = await largest()
        held.resolve()
        await page.locator('.top search').waitFor({ state: 'attached' })
        await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
        await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
        assert.deepEqual(await largest(), first, path)
        const shifts = await page.evaluate<{ value: number }[]>('window.shifts')
        const moved = shifts.reduce((sum, { value }) => sum + value, 0)
        const ratios = await page.evaluate<number[]>(STAND_IN)
        const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length
        assert.ok(Math.abs(mean - 1) < STAND_IN_OFF_MAX, `${path}: the stand-in is ${mean} times as wide as Geist`)
        assert.ok(moved <= SHIFT_MAX, `${path} moves by ${moved}: ${JSON.stringify(shifts)}`)
        await page.close()
      }
    })

  test('before the first round shows what a node may earn, and the script leaves it', async () => {
    const launch = await startService()
    await insertTiers(launch.sql)
    const [bare, full] = await Promise.all(
      [false, true].map(async (javaScriptEnabled) => {
        const page = await (await browser.newContext({ javaScriptEnabled })).newPage()
        page.setDefaultTimeout(HANGING_MS)
        await page.goto(`http://127.0.0.1:${launch.port}/`)
        if (javaScriptEnabled) await page.getByRole('heading', { name: 'How it works' }).waitFor()
        const parts = ['.hero .yield', '.tier:first-child .paid']
        return { page, texts: await Promise.all(parts.map((part) => page.locator(part).innerText())) }
      }),
    )
    assert.deepEqual(full?.texts, bare?.texts)
    assert.match(
      full?.texts.join(' ') ?? '',
      /^To each BASIC node in the first round[\s\S]+Each node is paid every day[\s\S]+ a round$/,
    )
    assert.equal(await full?.page.getByRole('heading', { name: 'Latest rounds' }).count(), 0)
    await launch.close()
  })
})
