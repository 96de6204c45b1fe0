// Buying on a phone: by keyboard alone, through a reload at each moment, and while the database, or the chain, is
// really down. The quick tests have each of these ends once, most of them on a desktop.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type Postgres, startPostgres } from '../../packages/embed/postgres.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type BrowserWallet, installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const LONG_MS = 90_000
const BASIC_WEI = 10n ** 16n
/** More presses than any page has focusable elements. */
const TABS_MAX = 80

describe('on a phone', { skip: noBrowser }, () => {
  const databaseDir = temporaryDirectory()
  let database: Postgres
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    ;[database, browser] = await Promise.all([startPostgres({ dataDir: databaseDir, log: silentLog }), startBrowser()])
    service = await startService(temporaryDirectory(), {
      DATABASE_URL: database.url,
      CREDIT_INTERVAL_SEC: '20',
      CREDIT_SLOT_SEC: '10',
    })
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
    await database.stop()
  })

  async function open(account: number): Promise<{ page: Page; own: BrowserWallet }> {
    const context = await browser.newContext({ viewport: { width: 360, height: 800 }, hasTouch: true })
    const page = await context.newPage()
    page.setDefaultTimeout(LONG_MS)
    return { page, own: await installWallet(page, account, wellKnown.rpcUrl) }
  }
  const pay = (account: number) => wallet(account, wellKnown).pay(wellKnown.paymentAddress, BASIC_WEI)

  /** Reaches an element by the Tab key alone, and presses Enter there. */
  async function pressByKeyboard(page: Page, name: string | RegExp): Promise<void> {
    const place = page.getByRole('button', { name }).or(page.getByRole('link', { name }))
    await place.first().waitFor()
    for (let tab = 0; tab < TABS_MAX; tab++) {
      const isThere = await place.evaluateAll((found) => {
        const { document } = globalThis as unknown as { document: { activeElement: unknown } }
        return (found as unknown[]).includes(document.activeElement)
      })
      if (isThere) return page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
    }
    assert.fail(`the Tab key never comes to ${name}`)
  }

  test('a whole purchase, the sign-in and a withdrawal go by keyboard alone', async () => {
    const { page } = await open(5)
    await page.goto(service.url)
    await pressByKeyboard(page, 'Buy a node')
    await page.locator('h1:focus', { hasText: 'Buy a node' }).waitFor()
    await pressByKeyboard(page, 'Buy Basic')
    await pressByKeyboard(page, 'Connect a wallet')
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await violations(page), [])
    await pressByKeyboard(page, WALLET_NAME)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('All checks pass').waitFor()
    await pressByKeyboard(page, 'Pay 0.01 ETH')
    await page.locator('h2:focus', { hasText: /Node \d+ is yours/ }).waitFor()
    assert.deepEqual(await violations(page), [])
    await pressByKeyboard(page, 'See the node')
    await page.locator('h1:focus', { hasText: /^Node \d+$/ }).waitFor()
    await pressByKeyboard(page, 'My nodes')
    await pressByKeyboard(page, 'Sign in')
    await page.getByText('Signed in as').waitFor()
    await pressByKeyboard(page, /^Withdraw$/)
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    // Escape closes it, and the focus is where it was.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('button:focus', { hasText: 'Withdraw' }).waitFor()
    await page.keyboard.press('Enter')
    await pressByKeyboard(page, 'Withdraw all')
    await dialog.getByText(/^Paid out in block/).waitFor()
    assert.deepEqual(await violations(page), [])
    await pressByKeyboard(page, 'Done')
    await dialog.waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('a page that is reloaded at any moment of a purchase resumes there', async () => {
    const { page } = await open(6)
    await page.goto(`${service.url}/buy/basic`)
    await page.getByRole('button', { name: 'Connect a wallet' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Connect a wallet' }).click()
    await page.getByRole('button', { name: WALLET_NAME }).click()
    await page.getByRole('button', { name: 'Pay 0.01 ETH' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Pay 0.01 ETH' }).click()
    await page.getByRole('heading', { name: /^Your node is/, level: 1 }).waitFor()
    await page.reload()
    await page.getByText(/Node \d+ is yours/).waitFor()
    await page.reload()
    await page.getByText(/Node \d+ is yours/).waitFor()
    // No purchase was left unfinished, so the same page sells again.
    await page.goto(`${service.url}/buy/basic`)
    await page.getByRole('button', { name: 'Pay 0.01 ETH' }).waitFor()
    const paid = await service.get<unknown[]>(`/api/payments/${wallet(6, wellKnown).address}`)
    assert.equal(paid.length, 1)
    await page.context().close()
  })

  test('the page reports a lost database, and a payment made meanwhile gets its node', async () => {
    const { page } = await open(7)
    await page.goto(`${service.url}/owner`)
    await page.getByRole('button', { name: 'Connect a wallet' }).waitFor()
    await database.stop()
    const txHash = await pay(7)
    await page.goto(`${service.url}/payment/${txHash}`)
    await page.getByRole('alert').getByText('We cannot check this payment right now.').waitFor()
    assert.deepEqual(await violations(page), [])
    const { url } = database
    database = await startPostgres({ dataDir: databaseDir, log: silentLog })
    assert.equal(database.url, url)
    await page.getByText(/Node \d+ is minted/).waitFor()
    await page.context().close()
  })

  test('while the chain stops, the page sells nothing unchecked, and then resumes', async () => {
    const { page } = await open(8)
    await page.goto(`${service.url}/buy/basic`)
    await page.getByRole('button', { name: 'Connect a wallet' }).click()
    await page.getByRole('button', { name: WALLET_NAME }).click()
    await page.getByText('All checks pass').waitFor()
    const chain = Number(
      execFileSync('ps', ['--ppid', String(service.pid), '-o', 'pid=,comm='], { encoding: 'utf8' })
        .split('\n')
        .find((line) => line.includes('anvil'))
        ?.trim()
        .split(' ')[0],
    )
    assert.ok(chain > 0, 'the chain is a child of the service')
    process.kill(chain, 'SIGSTOP')
    try {
      // An unreadable fact is neither a yes nor a no.
      await page.getByText('We could not run every check').first().waitFor()
      await page.goto(service.url)
      await page.getByText('Not checked.').waitFor()
    } finally {
      process.kill(chain, 'SIGCONT')
    }
    await page.goto(`${service.url}/buy/basic`)
    await page.getByRole('button', { name: 'Pay 0.01 ETH' }).click()
    await page.getByText(/Node \d+ is yours/).waitFor()
    await until(
      'the cover',
      async () => (await service.get<{ isSolvent: boolean | null }>('/api/cover')).isSolvent === true,
      LONG_MS,
    )
    await page.context().close()
  })
})
