// What browser extensions and translators do to the pages, in real Chromium on the real chain: neither a broken wallet beside the buyer's own nor a
// translator that replaces every text costs a purchase.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { getAddress } from 'viem'
import { type BrowserWallet, installWallet, WALLET_NAME } from '../../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser } from '../../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../../support/service.ts'
import { HANGING_MS } from '../../support/until.ts'

const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 800 } }
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()

/** Runs in the page. Announces wallets that are malformed in every way, before and whenever a page asks. */
const BROKEN = `{
  const throwing = (...names) => Object.defineProperties({}, Object.fromEntries(names.map((name) =>
    [name, { enumerable: true, get() { throw new Error('a getter of an extension') } }])))
  const provider = () => ({ request: async () => { throw new Error('broken') }, on() {}, removeListener() {} })
  const info = (more) => ({ uuid: 'u' + Math.random(), name: 'Broken', icon: 'data:image/png,', rdns: 'r' + Math.random(), ...more })
  const details = [
    null, undefined, 7, 'text', [], {}, throwing('info', 'provider'),
    { provider: provider() }, { info: null, provider: provider() }, { info: 'x', provider: provider() },
    { info: info() }, { info: info(), provider: null }, { info: info(), provider: {} },
    { info: info(), provider: { request: 'no function' } }, { info: info(), provider: throwing('request') },
    { info: info(), provider: new Proxy({}, { get() { throw new Error('a proxy') } }) },
    { info: throwing('uuid', 'name', 'icon', 'rdns'), provider: provider() },
    { info: info({ name: 'x'.repeat(100000) }), provider: provider() },
    { info: info({ name: { no: 'text' } }), provider: provider() },
    { info: info({ name: 'Upside\\u202e\\n\\u0000 down' }), provider: provider() },
    { info: info({ icon: 'https://elsewhere.example/icon.png', name: 'Far icon' }), provider: provider() },
    { info: info({ icon: { no: 'text' }, name: 'No icon' }), provider: provider() },
    { info: info({ uuid: 5, rdns: null, name: 'No ids' }), provider: provider() },
    // The ids of the buyer's own wallet.
    { info: info({ uuid: '350670db-19fa-4704-a166-e52e178b59d2', rdns: 'example.test-wallet', name: 'Impostor' }), provider: provider() },
  ].map((detail) => new CustomEvent('eip6963:announceProvider', { detail }))
  details.push(new Event('eip6963:announceProvider'))
  const say = () => { for (const event of details) dispatchEvent(event) }
  addEventListener('eip6963:requestProvider', say)
  say()
}`

/** Forms of the page's `ethereum` that are no wallet. */
const NO_WALLETS = [
  'null',
  '7',
  'Object.freeze({})',
  '{ request: null, providers: null }',
  '{ providers: [null, undefined, 3, {}] }',
  'new Proxy({}, { get() { throw new Error("a proxy") } })',
]

/** Runs in the page. Puts every text into <font> elements, as translators do: the text itself, or a copy in its place. */
const translating = (isCopied: boolean) => `addEventListener('DOMContentLoaded', () => {
  const translate = (text) => {
    const { parentNode: parent } = text
    if (!parent || !text.data.trim() || parent.closest('font, script, style, textarea, [translate=no]')) return
    const [outer, inner] = [document.createElement('font'), document.createElement('font')]
    outer.append(inner)
    parent.replaceChild(outer, text)
    inner.append(${isCopied} ? document.createTextNode(text.data) : text)
  }
  const all = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const found = root.nodeType === 3 ? [root] : []
    while (texts.nextNode()) found.push(texts.currentNode)
    found.forEach(translate)
  }
  new MutationObserver((records) => {
    for (const { addedNodes, target, type } of records)
      type === 'characterData' ? translate(target) : addedNodes.forEach((node) => node.isConnected && all(node))
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
  all(document.body)
})`

describe('beside other extensions', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    ;[service, browser] = await Promise.all([startServiceHere(), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function open(
    account: number,
    script: string,
    viewport = SIZES.desktop,
  ): Promise<{ page: Page; own: BrowserWallet; complaints: string[] }> {
    const page = await (await browser.newContext({ viewport })).newPage()
    page.setDefaultTimeout(HANGING_MS)
    const complaints = complaintsOf(page)
    await page.addInitScript(script)
    const own = await installWallet(page, account, wellKnown.rpcUrl)
    return { page, own, complaints }
  }
  async function buy(page: Page): Promise<void> {
    await page.getByText('All checks pass').waitFor()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()
  }
  const faultsIn = (complaints: readonly string[]) =>
    complaints.filter((complaint) => !/responded with a status of (401|404|409)/.test(complaint))

  for (const [nth, [size, viewport]] of Object.entries(SIZES).entries())
    test(`no malformed announcement takes a wallet from the buyer, at the size of a ${size}`, async () => {
      const { page, own, complaints } = await open(5 + nth, BROKEN, viewport)
      await page.goto(`${service.url}/buy/basic`)
      await press(page, 'Connect a wallet')
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: WALLET_NAME }).waitFor()
      const names = await dialog.getByRole('listitem').allInnerTexts()
      assert.deepEqual(
        names.map((name) => name.trim()),
        [
          ...['Wallet of this browser', 'x'.repeat(40), 'Wallet of this browser', 'Upside down'],
          ...['Far icon', 'No icon', 'No ids', 'Impostor', WALLET_NAME],
        ],
      )
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      // A broken wallet says that it failed, and the next choice works.
      await dialog.getByRole('button', { name: 'Impostor' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByRole('button', { name: WALLET_NAME }).click()
      await buy(page)
      assert.deepEqual(own.asked, ['eth_sendTransaction'])
      await page.reload()
      await page.getByText(/Node \d+ is yours/).waitFor()
      await page.getByRole('link', { name: 'See the node' }).click()
      await press(page, 'Check on the chain yourself')
      await page.getByText(`${WALLET_NAME} agrees`).waitFor()
      assert.deepEqual(faultsIn(complaints), [])
      await page.context().close()
    })

  test('a malformed ethereum of the page is no wallet, and removes none', async () => {
    for (const [nth, ethereum] of [...NO_WALLETS, 'throws'].entries()) {
      const property = ethereum === 'throws' ? 'get() { throw new Error("a getter") }' : `value: ${ethereum}`
      const script = `Object.defineProperty(window, 'ethereum', { ${property} })`
      const bare = await browser.newPage()
      const complaints = complaintsOf(bare)
      await bare.addInitScript(script)
      await bare.goto(`${service.url}/buy/basic`)
      await press(bare, 'Connect a wallet')
      await bare.getByText('No wallet found in this browser').waitFor()
      assert.deepEqual(complaints, [], ethereum)
      await bare.close()
      if (nth % 3 !== 0) continue
      const { page } = await open(7, script)
      await page.goto(`${service.url}/buy/basic`)
      await press(page, 'Connect a wallet')
      await press(page, WALLET_NAME)
      await page.getByText('All checks pass').waitFor()
      await page.context().close()
    }
  })

  test('a wallet in a list of the page’s ethereum, among others that are none, pays', async () => {
    const { page, own } = await open(
      8,
      `addEventListener('eip6963:announceProvider', (event) => {
        event.stopImmediatePropagation()
        window.ethereum ??= { providers: [null, {}, event.detail.provider] }
      }, { capture: true })`,
    )
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Connect a wallet')
    await press(page, 'Wallet of this browser')
    await buy(page)
    assert.deepEqual(own.asked, ['eth_sendTransaction'])
    await page.context().close()
  })

  test('the page that owners save lists the good wallets beside any others', async () => {
    const { page, own, complaints } = await open(
      5,
      `Object.defineProperty(window, 'ethereum', { value: null });${BROKEN}`,
    )
    await page.goto(`${service.url}/withdraw.html`)
    const button = page.getByRole('button', { name: `Connect ${WALLET_NAME}` })
    await button.waitFor()
    await page.getByRole('button', { name: 'Connect No ids' }).waitFor()
    await button.click()
    await page.getByText(getAddress(own.address), { exact: true }).first().waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  for (const [nth, isCopied] of [false, true].entries())
    for (const [size, viewport] of Object.entries(SIZES)) {
      const how = isCopied ? 'replaced' : 'wrapped'
      test(`a purchase completes in a page whose texts a translator ${how}, at the size of a ${size}`, async () => {
        const { page, own, complaints } = await open(
          10 + 2 * nth + (size === 'phone' ? 1 : 0),
          translating(isCopied),
          viewport,
        )
        await page.goto(`${service.url}/buy`)
        await page.getByRole('link', { name: 'Buy Basic' }).click()
        await press(page, 'Connect a wallet')
        await press(page, WALLET_NAME)
        await page.getByText('All checks pass').click()
        // Texts beside others that change, come and go.
        await own.moveTo(1)
        await page.getByText('Your wallet is on chain 1;').waitFor()
        await own.moveTo(5)
        await page.getByText('Your wallet is on chain 5;').waitFor()
        assert.equal(await page.getByText('Your wallet is on chain 1;').count(), 0)
        own.refuseNext()
        await press(page, 'Switch the wallet')
        await page.getByText('The wallet declined.').waitFor()
        await press(page, 'Switch the wallet')
        await page.getByText('Your wallet is on chain').waitFor({ state: 'detached' })
        await press(page, 'One more')
        await page.getByRole('button', { name: 'Pay 2 × 0.01 ETH' }).waitFor()
        await press(page, 'One fewer')
        own.refuseNext()
        await press(page, 'Pay 0.01 ETH')
        await page.getByText('You declined in the wallet. Nothing was sent').waitFor()
        await press(page, 'Pay 0.01 ETH')
        await page.getByText(/Node \d+ is yours/).waitFor()
        assert.ok((await page.locator('font').count()) > 10)
        assert.equal(await page.getByText('Confirm in the wallet').count(), 0, 'no text stays behind')
        assert.equal(await page.getByText('This part could not be shown').count(), 0)
        await page.getByRole('link', { name: 'See the node' }).click()
        await page.getByRole('heading', { level: 1, name: /^Node/ }).waitFor()
        await page.getByRole('link', { name: 'My nodes' }).click()
        await press(page, 'Sign in')
        await page.getByText('Signed in as').waitFor()
        await page.goBack()
        await page.goBack()
        await page.getByText(/Node \d+ is yours/).waitFor()
        assert.deepEqual(faultsIn(complaints), [])
        await page.context().close()
      })
    }
})
