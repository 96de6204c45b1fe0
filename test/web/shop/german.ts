// A reader whose browser speaks German: buys without meeting an English word, as the catalogue has them, and changes the language in the footer.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { WALLET_NAME } from '../../support/browser-wallet.ts'
import { violations } from '../../support/chromium.ts'

const WORDS = new URL('../../../web/src/words/', import.meta.url)
/** What a page shows or says to a screen reader, a text at a time. */
const SHOWN = `[document.title, ...(function* () {
  for (const element of document.querySelectorAll('body *:not(script, style, noscript)')) {
    for (const name of ['aria-label', 'placeholder', 'title', 'alt']) yield element.getAttribute(name) ?? ''
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) yield node.textContent
  }
})()].map((text) => text.replace(/\\s+/g, ' ').trim()).filter((text) => text !== '')`

/** Goes through it all; the wallet in the page must hold the price of Basic. */
export async function buyInGerman(page: Page, url: string, payer: string): Promise<void> {
  const isEnglish = await readEnglish()
  const english: string[] = []
  const look = async (heading: string | RegExp) => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await page.locator('[aria-label="Wird geladen"]').first().waitFor({ state: 'detached' })
    const shown = await page.evaluate<string[]>(SHOWN)
    english.push(...shown.filter(isEnglish).map((text) => `${heading}: ${text}`))
  }
  const go = (path: string) => page.evaluate(`history.pushState(null, '', '${path}')`)
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click()

  await page.goto(`${url}/buy/basic`)
  await look('Basic kaufen')
  assert.equal(await page.evaluate('document.documentElement.lang'), 'de')
  await press('Wallet verbinden')
  await press(WALLET_NAME)
  await page.getByText('Sie haben 0 der 10 Nodes dieses Tiers').waitFor()
  await look('Basic kaufen')
  assert.deepEqual(await violations(page), [])
  await press('0.01 ETH bezahlen')
  await page.getByText(/Node \d+ gehört Ihnen/).waitFor()
  await look('Basic kaufen')
  await page.getByRole('link', { name: 'Den Node ansehen' }).click()
  await look(/^Node \d/)
  for (const [path, heading] of [
    ['/', /^Eine Überweisung in Ether/],
    ['/tiers', 'Tiers'],
    ['/rounds', 'Runden'],
    ['/round/999999', 'Runde 999999'],
    [`/payment/0x${'4'.repeat(64)}`, 'Zahlung'],
    [`/address/${payer}`, /^Wallet 0x/],
    ['/address/0x', 'Wallet 0x'],
    ['/owner', 'Meine Nodes'],
    ['/nowhere', 'Diese Seite gibt es nicht'],
  ] as const) {
    await go(path)
    await look(heading)
    // The service says it in English.
    if (path === '/address/0x') await page.getByRole('alert').getByText('Das ist keine Adresse').waitFor()
  }
  assert.deepEqual(english, [])
  await go('/')
  assert.deepEqual(await violations(page), [])
  await press('English')
  await page.getByRole('heading', { level: 1, name: /^One transfer of ether/ }).waitFor()
  assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
  assert.equal((await page.evaluate<string[]>(SHOWN)).filter(isEnglish).length > 20, true, 'this finds English')
}

/** Tells a text that is of the English catalogue and not of the German one. */
async function readEnglish(): Promise<(text: string) => boolean> {
  const [english, german] = [await stretchesOf('en'), await stretchesOf('de')]
  const own = [...english].filter((stretch) => !german.has(stretch))
  const whole = new Set(own)
  // A short one may be within a word of the other language.
  const long = own.filter((stretch) => stretch.split(' ').length > 2)
  return (text) => whole.has(text) || long.some((stretch) => text.includes(stretch))
}

/** What stands between the places of a catalogue's texts. */
async function stretchesOf(language: string): Promise<Set<string>> {
  const files = globSync(`${language}/*.ts`, { cwd: WORDS.pathname }).filter((file) => !/index|said/.test(file))
  const parts = await Promise.all(files.map((file) => import(new URL(file, WORDS).href) as Promise<object>))
  const texts = (part: object): string[] =>
    Object.values(part).flatMap((text: string | object) => (typeof text === 'string' ? [text] : texts(text)))
  const stretches = parts.flatMap(texts).flatMap((text) => text.split(/\{\w+\}|<\/?\w+>/))
  return new Set(stretches.map((stretch) => stretch.trim()).filter((stretch) => /[a-z]{2}/i.test(stretch)))
}
