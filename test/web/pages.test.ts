// Every page, in both themes, on a phone and on a desktop: axe objects to nothing, nothing violates the content
// security policy, nothing scrolls sideways or leaves its box, and no missing reading shows as a zero.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { decodeFunctionData, encodeAbiParameters, parseAbi, toHex, zeroAddress } from 'viem'
import { mainnet } from 'viem/chains'
import { namehash, packetToBytes } from 'viem/ens'
import { announceWallet } from '../support/browser-wallet.ts'
import {
  complaintsOf,
  contrastViolations,
  countTransfers,
  misshapen,
  noBrowser,
  startBrowser,
  violations,
} from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { hashOf, insertSmallLedger, walletOf } from '../support/http-ledger.ts'

/** Most bytes that a page may load from the service until it is idle, as sent: headers, styles, scripts and answers. */
const TRANSFER_BYTES_MAX = 180_000
const REQUESTS_MAX = 20
const PAGES = {
  '/': /^Nodes that earn ETH/,
  '/tiers': 'Buy a node',
  '/rounds': 'Rounds',
  '/round/1': 'Round 1',
  '/node/1': 'Node 1',
  [`/address/${walletOf(1)}`]: /^Wallet 0x/,
  [`/payment/${hashOf('pay 1')}`]: 'Node 1 is minted',
  '/buy': 'Buy a node',
  '/buy/basic': /^Buy /,
  '/owner': 'My nodes',
}

/** A bright colour, on which white is hard to read. */
const BRIGHT = { name: null, logo: null, color: '#ffd400', contact: null, termsUrl: null }

describe('the pages', { skip: noBrowser }, () => {
  let service: Service
  /** The same, of a sale with a colour. */
  let bright: Service
  let browser: Browser
  before(async () => {
    const settings = { factoryAddress: walletOf(0xfac) }
    ;[service, bright, browser] = await Promise.all([
      startService({ settings }),
      startService({ settings: { ...settings, site: { chainName: null, explorerUrl: null, brand: BRIGHT } } }),
      startBrowser(),
    ])
    await Promise.all([insertSmallLedger(service.sql), insertSmallLedger(bright.sql)])
  })
  after(async () => {
    await browser.close()
    await Promise.all([service.close(), bright.close()])
  })
  const at = (path: string, { port } = service) => `http://127.0.0.1:${port}${path}`

  // Each page loads once per width, in the first theme, then switches to the other as a system does.
  for (const [width, themes, prepare] of [
    [360, ['light', 'dark'], withLongNames],
    [1280, ['dark', 'light'], null],
  ] as const) {
    test(`${themes.join(' and ')}, ${width} wide${prepare ? ', with long names and large amounts' : ''}`, async () => {
      // bypassCSP would hide what this looks for; axe enters through the debugger, which needs no permission.
      const context = await browser.newContext({ viewport: { width, height: 900 } })
      const page = await context.newPage()
      const complaints = complaintsOf(page)
      await prepare?.(page)
      const transferred = await countTransfers(page)
      for (const [path, title] of Object.entries(PAGES)) {
        transferred.bytes = 0
        transferred.firsts.clear()
        await page.emulateMedia({ colorScheme: themes[0] })
        await page.goto(at(path, prepare ? bright : service))
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await page.locator('.top search').waitFor({ state: 'attached' })
        await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
        for (const colorScheme of themes) {
          await page.emulateMedia({ colorScheme })
          const found = colorScheme === themes[0] ? violations(page) : contrastViolations(page)
          assert.deepEqual(await found, [], `${path}, ${colorScheme}`)
          assert.deepEqual(await misshapen(page), [], path)
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          assert.ok((overflow as number) <= 0, `${path} scrolls sideways by ${overflow}`)
          const hidden = await page.evaluate(
            "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.top nav'))",
          )
          assert.ok((hidden as number) <= 0, `${hidden} pixels of the pages' names are out of sight`)
        }
        const { bytes, firsts } = transferred
        assert.ok(bytes > 50_000 && bytes <= TRANSFER_BYTES_MAX, `${path} takes ${bytes} bytes`)
        assert.ok(firsts.size <= REQUESTS_MAX, `${path} makes ${firsts.size} requests`)
      }
      assert.deepEqual(
        complaints.filter((complaint) => !complaint.includes('status of 401')),
        [],
      )
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    })
  }

  test('a browser of another locale reads English, with its own numbers and dates', async () => {
    const page = await (await browser.newContext({ locale: 'de-DE' })).newPage()
    await page.goto(at('/node/1'))
    const minted = page.locator('.lead time').first()
    await minted.waitFor()
    assert.match((await minted.getAttribute('title')) ?? '', /^\d\d\.\d\d\.\d{4}, .* UTC$/)
    assert.match(await minted.innerText(), /^last year$|ago$/)
    // The turn is late, because the rounds of this ledger have ended.
    await page.getByText(/^due (last year|.* ago)$/).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
    await page.close()
  })

  test('a value that could not be read is marked, and never looks like zero', async () => {
    const page = await browser.newPage()
    await page.goto(at('/'))
    // This service has no chain behind it.
    await page.getByText('Not checked.').waitFor()
    await page.goto(at('/node/1'))
    await page.getByText('chain not read').waitFor()
    await answersWith(page, '**/api/node/1*', ({ owner, creditedWei, withdrawnWei }) => ({
      chain: { owner, creditedWei, withdrawnWei, balanceWei: '751', blockNumber: 30, matchesLedger: false },
    }))
    await page.reload()
    await page.getByText('Balance differs. The chain is right.').waitFor()
    // Six decimals, and the rest at a press; a past event is not in the future, whatever the clocks say.
    await answersWith(page, '**/api/stats', () => ({
      totalSalesWei: '1234567890123456789',
      lastDistributionAt: new Date(Date.now() + 38_000).toISOString(),
    }))
    await page.goto(at('/'))
    await page.getByRole('button', { name: '1.234567', exact: true }).press('Enter')
    await page.getByRole('button', { name: '1.234567890123456789' }).waitFor()
    await page.getByText(', the last now').waitFor()
    await page.getByText(/^Your browser just checked 4 payouts. All are right/).waitFor()
    await page.route('**/turns?*', (route) => route.abort())
    await page.route('**/api/distributions*', async (route) => {
      const response = await route.fetch()
      const rounds = (await response.json()) as { totalWei: string; turns: { amountWei: string; count: number }[] }[]
      if (rounds[0]) rounds[0].totalWei = '1'
      for (const turn of rounds[0]?.turns ?? []) turn.amountWei = '1'
      for (const turn of rounds[1]?.turns ?? []) turn.count = 2
      await route.fulfill({ response, json: rounds })
    })
    await page.goto(at('/'))
    await page.locator('.proof').getByRole('link', { name: 'round 2' }).waitFor()
    await page.getByText('paid several turns together. Its own page').waitFor()
    await page.route('**/api/cover', (route) => route.fulfill({ status: 503, json: { error: 'no' } }))
    await page.goto(at('/'))
    await page.getByText('The service cannot answer this right now.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 1)
    // Nothing is shown of rounds while there are none, and no tier says what they may pay.
    await page.route('**/api/distributions*', (route) => route.fulfill({ json: [] }))
    await answersWith(page, '**/api/tiers', () => ({ tiers: [] }))
    await page.goto(at('/'))
    await page.locator('.hero:not(:has(.proof, .yield))').waitFor()
    await page.close()
  })

  test('every page has its heading while the service does not answer, and when it fails', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } })
    for (const path of Object.keys(PAGES)) {
      const held = Promise.withResolvers<void>()
      await page.route(/\/(api|\.well-known)\//, async (route) => {
        await held.promise
        await route.fulfill({ status: 503, json: { error: 'no' } })
      })
      await page.goto(at(path))
      // What is sold came with the page.
      const isShop = ['/', '/tiers', '/buy', '/buy/basic'].includes(path)
      for (const sign of isShop ? ['.price', '.notice.warn'] : ['[aria-label="Loading"]', 'main [role="alert"]']) {
        await page.locator(sign).first().waitFor()
        await page.getByRole('heading', { level: 1 }).waitFor()
        assert.deepEqual(await violations(page), [], path)
        held.resolve()
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
    await page.close()
  })

  test('a round shows what the seed of each turn rests on', async () => {
    const page = await browser.newPage()
    await page.goto(at('/round/1'))
    await page.getByText('a block whose hash proves it').first().waitFor()
    await page.close()
  })

  test('a payment shows what it rests on, and is read again until it is decided', async () => {
    const page = await browser.newPage()
    await page.clock.install()
    const txHash = `0x${'1'.repeat(64)}`
    const payment = { txHash, from: walletOf(1), tierId: 'basic', valueWei: '1', blockNumber: 1, updatedAt: null }
    let [status, assurance] = ['seen', 'believed']
    const asked = /\/api\/payment(s\/claim|\/0x)/
    let isLimited = true
    let limited = 0
    await page.route(asked, (route) => {
      if (isLimited) limited++
      return isLimited
        ? route.fulfill({ status: 429, headers: { 'retry-after': '30' }, json: { error: 'no' } })
        : route.fulfill({
            json: { ...payment, status, assurance, reason: 'walletLimit', nodeId: '3', mintTxHash: null },
          })
    })
    await page.goto(at('/buy'))
    await page.getByText('Already paid?').click()
    await page.getByLabel('Hash of the transfer').fill(txHash)
    await page.getByRole('button', { name: 'Find it' }).click()
    // The page reports a rate limit as such, and obeys it.
    await page.getByText('Too many requests from your network. Nothing is lost').waitFor()
    for (let step = 0; step < 5; step++) {
      await page.clock.runFor(5_000)
      // The requests made then are answered.
      await page.evaluate("fetch('/api/stats').then((answer) => answer.text())")
    }
    // The page requests once, and once more after its stream failed.
    assert.ok(limited <= 2, `${limited} requests`)
    isLimited = false
    await page.clock.runFor(10_000)
    await page.getByText('we wait until a second one agrees').waitFor()
    for (const [to, by, ...texts] of [
      ['seen', 'linked', 'Waiting for the chain to confirm the block'],
      ['held', 'linked', 'we mint this node automatically', 'In a block that the chain has not confirmed yet.'],
      ['minted', 'proven', 'Node 3 is minted', 'Proven by the hash of its block, which the contract has named.'],
    ] as const) {
      ;[status, assurance] = [to, by]
      await page.clock.fastForward(20_000)
      for (const text of texts) await page.getByText(text).waitFor()
    }
    await page.close()
  })

  test('can be gone through by keyboard: skip link, pages, and the focus at the new page’s heading', async () => {
    const page = await browser.newPage()
    await page.goto(at('/'))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
    for (let tab = 0; tab < 3; tab++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'Buy a node' }).waitFor()
    // A page that loads on first use.
    await page.getByRole('link', { name: 'My nodes', exact: true }).press('Enter')
    await page.locator('h1:focus', { hasText: 'My nodes' }).waitFor()
    await page.close()
  })

  test('a plot labels each bar in local time and UTC, and the text beside it gives the whole', async () => {
    const page = await browser.newPage({ timezoneId: 'Asia/Kathmandu' })
    await page.goto(at('/rounds'))
    const plot = page.locator('.chart')
    await plot.getByText(/^2 rounds from .+ in all\. A bar for every day\.$/).waitFor()
    const titles = await plot.locator('.bars title').allTextContents()
    const paid = titles.filter((title) => !title.endsWith(': 0 ETH'))
    assert.ok(paid.length > 0 && paid.length < titles.length, 'a day without a round has its place')
    // Few bars stand at the right end, where the newest always is.
    const end = await page.evaluate(
      `document.querySelector('.chart .bars').getBoundingClientRect().right -
        document.querySelector('.chart .bars g:last-child .slot').getBoundingClientRect().right`,
    )
    assert.ok(Math.abs(Number(end)) < 1, `the newest bar is ${end} px from the right end`)
    for (const title of paid) assert.match(title, /GMT\+5:45 = .+ UTC: [0-9.]+ ETH$/)
    await plot.getByLabel('24 hours').check()
    await page.getByText('No rounds in this period.').waitFor()
    await page.close()
  })

  test('search finds nodes, rounds, wallets and transactions, and the sale has name and network', async () => {
    const page = await browser.newPage()
    await withBrand(page, 'Aurora Nodes')
    await page.goto(at('/'))
    const search = page.getByRole('searchbox')
    const find = async (sought: string, title: string | RegExp) => {
      await search.fill(sought)
      await search.press('Enter')
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    }
    await find('#3', 'Node 3')
    await find('Round 2', 'Round 2')
    await find(walletOf(1), /^Wallet/)
    await find(hashOf('pay 1'), 'Node 1 is minted')
    await page.locator('summary', { hasText: 'Details' }).click()
    await page.getByText('Sold by').waitFor()
    const [round] = (await (await fetch(at('/api/distributions?limit=1'))).json()) as { id: number; txHash: string }[]
    await find(round?.txHash ?? '', `Round ${round?.id}`)
    assert.equal(await page.title(), `Round ${round?.id} · Aurora Nodes`)
    const link = (name: RegExp | string) => page.getByRole('link', { name }).first().getAttribute('href')
    assert.equal(await link(/^0x/), `https://explorer.example/tx/${round?.txHash}`)
    assert.match((await link(/^block /)) ?? '', /^https:\/\/explorer\.example\/block\/[0-9]+$/)
    assert.equal(await link('Terms'), 'https://nodes.example/terms')
    assert.equal(await link('Contact'), 'mailto:help@nodes.example')
    await page.getByText('Aurora (chain 31337)').waitFor()
    await find(hashOf('mint 3'), 'Node 3')
    await search.fill('owner.eth')
    await search.press('Enter')
    await page.getByText('owner.eth is not an address, and this chain has no names.').waitFor()
    await find('nonsense', /^Wallet/)
    await page.getByRole('alert').waitFor()
    // A retry would change nothing.
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await page.close()
  })

  test('on a chain with names the search finds wallets by name, through the browser’s wallet', async () => {
    const page = await browser.newPage()
    await page.route('**/.well-known/node-ledger.json', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), chainId: mainnet.id } })
    })
    await announceWallet(page, async ({ method, params = [] }) => answerForNames(method, params))
    await page.goto(at('/'))
    const search = page.getByRole('searchbox')
    await search.fill('Owner.eth')
    await search.press('Enter')
    await page.waitForURL(`**/address/${walletOf(1).toLowerCase()}`)
    await page.getByRole('heading', { level: 1, name: /^Wallet/ }).waitFor()
    await search.fill('nobody.eth')
    await search.press('Enter')
    await page.getByText('The name nobody.eth has no address.').waitFor()
    await page.close()
  })

  test('on a phone without a wallet, links open this page in the apps that have one', async () => {
    const context = await browser.newContext({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 800 } })
    const page = await context.newPage()
    await page.goto(at('/owner?from=mail'))
    await page.getByRole('button', { name: 'Connect a wallet' }).click()
    const app = (name: string) => page.getByRole('dialog').getByRole('link', { name }).getAttribute('href')
    const here = at('/owner?from=mail')
    assert.equal(await app('MetaMask'), `https://link.metamask.io/dapp/${here.replace('http://', '')}`)
    const trust = new URL((await app('Trust Wallet')) ?? '')
    assert.equal(trust.searchParams.get('url'), here)
    assert.deepEqual(await violations(page), [])
    await context.close()
  })
})

const RESOLVER = parseAbi([
  'function resolveWithGateways(bytes name, bytes data, string[] gateways) view returns (bytes, address)',
])
const RECORD = parseAbi(['function addr(bytes32 node) view returns (address)'])

/** Answers like a mainnet wallet whose ENS has one of the names (https://docs.ens.domains/resolvers/universal); no chain here has ENS. */
function answerForNames(method: string, params: readonly unknown[]): unknown {
  if (method === 'eth_chainId') return `0x${mainnet.id.toString(16)}`
  assert.equal(method, 'eth_call')
  const { to, data } = params[0] as { to: string; data: `0x${string}` }
  assert.equal(to.toLowerCase(), mainnet.contracts.ensUniversalResolver.address)
  const [name, asked] = decodeFunctionData({ abi: RESOLVER, data }).args
  const [node] = decodeFunctionData({ abi: RECORD, data: asked }).args
  const isKnown = node === namehash('owner.eth')
  if (isKnown) assert.equal(name, toHex(packetToBytes('owner.eth')))
  const found = encodeAbiParameters([{ type: 'address' }], [isKnown ? (walletOf(1) as `0x${string}`) : zeroAddress])
  return encodeAbiParameters([{ type: 'bytes' }, { type: 'address' }], [found, zeroAddress])
}

/** Makes an answer of the service arrive with other fields. */
const answersWith = (page: Page, path: string, fields: (answer: Record<string, unknown>) => object) =>
  page.route(path, async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as Record<string, unknown>
    await route.fulfill({ response, json: { ...json, ...fields(json) } })
  })

/** Makes the service name a seller, and a chain. */
async function withBrand(page: Page, name: string): Promise<void> {
  await page.route('**/.well-known/node-ledger.json', async (route) => {
    const answer = await route.fetch()
    const links = { contact: 'mailto:help@nodes.example', termsUrl: 'https://nodes.example/terms' }
    const brand = { name, logoUrl: null, color: null, ...links }
    const site = { chainName: 'Aurora', explorerUrl: 'https://explorer.example', brand }
    await route.fulfill({ response: answer, json: { ...(await answer.json()), ...site } })
  })
}

/** Makes the service return names of 64 letters and amounts of 32 digits. */
async function withLongNames(page: Page): Promise<void> {
  await withBrand(page, 'W'.repeat(40))
  const [wei, label] = [`${10n ** 31n + 123_456_789_012_345_678n}`, 'W'.repeat(64)]
  const enlarged = (body: string) =>
    body.replace(/("\w+Wei"):"[0-9]+"/g, `$1:"${wei}"`).replace('"Basic"', `"${label}"`)
  await page.route('**/api/price', (route) => route.fulfill({ json: { usd: 98_765.43 } }))
  await page.route(/\/api\/(stats|tiers|node|nodes|distributions|deploy-quote)/, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, body: enlarged(await answer.text()) })
  })
}
