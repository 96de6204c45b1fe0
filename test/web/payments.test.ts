// Payments whose page was closed, reloaded or left: found again without a hash, followed through what the operator does, and not paid twice. And
// other pages, which sell by the buy button or the client's hooks, by the same rules.
// Real Chromium, the real service and chain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type BrowserWallet, installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown, wallet } from '../support/service.ts'
import { startShop, testBuyButton } from './shop/buy-button.ts'
import { testReact } from './shop/react.ts'

const LONG_MS = 60_000
const BASIC_WEI = 10n ** 16n
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
const NEVER_SENT = `0x${'5'.repeat(64)}`

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
  async function open(account: number): Promise<{ page: Page; own: BrowserWallet }> {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(LONG_MS)
    const own = await installWallet(page, account, wellKnown.rpcUrl)
    return { page, own }
  }
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()
  const pay = (account: number, valueWei: bigint) => wallet(account, wellKnown).pay(wellKnown.paymentAddress, valueWei)
  const decide = async (txHash: string, act: string, body: object) => {
    const answer = await fetch(`${service.url}/api/admin/payments/${txHash}/${act}`, {
      method: 'POST',
      headers: { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json', 'idempotency-key': txHash },
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200, await answer.text())
  }

  test('while the wallet still asked is found by its payer, and not offered again before', async () => {
    const { page } = await open(5)
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    // A wallet that does not answer: the buyer looks at it, and the page is gone meanwhile.
    await page.evaluate(`{
      const answer = window.walletAnswer
      window.walletAnswer = (asked) => (asked.method === 'eth_sendTransaction' ? new Promise(() => {}) : answer(asked))
    }`)
    await press(page, 'Pay 0.01 ETH')
    await page.getByText('Confirm in the wallet…').waitFor()
    await page.reload()
    await page.getByText('Do not pay again before you have looked into the wallet.').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Pay / }).count(), 0)
    assert.deepEqual(await violations(page), [])
    await pay(5, BASIC_WEI)
    await page.getByRole('link', { name: 'See this payment' }).click()
    await page.getByText(/Node \d+ is yours/).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  test('of a wrong amount shows by how much, waits for the operator, and goes on to its node by itself', async () => {
    const { page, own } = await open(6)
    const txHash = await pay(6, BASIC_WEI + 7n)
    await page.goto(`${service.url}/payment/${txHash}`)
    await page.getByText('It is 0.000000000000000007 ETH more than Basic costs.').waitFor()
    await decide(txHash, 'release', { tierId: 'basic', reason: 'a few wei' })
    await page.getByText(/Node \d+ is yours/).waitFor()
    await page.goto(`${service.url}/address/${own.address}`)
    await page.getByRole('table', { name: 'Payments' }).getByText('minted').waitFor()
  })

  test('that is closed says so', async () => {
    const { page } = await open(7)
    const txHash = await pay(7, BASIC_WEI - 1n)
    await page.goto(`${service.url}/payment/${txHash}`)
    await page.getByText('less than Basic costs.').waitFor()
    await decide(txHash, 'dismiss', { reason: 'as agreed' })
    await page.getByText('closed this payment without a node').waitFor()
  })

  test('and replaced in the wallet leads to the transaction that came in its place', async () => {
    const { page, own } = await open(8)
    await page.goto(`${service.url}/`)
    const intent = {
      payer: own.address,
      tierId: 'basic',
      priceWei: BASIC_WEI.toString(),
      at: Date.now(),
      txHash: NEVER_SENT,
    }
    await page.evaluate(`localStorage.setItem('node-ledger.intent', ${JSON.stringify(JSON.stringify(intent))})`)
    await page.goto(`${service.url}/payment/${NEVER_SENT}`)
    await page.getByText('waiting for the next block').waitFor()
    await pay(8, BASIC_WEI)
    await page.getByRole('link', { name: 'look at it' }).click()
    await page.getByText(/Node \d+ is yours/).waitFor()
  })

  test('for a tier that was taken off sale while the page was open is not sent', async () => {
    const { page, own } = await open(11)
    const sale = async (onSale: boolean) => {
      const answer = await fetch(`${service.url}/api/admin/tiers/plus/sale`, {
        method: 'POST',
        headers: { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ onSale, reason: 'a test' }),
      })
      assert.equal(answer.status, 200, await answer.text())
    }
    // The page hears nothing of it before the buyer pays: its checks stand still.
    let checks = 0
    const held = Promise.withResolvers<void>()
    await page.route(/\/api\/can-buy\//, async (route) => {
      if (++checks === 2) await held.promise
      await route.continue()
    })
    await page.goto(`${service.url}/buy/plus`)
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.locator('.ticks .passes', { hasText: 'Plus is on sale.' }).waitFor()
    await sale(false)
    await press(page, 'Pay 0.025 ETH')
    held.resolve()
    await page.locator('.notice', { hasText: 'Plus is not on sale at present.' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Pay 0.025 ETH' }).isDisabled(), true)
    assert.deepEqual(own.asked, [])
    await sale(true)
  })

  test('at a price that changed while the page was open is not sent, and the new price is shown', async () => {
    const { page } = await open(9)
    const stale = /\/api\/deploy-quote/
    await page.route(stale, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: (await answer.text()).replace(`${BASIC_WEI}`, '9000000000000000') })
    })
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.getByRole('button', { name: 'Pay 0.009 ETH' }).waitFor()
    await page.unroute(stale)
    await press(page, 'Pay 0.009 ETH')
    await page.getByText('The price is 0.01 ETH now. Nothing was sent.').waitFor()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()
  })

  const serve = (path: string, html: string) => void shop.pages.set(path, html)
  const elsewhere = { url: () => shop.url, serve, service: () => service, wellKnown: () => wellKnown, open }
  testBuyButton(elsewhere)
  testReact(elsewhere)
})
