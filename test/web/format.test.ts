// Amounts, counts and times read the same wherever a browser is: a comma for a point would make a thousand of one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const FORMAT = new URL('../../web/src/format.ts', import.meta.url).href
const SCRIPT = `
import * as f from '${FORMAT}'
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
    f.relativeTime(at(3 * 3600), now), f.relativeTime(at(-120), now), f.exactTime(at(0)), f.day(at(0)), f.timeOfDay(at(0)),
  ],
}))`
const EXPECTED = [
  ...['1,234.567890123456789012', '−1.5', '1.234567', '$1,234.50', '$0.0012', '12,345 nodes', '139.53 %', '1.2345×'],
  ...['1.234567', '0.000000000000000007', '10,000,000,000,000', '1.5'],
  ...['2 Jan 2026, 08:34:05 GMT+5:30', '2 Jan 2026, 08:34:05 GMT+5:30 = 2 Jan 2026, 03:04:05 UTC'],
  ...['in 3 hours', '2 minutes ago', '2 Jan 2026, 03:04:05 UTC', '2 Jan', '03:04:05'],
]

for (const [locale, thousand] of [
  ['en-US', '1,234'],
  ['de-DE', '1.234'],
  ['fr-FR', '1\u202f234'],
  ['hi-IN', '1,234'],
  ['ar-EG', '١٬٢٣٤'],
] as const) {
  test(`amounts, counts and times are written alike where the locale is ${locale}`, () => {
    const env = { ...process.env, LC_ALL: locale.replace('-', '_'), TZ: 'Asia/Kolkata' }
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], { env, encoding: 'utf8' })
    const told = JSON.parse(printed) as { locale: string; thousand: string; shown: string[] }
    assert.deepEqual([told.locale, told.thousand], [locale, thousand], 'it is in force')
    assert.deepEqual(told.shown, EXPECTED)
  })
}
