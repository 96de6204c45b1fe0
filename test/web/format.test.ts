// Numbers, dollars and times follow the browser's locale, with English words. No amount of ether can be misread,
// because its decimals follow a point in every locale, as wallets take it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { cleanPaste, zerosAfter } from '../../web/src/format.ts'

const FORMAT = new URL('../../web/src/format.ts', import.meta.url).href
const MESSAGE = new URL('../../web/src/words/message.ts', import.meta.url).href
const SCRIPT = `
import * as f from '${FORMAT}'
import { fill } from '${MESSAGE}'
const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const at = (seconds) => new Date(now + seconds * 1000)
console.log(JSON.stringify({
  locale: new Intl.NumberFormat().resolvedOptions().locale,
  ether: [
    f.ether(1234567890123456789012n), f.ether(-1500000000000000000n), f.ether(1234567n, 6), f.shortEther(1234567890123456789n),
    f.shortEther(7n), f.shortEther(10n ** 31n + 1n), f.shortEther(15n * 10n ** 17n), f.plainEther(1234567890123456789012n),
  ],
  numbers: [
    f.dollars(10n ** 18n, 1234.5), f.dollars(10n ** 12n, 1234.5), f.percent(13953), f.times(12345), f.figure(1234567),
    f.count(12345, 'node'), fill({ one: '{n} node', other: '{n} nodes' }, { n: 1000 }),
  ],
  spans: [f.untilTime(at(3 * 86400), now), f.everySpan(86400), f.everySpan(6 * 3600), f.everySpan(90), f.relativeTime(at(3 * 3600), now), f.relativeTime(at(-120), now), f.relativeTime(at(86400), now)],
  times: [
    f.everyTime(at(0)), f.exactTime(at(0)), f.timeMark(at(0), 86_400_000), f.timeMark(at(0), 3_600_000),
  ],
}))`

interface Shown {
  locale: string
  ether: string[]
  numbers: string[]
  spans: string[]
  times: string[]
}

/** Everything as a browser of that locale shows it, in India. We treat the kinds of spaces that JavaScript writes as equal. */
function shownIn(locale: string): Shown {
  const env = { ...process.env, LC_ALL: locale.replace('-', '_'), TZ: 'Asia/Kolkata' }
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], { env, encoding: 'utf8' })
  const shown = JSON.parse(printed.replace(/[\u00a0]/g, ' ')) as Shown
  assert.equal(shown.locale, locale, 'it is in force')
  return shown
}

const etherWith = (group: string) => [
  ...[`1${group}234.567890123456789012`, '−1.5', '1.234567', '1.234567'],
  ...['0.000000000000000007', `10${group}000${group}000${group}000${group}000`, '1.5'],
  '1234.567890123456789012',
]

/** Both the browser's own time and UTC. Marks below bars are in the browser's own time. */
const LOCALES: Readonly<Record<string, { group: string; numbers: string[]; times: string[] }>> = {
  'en-US': {
    group: ',',
    numbers: ['$1,234.50', '$0.0012', '139%', '1.2345×', '1,234,567', '12,345 nodes', '1,000 nodes'],
    times: [
      ...['Jan 2, 2026, 8:34:05 AM GMT+5:30 = Jan 2, 2026, 3:04:05 AM UTC', 'Jan 2, 2026, 3:04:05 AM UTC'],
      ...['Jan 2', '8:34 AM'],
    ],
  },
  'en-GB': {
    group: ',',
    numbers: ['US$1,234.50', 'US$0.0012', '139%', '1.2345×', '1,234,567', '12,345 nodes', '1,000 nodes'],
    times: [
      ...['2 Jan 2026, 08:34:05 GMT+5:30 = 2 Jan 2026, 03:04:05 UTC', '2 Jan 2026, 03:04:05 UTC'],
      ...['2 Jan', '08:34'],
    ],
  },
  'de-DE': {
    group: '\u202f',
    numbers: ['1.234,50 $', '0,0012 $', '139%', '1,2345×', '1.234.567', '12.345 nodes', '1.000 nodes'],
    times: [
      ...['02.01.2026, 08:34:05 GMT+5:30 = 02.01.2026, 03:04:05 UTC', '02.01.2026, 03:04:05 UTC'],
      ...['2. Jan.', '08:34'],
    ],
  },
}

for (const [locale, { group, numbers, times }] of Object.entries(LOCALES))
  test(`numbers and times are written by the browser's locale, ${locale}`, () => {
    const shown = shownIn(locale)
    assert.deepEqual([shown.ether, shown.numbers, shown.times], [etherWith(group), numbers, times])
    assert.deepEqual(shown.spans, ['3 days', 'day', '6 hours', '90 seconds', 'in 3 hours', '2 minutes ago', 'tomorrow'])
  })

for (const [locale, group] of [
  ['fr-FR', '\u202f'],
  ['ar-EG', '\u202f'],
  ['hi-IN', ','],
  ['de-CH', ','],
] as const)
  test(`ether reads in one way, and spans of time in English, ${locale}`, () => {
    const { ether, spans } = shownIn(locale)
    assert.deepEqual(ether, etherWith(group))
    assert.deepEqual(spans.slice(4), ['in 3 hours', '2 minutes ago', 'tomorrow'])
  })

test('an address or hash is read from pasted text, without invisible marks', () => {
  const address = `0x${'aB'.repeat(20)}`
  const hash = `0x${'1f'.repeat(32)}`
  for (const [text, read] of [
    [` ${address}\n`, address],
    [`\u200b${address}\ufeff`, address],
    [`0x\u200d${address.slice(2)}`, address],
    [`eth:${address}`, address],
    [`eip155:1:${address}`, address],
    [`ethereum:${address}@1?value=5`, address],
    [`https://etherscan.io/address/${address}#code`, address],
    [`https://etherscan.io/tx/${hash}`, hash],
    [hash, hash],
    ['node 3', 'node 3'],
    ['vitalik.eth', 'vitalik.eth'],
    // The page must not guess which of these addresses is meant.
    [`ethereum:${address}@1/transfer?address=0x${'22'.repeat(20)}`, null],
    [`https://etherscan.io/token/${address}?a=0x${'22'.repeat(20)}`, null],
    [`${address}0`, null],
  ] as const)
    assert.equal(cleanPaste(text), read ?? text, text)
})

test('zeros bring an amount in a column to six decimals', () => {
  assert.deepEqual(
    ['3', '1,234.5', '0.1234', '0.123456', '0.000000001'].map((text) => text + zerosAfter(text)),
    ['3.000000', '1,234.500000', '0.123400', '0.123456', '0.000000001'],
  )
})
