// The pace of surveys: src/follower/survey/pace.ts, after surveys that succeed, take long, end early or fail, is the one of the second reading.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPace } from '../../../src/follower/survey/pace.ts'
import { cases } from '../../support/property.ts'
import * as model from './pace.ts'

const step: fc.Arbitrary<model.Step> = fc.oneof(
  fc.record({
    kind: fc.constant('succeeds' as const),
    tookMs: fc.constantFrom(1, 14_999, 15_000, 15_001, 60_000),
    covered: fc.constantFrom(null, null, null, 1, 9, 700),
  }),
  fc.record({ kind: fc.constant('fails' as const), from: fc.constantFrom(0, 1, 500, 9_000) }),
)
const same = (kind: model.Step['kind']) =>
  fc.array(step, { maxLength: 12 }).map((steps) => steps.filter((one) => one.kind === kind))

test('a survey covers twice the blocks of the one before, an eighth after a failure', () => {
  const steps = fc.oneof(fc.array(step, { maxLength: 8 }), same('fails'), same('succeeds'))
  const compare = (all: model.Step[], least: number) => {
    const pace = createPace(least)
    for (const one of all) {
      if (one.kind === 'fails') pace.failed(one.from)
      else pace.succeeded(one.tookMs, one.covered)
    }
    const { span, readTo } = model.paceAfter(all, least)
    for (const from of [readTo - 1, readTo, readTo + 1, readTo + 99]) {
      const isRead = from <= readTo
      assert.deepEqual([pace.surveyEnd(from), pace.readEnd(from)], isRead ? [null, readTo] : [from + span - 1, null])
    }
  }
  fc.assert(fc.property(steps, fc.constantFrom(1, 4, 512), compare), { numRuns: cases(600) })
})
