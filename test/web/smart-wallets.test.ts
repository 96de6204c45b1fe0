// Contract wallets on the pages, as people use them: real Chromium, the real service and its chain, real Safes. Wallets
// offer pages different things: calls by EIP-5792, plain transactions, or neither.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { getAddress } from 'viem'
import type { Address } from '../../src/domain/units.ts'
import { WALLET_NAME } from '../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { SPLIT, splitTo } from '../support/forwarder.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { HANGING_MS, until } from '../support/until.ts'
import { installSafe, makeSafe, type Offers, type TestSafe } from './safe.ts'

const BASIC_WEI = 10n ** 16n
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'

describe('with a contract wallet', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    const sale = { CONTRACT_WALLETS: 'proven', SMART_WALLET_LOGIN: 'true' }
    const settings = { ADMIN_KEY, ...sale, CREDIT_INTERVAL_SEC: '10', CREDIT_SLOT_SEC: '5' }
    ;[service, browser] = await Promise.all([startServiceHere(settings), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function open(safe: TestSafe, offers: Offers) {
    const page = await (await browser.newContext({ permissions: ['clipboard-write', 'clipboard-read'] })).newPage()
    page.setDefaultTimeout(HANGING_MS)
    return { page, complaints: complaintsOf(page), asked: await installSafe(page, safe, offers) }
  }
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()
  async function checkout(page: Page): Promise<void> {
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.getByText('This wallet is a contract.').waitFor()
  }
  /** The copied text of a row of a call to make by hand. */
  async function copied(page: Page, what: string): Promise<string> {
    await press(page, `Copy ${what}`)
    return page.evaluate('navigator.clipboard.readText()')
  }

  test('a Safe buys by EIP-5792, signs in, is credited and withdraws', async () => {
    const safe = await makeSafe(wellKnown.rpcUrl, 5)
    const { page, complaints, asked } = await open(safe, 'calls')
    await checkout(page)
    await page.getByText('we know a Safe and other common wallets').waitFor()
    assert.deepEqual(await violations(page), [])
    await press(page, 'Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()
    await page.getByRole('link', { name: 'My nodes' }).click()
    await press(page, 'Sign in')
    await page.getByText('Signed in as').waitFor()
    await page.getByText('There is nothing to withdraw now.').waitFor({ state: 'detached' })
    await press(page, 'Withdraw')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Make the call by hand').click()
    await dialog.getByText(/^0x[0-9a-f]{200}/).waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await dialog.getByText(/^Paid out in block/).waitFor()
    assert.deepEqual(asked, ['wallet_sendCalls', 'personal_sign', 'wallet_sendCalls'])
    assert.deepEqual(
      // A busy service answers 503, and the page asks again.
      complaints.filter((complaint) => !/status of (401|404|409|503)/.test(complaint)),
      [],
    )
  })

  test('a wallet that reports success without receipts has paid: the page finds the payment', async () => {
    const safe = await makeSafe(wellKnown.rpcUrl, 10)
    const { page, asked } = await open(safe, 'calls without receipts')
    await checkout(page)
    await press(page, 'Pay 0.01 ETH')
    await page.getByRole('link', { name: 'See this payment' }).click()
    await page.getByText(/Node \d+ is yours/).waitFor()
    assert.deepEqual(asked, ['wallet_sendCalls'])
  })

  test('a wallet of an unknown kind is warned before, held after, and bought once it signs in', async () => {
    const safe = await makeSafe(wellKnown.rpcUrl, 6, false)
    const { page } = await open(safe, 'transactions')
    await checkout(page)
    // A hold is no surprise: the buyer must confirm to pay all the same.
    await page.getByLabel('Pay anyway.').check()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText('A contract sent the ETH').waitFor()
    assert.deepEqual(await violations(page), [])
    const steps = page.url()
    await page.locator('.held').getByRole('link', { name: 'Sign in' }).click()
    await press(page, 'Sign in')
    await page.getByText('Signed in as').waitFor()
    await page.goto(steps)
    await page.getByText(/Node \d+ is yours/).waitFor()
  })

  test('if the wallet sends nothing, the page gives the call to make, and follows it by its hash', async () => {
    const safe = await makeSafe(wellKnown.rpcUrl, 7)
    const { page } = await open(safe, 'nothing')
    await checkout(page)
    await press(page, 'Pay 0.01 ETH')
    await page.getByText('Make the call in the wallet itself.').waitFor()
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(
      [await copied(page, 'to'), await copied(page, 'value'), await copied(page, 'data')],
      [getAddress(wellKnown.paymentAddress), '0.01', '0x'],
    )
    const txHash = await safe.execute({ to: wellKnown.paymentAddress, value: `${BASIC_WEI}` })
    await page.getByText('Already paid?').click()
    await page.getByLabel('Hash of the transfer').fill(txHash)
    await press(page, 'Find it')
    await page.getByText(/Node \d+ is minted/).waitFor()
  })

  test('each payment of a transaction that makes several is shown', async () => {
    const splitter = '0x00000000000000000000000000000000000005a1' as Address
    const safe = await makeSafe(wellKnown.rpcUrl, 8)
    await safe.read('anvil_setCode', [splitter, SPLIT])
    await safe.read('anvil_setBalance', [splitter, '0xde0b6b3a7640000'])
    await safe.read('anvil_mine', ['0x1'])
    const to = wellKnown.paymentAddress as Address
    const data = splitTo([to, BASIC_WEI], [to, 3n * BASIC_WEI])
    const txHash = await safe.execute({ to: splitter, data })
    const page = await browser.newPage()
    await page.goto(`${service.url}/buy`)
    await page.getByText('Already paid?').click()
    await page.getByLabel('Hash of the transfer').fill(txHash)
    await press(page, 'Find it')
    await page.getByText('Payment 1 of 2').waitFor()
    await page.getByText('Payment 2 of 2').waitFor()
    await page.getByText('A contract sent the ETH').waitFor()
    await page.getByText('does not match any price').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  test('if contracts are held, the checkout shows that before it pays, and then who decides', async () => {
    const mode = await fetch(`${service.url}/api/admin/contract-wallets`, {
      method: 'POST',
      headers: { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ mode: 'hold' }),
    })
    assert.equal(mode.status, 200)
    await until('the quote says so', async () => {
      const quote = await service.get<{ contractWallets: string }>('/api/deploy-quote?tier=basic')
      return quote.contractWallets === 'hold'
    })
    const { page } = await open(await makeSafe(wellKnown.rpcUrl, 9), 'calls')
    await checkout(page)
    await page.getByText('We hold its payment until').waitFor()
    await page.getByLabel('Pay anyway.').check()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText('The operator checks that somebody can use').waitFor()
  })
})
