// A tier's change in words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wei } from '../../../src/domain/units.ts'
import { changesIn, versionInWords as inWords, whatStillBuys } from '../../../src/operator/acts/tier-change.ts'
import { version } from '../../domain/tiers/version.ts'

const CENT = wei(10n ** 16n)
const at = (time: string) => Date.parse(`2026-03-01T${time}Z`) / 1000

/** In words, from the block 800 that these versions begin in. */
const versionInWords = (before: Parameters<typeof inWords>[0], after: Parameters<typeof inWords>[1]) =>
  inWords(before, after, 'from block 800')

test('a new price shows from when it applies, and until when the old one buys', () => {
  const before = version({ priceWei: CENT })
  const after = {
    ...before,
    priceWei: wei((CENT * 12n) / 10n),
    fromBlock: 800,
    fromTime: at('14:06:00'),
    graceSec: 900,
  }
  assert.equal(versionInWords(before, after), '0.01 -> 0.012 ETH from block 800; 0.01 still buys until 14:21 UTC.')
  const late = { ...after, fromTime: at('23:50:00') }
  assert.match(versionInWords(before, late), /until 2026-03-02 00:05 UTC\.$/)
  assert.equal(versionInWords(before, { ...after, graceSec: 0 }), '0.01 -> 0.012 ETH from block 800.')
  assert.equal(
    versionInWords({ ...before, onSale: false }, { ...after, onSale: false }),
    '0.01 -> 0.012 ETH from block 800.',
  )
  assert.equal(versionInWords(null, after), `${after.label} at 0.012 ETH from block 800.`)
  assert.equal(versionInWords(before, { ...before, graceSec: 0 }), 'the grace period ends from block 800.')
  assert.match(
    versionInWords(before, { ...before, onSale: false, graceSec: 900 }),
    /^on sale -> off sale from .*; it still sells until/,
  )
})

test('a tier that is past its closing still sells until the earlier end', () => {
  const off = (closesAt: string) => {
    const before = version({ priceWei: CENT, closesAt: at(closesAt), graceSec: 900 })
    return versionInWords(before, { ...before, onSale: false, fromTime: at('10:05:58') })
  }
  assert.equal(off('10:02:00'), 'on sale -> off sale from block 800; it still sells until 10:17 UTC.')
  assert.match(off('10:30:00'), /still sells until 10:20:58 UTC\.$/)
  assert.equal(off('09:00:00'), 'on sale -> off sale from block 800.')
})

test('an operator’s text is compared with the stored value', () => {
  const before = version({ priceWei: CENT, supply: 10, opensAt: at('10:00:00') })
  const typed = {
    tierId: before.tierId,
    priceWei: String(CENT),
    supply: '0',
    opensAt: String(at('11:30:00')),
    closesAt: '0',
    opensAfter: '-',
    reason: 'x',
  }
  assert.deepEqual(changesIn(before, typed), [
    'supply 10 -> none',
    'opens 2026-03-01 10:00 UTC -> 2026-03-01 11:30 UTC',
  ])
  assert.deepEqual(changesIn(before, { label: 'Gold', immediately: true }), [`name ${before.label} -> Gold`])
  assert.equal(whatStillBuys(before, typed), null)
  assert.equal(whatStillBuys(before, { priceWei: '5' }), '0.01 still buys')
})
