// `readNextRoundWei` of src/db/sends/funds.ts agrees with the second reading to the wei, over cohorts that are due before, at and after the followed
// block, tiers of several versions, and terms that switch payouts off.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readNextRoundWei } from '../../../src/db/sends/funds.ts'
import { openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { nextRoundWei } from './next-round.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const NOW = 1_000
const bps = fc.constantFrom(0, 1, 3_333, 10_000, 15_000)
const drawn = fc.record({
  cohorts: fc.array(
    fc.record({
      tierNo: fc.constantFrom(1, 1, 2),
      size: fc.constantFrom(0, 1, 1, 3),
      nextDue: fc.constantFrom(NOW - 60, NOW - 1, NOW, NOW + 1, NOW + 60),
    }),
    { maxLength: 5 },
  ),
  /** The rates of each tier's versions, the present one last. */
  tiers: fc.tuple(fc.array(bps, { minLength: 1, maxLength: 3 }), fc.array(bps, { minLength: 1, maxLength: 3 })),
  terms: fc.uniqueArray(
    fc.record({
      fromTime: fc.constantFrom(0, 10, 20),
      payouts: fc.constantFrom(true, true, true, false),
      maxWei: fc.constantFrom(0n, 1n, 9_999n, 10n ** 15n + 1n),
    }),
    { maxLength: 3, selector: (one) => one.fromTime },
  ),
  now: fc.constantFrom(NOW, NOW, null),
})

test('the next round costs at most what its due nodes can draw by the latest terms', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async ({ cohorts, tiers, terms, now }) => {
      const rows = {
        cursors: now === null ? [] : [{ name: 'follow', block_number: 5, block_hash: word(5), block_time: now }],
        cohorts: cohorts.map(
          (one, n): Row => ({
            ...{ cohort: 1 + n, tier_no: one.tierNo, interval_sec: 60, next_due: one.nextDue, size: one.size },
            ...{ block_number: 1, block_hash: word(1) },
          }),
        ),
        tiers: tiers.flatMap((versions, place) =>
          versions.map(
            (payout_bps, n): Row => ({
              ...{ tier_id: `tier-${1 + place}`, version: 1 + n, tier_no: 1 + place, label: 't', price_wei: 10 },
              ...{ max_per_wallet: 1, payout_bps, on_sale: true, live: n === versions.length - 1 },
              ...{ from_block: n, from_time: n, entered_by: 'ada' },
            }),
          ),
        ),
        credit_terms: terms.map(
          (one): Row => ({
            ...{ from_time: one.fromTime, payouts: one.payouts, min_wei: 0, max_wei: one.maxWei },
            ...{ interval_sec: 60, slot_sec: 60, entered_by: 'ada' },
          }),
        ),
      }
      const rates = new Map(tiers.map((versions, place) => [1 + place, versions.at(-1) ?? 0]))
      await tables.within(rows, async (sql) =>
        assert.equal(await readNextRoundWei(sql), nextRoundWei(cohorts, { terms, rates, now })),
      )
    }),
    { numRuns: cases(80) },
  )
})
