// The browser for tests of pages: the system's Chromium, headless, driven by playwright-core. Its shell, where there is one, shows nothing in a
// window, and takes half the processor time. Where there is neither, the tests that need one are skipped, and say so; continuous integration
// installs it.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Frame, type Locator, type Page } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const found = PLACES.find((path) => existsSync(path))
/** A reason to skip, or false. */
export const noBrowser = found
  ? false
  : 'Chromium is not installed (on Debian: apt-get install chromium-headless-shell)'

/** Starts it without any of its own traffic. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: found ?? 'chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Tests read numbers and times by this locale, whatever the machine's is; one about another locale asks for a context of its own.
      '--lang=en-US',
    ],
  })
}

/** Collects everything a page complains about: script errors, refused loads, console errors. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  page.on('requestfailed', (request) => {
    // Requests that a page gives up when it is left are no fault.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`not loaded: ${request.url()}`)
  })
  return complaints
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** Null where axe is not loaded. What a page does right is not collected, which takes longer. */
const runAxe = (
  options: object,
) => `globalThis.axe ? axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200)))) : null`

/** Presses a button of a dialog. One that was closed by `Done` is waited for: while it is on its way out it takes the next click. */
export async function pressIn(dialog: Locator, name: string): Promise<void> {
  await dialog.getByRole('button', { name, exact: true }).click()
  if (name === 'Done') await dialog.waitFor({ state: 'detached' })
}

/** Objections of axe to a page, or what is in a frame of it, each as one line, once nothing is on its way in or out. It is loaded once for each document. */
export const violations = (page: Page | Frame): Promise<string[]> => look(page, runAxe({}))

/** The same of its colours alone: of the rules, only that of contrast looks at the theme. */
export const contrastViolations = (page: Page | Frame): Promise<string[]> =>
  look(page, runAxe({ runOnly: ['color-contrast'] }))

async function look(page: Page | Frame, run: string): Promise<string[]> {
  const found = await page.evaluate<string[] | null>(run)
  if (found !== null) return found
  await page.evaluate(readFileSync(AXE, 'utf8'))
  return await page.evaluate<string[]>(run)
}
