// What acts on many refunds say: the lines of src/operator/acts/refunds/prepare-all.ts and prepare-many.ts tell what the second reading tells, over random
// outcomes with none, one and several of each thing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { allInWords } from '../../../src/operator/acts/refunds/prepare-all.ts'
import type { OneOfMany } from '../../../src/operator/acts/refunds/prepare-many.ts'
import { account } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './words.ts'

const REFUSALS = Array.from({ length: 8 }, (_, n) => `No, because of reason ${n}.`)
const WHY: [RegExp, model.Why][] = [
  [/^A mint that was signed before/, 'mint'],
  [/^The block is not final/, 'block'],
  [/^Only one provider reports/, 'payer'],
  [/^No payer is proven/, 'nobody'],
  [/^It has no value/, 'nothing'],
]

const often = fc.constantFrom(true, true, true, true, false)
const drawnOne: fc.Arbitrary<model.One> = fc.record({
  refusal: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, fc.constantFrom(...REFUSALS)),
  mayStillMint: often.map((one) => !one),
  ...{ isPaymentFinal: often, sendNow: often, hasPayer: often, valueWei: fc.constantFrom(0n, 1n, 5n) },
})
const wei = fc.constantFrom(0n, 1n, 10n ** 17n, 10n ** 18n, 12n * 10n ** 18n + 5n)
const time = fc.constantFrom(null, 1_000_000_000, 1_000_000_019, 1_000_000_020, 1_000_000_079)
const some = fc.constantFrom(0, 1, 2, 30)
const drawnOutcome: fc.Arbitrary<model.Outcome> = fc.record({
  ...{ isDry: fc.boolean(), count: some, sumWei: wei, oldest: time, newest: time, sendNowWei: wei },
  ...{ fileCount: some, remaining: some },
})

function resultOf({ refusal, hasPayer, valueWei, ...prepared }: model.One, n: number): OneOfMany {
  const payer = hasPayer ? account(5) : null
  const fields = refusal === null ? { from: payer, valueWei, prepared } : { from: null, valueWei: null, prepared: null }
  return { payment: `${n}`, refusal, ...fields } as OneOfMany
}
const isoOf = (sec: number | null) => (sec === null ? null : new Date(1_000 * sec).toISOString())

test('an act on many shows what is held, what may be sent, and what is in no file and why', () => {
  const compare = (outcome: model.Outcome, ones: model.One[]) => {
    const { isDry: dryRun, oldest, newest, ...sums } = outcome
    const times = { oldestAt: isoOf(oldest), newestAt: isoOf(newest) }
    const lines = allInWords({ dryRun, ...times, ...sums, results: ones.map(resultOf), safeBatches: [] })
    const others = lines.flatMap((line): [string, number][] => {
      const [, count, why = ''] = /^In no file: (\d+)[^(]*\([^)]*\)\. (.*)$/.exec(line) ?? []
      return count === undefined ? [] : [[WHY.find(([form]) => form.test(why))?.[1] ?? why, Number(count)]]
    })
    assert.deepEqual(others, model.reasonsTold(ones))
    const rest = model.restLine(outcome)
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('In no file')),
      [model.heldLine(outcome), model.sendLine(outcome), ...(rest === null ? [] : [rest])],
    )
  }
  const ones = fc.array(drawnOne, { maxLength: 12 })
  fc.assert(fc.property(drawnOutcome, ones, compare), { numRuns: cases(500) })
})
