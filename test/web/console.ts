// The operator's console for the tests of its sections: their own service, real Chromium, and the key entered.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { complaintsOf, pressIn, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { HANGING_MS } from '../support/until.ts'

/** Runs in the page. Its operator returns constantly, so the page refreshes readings two seconds old instead of ten. */
const COME_BACK = "setInterval(() => dispatchEvent(new Event('visibilitychange')), 250)"

export interface ConsoleUnderTest {
  readonly service: Service & { databaseUrl: string }
  readonly wellKnown: WellKnown
  readonly page: Page
  /** What the page has complained about so far. */
  readonly complaints: readonly string[]
  /** The admin key. */
  key(): string
  /** Enters the key. */
  enter(): Promise<void>
  /** Opens the list of sections, which a phone folds. */
  showSections(): Promise<void>
  /** Opens a section by its name. */
  go(section: string): Promise<void>
  /** Presses a button that another one shows. */
  choose(menu: string, name: string): Promise<void>
  /** Expands the first row of a list with this text. */
  unfold(text: string): Promise<void>
  dialog(): Locator
  /** Presses a button of the dialog. */
  confirm(name: string): Promise<void>
  /** Fails if axe objects to the page. */
  axe(): Promise<void>
}

/** Opens the console for the tests of this file. Calls `settings` when they run; use the result only inside tests. */
export function openConsole(settings: () => Promise<Record<string, string>> = async () => ({})): ConsoleUnderTest {
  const dataDir = temporaryDirectory()
  const opened = {} as ConsoleUnderTest & {
    service: Service & { databaseUrl: string }
    wellKnown: WellKnown
    page: Page
    complaints: string[]
  }
  let browser: Browser
  before(async () => {
    const started = startBrowser()
    opened.service = await startServiceHere(await settings(), dataDir)
    browser = await started
    opened.wellKnown = await opened.service.get<WellKnown>('/.well-known/node-ledger.json')
    opened.page = await browser.newPage()
    opened.page.setDefaultTimeout(HANGING_MS)
    await opened.page.addInitScript(COME_BACK)
    opened.complaints = complaintsOf(opened.page)
    await opened.page.goto(`${opened.service.url}/console`)
  })
  after(async () => {
    await browser.close()
    await opened.service.stop()
  })
  const key = () => (JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as { ADMIN_KEY: string }).ADMIN_KEY
  const dialog = () => opened.page.getByRole('dialog')
  const sections = () => opened.page.getByRole('navigation', { name: 'Sections of the console' })
  return Object.assign(opened, {
    key,
    enter: async () => {
      await opened.page.getByLabel('Admin key').fill(key())
      await opened.page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await opened.page.getByText('no difference on record').waitFor()
    },
    go: async (name: string) => {
      await opened.showSections()
      await sections().getByRole('link', { name, exact: true }).click()
    },
    showSections: async () => {
      const menu = opened.page.getByRole('button', { name: 'Menu' })
      if ((await menu.isVisible()) && !(await sections().isVisible())) await menu.click()
    },
    unfold: (text: string) => opened.page.locator('.rows summary').filter({ hasText: text }).first().click(),
    choose: async (menu: string, name: string) => {
      const button = opened.page.getByRole('button', { name })
      if (!(await button.isVisible())) await opened.page.getByRole('button', { name: menu }).click()
      await button.click()
    },
    dialog,
    confirm: (name: string) => pressIn(dialog(), name),
    axe: async () => assert.deepEqual(await violations(opened.page), []),
  })
}
