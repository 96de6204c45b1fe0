// The unhappy ends between a page and a wallet on another device, and what comes after a purchase. The quick story is pays.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, violations } from '../../support/chromium.ts'
import { wallet } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type ElsewhereStage, NAME, offerTo, press, startElsewhere } from './stage.ts'

const LONG_MS = 120_000
const BASIC_WEI = 10n ** 16n
const UNREACHABLE = 'The relay to the other device could not be reached'

describe('a wallet on another device', { skip: noBrowser }, () => {
  let stage: ElsewhereStage
  before(async () => {
    stage = await startElsewhere()
  })
  after(() => stage.stop())
  const connected = (page: Page) => page.getByRole('button', { name: 'Disconnect' })
  const disconnected = (page: Page) => page.getByRole('button', { name: 'Connect a wallet' })

  test('that refuses, does not have the network, or agrees too late gets no session', async () => {
    const { page } = await stage.open()
    await page.goto(`${stage.service.url}/buy/basic`)
    const own = await stage.wallet(5)
    own.refuseNext()
    await own.scan(await offerTo(page))
    await page.getByRole('dialog').getByText('The wallet refused. Nothing was sent.').waitFor()
    await press(page, 'Close')

    const elsewhere = await stage.wallet(6, 'eip155:10')
    await elsewhere.scan(await offerTo(page))
    await page.getByRole('dialog').getByText('That wallet does not offer this network.').waitFor()
    await until('it is told so', async () => elsewhere.sessions() === 0)
    await press(page, 'Close')

    const uri = await offerTo(page)
    await press(page, 'Close')
    await own.scan(uri)
    await until('it has agreed', async () => own.offered().name !== '')
    await until('it is told that nobody waits', async () => own.sessions() === 0)
    assert.equal(await connected(page).count(), 0)
    // The next offer is another one.
    assert.notEqual(await offerTo(page), uri)
    await page.context().close()
  })

  test('that nobody reads an offer with is told once the offer has expired', async () => {
    const { page } = await stage.open()
    await page.clock.install()
    await page.goto(`${stage.service.url}/buy/basic`)
    await offerTo(page)
    await page.clock.runFor(5 * 60_000 + 5_000)
    await page.getByRole('dialog').getByText('The wallet did not answer in time.').waitFor()
    await page.context().close()
  })

  test('that ends the session is gone from the page, and comes back by another one', async () => {
    const { page } = await stage.open()
    const own = await stage.wallet(7)
    await page.goto(`${stage.service.url}/buy/basic`)
    await own.scan(await offerTo(page))
    await connected(page).waitFor()
    await own.endAll()
    await disconnected(page).waitFor()
    await page.reload()
    await disconnected(page).waitFor()
    await own.scan(await offerTo(page))
    await connected(page).waitFor()
    await page.context().close()
  })

  test('without its relay is told, sends nothing later, and is there again with it; the withdrawal is as from any wallet', async () => {
    const { relay, service, wellKnown } = stage
    const { page } = await stage.open()
    const own = await stage.wallet(8)
    relay.refuse(true)
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Connect a wallet')
    await press(page, NAME)
    await page.getByRole('dialog').getByText(UNREACHABLE).waitFor()
    await press(page, 'Close')
    relay.refuse(false)
    await own.scan(await offerTo(page))
    await connected(page).waitFor()

    relay.refuse(true)
    await page.getByRole('button', { name: 'Pay 0.01 ETH' }).click()
    await page.getByText(UNREACHABLE).waitFor()
    relay.refuse(false)
    await page.reload()
    // The page does not know that nothing was sent: it asks its reader to look, and lets them say so.
    await page.getByText('Do not pay again before you have looked into the wallet.').waitFor()
    await wallet(8, wellKnown).pay(wellKnown.paymentAddress, BASIC_WEI)
    await page.getByRole('link', { name: 'See this payment' }).click()
    await page.getByText(/Node \d+ is yours/).waitFor()
    assert.deepEqual(own.asked, [])

    const [node = 0n] = await wallet(8, wellKnown).nodesOf()
    const credited = async () => (await wallet(8, wellKnown).nodeInfo(node)).balanceWei !== '0'
    await until('a credit', credited, LONG_MS)
    await page.goto(`${service.url}/owner`)
    await press(page, 'Sign in')
    await page.getByRole('button', { name: 'Withdraw…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByText(/^Paid out in block/).waitFor()
    assert.deepEqual(own.asked, ['personal_sign', 'eth_sendTransaction'])
    await page.context().close()
  })

  test('is offered on a phone by a link as well, in German too', async () => {
    const phone = { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true, locale: 'de-DE' }
    const { page } = await stage.open(phone)
    await page.goto(`${stage.service.url}/buy/basic`)
    await press(page, 'Wallet verbinden')
    await page.getByRole('dialog').getByRole('link', { name: 'MetaMask' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await press(page, 'Anderes Gerät (WalletConnect)')
    await page.getByRole('img', { name: 'QR-Code für die Wallet' }).waitFor()
    const link = await page.getByRole('link', { name: 'In einer Wallet-App öffnen' }).getAttribute('href')
    assert.match(link ?? '', /^wc:[0-9a-f]{64}@2\?/)
    assert.deepEqual(await violations(page), [])
    assert.ok((await page.evaluate<number>('document.querySelector("dialog").scrollWidth - innerWidth')) <= 0)
    const own = await stage.wallet(9)
    own.refuseNext()
    await own.scan(link ?? '')
    await page.getByRole('dialog').getByText('Die Wallet hat abgelehnt. Es wurde nichts gesendet.').waitFor()
    await page.context().close()
  })
})
