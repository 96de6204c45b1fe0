// What tests of wallets on other devices stand on: a relay, a service whose pages use it, and a browser.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { complaintsOf, startBrowser } from '../../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../../support/service.ts'
import { type WalletElsewhere, walletElsewhere } from '../../support/wallets/elsewhere.ts'
import { startRelay, type TestRelay } from '../../support/wallets/relay.ts'

const LONG_MS = 60_000
export const PROJECT = '0123456789abcdef0123456789abcdef'
/** The connector, as pages name it. */
export const NAME = 'Another device (WalletConnect)'

export interface ElsewhereStage {
  relay: TestRelay
  service: Service
  wellKnown: WellKnown
  browser: Browser
  /** A page, and what it complains about. */
  open(options?: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }>
  /** A wallet of an account of the test's chain; `chain`, if not that one. */
  wallet(account: number, chain?: string): Promise<WalletElsewhere>
  stop(): Promise<void>
}

export async function startElsewhere(): Promise<ElsewhereStage> {
  const relay = await startRelay()
  const settings = { WALLETCONNECT_PROJECT_ID: PROJECT, WALLETCONNECT_RELAY_URL: relay.url }
  const credit = { CREDIT_INTERVAL_SEC: '20', CREDIT_SLOT_SEC: '10' }
  const [service, browser] = await Promise.all([startServiceHere({ ...settings, ...credit }), startBrowser()])
  const wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  const wallets: WalletElsewhere[] = []
  return {
    ...{ relay, service, wellKnown, browser },
    open: async (options) => {
      const page = await (await browser.newContext({ locale: 'en-US', ...options })).newPage()
      page.setDefaultTimeout(LONG_MS)
      return { page, complaints: complaintsOf(page) }
    },
    wallet: async (account, chain) => {
      const made = await walletElsewhere(relay.url, wellKnown.rpcUrl, account, chain)
      wallets.push(made)
      return made
    },
    stop: async () => {
      for (const made of wallets) await made.stop()
      await browser.close()
      await service.stop()
      relay.stop()
    },
  }
}

export const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()

/** Opens the list of wallets and has an offer made. Returns what its code holds, by the button that copies it. */
export async function offerTo(page: Page): Promise<string> {
  await press(page, 'Connect a wallet')
  await press(page, NAME)
  await page.getByRole('img', { name: 'QR code for the wallet' }).waitFor()
  await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text }')
  await press(page, 'Copy the link')
  return page.evaluate<string>('window.copied')
}
