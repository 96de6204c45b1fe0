// `npm run screenshots`: every page in both themes, at phone and desktop width, from a service with some activity.
// Writes PNGs to screenshots/ for people to look at. Names choose pages: `npm run screenshots -- overview wallet`.
// `npm run screenshots -- pictures` instead takes the README's pictures, into docs/pictures/. Fails if a page is not in
// its own face.
import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { EMBED_PARTS } from '../packages/embed/chain.ts'
import { installWallet, WALLET_NAME } from '../test/support/browser-wallet.ts'
import { startBrowser } from '../test/support/chromium.ts'
import { startService, type WellKnown, wallet } from '../test/support/service.ts'
import { temporaryDirectory } from '../test/support/temporary.ts'
import { until } from '../test/support/until.ts'
import { SECRET, startReceiver } from '../test/webhooks/receiver.ts'

const OUT = fileURLToPath(new URL('../screenshots/', import.meta.url))
const BASIC_WEI = 10n ** 16n
const WIDTHS = { phone: 360, desk: 1280 } as const
const ADMIN_KEY = 'admin-key-of-the-screenshots-012345'
/** The width of this word, in pixels, in Geist at 100 pixels. Other faces set it wider or narrower. */
const WORD = { text: 'Withdrawals', width: 585 }
const only = process.argv.slice(2)
/** What a browser stores about a purchase that it has sent. */
const INTENT = {
  payer: `0x${'5'.repeat(40)}`,
  tierId: 'basic',
  priceWei: String(BASIC_WEI),
  quantity: 1,
  paid: 1,
  asks: 1,
  isOpen: false,
  page: null,
}
/** The README's pictures. */
const PICTURES = fileURLToPath(new URL('../docs/pictures/', import.meta.url))

const dataDir = temporaryDirectory()
const receiver = await startReceiver()
const service = await startService(dataDir, {
  ADMIN_KEY,
  BRAND_NAME: 'Aurora Nodes',
  WEBHOOK_URL: receiver.url,
  WEBHOOK_SECRET: SECRET,
  WEBHOOK_ALLOW_PRIVATE: 'true',
  CREDIT_INTERVAL_SEC: '20',
  CREDIT_SLOT_SEC: '10',
  // Makes each browser context a different visitor, so that no rate limit applies.
  TRUSTED_PROXIES: '127.0.0.1',
})
const browser = await startBrowser()
try {
  const wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  const buyer = wallet(5, wellKnown)
  const paid = new Map<bigint, string>()
  for (const [account, value] of [
    [5, BASIC_WEI],
    [5, BASIC_WEI],
    [6, (BASIC_WEI * 5n) / 2n],
    [7, BASIC_WEI * 5n],
    // This payment is held, because no tier has this price.
    [8, BASIC_WEI + 123n],
    [10, BASIC_WEI * 2n],
  ] as const)
    paid.set(value, await wallet(account, wellKnown).pay(wellKnown.paymentAddress, value))
  await until(
    'some rounds',
    async () => {
      const rounds = await service.get<unknown[]>('/api/distributions')
      return rounds.length >= 6
    },
    180_000,
  )
  const info = await buyer.nodeInfo(1n)
  await buyer.withdraw(1n, buyer.address, BigInt(info.balanceWei) / 3n)
  await until('the withdrawal', async () => {
    const { withdrawals } = await service.get<{ withdrawals: unknown[] }>('/api/node/1')
    return withdrawals.length > 0
  })
  await sellInEveryState(wellKnown)
  await wallet(EMBED_PARTS.minter, wellKnown).mintUnpaid(wallet(9, wellKnown).address, 3n)
  await act('senders', {
    address: wallet(18, wellKnown).address,
    label: 'An exchange',
    reason: 'pays for its customers',
  })
  const pages: Record<string, string> = {
    overview: '/',
    rounds: '/rounds',
    round: '/round/1',
    node: '/node/1',
    address: `/address/${buyer.address}`,
    'address-empty': `/address/${wallet(19, wellKnown).address}`,
    buy: '/buy',
    'buy-open': '/buy/basic',
    'buy-upcoming': '/buy/spring',
    'buy-after': '/buy/second',
    'buy-scarce': '/buy/scarce',
    'buy-sold-out': '/buy/early',
    'buy-closed': '/buy/winter',
    'payment-minted': `/payment/${paid.get(BASIC_WEI * 5n)}`,
    'payment-held': `/payment/${paid.get(BASIC_WEI + 123n)}`,
    'payment-unknown': `/payment/0x${'7'.repeat(64)}`,
    owner: '/owner',
    kept: '/withdraw.html',
    console: '/console',
    docs: '/docs',
    'not-found': '/nowhere',
  }
  // When only the README's pictures are taken, the screenshots of all pages are kept.
  if (!only.includes('pictures')) rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT, { recursive: true })
  let visitor = 0
  for (const theme of ['light', 'dark'] as const) {
    for (const [size, width] of Object.entries(WIDTHS)) {
      const context = await browser.newContext({
        colorScheme: theme,
        viewport: { width, height: 900 },
        deviceScaleFactor: 1,
        // A finger points on a phone.
        isMobile: size === 'phone',
        hasTouch: size === 'phone',
      })
      const page = await context.newPage()
      // The chain's provider rejects a request that has this header.
      await context.route(`${service.url}/**`, (route) =>
        route
          .continue({ headers: { ...route.request().headers(), 'x-forwarded-for': `10.0.0.${visitor}` } })
          .catch(() => undefined),
      )
      page.on('console', (message) => message.type() === 'error' && console.error(`  console: ${message.text()}`))
      for (const [name, path] of Object.entries(pages)) {
        if (only.length > 0 && !only.includes(name)) continue
        visitor++
        await page.goto(service.url + path)
        await shoot(page, `${name}-${theme}-${size}`)
      }
      await shootUnderWay(page, paid.get((BASIC_WEI * 5n) / 2n) ?? '', `${theme}-${size}`)
      if (only.length === 0 || only.includes('wallet')) await shootWallet(page, wellKnown, `${theme}-${size}`)
      if (only.length === 0 || only.includes('console')) await shootConsole(page, `${theme}-${size}`)
      if (only.includes('pictures') && size === 'desk') await takePicture(page, theme)
      await context.close()
      console.log(`${theme}, ${size}: done`)
    }
  }
} finally {
  await browser.close()
  await service.stop()
  await receiver.close()
}
console.log(`Written to ${OUT}`)
process.exit(0)

/** Performs an act of the operator. */
async function act(path: string, body: object): Promise<void> {
  const response = await fetch(`${service.url}/api/admin/${path}`, {
    method: 'POST',
    headers: { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

/** Puts tiers on sale in every state: upcoming, open in steps, nearly sold, sold out and closed. */
async function sellInEveryState(wellKnown: WellKnown): Promise<void> {
  const nowSec = Math.floor(Date.now() / 1000)
  const prices = { early: BASIC_WEI * 3n, scarce: BASIC_WEI * 7n }
  const tier = (tierId: string, label: string, priceWei: bigint, bounds: object) =>
    act('tiers', {
      tierId,
      label,
      priceWei: String(priceWei),
      maxPerWallet: 5,
      payoutBps: Number(priceWei / BASIC_WEI) * 6_000,
      ...bounds,
    })
  await tier('early', 'Early', prices.early, { supply: 2 })
  await tier('second', 'Second step', BASIC_WEI * 4n, { supply: 50, opensAfter: 'early' })
  await tier('spring', 'Spring', BASIC_WEI * 6n, { supply: 300, opensAt: nowSec + 5 * 3_600 })
  await tier('scarce', 'Scarce', prices.scarce, { supply: 5 })
  await tier('winter', 'Winter', BASIC_WEI * 8n, { supply: 100 })
  await act('tiers/winter', { onSale: false, immediately: true })
  for (const [account, price] of [
    [11, prices.early],
    [12, prices.early],
    [11, prices.scarce],
    [12, prices.scarce],
    [13, prices.scarce],
  ] as const)
    await wallet(account, wellKnown).pay(wellKnown.paymentAddress, price)
  await until('the first step to be sold out', async () => {
    const { tiers } = await service.get<{ tiers: { state: string }[] }>('/api/tiers')
    return tiers.some(({ state }) => state === 'soldOut')
  })
}

async function shoot(page: Page, name: string): Promise<void> {
  if (!name.startsWith('kept')) await assertFace(page, name)
  // Waits, because the figures on the page count up first.
  await page.waitForTimeout(2_000)
  await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
  // The page's header stays at the top of the view.
  await page.evaluate('window.scrollTo(0, 0)')
  // A dialog covers the window, not the page.
  const fullPage = !(await page.locator('dialog[open]').isVisible())
  await page.screenshot({ path: `${OUT}${name}.png`, fullPage })
}

/** The page that owners keep has the system's face. All others have Geist. */
async function assertFace(page: Page, name: string): Promise<void> {
  const width = await page.evaluate<number>(`(async () => {
    await document.fonts.ready
    const word = document.body.appendChild(document.createElement('span'))
    word.style.cssText = 'position: absolute; font-size: 100px'
    word.textContent = '${WORD.text}'
    const { width } = word.getBoundingClientRect()
    word.remove()
    return width
  })()`)
  if (Math.abs(width - WORD.width) > 0.5) throw new Error(`${name}: "${WORD.text}" is ${width} wide, not ${WORD.width}`)
}

/** A payment that this browser has sent but no block has yet, and one at each step to its node: true but for its state. */
async function shootUnderWay(page: Page, txHash: string, suffix: string): Promise<void> {
  if (only.length > 0 && !only.includes('payment')) return
  const { payments: _, ...real } = await service.get<{ payments?: unknown }>(`/api/payment/${txHash}`)
  for (const status of ['waiting', 'seen', 'accepted', 'minting']) {
    const known = { ...real, status, assurance: 'linked', nodeId: null, mintTxHash: null }
    await page.route(/\/api\/(events|payment(s\/claim|\/0x))/, (route) =>
      status !== 'waiting'
        ? route.fulfill({ json: known })
        : route.fulfill({ status: route.request().method() === 'GET' ? 404 : 409, json: { error: 'not in a block' } }),
    )
    await page.goto(service.url)
    const intent = { ...INTENT, sent: [txHash], at: Date.now() }
    await page.evaluate(`localStorage.setItem('node-ledger.intent', ${JSON.stringify(JSON.stringify(intent))})`)
    await page.goto(`${service.url}/payment/${txHash}`)
    await shoot(page, `payment-${status}-${suffix}`)
    await page.evaluate('localStorage.clear()')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
}

/** What a connected wallet sees: the checkout, its nodes, and the form that withdraws. */
async function shootWallet(page: Page, wellKnown: WellKnown, suffix: string): Promise<void> {
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await page.goto(`${service.url}/buy/basic`)
  await page.getByLabel('QR or by hand').check()
  await page.locator('.scan').waitFor()
  await shoot(page, `buy-by-hand-${suffix}`)
  await installWallet(page, 5, wellKnown.rpcUrl)
  await page.goto(`${service.url}/buy/basic`)
  await press('Connect a wallet')
  await page.getByRole('dialog').waitFor()
  await shoot(page, `buy-connect-${suffix}`)
  await press(WALLET_NAME)
  await page.getByText('All checks pass').waitFor()
  await shoot(page, `buy-connected-${suffix}`)
  await page.goto(`${service.url}/owner`)
  await page.getByRole('button', { name: 'Withdraw', exact: true }).waitFor()
  await shoot(page, `owner-connected-${suffix}`)
  await press('Withdraw')
  await page.getByRole('dialog').waitFor()
  await shoot(page, `owner-withdraw-${suffix}`)
}

/** The top of the overview, down to the end of the first row of tiers. */
async function takePicture(page: Page, theme: string): Promise<void> {
  await page.goto(service.url)
  await page.getByRole('heading', { name: 'Latest rounds' }).waitFor()
  await page.waitForTimeout(2_000)
  const tier = await page.locator('.tier').first().boundingBox()
  if (!tier) throw new Error('the overview lacks its tiers')
  const clip = { x: 0, y: 0, width: WIDTHS.desk, height: Math.round(tier.y + tier.height + 8) }
  await page.screenshot({ path: `${PICTURES}overview-${theme}.png`, clip, fullPage: true })
}

/** Takes the console's sections without a reload, which would lose the key. */
async function shootConsole(page: Page, suffix: string): Promise<void> {
  await page.goto(`${service.url}/console`)
  await page.getByLabel('Admin key').fill(ADMIN_KEY)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  const sections = page.getByRole('navigation', { name: 'Sections of the console' })
  const menu = page.getByRole('button', { name: 'Menu' })
  await page.locator('.console').waitFor()
  const unfold = async () => {
    if (await menu.isVisible()) await menu.click()
  }
  await unfold()
  const names = await sections.getByRole('link').allTextContents()
  await unfold()
  for (const name of names) {
    await unfold()
    await sections.getByRole('link', { name, exact: true }).click()
    if (name === 'Payments' || name === 'Webhooks') await page.locator('summary').first().click()
    if (name === 'Payments') await page.getByRole('checkbox').first().check()
    await shoot(page, `console-${name.toLowerCase().replace(' ', '-')}-${suffix}`)
  }
}
