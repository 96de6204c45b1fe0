// Purchases with wallets that do not say what they did. Real Chromium, the real service and chain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { installWallet } from '../support/browser-wallet.ts'
import { noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { HANGING_MS } from '../support/until.ts'
import { UNANSWERED } from './shop/unanswered.ts'

const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'

describe('a purchase by a wallet', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  before(async () => {
    ;[service, browser] = await Promise.all([startServiceHere({ ADMIN_KEY }), startBrowser()])
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  for (const [title, account, play] of UNANSWERED)
    test(title, async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      page.setDefaultTimeout(HANGING_MS)
      const wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
      const own = await installWallet(page, account, wellKnown.rpcUrl)
      const look = async () => assert.deepEqual(await violations(page), [])
      await play({ page, own, account, service, wellKnown, adminKey: ADMIN_KEY, look })
      await context.close()
    })
})
