// The unhappy ends of a purchase on a phone: the stories of a desktop, and each reason to hold a payment. Nothing
// scrolls sideways, the next step can be touched, and axe objects to nothing.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { HoldReason } from '../../src/domain/judgement.ts'
import { words } from '../../web/src/words/payment.ts'
import { installWallet } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service as Read, startService } from '../support/http.ts'
import { hashOf, insertPayment, insertSmallLedger, walletOf } from '../support/http-ledger.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { ENDS } from './shop/ends.ts'

const LONG_MS = 60_000
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
const PHONE = { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true } as const
/** An amount of many digits, the widest that a page shows. */
const WIDE_WEI = '123456789012345678901'

/** What a reader meets on a page of this size. `next` is what they press there, if anything. */
async function look(page: Page, next?: string | RegExp): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
    '(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)',
  )
  assert.ok(scrollWidth <= clientWidth, `${page.url()} scrolls sideways by ${scrollWidth - clientWidth}`)
  assert.deepEqual(await violations(page), [])
  if (next === undefined) return
  const place = page
    .getByRole('button', { name: next })
    .or(page.getByRole('link', { name: next }))
    .first()
  // Nothing covers it, and a finger can hit it; a trial only checks, and does not press.
  await place.tap({ trial: true })
  const box = await place.boundingBox()
  assert.ok(box && box.x >= 0 && box.x + box.width <= PHONE.viewport.width, `${next} is out of sight`)
}

describe('on a phone, a payment', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    ;[service, browser] = await Promise.all([startServiceHere({ ADMIN_KEY }), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  for (const [title, account, play] of ENDS)
    test(title, async () => {
      const context = await browser.newContext(PHONE)
      const page = await context.newPage()
      page.setDefaultTimeout(LONG_MS)
      const own = await installWallet(page, account, wellKnown.rpcUrl)
      const lookAt = (next?: string | RegExp) => look(page, next)
      await play({ page, own, account, service, wellKnown, adminKey: ADMIN_KEY, look: lookAt })
      await context.close()
    })
})

describe('on a phone, a payment that stopped', { skip: noBrowser }, () => {
  let service: Read
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([startService(), startBrowser()])
    await insertSmallLedger(service.sql)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })

  /** A denied payer sees the same text as anyone under review. */
  const sentenceOf = (reason: HoldReason) => words.reasons[reason === 'senderDenied' ? 'review' : reason]
  const REASONS = Object.keys({
    wrongAmount: 1,
    saleClosed: 1,
    notOpenYet: 1,
    soldOut: 1,
    notListed: 1,
    tierAllowance: 1,
    holding: 1,
    walletLimit: 1,
    senderDenied: 1,
    oldWallet: 1,
    unattributed: 1,
    mintReverted: 1,
    supplySpent: 1,
    mintedElsewhere: 1,
    recheck: 1,
    refunding: 1,
    contractWallet: 1,
  } satisfies Record<HoldReason, 1>) as HoldReason[]

  test('shows why and what happens next for every reason', async () => {
    const context = await browser.newContext(PHONE)
    const page = await context.newPage()
    for (const reason of REASONS) {
      const txHash = hashOf(reason)
      await insertPayment(service.sql, { txHash, from: walletOf(7), valueWei: WIDE_WEI, state: 'held', reason })
      await page.goto(`http://127.0.0.1:${service.port}/payment/${txHash}`)
      await page.locator('.held').getByText(sentenceOf(reason)).waitFor()
      await look(page)
    }
    const { refunded } = words.stopped
    const dismissed = words.stopped.closed.replaceAll(/<.*?>/g, '')
    for (const [state, text] of Object.entries({ refunded, dismissed })) {
      const txHash = hashOf(state)
      await insertPayment(service.sql, { txHash, from: walletOf(7), valueWei: WIDE_WEI, state })
      await page.goto(`http://127.0.0.1:${service.port}/payment/${txHash}`)
      await page.locator('.payment').getByText(text).waitFor()
      await look(page)
    }
    // All of them as a list.
    await page.goto(`http://127.0.0.1:${service.port}/address/${walletOf(7)}`)
    await page.getByRole('table', { name: words.list.title }).waitFor()
    await look(page)
    await context.close()
  })
})
