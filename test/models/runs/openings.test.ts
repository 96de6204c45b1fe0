// The minter's calls: src/passes/steps/mint.ts mints and opens what the second reading does, within its budgets, whatever the chain refuses.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { mint } from '../../../src/passes/steps/mint.ts'
import type { FactoryCall } from '../../../src/ports/sending.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './openings.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const { NOW, INTERVAL, SLOT } = model
const VALID_SEC = 600
/** The turn that a node minted now gets first, and the turns of its phase and of the other one before it. */
const JOINED = Math.floor((NOW + INTERVAL) / SLOT) * SLOT
const dueTimes = [0, 0, 1, 2, 2, 3, 4].map((back) => JOINED - back * SLOT)

const drawnAnswer = fc.constantFrom<model.Answer>('reverts', 'overGasCap', 'overGasCap', 'roleLost')
const drawn = fc.record({
  cohorts: fc.array(
    fc.record({
      tierNo: fc.constantFrom(1, 1, 1, 2),
      nextDue: fc.constantFrom(...dueTimes),
      size: fc.constantFrom(0, 1, 1, 2),
      intervalSec: fc.constantFrom(INTERVAL, INTERVAL, INTERVAL, 2 * INTERVAL),
      openedBlock: fc.constantFrom(1, 1, 99, 100, 101),
    }),
    { maxLength: 5 },
  ),
  /** Adds what the tiers lack otherwise, so that only who waits decides. */
  hasPhases: fc.constantFrom(true, true, true, false),
  onSale: fc.tuple(fc.constantFrom(true, true, false), fc.boolean()),
  waiting: fc.array(
    fc.record({
      tierNo: fc.constantFrom(1, 1, 1, 2),
      ageSec: fc.constantFrom(10, 10, 299, 300, 301, 400),
      block: fc.constantFrom(50, 50, 50, 100, 101),
      isBelieved: fc.constantFrom(false, false, true),
    }),
    { maxLength: 4 },
  ),
  offSec: fc.constantFrom(40, 150, 400),
  onSinceSec: fc.constantFrom(-1, 10, 30),
  isSet: fc.constantFrom(true, true, true, false),
  hasTerms: fc.constantFrom(true, true, true, true, true, true, true, false),
  hasDistributor: fc.constantFrom(true, true, true, false),
  guardUsable: fc.constantFrom(true, true, false),
  differ: fc.constantFrom(false, false, true),
  trustsOne: fc.boolean(),
  budget: fc.record({ nodes: fc.constantFrom(0, 1, 2, 99), cohorts: fc.constantFrom(0, 1, 99, 99) }),
  answer: fc.record({ openCohorts: drawnAnswer, mint: drawnAnswer }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function planOf({ cohorts, hasPhases, onSale, waiting, offSec, onSinceSec, isSet, ...given }: Drawn): model.Plan {
  const full = [1, 2].flatMap((tierNo) => [
    { tierNo, nextDue: JOINED - 2 * SLOT, size: 1, intervalSec: INTERVAL, openedBlock: 1 },
    { tierNo, nextDue: JOINED - SLOT, size: 1, intervalSec: INTERVAL, openedBlock: 1 },
  ])
  const until = NOW - onSinceSec
  return {
    cohorts: [...cohorts, ...(hasPhases ? full : [])],
    tiers: onSale.map((isOn, n) => ({ tierNo: 1 + n, onSale: isOn })),
    waiting: waiting
      .toSorted((a, b) => a.block - b.block)
      .map(({ ageSec, ...one }) => ({ ...one, time: NOW - ageSec })),
    off: { from: NOW - offSec, until, isSet },
    ...given,
  }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf({ cohorts, tiers, waiting, off, hasTerms }: model.Plan): Rows {
  const terms = { min_wei: 1n, max_wei: 2n, interval_sec: INTERVAL, slot_sec: SLOT, entered_by: 'ada' }
  return {
    cursors: [{ name: 'follow', ...inBlock(100), block_time: NOW }],
    credit_terms: hasTerms
      ? [
          { from_time: 0, payouts: true, ...terms },
          { from_time: off.from, payouts: false, ...terms },
          { from_time: off.until, payouts: true, ...terms },
        ]
      : [],
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
      ...{ cohort: 1 + n, tier_no: one.tierNo, interval_sec: one.intervalSec, next_due: one.nextDue, size: one.size },
      ...inBlock(one.openedBlock),
    })),
    payments: waiting.map(({ tierNo, time, block, isBelieved }, n) => ({
      ...{ id: 1 + n, ref: word(1 + n), tx_hash: word(1 + n), wallet: account(1), from_address: account(2) },
      ...{ value_wei: BigInt(10 * tierNo), succeeded: true, state: 'accepted', tier_id: `t${tierNo}` },
      ...{ tier_version: 1, block_time: at(time), tx_index: n, ...inBlock(block) },
      proof: isBelieved ? 'believed' : 'proven',
    })),
  }
}

const FOLLOWED = { number: model.SETTLED, hash: word(model.SETTLED) }
const SHARED = { number: 40, hash: word(40) }

/** A call in the model's words. */
function callOf(call: FactoryCall): model.Call {
  assert.equal(call.validUntil, NOW + VALID_SEC)
  if (call.kind === 'openCohorts') {
    const openings = call.openings.map(({ tierNo, firstDue, intervalSec }) => {
      assert.equal(intervalSec, INTERVAL)
      return { tierNo, firstDue }
    })
    return { kind: call.kind, openings }
  }
  assert.equal(call.kind, 'mint')
  const orders = call.kind === 'mint' ? call.orders : []
  const guard = 'guard' in call ? call.guard : null
  if (guard) assert.deepEqual(guard, guard.number === SHARED.number ? SHARED : FOLLOWED)
  return {
    kind: 'mint',
    orders: orders.map(({ to, cohort, ref }) => {
      assert.equal(to, account(2))
      return { payment: Number(ref), cohort }
    }),
    guard: guard && (guard.number === SHARED.number ? 'shared' : 'followed'),
  }
}

/** Runs a minter whose every call is refused, so that nothing is signed. */
async function runMinter(sql: Sql, plan: model.Plan): Promise<model.Outcome> {
  const calls: model.Call[] = []
  const contract = {
    budget: async () => ({ ...plan.budget, lastCohort: plan.cohorts.length }),
    distributor: async () => (plan.hasDistributor ? account(9) : null),
  }
  const estimate = async (call: FactoryCall) => {
    if (call.kind === 'openCohorts') assert.equal(call.first, plan.cohorts.length + 1)
    calls.push(callOf(call))
    const answer = plan.answer[call.kind as 'mint']
    return answer === 'overGasCap'
      ? { kind: answer }
      : { kind: 'reverts', error: answer === 'roleLost' ? 'NotMinter' : 'x' }
  }
  const ctx = { pool: poolWithin(sql), log: silentLog, contract, rules: { validForSec: VALID_SEC } }
  const run = { guardUsable: plan.guardUsable, agreed: plan.differ ? SHARED : null, checkLock: () => undefined }
  const sending = { sender: { address: account(8), estimate }, cursor: { ...FOLLOWED, time: NOW }, run }
  const mintable = { upToBlock: model.SETTLED, trustsOne: plan.trustsOne }
  const { sent, budgetSpent } = await mint(ctx as never, sending as never, mintable)
  return { calls, why: sent?.kind === 'refused' ? (sent.why as model.Answer) : null, budgetSpent }
}

test('a run mints and opens what is due in its budgets, and only settled payments and cohorts', async () => {
  const compare = async (given: Drawn) => {
    const plan = planOf(given)
    const outcome = await tables.within(rowsOf(plan), (sql) => runMinter(sql, plan))
    assert.deepEqual(outcome, model.runOf(plan))
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
})
