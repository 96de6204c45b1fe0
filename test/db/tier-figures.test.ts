// What the nodes of a tier got: whatever is credited, taken back, priced or kept in between, a read answers what the turns say, worked out here
// by other means.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { connect, type Pool, type Sql } from '../../src/db/core/sql.ts'
import { rewindRounds } from '../../src/db/nodes/rounds.ts'
import { findWrongFigures, keepFigures, readTierFigures, readTiersToKeep } from '../../src/db/nodes/tier-figures.ts'
import { hashOf, insertCohort } from '../support/http-ledger.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'

const DAY = 86_400
const ETHER = 10n ** 18n
const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

let database: TestDatabase
let pool: Pool
before(async () => {
  database = await createDatabase()
  pool = connect(database.url, { max: 2, prepare: true, applicationName: 'test' })
  for (const no of [1, 2]) {
    await pool`
      INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time, entered_by)
      VALUES (${`tier-${no}`}, 1, ${no}, 'Tier', ${no}, 10, 10000, true, 0, 1, 'test')`
    for (const cohort of [no, no + 2]) await insertCohort(pool, { cohort, tierNo: no, nextDue: 99 * DAY + cohort })
  }
  await pool`INSERT INTO cursors (name, block_number, block_hash, block_time) VALUES ('follow', 9, ${hashOf('block')}, ${40 * DAY})`
})
after(async () => {
  await pool.end({ timeout: 1 })
  await database.drop()
})

/** Does it in a transaction that is taken back. */
async function inVain(body: (sql: Sql) => Promise<void>): Promise<void> {
  const done = new Error('taken back')
  await pool
    .begin(async (sql) => {
      await body(sql as unknown as Sql)
      throw done
    })
    .catch((error: unknown) => {
      if (error !== done) throw error
    })
}

async function keepAll(sql: Sql): Promise<void> {
  for (const tier of await readTiersToKeep(sql)) await keepFigures(sql, tier)
}

interface Credit {
  cohort: number
  due: number
  ether: number
  turns: number
  nodes: number
}
async function credit(sql: Sql, round: number, { cohort, due, ether, turns, nodes }: Credit): Promise<void> {
  const [wei, block] = [(BigInt(ether) * ETHER).toString(), hashOf(`block ${round}`)]
  await sql`
    INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash, answer)
    VALUES (${round}, 'treasury', 1, ${nodes}, ${hashOf(`round ${round}`)}, to_timestamp(${due}), ${round}, ${block}, '{}')`
  await sql`
    INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, answer)
    VALUES (${round}, ${cohort}, ${round}, ${due}, ${turns}, ${wei}, ${nodes}, '{}')`
}

/** A history: every act is one of the ledger's, or of an hour's price. */
class History {
  private round = 0
  private readonly sql: Sql

  constructor(sql: Sql) {
    this.sql = sql
  }

  async credit(what: Omit<Credit, 'due'> & { hour: number }): Promise<void> {
    this.round++
    // A cohort has no two credits of one time.
    await credit(this.sql, this.round, { ...what, due: what.hour * 3_600 + this.round })
  }

  async takeBack(rounds: number): Promise<void> {
    this.round = Math.max(0, this.round - rounds)
    await rewindRounds(this.sql, this.round)
  }

  async follow(time: number): Promise<void> {
    await this.sql`UPDATE cursors SET block_time = ${time}`
  }

  async price({ hour, usd }: { hour: number; usd: number }): Promise<void> {
    await this.sql`
      INSERT INTO price_history (hour, usd, quoted_at) VALUES (to_timestamp(${hour * 3_600}), ${usd}, now()) ON CONFLICT DO NOTHING`
  }

  async forget(hour: number): Promise<void> {
    await this.sql`DELETE FROM price_history WHERE hour <= to_timestamp(${hour * 3_600})`
  }

  keep(): Promise<void> {
    return keepAll(this.sql)
  }
}

interface Amount {
  wei: bigint
  usd: number | null
  weight: number
}

/** The lowest, median and highest of amounts, each as often as it weighs. */
function spreadOf(amounts: readonly Amount[]) {
  const each = [...amounts].sort((a, b) => (a.wei === b.wei ? (a.usd ?? 0) - (b.usd ?? 0) : a.wei < b.wei ? -1 : 1))
  const total = each.reduce((sum, { weight }) => sum + weight, 0)
  let upTo = 0
  const median = each.find(({ weight }) => {
    upTo += weight
    return upTo * 2 >= total
  })
  if (!median) return assert.fail('no amounts')
  // Of equal amounts the cheapest is shown.
  const first = each.find(({ wei }) => wei === median.wei) ?? median
  const isPriced = each.every(({ usd }) => usd !== null)
  return {
    lowWei: String(each.at(0)?.wei),
    medianWei: String(median.wei),
    highWei: String(each.at(-1)?.wei),
    medianUsd: isPriced ? first.usd : null,
  }
}

/** The answer, from every turn and price of the ledger. */
async function expected(sql: Sql, tierNo: number) {
  const [head] = await sql<{ time: number }[]>`SELECT block_time AS time FROM cursors`
  const day = Math.floor((head?.time ?? 0) / DAY)
  const prices = new Map(
    (await sql<{ hour: Date; usd: number }[]>`SELECT hour, usd FROM price_history`).map((row) => [+row.hour, row.usd]),
  )
  const turns = await sql<{ cohort: number; due: number; turns: number; wei: bigint; nodes: number }[]>`
    SELECT t.cohort, due, turns, amount_wei AS wei, node_count AS nodes FROM turns t JOIN cohorts USING (cohort)
    WHERE tier_no = ${tierNo} ORDER BY due`
  const counted = turns
    .filter(({ due, nodes }) => nodes > 0 && due >= (day - 30) * DAY)
    .map((turn) => {
      const price = prices.get(Math.floor(turn.due / 3_600) * 3_600_000)
      return { ...turn, usd: price === undefined ? null : Number(turn.wei / ETHER) * price }
    })
  const byTurn = counted.map(({ wei, usd, turns: count, nodes }) => ({
    ...{ wei: wei / BigInt(count), usd: usd === null ? null : usd / count, weight: nodes * count },
  }))
  const before = counted.filter(({ due }) => due < day * DAY)
  const byDay = [...Map.groupBy(before, ({ cohort, due }) => `${Math.floor(due / DAY)} ${cohort}`)].map(
    ([key, own]) => ({
      day: Number(key.split(' ')[0]),
      wei: own.reduce((sum, { wei }) => sum + wei, 0n),
      usd: own.reduce((sum: number | null, { usd }) => (sum === null || usd === null ? null : sum + usd), 0),
      weight: Math.max(...own.map(({ nodes }) => nodes)),
    }),
  )
  const days = [...Map.groupBy(byDay, (row) => row.day)].sort(([a], [b]) => a - b)
  const sum = (amounts: readonly Amount[]) => amounts.reduce((total, { weight }) => total + weight, 0)
  return {
    ...{ tierId: `tier-${tierNo}`, nodeCount: 0, nextRoundAt: null, since: iso((day - 30) * DAY) },
    turn: byTurn.length === 0 ? null : { ...spreadOf(byTurn), credits: sum(byTurn) },
    day: byDay.length === 0 ? null : spreadOf(byDay),
    days: days.map(([at, own]) => ({ dayAt: iso(at * DAY), ...spreadOf(own), nodeCount: sum(own) })),
  }
}

async function check(sql: Sql): Promise<void> {
  assert.deepEqual(await findWrongFigures(sql), [])
  for (const no of [1, 2])
    assert.deepEqual(JSON.parse((await readTierFigures(sql, `tier-${no}`)) ?? 'null'), await expected(sql, no))
}

/** Few hours, so that prices meet turns: some of each of three days, and some that thirty days leave behind. */
const hour = fc.constantFrom(5 * 24, 10 * 24 + 3, 38 * 24, 38 * 24 + 1, 39 * 24 + 23, 40 * 24)
const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(
      fc.constant('credit'),
      fc.record({
        ...{ cohort: fc.integer({ min: 1, max: 4 }), hour, ether: fc.integer({ min: 0, max: 9 }) },
        ...{ turns: fc.integer({ min: 1, max: 3 }), nodes: fc.integer({ min: 0, max: 4 }) },
      }),
    ),
  },
  fc.tuple(fc.constant('takeBack'), fc.integer({ min: 1, max: 3 })),
  fc.tuple(fc.constant('follow'), fc.constantFrom(40 * DAY + 3_700, 40 * DAY + 9_999, 41 * DAY, 39 * DAY + 1)),
  { weight: 2, arbitrary: fc.tuple(fc.constant('price'), fc.record({ hour, usd: fc.integer({ min: 1, max: 9 }) })) },
  fc.tuple(fc.constant('forget'), hour),
  { weight: 4, arbitrary: fc.tuple(fc.constant('keep'), fc.constant(0)) },
)

test('whatever happens to turns, prices and the head, a read answers what the turns say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 15, maxLength: 30, size: 'max' }), (acts) =>
      inVain(async (sql) => {
        const history = new History(sql)
        for (const [name, input] of acts) {
          await (history[name as keyof History] as (input: unknown) => Promise<void>).call(history, input)
          await check(sql)
        }
      }),
    ),
    { numRuns: 12 },
  )
})

test('a read takes what was kept, until a turn, a price or a day has come since', async () => {
  const changes: ((history: History) => Promise<void>)[] = [
    (history) => history.credit({ cohort: 3, hour: 39 * 24, ether: 1, turns: 1, nodes: 1 }),
    (history) => history.takeBack(1),
    (history) => history.price({ hour: 39 * 24, usd: 3 }),
    (history) => history.follow(41 * DAY + 1),
  ]
  for (const change of changes) {
    await inVain(async (sql) => {
      const history = new History(sql)
      await history.credit({ cohort: 1, hour: 39 * 24, ether: 2, turns: 1, nodes: 1 })
      await history.keep()
      assert.equal((await readTiersToKeep(sql)).length, 0)
      await sql`UPDATE tier_figures SET figures = '{"since":"of the kept row"}'`
      const answered = async () => JSON.parse((await readTierFigures(sql, 'tier-1')) ?? 'null').since
      assert.equal(await answered(), 'of the kept row')
      // A price that is there already is no change, and neither is a later block of the same day.
      await history.follow(40 * DAY + 9)
      assert.deepEqual(await findWrongFigures(sql), [1, 2])
      await change(history)
      assert.notEqual(await answered(), 'of the kept row')
      assert.deepEqual(await findWrongFigures(sql), [])
    })
  }
})

test('figures that were worked out beside a change are void once it is there', async () => {
  const turn = { cohort: 1, due: 39 * DAY, ether: 1, turns: 1, nodes: 1 }
  await pool.begin(async (sql) => {
    await credit(sql as unknown as Sql, 1, turn)
    // On another connection, which does not see the turn yet.
    await keepAll(pool)
    assert.equal(JSON.parse((await readTierFigures(pool, 'tier-1')) ?? 'null').turn, null)
  })
  await check(pool)
  await keepAll(pool)
  await check(pool)
})
