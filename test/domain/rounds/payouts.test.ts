// The switch payouts: what the contract's owner must send so that the terms and the contract's windows agree.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  NO_END,
  type NotOwedWindow,
  turnFate,
  type WindowCall,
  windowCallNeeded,
} from '../../../src/domain/rounds/payouts.ts'
import type { CreditTerms } from '../../../src/domain/rounds/turn-amounts.ts'
import { wei } from '../../../src/domain/units.ts'
import { cases } from '../../support/property.ts'

const entry = (fromTime: number, payouts: boolean): CreditTerms => ({
  fromTime,
  payouts,
  minWei: wei(1n),
  maxWei: wei(2n),
  intervalSec: 100,
  slotSec: 10,
})
test('an owner who follows each hint leaves no turn waiting and skips none that was owed', () => {
  const anyTerms = fc
    .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 5 })
    .chain((times) =>
      fc.record({
        times: fc.constant([0, ...times.sort((a, b) => a - b)]),
        payouts: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
      }),
    )
    .map(({ times, payouts }) => times.map((time, i) => entry(time, payouts[i] ?? true)))
  fc.assert(
    fc.property(anyTerms, fc.integer({ min: 0, max: 70 }), (terms, now) => {
      const windows: NotOwedWindow[] = []
      for (let i = 0; i < 20; i++) {
        const call = windowCallNeeded(terms, windows, now)
        if (call === null) break
        if (call.name === 'addNotOwed')
          windows.push({ window: Number(call.window), from: Number(call.from), until: Number(call.until) })
        else (windows.at(-1) as NotOwedWindow).until = Math.max(Number(call.until), now)
      }
      assert.equal(windowCallNeeded(terms, windows, now), null)
      for (let due = 0; due < 80; due++) {
        const owed = terms.findLast(({ fromTime }) => fromTime <= due)?.payouts
        assert.equal(turnFate(terms, windows, due), owed ? 'pay' : 'skip')
      }
    }),
  )
})

const OFF_END = 60
/** A second reading of the owner's next act, second by second. */
function actNeeded(terms: CreditTerms[], windows: NotOwedWindow[], now: number): WindowCall | null {
  const isOff = (time: number) => {
    const begun = terms.filter(({ fromTime }) => fromTime <= time).sort((a, b) => b.fromTime - a.fromTime)
    return begun[0]?.payouts === false
  }
  const last = windows.at(-1) ?? { window: 0, from: 0, until: 0 }
  // A window ends where the last turn not owed within it does. It cannot end before now.
  let end = Math.min(last.until, OFF_END)
  while (end > last.from && !isOff(end - 1)) end--
  if (Math.max(end, now) < last.until && end < OFF_END)
    return { name: 'endNotOwed', window: BigInt(last.window), until: BigInt(end) }
  let from = last.until
  while (from < OFF_END && !isOff(from)) from++
  if (from >= OFF_END) return null
  let until = from
  while (until < OFF_END && isOff(until)) until++
  const ends = until === OFF_END ? NO_END : until
  return { name: 'addNotOwed', window: BigInt(last.window + 1), from: BigInt(from), until: BigInt(ends) }
}

test('the owner’s next act ends a window after its last turn not owed, or adds one for the next', () => {
  const time = fc.integer({ min: 0, max: 50 })
  const entries = fc.uniqueArray(fc.tuple(time, fc.boolean()), { selector: ([at]) => at, maxLength: 5 })
  const edges = fc.uniqueArray(time, { maxLength: 4 })
  const compare = (drawn: [number, boolean][], ends: number[], isOpen: boolean, now: number) => {
    ends.sort((a, b) => a - b)
    const windows = ends.flatMap((from, i) => {
      const until = ends[i + 1] ?? (isOpen ? NO_END : undefined)
      return i % 2 === 0 && until !== undefined ? [{ window: i / 2 + 1, from, until }] : []
    })
    const terms = drawn.map(([from, payouts]) => entry(from, payouts))
    assert.deepEqual(windowCallNeeded(terms, windows, now), actNeeded(terms, windows, now))
  }
  fc.assert(fc.property(entries, edges, fc.boolean(), time, compare), { numRuns: cases(2_000) })
})

test('an open window has the contract’s largest time as its end', () => assert.equal(NO_END, Number(0xff_ff_ff_ff_ffn)))
