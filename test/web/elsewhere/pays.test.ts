// A purchase by a wallet on another device, by WalletConnect: the real pages in Chromium, the library's own client on the wallet's side, a relay on
// loopback that keeps to the protocol, the real service and chain. Neither the public relay nor a phone's wallet is asked here.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { noBrowser } from '../../support/chromium.ts'
import { until } from '../../support/until.ts'
import { type ElsewhereStage, offerTo, PROJECT, press, startElsewhere } from './stage.ts'

describe('a wallet on another device', { skip: noBrowser }, () => {
  let stage: ElsewhereStage
  before(async () => {
    stage = await startElsewhere()
  })
  after(() => stage.stop())

  test('pays, is there again after a reload, signs in and is let go; what it refuses is told', async () => {
    const { service, relay, wellKnown } = stage
    const own = await stage.wallet(5)
    const { page, complaints } = await stage.open()
    const reached = new Set<string>()
    page.on('request', (request) => reached.add(new URL(request.url()).origin))
    page.on('websocket', (socket) => reached.add(new URL(socket.url()).origin))
    await page.goto(`${service.url}/buy/basic`)
    await own.scan(await offerTo(page))
    await page.getByText('You have 0 of the 10 nodes of this tier').waitFor()
    assert.deepEqual(own.offered(), {
      chains: ['eip155:31337'],
      methods: ['eth_sendTransaction', 'personal_sign', 'wallet_sendCalls', 'wallet_getCallsStatus'],
      name: 'Node Ledger',
    })
    own.refuseNext()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText('You refused in the wallet. Nothing was sent').waitFor()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()

    await page.goto(`${service.url}/owner`)
    await press(page, 'Sign in')
    await page.getByText('Signed in as').waitFor()
    assert.deepEqual(own.asked, ['eth_sendTransaction', 'eth_sendTransaction', 'personal_sign'])

    // Pressed before the page has found its wallet again, as on a slow line.
    await page.route('**/walletconnect.js', async (route) => {
      await sleep(2_000)
      await route.continue()
    })
    await page.goto(`${service.url}/buy/basic`)
    await press(page, 'Disconnect')
    await page.getByRole('button', { name: 'Connect a wallet' }).waitFor()
    await until('the wallet has heard of it', async () => own.sessions() === 0)

    // The relay learns no contract and no method from the page, which asks nobody else at all.
    const fromPage = relay.asked.filter(({ projectId }) => projectId === PROJECT)
    const published = fromPage.filter(({ method }) => method === 'irn_publish')
    assert.ok(published.length > 3)
    assert.deepEqual(
      published.filter(({ params }) => 'tvf' in params),
      [],
    )
    const known = [service.url, wellKnown.rpcUrl, relay.url]
    assert.deepEqual([...reached].sort(), known.map((url) => new URL(url).origin).sort())
    assert.deepEqual(
      complaints.filter((complaint) => !/status of (401|404|409)/.test(complaint)),
      [],
    )
    await page.context().close()
  })
})
