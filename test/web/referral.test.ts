// A referral code on the pages, in real Chromium on the real chain: it travels in the calldata of a wallet's transfer if that can do no harm, is shown
// before paying, and goes when the buyer removes it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { referralSuffix } from '../../client/src/viem/index.ts'
import { type BrowserWallet, installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown, wallet } from '../support/service.ts'
import { HANGING_MS, until } from '../support/until.ts'
import { installSafe, makeSafe } from './safe.ts'

const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
const SIZES = { phone: { width: 360, height: 800 }, desktop: { width: 1280, height: 900 } }
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()

describe('a referral code', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    ;[service, browser] = await Promise.all([startServiceHere({ ADMIN_KEY }), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
    await act('referrals', { code: 'friends', payee: `0x${'22'.repeat(20)}`, commissionBps: 500 })
    // It counts from the next block on.
    await wallet(19, wellKnown).pay(wallet(19, wellKnown).address, 1n)
    await until('the code counts', async () => (await service.get<{ open: boolean }>('/api/referrals/friends')).open)
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function act(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json', 'x-admin-key': ADMIN_KEY }
    const answer = await fetch(`${service.url}/api/admin/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200, await answer.text())
  }
  async function read<T>(method: string, params: unknown[]): Promise<T> {
    const answer = await fetch(wellKnown.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return ((await answer.json()) as { result: T }).result
  }
  /** Comes by a link with a code to the overview, goes on to the checkout, and connects. */
  async function come(
    account: number,
    { code = 'friends', viewport = SIZES.phone } = {},
  ): Promise<{ page: Page; own: BrowserWallet }> {
    const page = await (await browser.newContext({ viewport })).newPage()
    page.setDefaultTimeout(HANGING_MS)
    const own = await installWallet(page, account, wellKnown.rpcUrl)
    await page.goto(`${service.url}/?ref=${code}`)
    await page.goto(`${service.url}/buy/basic`)
    await page.getByText(`You came with the code ${code}.`).waitFor()
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.getByText('All checks pass').waitFor()
    return { page, own }
  }
  /** Pays, and reads the transfer's calldata from the chain. */
  async function paidWith(page: Page): Promise<string> {
    await press(page, 'Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()
    const [, txHash] = /\?tx=(0x[0-9a-f]{64})$/.exec(page.url()) ?? []
    return (await read<{ input: string }>('eth_getTransactionByHash', [txHash])).input
  }

  test('is kept from the link on, shown, and travels with a wallet’s transfer', async () => {
    const { page } = await come(5)
    await page.getByText('Referred by friends.').waitFor()
    assert.deepEqual(await violations(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    assert.equal(await paidWith(page), referralSuffix('friends'))
  })

  test('that the buyer removes, or that is not registered, does not travel', async () => {
    const { page } = await come(6)
    await press(page, 'Remove')
    await page.getByText('Referred by').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('All checks pass').waitFor()
    assert.equal(await paidWith(page), '0x')
    const other = await come(7, { code: 'strangers' })
    await other.page.getByText('The code strangers is not valid at the moment').waitFor()
    assert.equal(await paidWith(other.page), '0x')
  })

  test('is in no QR code and in no text that is copied by hand', async () => {
    const { page } = await come(8)
    await page.getByLabel('QR or by hand').check()
    const link = await page.getByRole('link', { name: 'Open in a wallet' }).getAttribute('href')
    assert.equal(link, `ethereum:${wellKnown.paymentAddress}@31337?value=10000000000000000`)
    await page.getByText('A payment by QR code or by hand cannot include the code friends.').waitFor()
    assert.equal(await page.getByText('Referred by').count(), 0)
    await page.getByLabel('Wallet', { exact: true }).check()
    await page.getByText('Referred by friends.').waitFor()
  })

  test('of the buyer’s own wallet is not sent, and the page shows that', async () => {
    await act('referrals', { code: 'mine', payee: wallet(13, wellKnown).address, commissionBps: 500 })
    await wallet(19, wellKnown).pay(wallet(19, wellKnown).address, 1n)
    await until('the code counts', async () => (await service.get<{ open: boolean }>('/api/referrals/mine')).open)
    const { page } = await come(13, { code: 'mine' })
    await page.getByText('The code mine pays this wallet itself').waitFor()
    assert.equal(await page.getByText('Referred by').count(), 0)
    assert.equal(await paidWith(page), '0x')
  })

  test('that a batch would leave out is not promised, and each single transfer includes it', async () => {
    const { page } = await come(14)
    // The ledger would buy several from one transaction of this wallet. The wallet sends one after the other.
    await page.route(/\/api\/can-buy\//, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), inner: true } })
    })
    await press(page, 'One more')
    await page.getByText('Referred by friends, unless your wallet sends all transfers together.').waitFor()
    await page.evaluate(`{
      const answer = window.walletAnswer
      window.walletAnswer = (asked) =>
        asked.method === 'wallet_sendCalls' ? Promise.resolve({ error: { code: 4200, message: 'no' } }) : answer(asked)
    }`)
    await press(page, 'Pay 0.02 ETH')
    await page.locator('.success').nth(1).waitFor()
    for (const [, txHash] of page.url().matchAll(/tx=(0x[0-9a-f]{64})/g))
      assert.equal(
        (await read<{ input: string }>('eth_getTransactionByHash', [txHash])).input,
        referralSuffix('friends'),
      )
  })

  test('does not travel from a contract wallet, and the page shows that', async () => {
    const safe = await makeSafe(wellKnown.rpcUrl, 15)
    const page = await (await browser.newContext({ viewport: SIZES.phone })).newPage()
    page.setDefaultTimeout(HANGING_MS)
    await installSafe(page, safe, 'calls')
    await page.goto(`${service.url}/buy/basic?ref=friends`)
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.getByText('A payment from this wallet cannot include the code friends now.').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
    assert.deepEqual(await violations(page), [])
  })

  test('that a wallet refuses in the calldata is left out, and the transfer is made once', async () => {
    const { page, own } = await come(9)
    await page.evaluate(`{
      const answer = window.walletAnswer
      window.walletAnswer = (asked) =>
        asked.method === 'eth_sendTransaction' && asked.params[0].data
          ? Promise.resolve({ error: { code: -32602, message: 'transfers to accounts cannot include data' } })
          : answer(asked)
    }`)
    assert.equal(await paidWith(page), '0x')
    assert.equal(own.asked.length, 1)
    assert.equal((await wallet(9, wellKnown).nodesOf()).length, 1)
  })

  test('does not travel to a Safe as payments wallet, which takes no ether with calldata', async () => {
    const safe = await makeSafe(wellKnown.rpcUrl, 12)
    // At once, because no old wallet has to be waited for.
    await act('payment-wallets', { address: safe.address, stolen: true, reason: 'a test' })
    await wallet(19, wellKnown).pay(wallet(19, wellKnown).address, 1n)
    await until('the quote names it', async () => {
      const quote = await service.get<{ paymentAddress: string }>('/api/deploy-quote?tier=basic')
      return quote.paymentAddress === safe.address.toLowerCase()
    })
    for (const [nth, viewport] of Object.values(SIZES).entries()) {
      const { page } = await come(10 + nth, { viewport })
      await page.getByText('A payment from this wallet cannot include the code friends now.').waitFor()
      assert.deepEqual(await violations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.equal(await paidWith(page), '0x')
      const [node] = await wallet(10 + nth, wellKnown).nodesOf()
      assert.ok(node, 'it is a sale all the same')
    }
  })
})
