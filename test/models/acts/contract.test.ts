// Entries of a round: what src/domain/rounds/due-turns.ts plans for a cohort the contract takes, and it could skip or pay no further turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pendingTurns } from '../../../src/domain/rounds/due-turns.ts'
import { cases } from '../../support/property.ts'
import * as model from './contract.ts'

const INTERVAL = 60
const anyWindows = fc
  .array(fc.tuple(fc.constantFrom(0, 1, 59, 60), fc.constantFrom(1, 59, 60, 61, 121, 600)), { maxLength: 3 })
  .map((spans) => {
    let end = 990
    return spans.map(([gap, length], i) => {
      const from = end + gap
      end = from + length
      return { window: i + 1, from, until: end }
    })
  })
const anyTerms = fc
  .array(fc.tuple(fc.constantFrom(1, 59, 60, 61, 180), fc.boolean()), { minLength: 1, maxLength: 4 })
  .map((spans) => {
    let fromTime = 0
    return spans.map(([gap, payouts], i) => {
      if (i > 0) fromTime = Math.max(fromTime, 980) + gap
      return { fromTime, payouts, minWei: 1n, maxWei: 1n, intervalSec: INTERVAL, slotSec: 20 }
    })
  })

test('the contract accepts a cohort’s planned entry at any time, and none with a turn more', () => {
  const compare = (terms: unknown, windows: (model.Window & { window: number })[], start: number, behind: number) => {
    const nextDue = 985 + start
    const now = nextDue + behind
    const owed = { terms, windows } as unknown as Parameters<typeof pendingTurns>[1]
    const { skipped, payable, firstPayable, isDelayed } = pendingTurns({ nextDue, intervalSec: INTERVAL }, owed, now)
    const cohort = { nextDue, interval: INTERVAL }
    const entry = { firstDue: nextDue, skipped, paid: payable }
    const told = `${JSON.stringify(entry)} at ${now}`
    if (skipped + payable === 0) {
      // Then nothing is due, or the next turn waits for a window.
      assert.ok(nextDue > now || isDelayed, told)
      return
    }
    assert.equal(model.refusal(cohort, windows, entry, now), null, told)
    assert.equal(firstPayable, nextDue + skipped * INTERVAL)
    const more = model.refusal(cohort, windows, { ...entry, paid: payable + 1 }, now)
    // A turn more is not due, or the terms do not owe it: it is skipped by the next round, or waits.
    if (more === null) {
      const next = pendingTurns({ nextDue: firstPayable + payable * INTERVAL, intervalSec: INTERVAL }, owed, now)
      assert.ok(payable === 0 || next.skipped > 0 || next.isDelayed, told)
    }
    // The next round begins where this one ends, and the contract takes no part of it again.
    const after = { nextDue: nextDue + (skipped + payable) * INTERVAL, interval: INTERVAL }
    assert.equal(model.refusal(after, windows, entry, now), 'WrongTurn')
  }
  const start = fc.nat(130)
  const behind = fc.constantFrom(-1, 0, 1, 59, 60, 61, 119, 120, 300, 600)
  fc.assert(fc.property(anyTerms, anyWindows, start, behind, compare), { numRuns: cases(3_000) })
})
