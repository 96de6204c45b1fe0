// The buy button on a page of another origin, with a content policy of its own: the tests of it, for a file that has a service and a browser.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import type { BrowserWallet } from '../../support/browser-wallet.ts'
import { complaintsOf, violations } from '../../support/chromium.ts'
import { type Service, type WellKnown, wallet } from '../../support/service.ts'

const BYTES_MAX = 30_000
const BASIC_WEI = 10n ** 16n

/** A shop's page, as client/README.md has it. It lets the service's script in, and requests to the service. */
const SHOP = (service: string) => `<!doctype html>
<html lang="en"><head><title>A shop</title>
<meta http-equiv="content-security-policy" content="default-src 'none'; script-src ${service}; connect-src ${service}; frame-src ${service}; img-src data:; style-src 'nonce-shop'">
<script type="module" src="${service}/buy-button.js"></script>
<style nonce="shop">node-ledger-buy { --node-ledger-radius: 3px } node-ledger-buy::part(button) { letter-spacing: 2px }</style>
</head><body><main><h1>A shop</h1><node-ledger-buy tier="basic"></node-ledger-buy></main></body></html>`

/** Pages of another site, by their paths: the service is at 127.0.0.1. What is put in is served from then on. */
export async function startShop(): Promise<{ url: string; pages: Map<string, string>; close: () => void }> {
  const pages = new Map<string, string>()
  const server: Server = createServer((request, answer) =>
    answer.setHeader('content-type', 'text/html').end(pages.get(request.url ?? '')),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    pages,
    close: () => server.close(),
  }
}

export interface Shop {
  url(): string
  /** Puts a page there. */
  serve(path: string, page: string): void
  service(): Service
  wellKnown(): WellKnown
  open(account: number): Promise<{ page: Page; own: BrowserWallet }>
}

/** Looks for an uncaught fault; a refused transfer and what the ledger has not seen yet are answers like others. */
const faults = (complaints: readonly string[]) =>
  complaints.filter((complaint) => !/responded with a status of (401|404|409)/.test(complaint))

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()

export function testBuyButton(shop: Shop): void {
  testSale(shop)
  testUnhappyEnds(shop)
  testHeld(shop)
}

function testSale({ url, serve, service, wellKnown, open }: Shop): void {
  test('the buy button sells on a page of another origin, with a wallet that was on another chain', async () => {
    const { page, own } = await open(10)
    const complaints = complaintsOf(page)
    serve('/', SHOP(service().url))
    const script = page.waitForResponse('**/buy-button.js')
    await page.goto(url())
    const text = await (await script).body()
    assert.ok(text.length < BYTES_MAX, `${text.length} bytes, ${gzipSync(text).length} with gzip`)
    assert.doesNotMatch(text.toString(), /secp256k1|keccak/)
    const button = page.getByRole('button', { name: 'Buy Basic for 0.01 ETH' })
    await button.waitFor()
    const look = await page.evaluate(
      "(({ borderRadius, letterSpacing }) => [borderRadius, letterSpacing].join())(getComputedStyle(document.querySelector('node-ledger-buy').shadowRoot.querySelector('button')))",
    )
    assert.equal(look, '3px,2px')
    assert.deepEqual(await violations(page), [])

    own.refuseNext()
    await button.click()
    await page.getByText('You refused in the wallet. Nothing was sent.').waitFor()
    assert.equal(await page.evaluate('localStorage.length'), 0)
    await own.moveTo(5)
    await page.evaluate(
      "globalThis.told = []; addEventListener('node-ledger-sent', e => told.push(e.detail.txHash)); addEventListener('node-ledger-done', e => told.push(e.detail.node.nodeId))",
    )
    await button.click()
    await page.getByText('Your node is minted.').waitFor()
    const [node] = await wallet(10, wellKnown()).nodesOf()
    assert.deepEqual(own.asked, ['eth_sendTransaction', 'wallet_switchEthereumChain', 'eth_sendTransaction'])
    const link = page.getByRole('link', { name: `Node #${node}` })
    assert.equal(await link.getAttribute('href'), `${service().url}/node/${node}`)
    const told = (await page.evaluate('told')) as string[]
    assert.match(told[0] ?? '', /^0x/)
    assert.equal(told[1], String(node))
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(faults(complaints), [])
  })
}

function testUnhappyEnds({ url, wellKnown, open }: Shop): void {
  test('the buy button shows a price that changed, and sends nothing at it; a purchase that was begun is not offered twice', async () => {
    const { page, own } = await open(11)
    const stale = /\/api\/deploy-quote/
    await page.route(stale, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: (await answer.text()).replace(`${BASIC_WEI}`, '9000000000000000') })
    })
    await page.goto(url())
    await page.getByRole('button', { name: 'Buy Basic for 0.009 ETH' }).waitFor()
    await page.unroute(stale)
    await press(page, 'Buy Basic for 0.009 ETH')
    await page.getByText('The price is 0.01 ETH now. Nothing was sent.').waitFor()
    assert.deepEqual(own.asked, [])

    // A wallet that does not answer, and a page that is gone meanwhile.
    await page.evaluate(`{
      const answer = window.walletAnswer
      window.walletAnswer = (asked) => (asked.method === 'eth_sendTransaction' ? new Promise(() => {}) : answer(asked))
    }`)
    await press(page, 'Buy Basic for 0.01 ETH')
    await page.getByText('Confirm 0.01 ETH in the wallet…').waitFor()
    await page.reload()
    await page.getByText('Do not pay again before you have looked into the wallet.').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Buy Basic/ }).count(), 0)
    await wallet(11, wellKnown()).pay(wellKnown().paymentAddress, BASIC_WEI)
    await page.getByText('Your node is minted.').waitFor()
    await press(page, 'Buy another')
    await page.getByRole('button', { name: 'Buy Basic for 0.01 ETH' }).waitFor()
  })
}

function testHeld({ url, serve, service, open }: Shop): void {
  test('the buy button offers nothing that would be held, unless the buyer agrees to a look at it; framed, it is the checkout', async () => {
    const { page, own } = await open(12)
    const checks = /\/api\/can-buy\//
    const answerWith = (failing: string) =>
      page.route(checks, async (route) => {
        const answer = await route.fetch()
        const body = (await answer.json()) as { checks: { check: string; passes: boolean | null }[] }
        for (const check of body.checks) if (check.check === failing) check.passes = false
        await route.fulfill({ response: answer, json: body })
      })
    await answerWith('allowance')
    await page.goto(url())
    await press(page, 'Buy Basic for 0.01 ETH')
    await page.getByText('You have 0 of the 10 nodes of this tier that a wallet may have.').waitFor()
    await page.unroute(checks)
    await answerWith('review')
    await press(page, 'Check again')
    const pay = page.getByRole('button', { name: 'Pay 0.01 ETH' })
    await pay.waitFor()
    assert.equal(await pay.isDisabled(), true)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(own.asked, [])
    await page.getByRole('checkbox', { name: /^The operator would look/ }).check()
    await pay.click()
    await page.getByText('Your node is minted.').waitFor()
    assert.deepEqual(own.asked, ['eth_sendTransaction'])

    // A browser without a wallet is handed over to the service's own checkout.
    const bare = await page.context().browser()?.newPage()
    assert.ok(bare)
    await bare.goto(url())
    await press(bare, 'Buy Basic for 0.01 ETH')
    await bare.getByText('No wallet was found in this browser.').waitFor()
    const [checkout] = await Promise.all([
      bare.waitForEvent('popup'),
      bare.getByRole('link', { name: 'Pay from a phone or by hand' }).click(),
    ])
    await checkout.getByRole('heading', { name: 'Buy Basic' }).waitFor()
    assert.equal(checkout.url(), `${service().url}/buy/basic`)
    await bare.close()

    // As the page around it speaks, or the button's own attribute.
    serve('/german', SHOP(service().url).replace('tier="basic"', 'tier="basic" lang="de-AT"'))
    await page.goto(`${url()}/german`)
    await press(page, 'Basic für 0.01 ETH kaufen')
    await page.getByRole('checkbox', { name: /^Der Betreiber würde sich/ }).waitFor()
    await page.getByRole('button', { name: '0.01 ETH bezahlen' }).waitFor()

    serve('/framed', SHOP(service().url).replace('tier="basic"', 'tier="basic" framed'))
    await page.goto(`${url()}/framed`)
    await page.frameLocator('iframe').getByRole('heading', { name: 'Buy Basic' }).waitFor()
  })
}
