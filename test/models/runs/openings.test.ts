// Openings of cohorts: of a minter without a budget, src/passes/steps/mint.ts says what it would have needed, and that is what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { mint } from '../../../src/passes/steps/mint.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './openings.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const { NOW, INTERVAL, SLOT } = model
/** The turn that a node minted now gets first, and the turns of its phase and of the other one before it. */
const JOINED = Math.floor((NOW + INTERVAL) / SLOT) * SLOT
const dueTimes = [0, 0, 1, 2, 2, 3, 4].map((back) => JOINED - back * SLOT)

const drawn = fc.record({
  cohorts: fc.array(
    fc.record({
      tierNo: fc.constantFrom(1, 1, 1, 2),
      nextDue: fc.constantFrom(...dueTimes),
      size: fc.constantFrom(0, 1, 1, 2),
    }),
    { maxLength: 5 },
  ),
  /** Adds what the tiers lack otherwise, so that only who waits decides. */
  hasPhases: fc.constantFrom(true, true, true, false),
  onSale: fc.tuple(fc.constantFrom(true, true, false), fc.boolean()),
  waiting: fc.array(
    fc.record({ tierNo: fc.constantFrom(1, 1, 1, 2), ageSec: fc.constantFrom(10, 10, 299, 300, 301, 400) }),
    { maxLength: 3 },
  ),
  offSec: fc.constantFrom(40, 150, 400),
  onSinceSec: fc.constantFrom(-1, 10, 30),
  isSet: fc.constantFrom(true, true, true, false),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function planOf({ cohorts, hasPhases, onSale, waiting, offSec, onSinceSec, isSet }: Drawn): model.Plan {
  const full = [1, 2].flatMap((tierNo) => [
    { tierNo, nextDue: JOINED - 2 * SLOT, size: 1 },
    { tierNo, nextDue: JOINED - SLOT, size: 1 },
  ])
  // Payouts are on again, or the window goes on: otherwise turns would wait for their owner.
  const until = NOW - onSinceSec
  return {
    cohorts: [...cohorts, ...(hasPhases ? full : [])],
    tiers: onSale.map((isOn, n) => ({ tierNo: 1 + n, onSale: isOn })),
    waiting: waiting.map(({ tierNo, ageSec }) => ({ tierNo, time: NOW - ageSec })),
    off: { from: NOW - offSec, until, isSet: isSet || until > NOW },
  }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf({ cohorts, tiers, waiting, off }: model.Plan): Rows {
  const terms = { min_wei: 1n, max_wei: 2n, interval_sec: INTERVAL, slot_sec: SLOT, entered_by: 'ada' }
  return {
    cursors: [{ name: 'follow', ...inBlock(100), block_time: NOW }],
    credit_terms: [
      { from_time: 0, payouts: true, ...terms },
      { from_time: off.from, payouts: false, ...terms },
      { from_time: off.until, payouts: true, ...terms },
    ],
    owner_acts: off.isSet
      ? [
          {
            ...{ log_index: 1, name: 'NotOwedSet', at: at(NOW - 5), tx_hash: word(9), ...inBlock(90) },
            detail: JSON.stringify({ window: 1, from: off.from, until: off.until }),
          },
        ]
      : [],
    tiers: tiers.map(({ tierNo, onSale }) => ({
      ...{ tier_id: `t${tierNo}`, version: 1, tier_no: tierNo, label: 'T', price_wei: BigInt(10 * tierNo) },
      ...{ max_per_wallet: 9, payout_bps: 10_000, on_sale: onSale, live: true, from_block: 0, from_time: 0 },
      entered_by: 'ada',
    })),
    cohorts: cohorts.map((one, n) => ({
      ...{ cohort: 1 + n, tier_no: one.tierNo, interval_sec: INTERVAL, next_due: one.nextDue, size: one.size },
      ...inBlock(1),
    })),
    payments: waiting.map(({ tierNo, time }, n) => ({
      ...{ id: 1 + n, ref: word(1 + n), tx_hash: word(1 + n), wallet: account(1), from_address: account(2) },
      ...{ value_wei: BigInt(10 * tierNo), succeeded: true, proof: 'proven', state: 'accepted', tier_id: `t${tierNo}` },
      ...{ tier_version: 1, block_time: at(time), tx_index: n, ...inBlock(50) },
    })),
  }
}

test('cohorts are opened for phases that a tier lacks, and for payments that no round will make room for in time', async () => {
  const compare = async (given: Drawn) => {
    const plan = planOf(given)
    const { budgetSpent } = await tables.within(rowsOf(plan), async (sql) => {
      const contract = {
        budget: async () => ({ nodes: 0, cohorts: 0, lastCohort: plan.cohorts.length }),
        distributor: async () => account(9),
      }
      const ctx = { pool: poolWithin(sql), log: silentLog, contract, rules: { validForSec: 600 } }
      const sender = { address: account(8), estimate: async () => ({ kind: 'ok', gas: 1n }) }
      const cursor = { number: 100, hash: word(100), time: NOW }
      const sending = { sender, cursor, run: { guardUsable: true, checkLock: () => undefined } }
      return await mint(ctx as never, sending as never, { upToBlock: 100, believes: true })
    })
    assert.equal(budgetSpent, model.nextOf(plan))
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
})
