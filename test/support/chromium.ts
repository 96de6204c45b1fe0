// The browser for tests of pages: the system's Chromium, headless, driven by playwright-core. Prefers its headless
// shell, which opens no window and takes half the processor time. If neither is installed, tests that need a browser
// are skipped, and say so. Continuous integration installs it.
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
/** Why to skip; false if there is a browser. */
export const noBrowser = found
  ? false
  : 'Chromium is not installed (on Debian: apt-get install chromium-headless-shell)'

/** Starts it without any network traffic of its own. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: found ?? 'chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Tests read numbers and times in this locale, whatever the machine's is. A test of another locale opens its own context.
      '--lang=en-US',
    ],
  })
}

/** Collects everything a page complains about: script errors, refused loads, console errors. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()} (${message.location().url})`)
  })
  page.on('requestfailed', (request) => {
    // A page that is left cancels its requests. That is no fault.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`not loaded: ${request.url()}`)
  })
  return complaints
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/** Null if axe is not loaded. We do not collect passed rules, which takes longer. */
const runAxe = (
  options: object,
) => `globalThis.axe ? axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200)))) : null`

/** Presses a button in a dialog. Waits for a dialog closed by `Done`, which would catch the next click while it fades out. */
export async function pressIn(dialog: Locator, name: string): Promise<void> {
  await dialog.getByRole('button', { name, exact: true }).click()
  if (name === 'Done') await dialog.waitFor({ state: 'detached' })
}

/** Axe's objections to a page or a frame's content, one line each, once nothing moves any more. Loads axe once per document. */
export const violations = (page: Page | Frame): Promise<string[]> => look(page, runAxe({}))

/** Only the colours, because contrast is the only rule that depends on the theme. */
export const contrastViolations = (page: Page | Frame): Promise<string[]> =>
  look(page, runAxe({ runOnly: ['color-contrast'] }))

async function look(page: Page | Frame, run: string): Promise<string[]> {
  const found = await page.evaluate<string[] | null>(run)
  if (found !== null) return found
  await page.evaluate(readFileSync(AXE, 'utf8'))
  return await page.evaluate<string[]>(run)
}

/** Unfolds a page, then finds addresses, hashes and amounts that leave a box around them, and amounts with an ellipsis. Code that scrolls may leave its box. */
export const misshapen = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    for (const folded of document.querySelectorAll('details')) folded.open = true
    const found = []
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let text; (text = texts.nextNode()); ) {
      if (/[0-9.]…|…[0-9.]/.test(text.data.replace(/0x[0-9a-fA-F]+…/g, ''))) found.push('shortened: ' + text.data)
      if (!/0x[0-9a-fA-F]{4}/.test(text.data) && !text.parentElement.closest('.amount')) continue
      const range = document.createRange()
      range.selectNodeContents(text)
      const { left, right } = range.getBoundingClientRect()
      for (let box = text.parentElement; box && right > left && !box.matches('body, pre, .visually-hidden'); box = box.parentElement) {
        const edge = box.getBoundingClientRect()
        const isOutside = left < edge.left - 1 || right > edge.right + 1
        if (isOutside && !['inline', 'contents'].includes(getComputedStyle(box).display)) found.push(text.data + ' leaves ' + box.outerHTML.slice(0, 80))
      }
    }
    for (const part of document.querySelectorAll('*'))
      if (part.scrollWidth > part.clientWidth && getComputedStyle(part).textOverflow === 'ellipsis' && /[0-9]/.test(part.textContent))
        found.push('shortened: ' + part.textContent)
    return found
  })()`)

/** Counts a page's bytes as they cross the network for a first visit: each address once, because a slow machine sees the page ask again. */
export async function countTransfers(page: Page): Promise<{ bytes: number; firsts: Map<string, string> }> {
  const counted = { bytes: 0, firsts: new Map<string, string>() }
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  session.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
    // What is in the page itself crosses with the page.
    if (!url.startsWith('data:') && !counted.firsts.has(url)) counted.firsts.set(url, requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if ([...counted.firsts.values()].includes(requestId)) counted.bytes += encodedDataLength
  })
  return counted
}
