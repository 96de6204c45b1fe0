// The pages as a Safe App: in a frame of another site's page, which answers as Safe does, by postMessage, for a real
// Safe. Real Chromium, the real service and its chain. The frame has no session.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { complaintsOf, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { HANGING_MS } from '../support/until.ts'
import { type Call, makeSafe, type TestSafe } from './safe.ts'

/** A site's page that shows its apps in a frame, as Safe's does, and forwards their requests. */
const AROUND = (app: string) => `<!doctype html><title>Around</title>
<iframe src="${app}" width="1200" height="900" title="An app" allow="clipboard-write"
  sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads"></iframe>
<script>
  const frame = document.querySelector('iframe')
  addEventListener('message', async ({ data, source, origin }) => {
    if (source !== frame.contentWindow || !data.method) return
    const answer = await safeAnswers(data.method, data.params ?? null)
    source.postMessage({ id: data.id, version: '9.1.0', ...answer }, origin)
  })
</script>`

/** Answers an app as Safe does for one of its wallets. At the first request a call still awaits its other signers. */
function safeAnswers(safe: TestSafe) {
  const sent = new Map<string, string>()
  const waited = new Set<string>()
  const answers: Record<string, (params: never) => unknown> = {
    getSafeInfo: () => ({ safeAddress: safe.address, chainId: 31_337, threshold: 1, owners: [], isReadOnly: false }),
    rpcCall: ({ call, params }: { call: string; params: unknown[] }) => safe.read(call, params),
    sendTransactions: async ({ txs }: { txs: [Call] }) => {
      const safeTxHash = `0x${String(sent.size + 1).padStart(64, '5')}`
      sent.set(safeTxHash, await safe.execute(txs[0]))
      return { safeTxHash }
    },
    getTxBySafeTxHash: ({ safeTxHash }: { safeTxHash: string }) => {
      const txHash = sent.get(safeTxHash)
      if (!txHash) throw new Error('there is no such transaction')
      if (waited.has(safeTxHash)) return { txStatus: 'SUCCESS', txHash }
      waited.add(safeTxHash)
      return { txStatus: 'AWAITING_CONFIRMATIONS' }
    },
  }
  return async (method: string, params: unknown) => {
    try {
      const answer = answers[method]
      if (!answer) throw new Error(`${method} is not known`)
      return { success: true, data: await answer(params as never) }
    } catch (error) {
      return { success: false, error: String(error) }
    }
  }
}

describe('as a Safe App', { skip: noBrowser }, () => {
  let around: Server
  let site: string
  let app = ''
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    around = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(AROUND(app)))
    await new Promise<void>((done) => around.listen(0, '127.0.0.1', done))
    // Another site than the service's, which is at 127.0.0.1.
    site = `http://localhost:${(around.address() as AddressInfo).port}`
    const settings = { FRAME_ANCESTORS: site, CONTRACT_WALLETS: 'proven' }
    const credit = { CREDIT_INTERVAL_SEC: '10', CREDIT_SLOT_SEC: '5' }
    ;[service, browser] = await Promise.all([startServiceHere({ ...settings, ...credit }), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
    around.close()
  })

  async function open(path: string): Promise<Page> {
    app = service.url + path
    // Taller than the frame, whose dialogs stand in its middle.
    const page = await browser.newPage({ viewport: { width: 1280, height: 950 } })
    page.setDefaultTimeout(HANGING_MS)
    return page
  }

  test('its manifest has what Safe reads, for any page', async () => {
    const answer = await fetch(`${service.url}/manifest.json`, { headers: { origin: site } })
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    const { name, description, iconPath, icons } = (await answer.json()) as Record<string, string> & {
      icons: [{ src: string }]
    }
    assert.ok(name && description)
    for (const path of [`/${iconPath}`, icons[0].src]) {
      const icon = await fetch(service.url + path)
      assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml'])
    }
  })

  test('in its frame a Safe buys, sees every step, is credited and withdraws, without a session', async () => {
    const page = await open('/buy/basic')
    const complaints = complaintsOf(page)
    const safe = await makeSafe(wellKnown.rpcUrl, 5)
    await page.exposeFunction('safeAnswers', safeAnswers(safe))
    await page.goto(site)
    const frame = page.frameLocator('iframe')
    await frame.getByText('This wallet is a contract.').waitFor()
    await frame.getByRole('button', { name: 'Pay 0.01 ETH' }).click()
    await frame.getByText('The wallet has accepted the call').waitFor()
    await frame.getByText(/Node \d+ is yours/).waitFor()
    await frame.getByRole('link', { name: 'My nodes' }).click()
    const signIn = frame.getByRole('link', { name: 'Sign in (opens a tab)' })
    assert.deepEqual([await signIn.getAttribute('target'), await signIn.getAttribute('href')], ['_blank', '/owner'])
    await frame.getByText('There is nothing to withdraw now.').waitFor({ state: 'detached' })
    await frame.getByRole('button', { name: 'Withdraw', exact: true }).click()
    await frame.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
    await frame.getByText(/^Paid out in block/).waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    // Chromium logs the answer that the ledger does not have the payment yet.
    assert.deepEqual(
      complaints.filter((complaint) => !/status of (404|409)/.test(complaint)),
      [],
    )
    await frame.getByRole('button', { name: 'Done' }).click()
    await frame.getByRole('dialog').waitFor({ state: 'detached' })
    const [, inside] = page.frames()
    assert.deepEqual(inside && (await violations(inside)), [])
    const [tab] = await Promise.all([page.waitForEvent('popup'), signIn.click()])
    await tab.getByRole('heading', { name: 'Your wallet' }).waitFor()
  })

  test('the console is in no frame, and neither is a page for an unlisted site', async () => {
    const page = await open('/console')
    const complaints = complaintsOf(page)
    await page.goto(site)
    await page.frameLocator('iframe').locator('body').waitFor({ state: 'attached' })
    assert.match(complaints.join(), /frame-ancestors/)
    const refused = complaints.length
    app = `${service.url}/buy`
    await page.goto(site.replace('localhost', '127.0.0.1'))
    await page.frameLocator('iframe').locator('body').waitFor({ state: 'attached' })
    assert.match(complaints.slice(refused).join(), /frame-ancestors/)
    assert.equal(await page.frameLocator('iframe').getByRole('heading', { name: 'Buy a node' }).count(), 0)
  })
})
