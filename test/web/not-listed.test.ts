// A tier that is sold to a list, in real Chromium with a wallet that signs: who is not on the list cannot pay and reads why, who is on it buys, and a
// payment by hand says the same afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BrowserWallet, installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser } from '../support/chromium.ts'
import { startServiceHere, type WellKnown, wallet } from '../support/service.ts'
import { HANGING_MS, until } from '../support/until.ts'

const PRICE_WEI = 10n ** 16n
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
const LISTED = 5
const UNLISTED = 6
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }

test('Pay is for wallets on the list, at both sizes; the others read why, before and after', {
  skip: noBrowser,
}, async () => {
  const [service, browser] = await Promise.all([startServiceHere({ ADMIN_KEY }), startBrowser()])
  try {
    const wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'x-admin-key': ADMIN_KEY }
      const answer = await fetch(`${service.url}/api/admin/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      assert.equal(answer.status, 200, await answer.clone().text())
      return (await answer.json()) as { root: string }
    }
    const buyer = wallet(LISTED, wellKnown)
    const stranger = wallet(UNLISTED, wellKnown)
    const { root } = await post('allowlists', { label: 'first phase', rows: `${buyer.address},1` })
    await post('tiers/basic', { allowlist: root, immediately: true })
    const open = async (account: number, viewport: { width: number; height: number }) => {
      const page = await (await browser.newContext({ viewport })).newPage()
      page.setDefaultTimeout(HANGING_MS)
      const own: BrowserWallet = await installWallet(page, account, wellKnown.rpcUrl)
      await page.goto(`${service.url}/buy/basic`)
      await page.getByRole('button', { name: 'Connect a wallet' }).click()
      await page.getByRole('button', { name: WALLET_NAME }).click()
      await page.getByText('Disconnect').waitFor()
      return { page, own }
    }
    const cards = await (await browser.newContext({ viewport: SIZES.desktop })).newPage()
    await cards.goto(`${service.url}/buy`)
    const terms = await cards.getByRole('listitem').filter({ hasText: 'only wallets on a list' }).first().innerText()
    assert.doesNotMatch(terms, /anyone/)
    for (const viewport of Object.values(SIZES)) {
      const { page } = await open(UNLISTED, viewport)
      await page.getByText('This wallet is not on the list of those who may buy.').first().waitFor()
      const pay = page.getByRole('button', { name: 'Pay 0.01 ETH' })
      assert.equal(await pay.isDisabled(), true)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    }
    const { page } = await open(LISTED, SIZES.desktop)
    await page.getByText('All checks pass').click()
    await page.getByText('The list allows this wallet 1 node of this tier; 0 already taken.').waitFor()
    await page.getByRole('button', { name: 'Pay 0.01 ETH' }).click()
    await page.getByText(/Node \d+ is yours/).waitFor()
    const txHash = await stranger.pay(wellKnown.paymentAddress, PRICE_WEI)
    await until('the payment is held', async () => {
      const payment = await service.get<{ reason?: string }>(`/api/payment/${txHash}`).catch(() => null)
      return payment?.reason === 'notListed'
    })
    await page.goto(`${service.url}/payment/${txHash}`)
    await page.getByText('The wallet is not on the list of those who may buy this tier').waitFor()
    await page.getByText('The operator decides whether you get a node or your ETH back.').waitFor()
  } finally {
    await browser.close()
    await service.stop()
  }
})
