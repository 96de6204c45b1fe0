// The skips of turns that let a node join a cohort.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cohortToSkipFor, type OwedTurns } from '../../../src/domain/rounds/due-turns.ts'
import type { CreditTerms } from '../../../src/domain/rounds/turn-amounts.ts'
import { wei } from '../../../src/domain/units.ts'

/** An entry of terms. */
const from = (fromTime: number, payouts: boolean): CreditTerms => ({
  fromTime,
  payouts,
  minWei: wei(1n),
  maxWei: wei(2n),
  intervalSec: 100,
  slotSec: 10,
})
/** Windows, and terms that call no turn owed. */
const off = (windows: { from: number; until: number }[]): OwedTurns => ({
  terms: [from(0, false)],
  windows: windows.map((window, i) => ({ window: i + 1, ...window })),
})
const on: OwedTurns = { terms: [from(0, true)], windows: [] }

test('a skip is worthwhile only if the cohort takes the node then and no other takes it now', () => {
  const state = (number: number, nextDue: number, size = 1) => ({
    cohort: number,
    tierNo: 1,
    intervalSec: 600,
    nextDue,
    size,
  })
  const schedule = { intervalSec: 600, slotSec: 60 }
  const always = off([{ from: 0, until: 10_000 }])
  const at = (cohorts: ReturnType<typeof state>[]) => ({ cohorts, schedule, now: 5_000 })
  const fits = 5_000 - 600 + 570
  assert.equal(cohortToSkipFor(at([state(1, fits)]), 1, always), 1)
  assert.equal(cohortToSkipFor(at([state(1, fits)]), 2, always), null, 'another tier')
  assert.equal(cohortToSkipFor(at([state(1, fits)]), 1, on), null, 'no window')
  assert.equal(cohortToSkipFor(at([state(1, fits)]), 1, off([{ from: 0, until: fits }])), null, 'its turn waits')
  assert.equal(cohortToSkipFor(at([state(1, fits - 300)]), 1, always), null, 'of another phase')
  assert.equal(cohortToSkipFor(at([state(1, fits), state(2, 5_570)]), 1, always), null, 'another takes it')
})
