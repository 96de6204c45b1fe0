// Amounts, counts and times read the same for all readers of a language, wherever their browsers are; and no amount of ether can be read in two ways:
// its decimals follow a point in every language, as wallets take it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const FORMAT = new URL('../../web/src/format.ts', import.meta.url).href
const CATALOGUE = new URL('../../web/src/words/catalogue.ts', import.meta.url).href
const SCRIPT = `
import * as f from '${FORMAT}'
import { loadTexts } from '${CATALOGUE}'
await loadTexts()
const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const at = (seconds) => new Date(now + seconds * 1000)
console.log(JSON.stringify({
  locale: new Intl.NumberFormat().resolvedOptions().locale,
  thousand: (1234).toLocaleString(),
  shown: [
    f.ether(1234567890123456789012n), f.ether(-1500000000000000000n), f.ether(1234567n, 6),
    f.dollars(10n ** 18n, 1234.5), f.dollars(10n ** 12n, 1234.5), f.count(12345, 'node'), f.percent(13953), f.times(12345),
    f.shortEther(1234567890123456789n), f.shortEther(7n), f.shortEther(10n ** 31n + 1n), f.shortEther(15n * 10n ** 17n),
    f.localTime(at(0)), f.everyTime(at(0)),
    f.plainEther(1234567890123456789012n), f.roughEther(1234.5), f.figure(1234567), f.untilTime(at(3 * 86400), now),
    f.relativeTime(at(3 * 3600), now), f.relativeTime(at(-120), now), f.exactTime(at(0)), f.day(at(0)), f.timeOfDay(at(0)),
    f.markOf(at(0), 'day', f.ownZone()), f.markOf(at(0), 'hour', f.ownZone()), f.markOf(at(0), 'day', null),
    f.markOf(at(0), 'day', 'America/New_York'),
  ],
}))`
const ENGLISH = [
  ...['1,234.567890123456789012', '−1.5', '1.234567', '$1,234.50', '$0.0012', '12,345 nodes', '139.53 %', '1.2345×'],
  ...['1.234567', '0.000000000000000007', '10,000,000,000,000', '1.5'],
  ...['2 Jan 2026, 08:34:05 GMT+5:30', '2 Jan 2026, 08:34:05 GMT+5:30 = 2 Jan 2026, 03:04:05 UTC'],
  ...['1234.567890123456789012', '1,235', '1,234,567', '3 days'],
  ...['in 3 hours', '2 minutes ago', '2 Jan 2026, 03:04:05 UTC', '2 Jan', '03:04:05'],
  // UTC, and below it the browser's own time, which may be of another day.
  ...['2 Jan UTC\n2 Jan, 08:34', '03:04 UTC\n08:34', '2 Jan', '2 Jan UTC\n1 Jan, 22:04'],
]
const GERMAN = [
  ...[
    '1\u202f234.567890123456789012',
    '−1.5',
    '1.234567',
    '1.234,50\u00a0$',
    '0,0012\u00a0$',
    '12.345 nodes',
    '139,53 %',
    '1,2345×',
  ],
  ...['1.234567', '0.000000000000000007', '10\u202f000\u202f000\u202f000\u202f000', '1.5'],
  ...['02.01.2026, 08:34:05 GMT+5:30', '02.01.2026, 08:34:05 GMT+5:30 = 02.01.2026, 03:04:05 UTC'],
  ...['1234.567890123456789012', '1\u202f235', '1.234.567', '3 Tagen'],
  ...['in 3 Stunden', 'vor 2 Minuten', '02.01.2026, 03:04:05 UTC', '2. Jan.', '03:04:05'],
  ...['2. Jan. UTC\n2. Jan., 08:34', '03:04 UTC\n08:34', '2. Jan.', '2. Jan. UTC\n1. Jan., 22:04'],
]

for (const [locale, thousand, expected] of [
  ['en-US', '1,234', ENGLISH],
  ['fr-FR', '1\u202f234', ENGLISH],
  ['hi-IN', '1,234', ENGLISH],
  ['ar-EG', '١٬٢٣٤', ENGLISH],
  ['de-DE', '1.234', GERMAN],
  ['de-CH', "1'234", GERMAN],
] as const) {
  const language = expected === GERMAN ? 'German' : 'English'
  test(`amounts, counts and times are written as in ${language} where the locale is ${locale}`, () => {
    const env = { ...process.env, LC_ALL: locale.replace('-', '_'), TZ: 'Asia/Kolkata' }
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], { env, encoding: 'utf8' })
    const told = JSON.parse(printed) as { locale: string; thousand: string; shown: string[] }
    assert.deepEqual([told.locale, told.thousand], [locale, thousand], 'it is in force')
    assert.deepEqual(told.shown, expected)
  })
}
