// Several nodes at once, as people buy them: real Chromium, the real service and its chain. What was refused midway is told by number, a reload finds
// what was sent, and no transfer is made twice.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type BrowserWallet, installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown, wallet } from '../support/service.ts'
import { HANGING_MS, until } from '../support/until.ts'
import { installSafe, makeSafe, type Offers } from './safe.ts'

const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 800 } }
const SETTINGS = {
  CONTRACT_WALLETS: 'proven',
  EXPLORER_URL: 'https://explorer.example',
  BRAND_CONTACT: 'help@sale.example',
}
const REFUSED = "{ error: { code: 4001, message: 'User rejected the request.' } }"
const NEVER = 'new Promise(() => {})'

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()

describe('several nodes in one purchase', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    ;[service, browser] = await Promise.all([startServiceHere(SETTINGS), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  // Pages that stay open go on asking, and all of them share one address and its limits.
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function newPage(viewport = SIZES.desktop): Promise<Page> {
    const page = await (await browser.newContext({ viewport })).newPage()
    page.setDefaultTimeout(HANGING_MS)
    return page
  }
  /** Opens the checkout with a wallet, and chooses a number. */
  async function choose(page: Page, quantity: number): Promise<void> {
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.getByText('All checks pass').waitFor()
    for (let n = 1; n < quantity; n++) await press(page, 'One more')
    await page.getByText(`${quantity} prices and gas need`).waitFor({ state: 'attached' })
  }
  async function openWallet(account: number, quantity: number, viewport = SIZES.desktop) {
    const page = await newPage(viewport)
    const own: BrowserWallet = await installWallet(page, account, wellKnown.rpcUrl)
    await choose(page, quantity)
    return { page, own, nodes: () => wallet(account, wellKnown).nodesOf() }
  }
  /** Makes the wallet answer its n-th request to send, from 1, by an expression in which `sent()` sends first. */
  const answerNth = (page: Page, nth: number, expression: string) =>
    page.evaluate(`{
      const answer = window.walletAnswer
      let asked = 0
      window.walletAnswer = (request) => {
        const sent = () => answer(request)
        if (request.method !== 'eth_sendTransaction' || ++asked !== ${nth}) return sent()
        return ${expression}
      }
    }`)
  async function allMinted(page: Page, count: number): Promise<void> {
    await page
      .locator('.success')
      .nth(count - 1)
      .waitFor()
    assert.equal(await page.locator('.success').count(), count)
  }

  for (const [account, [size, viewport]] of Object.entries(SIZES).entries())
    test(`a rejected one of several is reported by number, survives a reload, and is bought later (${size})`, async () => {
      const { page, own, nodes } = await openWallet(5 + account, 3, viewport)
      assert.deepEqual(await violations(page), [])
      await answerNth(page, 3, `Promise.resolve(${REFUSED})`)
      await press(page, 'Pay 3 × 0.01 ETH')
      const told = page.getByText('2 of 3 sent. The third was rejected: you declined it in the wallet.')
      await told.waitFor()
      assert.equal(await page.getByRole('button', { name: /^Pay / }).count(), 0)
      assert.deepEqual(await violations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.notEqual(await page.evaluate('document.activeElement.tagName'), 'BODY')
      await page.reload()
      await told.waitFor()
      await page.getByRole('listitem').filter({ hasText: 'minted' }).nth(1).waitFor()
      await press(page, 'Buy the other node')
      await press(page, 'Pay 0.01 ETH')
      await allMinted(page, 3)
      await page.getByRole('heading', { level: 1, name: '3 nodes are yours' }).waitFor()
      assert.deepEqual(await violations(page), [])
      // The button comes after the nodes, of which each has its check mark.
      assert.deepEqual(await page.locator('.several > *:last-child').allTextContents(), ['See my nodes'])
      assert.deepEqual(await page.locator('.button.main').allTextContents(), ['See my nodes'])
      assert.equal(await page.locator('.check').locator('visible=true').count(), 3)
      assert.deepEqual([own.asked.length, (await nodes()).length], [3, 3])
    })

  test('a reload while the wallet shows the second sells nothing more before the buyer has looked', async () => {
    const { page, own, nodes } = await openWallet(7, 3)
    await answerNth(page, 2, NEVER)
    await press(page, 'Pay 3 × 0.01 ETH')
    await page.getByRole('button', { name: 'Confirm 2 of 3 in the wallet…' }).waitFor()
    await page.getByText('1 of 3 sent.').waitFor()
    // Nothing that would end the purchase can be pressed while the wallet prompts.
    assert.equal(await page.locator('.connected[inert]').count(), 1)
    assert.deepEqual(await violations(page), [])
    await page.reload()
    await page.getByText('this browser asked a wallet for transfer 2 of 3: 0.01 ETH').waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Pay|Buy) / }).count(), 0)
    await press(page, 'My wallet shows nothing sent')
    await press(page, 'Nothing was sent. Buy now')
    await page.getByText('1 of 3 sent.').waitFor()
    await press(page, 'Buy the other 2 nodes')
    await press(page, 'Pay 2 × 0.01 ETH')
    await allMinted(page, 3)
    assert.deepEqual([own.asked.length, (await nodes()).length], [3, 3])
  })

  for (const [nth, [size, viewport]] of Object.entries(SIZES).entries())
    test(`a transfer whose answer a reload lost is found, and only the others are offered (${size})`, async () => {
      const { page, own, nodes } = await openWallet(14 + nth, 3, viewport)
      await answerNth(page, 2, `sent().then(() => ${NEVER})`)
      await press(page, 'Pay 3 × 0.01 ETH')
      // The page finds it without the wallet, too.
      await page.getByText('2 of 3 sent.').waitFor()
      await page.reload()
      await page.getByText('2 of 3 sent.').waitFor()
      await page.getByRole('button', { name: 'Buy the other node' }).waitFor()
      assert.deepEqual(await violations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      await press(page, 'Stop at 2')
      await allMinted(page, 2)
      await page.getByRole('heading', { level: 1, name: '2 nodes are yours' }).waitFor()
      assert.deepEqual([own.asked.length, (await nodes()).length], [2, 2])
      await page.goto(`${service.url}/buy/basic`)
      await page.getByRole('button', { name: 'Pay 0.01 ETH' }).waitFor()
    })

  test('an unclear answer midway stops the purchase', async () => {
    const { page, own, nodes } = await openWallet(9, 2)
    await answerNth(page, 2, "Promise.resolve({ error: { code: -32603, message: 'the wallet has lost it' } })")
    await press(page, 'Pay 2 × 0.01 ETH')
    await page.getByText('The wallet said: the wallet has lost it').waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Pay|Buy) / }).count(), 0)
    await until('the first to be minted', async () => (await nodes()).length === 1)
    assert.equal(own.asked.length, 1)
  })

  async function openSafe(owner: number, offers: Offers, viewport: (typeof SIZES)['phone']) {
    const safe = await makeSafe(wellKnown.rpcUrl, owner)
    const page = await newPage(viewport)
    const asked = await installSafe(page, safe, offers)
    await choose(page, 3)
    return { page, safe, asked }
  }

  for (const [nth, [size, viewport]] of Object.entries(SIZES).entries()) {
    test(`a contract wallet confirms once, and the payment’s page shows all (${size})`, async () => {
      const { page, safe, asked } = await openSafe(10 + nth, 'calls', viewport)
      await page.getByText('One confirmation for all 3').waitFor()
      await press(page, 'Pay 0.03 ETH')
      await allMinted(page, 3)
      const [, txHash] = /\?tx=(0x[0-9a-f]{64})$/.exec(page.url()) ?? []
      await page.goto(`${service.url}/payment/${txHash}`)
      await allMinted(page, 3)
      await page.getByText('Payment 3 of 3').waitFor()
      await page.locator(`a[href="https://explorer.example/tx/${txHash}"]`).first().waitFor({ state: 'attached' })
      assert.equal(await page.getByRole('link', { name: 'Ask the operator' }).count(), 0)
      assert.deepEqual(await violations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.deepEqual(asked, ['wallet_sendCalls'])
      const nodes = await service.get<unknown[]>(`/api/nodes/${safe.address}`)
      assert.equal(nodes.length, 3)
    })

    test(`a contract wallet without batches gets each payment alone (${size})`, async () => {
      const { page, safe, asked } = await openSafe(12 + nth, 'transactions', viewport)
      await press(page, 'Pay 0.03 ETH')
      await allMinted(page, 3)
      assert.deepEqual(await violations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.equal(asked.filter((method) => method === 'eth_sendTransaction').length, 3)
      const nodes = await service.get<unknown[]>(`/api/nodes/${safe.address}`)
      assert.equal(nodes.length, 3)
    })
  }
})
