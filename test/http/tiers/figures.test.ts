// GET /api/tiers/:id/figures: what a tier's nodes really got, worked out by hand beside it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pool } from '../../../src/db/core/sql.ts'
import { type Service, startService } from '../../support/http.ts'
import { hashOf, insertCohort, insertTiers } from '../../support/http-ledger.ts'

const DAY = 86_400
/** Noon of a day in UTC: the head. */
const NOW = Date.UTC(2026, 5, 30, 12) / 1000
const TODAY = NOW - DAY / 2
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

interface Turn {
  cohort: number
  due: number
  amountWei: bigint
  nodes: number
  turns?: number
}
let round = 0
async function credit(sql: Pool, { cohort, due, amountWei, nodes, turns = 1 }: Turn): Promise<void> {
  round++
  await sql`
    INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash, answer)
    VALUES (${round}, 'treasury', ${(amountWei * BigInt(nodes)).toString()}, ${nodes}, ${hashOf(`round ${round}`)}, to_timestamp(${due}), ${round}, ${hashOf('block')}, '{}')`
  await sql`
    INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, tier_id, answer)
    VALUES (${round}, ${cohort}, ${round}, ${due}, ${turns}, ${amountWei.toString()}, ${nodes}, 'basic', '{}')`
}

let service: Service
before(async () => {
  service = await startService()
  const { sql } = service
  await insertTiers(sql)
  await sql`INSERT INTO cursors (name, block_number, block_hash, block_time) VALUES ('follow', 9, ${hashOf('block')}, ${NOW})`
  for (const cohort of [1, 2]) await insertCohort(sql, { cohort, tierNo: 1, nextDue: NOW + cohort * 60 })
  await insertCohort(sql, { cohort: 3, tierNo: 2, nextDue: NOW + 1 })
  await sql`UPDATE cohorts SET size = 3 WHERE cohort = 2`
})
after(() => service.close())
const figures = async (tier = 'basic') => {
  service.clock.now += 60_000
  return service.get(`/api/tiers/${tier}/figures`)
}

test('a tier without a credit has none to show, and one that is not there is 404', async () => {
  const { json } = await figures('plus')
  assert.deepEqual(json, {
    ...{ tierId: 'plus', nodeCount: 0, nextRoundAt: null, since: iso(TODAY - 30 * DAY) },
    ...{ turn: null, day: null, days: [] },
  })
  assert.equal((await figures('nothing')).status, 404)
  assert.equal((await figures('No%20tier')).status, 404)
})

test('ranges and medians are of nodes, by turn and by whole days, in dollars where every price is known', async () => {
  const { sql } = service
  const yesterday = NOW - 12 * 3600 - DAY
  // Two turns of one node, and one of three; a credit for two turns counts as two of its half.
  await credit(sql, { cohort: 1, due: yesterday + 3600, amountWei: 10n ** 18n, nodes: 1 })
  await credit(sql, { cohort: 1, due: yesterday + 7200, amountWei: 6n * 10n ** 18n, nodes: 1, turns: 2 })
  await credit(sql, { cohort: 2, due: yesterday + 3600, amountWei: 2n * 10n ** 18n, nodes: 3 })
  // Today is not over, and what is older than thirty days does not count.
  await credit(sql, { cohort: 1, due: NOW - 3600, amountWei: 9n * 10n ** 18n, nodes: 1 })
  await credit(sql, { cohort: 2, due: NOW - 31 * DAY, amountWei: 1n, nodes: 1 })
  await credit(sql, { cohort: 3, due: NOW - 3600, amountWei: 5n, nodes: 7 })
  const ether = (count: number) => (BigInt(count) * 10n ** 18n).toString()
  const unpriced = (await figures()).json
  assert.deepEqual(unpriced, {
    ...{ tierId: 'basic', nodeCount: 3, nextRoundAt: iso(NOW + 120), since: iso(TODAY - 30 * DAY) },
    turn: { lowWei: ether(1), medianWei: ether(2), highWei: ether(9), medianUsd: null, credits: 7 },
    day: { lowWei: ether(2), medianWei: ether(2), highWei: ether(7), medianUsd: null },
    days: [
      {
        dayAt: iso(yesterday),
        lowWei: ether(2),
        medianWei: ether(2),
        highWei: ether(7),
        medianUsd: null,
        nodeCount: 4,
      },
    ],
  })
  for (const [due, usd] of [
    [yesterday + 3600, 100],
    [yesterday + 7200, 200],
  ] as const)
    await sql`INSERT INTO price_history (hour, usd, quoted_at) VALUES (to_timestamp(${due}), ${usd}, now())`
  const { json } = await figures()
  // The price of today's turn is not known, and so the median of all turns is not, either.
  assert.deepEqual([json.turn.medianUsd, json.day.medianUsd, json.days[0].medianUsd], [null, 200, 200])
})

test('a cohort of very many turns shortens the time that is counted, and the answer says since when', async () => {
  const { sql } = service
  await insertCohort(sql, { cohort: 4, tierNo: 3, nextDue: NOW + 10 })
  await sql`
    INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash, answer)
    SELECT 1000 + n, 'treasury', 1, 1, ${hashOf('many')}, now(), 1, ${hashOf('block')}, '{}' FROM generate_series(1, 1000) n`
  await sql`
    INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, answer)
    SELECT 1000 + n, 4, n, ${NOW}::bigint - n * 600, 1, n, 1, '{}' FROM generate_series(1, 1000) n`
  const { json } = await figures('founder')
  assert.deepEqual([json.since, json.turn.credits, json.turn.highWei], [iso(NOW - 744 * 600), 744, '744'])
  assert.deepEqual([json.turn.medianWei, json.days.length], ['372', 4])
})
