// The times of turns: which are owed, which are not, and in which blocks they come.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  cohortToSkipFor,
  firstBlocksOfTurns,
  type OwedTurns,
  pendingTurns,
} from '../../../src/domain/rounds/due-turns.ts'
import { turnFate } from '../../../src/domain/rounds/payouts.ts'
import type { CreditTerms } from '../../../src/domain/rounds/turn-amounts.ts'
import { wei } from '../../../src/domain/units.ts'
import '../../support/property.ts'

const cohort = { nextDue: 1_000, intervalSec: 100 }

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

test('if payouts are on, every turn that has come is owed', () => {
  const cases: [number, number][] = [
    [999, 0],
    [1_000, 1],
    [1_099, 1],
    [1_100, 2],
    [2_000, 11],
  ]
  for (const [upTo, payable] of cases)
    assert.deepEqual(
      pendingTurns(cohort, on, upTo),
      { skipped: 0, payable, firstPayable: 1_000, isDelayed: false },
      `up to ${upTo}`,
    )
})

test('turns in a window are skipped, later ones paid until the next, those after the last wait', () => {
  const window = (begins: number, until: number) => ({ from: begins, until })
  const cases: [ReturnType<typeof window>[], number, number, number, boolean][] = [
    // windows, skipped, payable, first payable, delayed; of the turns from 1000 to 1500
    [[window(1_000, 1_200), window(9_000, 9_001)], 2, 4, 1_200, false],
    [[window(1_000, 1_201), window(9_000, 9_001)], 3, 3, 1_300, false],
    [[window(1_001, 1_200)], 0, 1, 1_000, false],
    [[window(1_000, 1_200)], 2, 0, 1_200, true],
    [[window(0, 5_000)], 6, 0, 1_600, false],
    [[window(0, 1_000)], 0, 0, 1_000, true],
    [[], 0, 0, 1_000, true],
    [[window(900, 1_100), window(1_100, 1_200)], 1, 0, 1_100, false],
    [[window(900, 1_000), window(1_000, 1_200)], 2, 0, 1_200, true],
    [[window(900, 1_100), window(1_250, 1_350)], 1, 2, 1_100, false],
    [[window(2_000, 3_000)], 0, 6, 1_000, false],
  ]
  for (const [windows, skipped, payable, firstPayable, isDelayed] of cases)
    assert.deepEqual(
      pendingTurns(cohort, off(windows), 1_500),
      { skipped, payable, firstPayable, isDelayed },
      JSON.stringify(windows),
    )
})

test('turns in a row each end as they would alone, until all are done or wait', () => {
  const time = fc.integer({ min: 0, max: 3_000 })
  const switches = fc.uniqueArray(fc.tuple(time, fc.boolean()), { selector: ([at]) => at, maxLength: 5 })
  const times = fc.uniqueArray(time, { maxLength: 8 })
  fc.assert(
    fc.property(switches, times, fc.integer({ min: 1, max: 300 }), time, (entries, ends, intervalSec, upTo) => {
      ends.sort((a, b) => a - b)
      const windows = ends.flatMap((begins, i) => {
        const until = ends[i + 1]
        return i % 2 === 0 && until !== undefined ? [{ window: i / 2 + 1, from: begins, until }] : []
      })
      const terms = entries.map(([at, payouts]) => from(at, payouts))
      const fateOf = (due: number) => turnFate(terms, windows, due)
      let nextDue = 500
      for (let rounds = 0; nextDue <= upTo; rounds++) {
        const { skipped, payable, firstPayable, isDelayed } = pendingTurns(
          { nextDue, intervalSec },
          { terms, windows },
          upTo,
        )
        assert.equal(isDelayed, firstPayable <= upTo && fateOf(firstPayable) === 'delay')
        for (let i = 0; i < skipped; i++) assert.equal(fateOf(nextDue + i * intervalSec), 'skip')
        for (let i = 0; i < payable; i++) assert.equal(fateOf(firstPayable + i * intervalSec), 'pay')
        if (skipped + payable === 0) return assert.ok(isDelayed)
        assert.ok(rounds < 40)
        nextDue = firstPayable + payable * intervalSec
      }
    }),
  )
})

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

test('the blocks of turns are those that a search through all of them finds', () => {
  const cohorts = fc.array(
    fc.record({ nextDue: fc.integer({ min: 0, max: 400 }), intervalSec: fc.integer({ min: 1, max: 90 }) }),
    { maxLength: 5 },
  )
  const steps = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(cohorts, steps, fc.integer({ min: 0, max: 200 }), (turning, gaps, afterTime) => {
      let time = afterTime
      const times = gaps.map((gap) => (time += gap))
      const expected = times.flatMap((at, place) => {
        const before = times[place - 1] ?? afterTime
        const isFirst = turning.some(({ nextDue, intervalSec }) => {
          for (let due = nextDue; due <= at; due += intervalSec) if (due > before) return true
          return false
        })
        return isFirst ? [place] : []
      })
      assert.deepEqual(firstBlocksOfTurns(times, afterTime, turning), expected)
    }),
  )
})
