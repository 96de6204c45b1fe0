// The checkout on a page of another origin, as docs/API.md shows it: by a link, and in a frame. Tests for a file that
// has a service and a browser.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type BrowserWallet, WALLET_NAME } from '../../support/browser-wallet.ts'
import { complaintsOf, violations } from '../../support/chromium.ts'
import { startService } from '../../support/http.ts'
import { type Service, type WellKnown, wallet } from '../../support/service.ts'

const API = new URL('../../../docs/API.md', import.meta.url)

/** A shop's page with the documented link and frame, and a content policy that admits nothing else. */
function shopOf(serviceUrl: string): string {
  const [, shown = ''] = /```html\n([\s\S]*?)```/.exec(readFileSync(API, 'utf8')) ?? []
  assert.match(shown, /<a href.*\n<iframe/)
  return `<!doctype html>
<html lang="en"><head><title>A shop</title>
<meta http-equiv="content-security-policy" content="default-src 'none'; frame-src ${serviceUrl}">
</head><body><main><h1>A shop</h1>${shown.replaceAll('https://ledger.example', serviceUrl)}</main></body></html>`
}

/** Pages of another site, by their paths; the service is at 127.0.0.1. Serves every page added to it. */
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
  /** Opens a page of a browser without a wallet. */
  openBare(): Promise<Page>
}

/** Omits what Chromium logs about answers: the ledger does not have a payment yet, or the frame has no session. */
const faults = (complaints: readonly string[]) =>
  complaints.filter((complaint) => !/responded with a status of (401|404|409)/.test(complaint))

export function testFrame(shop: Shop): void {
  testByWallet(shop)
  testByHand(shop)
  testUnnamed(shop)
}

function testByWallet({ url, serve, service, wellKnown, open }: Shop): void {
  test('in the frame of a listed shop a buyer pays and follows the payment to the node', async () => {
    const { page, own } = await open(10)
    const complaints = complaintsOf(page)
    serve('/', shopOf(service().url))
    await page.goto(url())
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: 'Buy Basic' }).waitFor()
    await frame.getByRole('button', { name: 'Connect a wallet' }).click()
    const list = frame.getByRole('dialog').getByRole('listitem')
    await list.getByText(WALLET_NAME).waitFor()
    assert.equal(await list.count(), 1, 'a shop is no Safe')
    await list.getByText(WALLET_NAME).click()
    own.refuseNext()
    const pay = frame.getByRole('button', { name: 'Pay 0.01 ETH' })
    await pay.click()
    await frame.getByText(/^You declined in the wallet\. Nothing was sent/).waitFor()
    await pay.click()
    await frame.getByText(/Node \d+ is yours/).waitFor()
    const [node] = await wallet(10, wellKnown()).nodesOf()
    assert.deepEqual(own.asked, ['eth_sendTransaction', 'eth_sendTransaction'])
    await frame.getByRole('link', { name: 'See the node' }).click()
    await frame.getByRole('heading', { name: `Node ${node}` }).waitFor()
    const [, inside] = page.frames()
    assert.deepEqual(inside && (await violations(inside)), [])
    assert.deepEqual(faults(complaints), [])
    assert.equal(page.url(), `${url()}/`)
  })
}

function testByHand({ url, serve, service, wellKnown, openBare }: Shop): void {
  test('without a wallet a shop’s frame shows the payment’s code and text, and continues once paid', async () => {
    const page = await openBare()
    serve('/', shopOf(service().url))
    await page.goto(url())
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: 'Connect a wallet' }).click()
    await frame.getByText('No wallet found in this browser').waitFor()
    await frame.getByRole('dialog').getByRole('button', { name: 'Pay by QR code or by hand' }).click()
    await frame.getByRole('img', { name: 'QR code of the payment' }).waitFor()
    const buyer = wallet(12, wellKnown())
    await frame.getByLabel('Your paying address').fill(buyer.address)
    await frame.getByText('Waiting for a transfer from this address.').waitFor()
    await buyer.pay(wellKnown().paymentAddress, 10n ** 16n)
    await frame.getByText(/Node \d+ is yours/).waitFor()
  })
}

function testUnnamed({ url, serve, open }: Shop): void {
  test('a shop’s link leads to the checkout, and is the only way without the setting', async () => {
    const bare = await startService()
    try {
      const serviceUrl = `http://127.0.0.1:${bare.port}`
      serve('/unnamed', shopOf(serviceUrl))
      const { page } = await open(11)
      const refused = page.waitForEvent('console', (message) => /frame-ancestors 'none'/.test(message.text()))
      await page.goto(`${url()}/unnamed`)
      await refused
      assert.equal(await page.frameLocator('iframe').getByRole('heading').count(), 0)
      await page.getByRole('link', { name: 'Buy a node' }).click()
      await page.getByRole('heading', { name: 'Buy a node' }).waitFor()
      assert.equal(page.url(), `${serviceUrl}/buy/basic`)
    } finally {
      await bare.close()
    }
  })
}
