// Ladders: src/passes/steps/open-ladder.ts opens the steps that the second reading opens, at its place, and reports of places what it reports.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { openSoldOut, tellScarce } from '../../../src/passes/steps/open-ladder.ts'
import { account, at, openTables, type Rows, recording, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './opened.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const IDS = ['t1', 't2', 't3']
const drawnTier = fc.record({
  supply: fc.constantFrom(null, 1, 2, 3, 10),
  sold: fc.constantFrom(0, 1, 2, 3),
  after: fc.constantFrom(null, ...IDS, 'gone'),
  opened: fc.constantFrom(null, null, null, { blockNumber: 7, txIndex: 2, innerIndex: 1 }),
})
const drawn = fc.array(drawnTier, { minLength: 3, maxLength: 3 }).map((all) =>
  all.map((one, n): model.Tier => {
    const tierId = `t${1 + n}`
    const waitsFor = one.after === tierId ? null : one.after
    return { ...one, tierId, after: waitsFor, opened: waitsFor === null ? null : one.opened }
  }),
)
const numberOf = (tierId: string) => Number(tierId.slice(1))

const rowsOf = (tiers: model.Tier[]): Rows => ({
  tiers: tiers.map(({ tierId, supply, after }) => ({
    ...{ tier_id: tierId, version: 1, tier_no: numberOf(tierId), label: 'T', price_wei: 5, max_per_wallet: 99 },
    ...{ payout_bps: 10_000, on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test', supply },
    opens_after: after,
  })),
  tier_openings: tiers.flatMap(({ tierId, after, opened }) =>
    opened === null
      ? []
      : [
          {
            ...{ tier_id: tierId, opens_after: after, from_block: opened.blockNumber },
            ...{ tx_index: opened.txIndex, inner_index: opened.innerIndex },
          },
        ],
  ),
  // The last one in the order of the chain is not the last row.
  payments: tiers.flatMap(({ tierId, sold }) =>
    Array.from({ length: sold }, (_, n) => {
      const [id, block] = [10 * numberOf(tierId) + n, 50 - n]
      return {
        ...{ id, ref: word(id), tx_hash: word(id), wallet: account(1), from_address: account(5), value_wei: 5 },
        ...{ succeeded: true, state: 'accepted', proof: 'proven', tier_id: tierId, tier_version: 1, tx_index: id },
        ...{ block_number: block, block_hash: word(block), block_time: at(1_000) },
      }
    }),
  ),
})

const readOpenings = async (sql: Sql) =>
  new Map(
    (
      await sql<({ tierId: string } & model.Place)[]>`
        SELECT tier_id AS "tierId", from_block AS "blockNumber", tx_index AS "txIndex", inner_index AS "innerIndex" FROM tier_openings`
    ).map(({ tierId, ...place }) => [tierId, place]),
  )
const formerly = (tiers: model.Tier[]) =>
  new Map(tiers.flatMap(({ tierId, opened }) => (opened === null ? [] : [[tierId, opened] as const])))

test('a step opens with the followed block if the tier before it sold out by no payment', async () => {
  const compare = async (tiers: model.Tier[]) => {
    await tables.within(rowsOf(tiers), async (sql) => {
      const sent: string[] = []
      await openSoldOut({ pool: recording(sql, sent) } as never, { number: 60, hash: word(60), time: 1_000 } as never)
      const opened = model.openedBy(tiers, 60)
      assert.deepEqual(await readOpenings(sql), new Map([...formerly(tiers), ...opened]))
      assert.equal(sent.filter((text) => text === 'NOTIFY ledger').length, opened.size > 0 ? 1 : 0)
      const isAwaited = tiers.some(({ after, opened }) => opened === null && after !== null && after !== 'gone')
      if (!isAwaited) assert.deepEqual(sent, [], 'nothing waits, so no place is counted')
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(80) })
})

test('a tier is reported as nearly sold and as sold out once, and the steps behind it open', async () => {
  const compare = async (tiers: model.Tier[], befores: number[], isListed: boolean) => {
    await tables.within(rowsOf(tiers), async (sql) => {
      const known = tiers.map(({ tierId }) => ({ tierId, tierNo: numberOf(tierId) }))
      const taken = tiers.flatMap((one, n) => {
        const before = Math.min(befores[n] ?? 0, one.sold)
        return one.supply === null || one.sold === 0 ? [] : [{ one, before, supply: one.supply }]
      })
      const tierNoOf = ({ tierId }: model.Tier) => numberOf(tierId) + (isListed ? 0 : 10)
      const sold = taken.map(({ one, before, supply }) => ({ tierNo: tierNoOf(one), supply, before, sold: one.sold }))
      const isWhole = isListed || taken.every(({ one }) => !model.toldOf(one, 0).includes('tierSoldOut'))
      if (!isWhole) return
      await tellScarce(sql, known as never, sold)
      const told = await sql`SELECT actor, action, subject, detail FROM audit ORDER BY id`
      const expected = taken.flatMap(({ one, before, supply }) => {
        const tierId = isListed ? one.tierId : String(tierNoOf(one))
        const detail = { tierId, supply, sold: one.sold }
        return model.toldOf(one, before).map((action) => ({ actor: 'pass', action, subject: tierId, detail }))
      })
      assert.deepEqual([...told], expected)
      const openings = formerly(tiers)
      for (const { one } of taken.filter(({ one, before }) => model.toldOf(one, before).includes('tierSoldOut')))
        for (const step of tiers)
          if (step.after === one.tierId && step.opened === null)
            openings.set(step.tierId, { blockNumber: 50, txIndex: 10 * numberOf(one.tierId), innerIndex: 0 })
      assert.deepEqual(await readOpenings(sql), openings)
    })
  }
  const places = fc.array(fc.nat(3), { minLength: 3, maxLength: 3 })
  const isListed = fc.constantFrom(true, true, true, false)
  await fc.assert(fc.asyncProperty(drawn, places, isListed, compare), { numRuns: cases(100) })
})
