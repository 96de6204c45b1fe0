// A run of the judge: src/passes/steps/judge.ts and judge-page.ts decide what the second reading decides, whatever the size of a page, over random
// histories of a sale (test/db/judged-ledgers.ts).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import type { JudgeResult } from '../../../src/passes/steps/judge.ts'
import { openTables, type Tables } from '../../db/direct-rows.ts'
import { type Drawn, drawn, failFor, ledgerOf, rowsOf, runOnce } from '../../db/judged-ledgers.ts'
import { cases } from '../../support/property.ts'
import * as model from './judging.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

/** The payments as the database has them, beside the model's. */
async function compareStored(sql: Sql, ledger: model.Ledger): Promise<void> {
  const rows = await sql<(model.Payment & { version: number | null })[]>`
    SELECT id, state, reason, tier_id AS "tierId", tier_version AS version FROM payments ORDER BY id`
  const inWords = ({ id, state, reason, tierId }: model.Payment) =>
    state === 'accepted' ? { id, state, tierId } : { id, state, reason }
  const expected = ledger.payments.map((one, n) => {
    const found = rows[n]?.reason ?? null
    return inWords(found !== null && found === one.orReason ? { ...one, reason: found } : one)
  })
  assert.deepEqual(rows.map(inWords), expected)
  for (const [n, { state, versions }] of ledger.payments.entries())
    if (state === 'accepted')
      assert.ok(versions.includes(rows[n]?.version ?? 0), `accepted by version ${rows[n]?.version}`)
}

test('a run judges all payments in chain order, with any size of a page', async () => {
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    const former = ledger.payments.map(({ reason }) => reason)
    await tables.within(rowsOf(ledger), async (sql) => {
      await failFor(sql, ledger.payments)
      // A place that waits for another payment is given in a later run.
      const results: JudgeResult[] = []
      for (let run = 0; run < 4; run++) results.push(await runOnce(sql, ledger, given.page))
      // A payment that waits for a proof may find no place in the next run.
      const [failed] = Array.from({ length: 4 }, () => model.judgeAll(ledger)).slice(-1)
      assert.equal(results.at(-1)?.failed, failed, 'failed')
      const sum = (of: 'accepted' | 'held') => results.reduce((total, one) => total + one[of], 0)
      const became = (state: string) =>
        ledger.payments.filter((one, n) => one.state === state && one.reason !== former[n])
      assert.equal(sum('accepted'), ledger.payments.filter(({ state }) => state === 'accepted').length, 'accepted')
      assert.equal(sum('held'), became('held').length, 'held')
      await compareStored(sql, ledger)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
})
