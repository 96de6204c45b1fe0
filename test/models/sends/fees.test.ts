// The fees that transactions offer: src/passes/steps/fees.ts bounds the provider's suggestion by the last 20 followed blocks as the second reading does, over
// blocks that come and are replaced, and asks no provider for what blocks show.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { writeFees } from '../../../src/db/sends/fees.ts'
import { feesNow, feesSuggested, feesToHave } from '../../../src/passes/steps/fees.ts'
import { openTables, type Tables } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from '../fees.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const GWEI = 10n ** 9n
const wei = fc.constantFrom(null, 1n, GWEI / 2n, GWEI, 3n * GWEI, 90n * GWEI)
const run = fc.record({
  /** The blocks of a run begin so far above the last one; below it after a reorganisation. */
  step: fc.constantFrom(1, 1, 1, 2, 0, -1, 19),
  blocks: fc.array(fc.record({ baseFeeWei: wei, tipWei: wei }), { minLength: 1, maxLength: 4 }),
})
const caps = fc.record({
  feeCapWei: fc.constantFrom(4n * GWEI, 500n * GWEI),
  tipMaxWei: fc.constantFrom(GWEI, 10n * GWEI),
})

/** What a run of blocks leaves of the last 20. */
function keep(
  kept: Map<number, model.Paid>,
  run: { number: number; paid: model.Paid }[],
  height: number,
): model.Paid[] {
  for (const { number, paid } of run) kept.set(number, paid)
  for (const number of kept.keys()) if (number > height || number <= height - 20) kept.delete(number)
  return [...kept].toSorted(([a], [b]) => a - b).map(([, paid]) => paid)
}

test('the last blocks and the caps bound a suggestion, and the caps alone a rejected one', async () => {
  const compare = async (runs: (typeof run extends fc.Arbitrary<infer T> ? T : never)[], rules: model.Caps) => {
    await tables.within({}, async (sql) => {
      const kept = new Map<number, model.Paid>()
      let height = 50
      for (const { step, blocks } of runs) {
        const first = height + step
        height = first + blocks.length - 1
        const numbered = blocks.map((paid, n) => ({ number: first + n, paid }))
        await writeFees(
          sql,
          height,
          numbered.map(({ number, paid }) => ({ number, ...paid })),
        )
        const recent = keep(kept, numbered, height)
        const asked: unknown[] = []
        const offer = { maxFeeWei: 5n, maxPriorityFeeWei: 1n }
        const account = { fees: async (limits: unknown) => asked.push(limits) && offer }
        const ctx = { pool: poolWithin(sql), rules }
        const { tipWei, baseFeeWei } = model.believed(recent, rules)
        const limits = { capWei: rules.feeCapWei, tipMaxWei: tipWei, baseFeeMaxWei: baseFeeWei }
        const assumed = model.assumed(recent, rules)
        assert.deepEqual(await feesNow(ctx as never, account as never), offer)
        assert.deepEqual(await feesSuggested(ctx as never, account as never), offer)
        assert.deepEqual(await feesToHave(ctx as never, account as never), assumed ?? offer)
        const expected = [limits, { ...limits, tipMaxWei: rules.tipMaxWei }]
        assert.deepEqual(asked, assumed === null ? [...expected, limits] : expected)
      }
    })
  }
  const runs = fc.array(run, { minLength: 1, maxLength: 5 })
  await fc.assert(fc.asyncProperty(runs, caps, compare), { numRuns: cases(60) })
})
