// A tier with an opening, a supply and a step after it, as buyers see it while blocks go by: nobody reloads, and nothing is paid in vain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { listenForChanges } from '../../src/db/core/changes.ts'
import { wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { Readings } from '../../src/ports/contract.ts'
import { installWallet, WALLET_NAME } from '../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { hashOf, insertPayment } from '../support/http-ledger.ts'
import { ETHER, enterTier, startWorld, type World } from '../support/world.ts'

const SIZES = [
  { width: 360, height: 800 },
  { width: 1280, height: 900 },
]
const BUYER = 5
const UNREAD = { blockNumber: null, balanceWei: null, gasPriceWei: null, walletMax: null, code: null, heldWei: null }

describe('a sale of few nodes', { skip: noBrowser }, () => {
  let world: World
  let browser: Browser
  let service: Service
  let changes: ReturnType<typeof listenForChanges>
  let tierNo = 20
  before(async () => {
    ;[world, browser] = await Promise.all([startWorld(), startBrowser()])
    await world.settle()
    changes = listenForChanges(world.directUrl, silentLog)
    const readings = { buyer: async () => UNREAD, maxPerWallet: async () => 3 } as unknown as Readings
    service = await startService({
      sql: world.pool,
      readSql: world.pool,
      changes,
      readings,
      settings: { factoryAddress: world.factory },
    })
  })
  after(async () => {
    await browser.close()
    await service.close()
    await changes.close()
    await world.close()
  })
  const enter = async (tierId: string, priceWei: bigint, bounds: object) => {
    await enterTier(world, { tierId, tierNo: tierNo++, priceWei: wei(priceWei), maxPerWallet: 3, ...bounds })
    await world.settle()
  }
  const open = async (path: string, viewport: (typeof SIZES)[number]) => {
    const page = await browser.newPage({ viewport })
    page.setDefaultTimeout(60_000)
    const complaints = complaintsOf(page)
    await installWallet(page, BUYER, world.chain.rpcUrl)
    await page.goto(`http://127.0.0.1:${service.port}${path}`)
    return { page, complaints, pay: page.getByRole('button', { name: /^Pay / }) }
  }

  for (const [nth, size] of SIZES.entries())
    test(`opens and sells out while it is open on a page of ${size.width} pixels`, async () => {
      const [first, second] = [`first-${nth}`, `second-${nth}`]
      const priceWei = ETHER / 90n + BigInt(nth) * 10n
      const { timestamp } = await world.chain.block()
      const opensAt = Number(timestamp) + 3_600
      await enter(first, priceWei, { opensAt, supply: 2 })
      await enter(second, priceWei + 1n, { opensAfter: first })
      const { page, complaints, pay } = await open(`/buy/${first}`, size)
      await page.getByText('You can leave this page open.').waitFor()
      await page.locator('.countdown').waitFor()
      await page.getByText('2 of 2 left').waitFor()
      assert.equal(await pay.count(), 0)
      assert.deepEqual(await violations(page), [])
      const steps = page.getByRole('list', { name: 'The steps of this sale' }).getByRole('listitem')
      assert.match(await steps.nth(1).innerText(), new RegExp(`Opens once ${first} is sold out`))
      await world.chain.setNextTime(opensAt)
      await world.chain.mine()
      await world.settle()
      await page.getByRole('button', { name: 'Connect a wallet' }).click()
      await page.getByRole('button', { name: WALLET_NAME }).click()
      await page.getByRole('button', { name: /^Pay .*ETH$/, disabled: false }).waitFor()
      for (const other of [6, 7]) await world.pay(other, priceWei)
      await world.settle()
      await page.getByText('All 2 nodes of this tier are sold.').first().waitFor()
      const next = page.getByRole('link', { name: `Buy ${second}, ` })
      assert.equal(await next.getAttribute('href'), `/buy/${second}`)
      assert.equal(await pay.count(), 0)
      assert.match(await steps.nth(0).innerText(), /sold out/i)
      assert.match(await steps.nth(1).innerText(), /Open$/)
      const overflows = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      )
      assert.equal(overflows, false)
      assert.deepEqual(await violations(page), [])
      assert.deepEqual(
        complaints.filter((said) => !said.includes('status of 503')),
        [],
      )
      await page.close()
    })

  test('a tier whose time is over shows when it closed, and what is on sale instead', async () => {
    const { timestamp } = await world.chain.block()
    const closesAt = Number(timestamp) + 60
    await enter('past', ETHER / 93n, { closesAt })
    await enter('present', ETHER / 94n, {})
    await world.chain.setNextTime(closesAt)
    await world.chain.mine()
    await world.settle()
    const { page, pay } = await open('/buy/past', { width: 1280, height: 900 })
    await page.getByText('This tier closed now.').waitFor()
    await page.getByRole('heading', { name: 'On sale now' }).waitFor()
    assert.equal(await page.locator('a[href="/buy/present"]').count(), 1)
    assert.equal(await page.locator('a[href="/buy/past"]').count(), 0)
    assert.equal(await pay.count(), 0)
    assert.deepEqual(await violations(page), [])
    await page.close()
  })

  test('if others are paying for the last nodes, the page warns, and pays at a second press', async () => {
    const priceWei = ETHER / 95n
    await enter('last', priceWei, { supply: 1 })
    const { page, pay } = await open('/buy/last', { width: 360, height: 800 })
    await page.getByRole('button', { name: 'Connect a wallet' }).click()
    await page.getByRole('button', { name: WALLET_NAME }).click()
    await page.getByRole('button', { name: /^Pay .*ETH$/, disabled: false }).waitFor()
    assert.equal(await page.getByText('being paid for').count(), 0)
    const { number } = await world.chain.block()
    const rival = { txHash: hashOf('rival'), from: world.at(7), valueWei: priceWei.toString(), block: Number(number) }
    const id = await insertPayment(world.pool, rival)
    await world.pool`UPDATE payments SET block_time = to_timestamp((SELECT block_time FROM cursors)) WHERE id = ${id}`
    service.clock.now += 60_000
    await pay.click()
    await page.getByText('The last node is being paid for. It may come free.').first().waitFor()
    const again = page.getByRole('button', { name: /^Pay .*ETH anyway$/ })
    await again.waitFor()
    assert.deepEqual(await violations(page), [])
    assert.equal(new URL(page.url()).search, '')
    await again.click()
    await page.waitForURL(/tx=0x/)
    await page.close()
  })
})
