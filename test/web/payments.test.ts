// Payments whose page was closed, reloaded or left: the browser finds them again without a hash, follows the operator's
// acts, and does not pay twice. Also other sites, which sell through a frame or the client, by the same rules. Real
// Chromium, the real service and chain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type BrowserWallet, installWallet } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { HANGING_MS } from '../support/until.ts'
import { ENDS } from './shop/ends.ts'
import { startShop, testFrame } from './shop/frame.ts'
import { testReact } from './shop/react.ts'

const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'

const noViolations = async (page: Page) => assert.deepEqual(await violations(page), [])

describe('a payment that was left alone', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  let shop: Awaited<ReturnType<typeof startShop>>
  before(async () => {
    shop = await startShop()
    const settings = { ADMIN_KEY, FRAME_ANCESTORS: shop.url }
    ;[service, browser] = await Promise.all([startServiceHere(settings), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
    shop.close()
  })
  async function openBare(): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(HANGING_MS)
    return page
  }
  async function open(account: number): Promise<{ page: Page; own: BrowserWallet }> {
    const page = await openBare()
    const own = await installWallet(page, account, wellKnown.rpcUrl)
    return { page, own }
  }

  for (const [title, account, play] of ENDS)
    test(title, async () => {
      const { page, own } = await open(account)
      await play({ page, own, account, service, wellKnown, adminKey: ADMIN_KEY, look: () => noViolations(page) })
      // A page that is left open goes on asking, against the same limits.
      await page.context().close()
    })

  const serve = (path: string, html: string) => void shop.pages.set(path, html)
  const elsewhere = { url: () => shop.url, serve, service: () => service, wellKnown: () => wellKnown, open, openBare }
  testFrame(elsewhere)
  testReact(elsewhere)
})
