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
const MINTER = account(8)
const FOLLOWED = { number: model.SETTLED, hash: word(model.SETTLED) }
const SHARED = { number: 40, hash: word(40) }
/** The turn that a node minted now gets first, and the turns of its phase and of the other one before it. */
const JOINED = Math.floor((NOW + INTERVAL) / SLOT) * SLOT
const dueTimes = [0, 0, 1, 2, 2, 3, 4].map((back) => JOINED - back * SLOT)

const refusal = fc.constantFrom<model.Answer>('reverts', 'overGasCap', 'overGasCap', 'roleLost')
const drawnAnswer = fc.oneof({ weight: 2, arbitrary: refusal }, fc.constant<model.Answer>('sent'))
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
  changed: fc.constantFrom(null, 1, 1, 2),
  isDeleted: fc.boolean(),
  budget: fc.record({ nodes: fc.constantFrom(0, 1, 2, 99), cohorts: fc.constantFrom(0, 1, 99, 99) }),
  answer: fc.record({ openCohorts: drawnAnswer, mint: fc.oneof(drawnAnswer, fc.constant<model.Answer>('sent')) }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function planOf({
  cohorts,
  hasPhases,
  onSale,
  waiting,
  offSec,
  onSinceSec,
  isSet,
  isDeleted: _,
  ...given
}: Drawn): model.Plan {
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
    blocks: [SHARED, FOLLOWED].map(({ number, hash }) => {
      return { number, hash, parent_hash: word(number - 1), time: NOW, prevrandao: word(1) }
    }),
    sender_bases: [{ sender: MINTER, nonce: 5, block_number: 1 }],
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

/** The minter's account, whose calls the chain takes as the plan says. */
function accountOf(sql: Sql, plan: model.Plan, calls: model.Call[], isDeleted: boolean) {
  const estimate = async (call: FactoryCall) => {
    if (call.kind === 'openCohorts') assert.equal(call.first, plan.cohorts.length + 1)
    calls.push(callOf(call))
    const answer = plan.answer[call.kind as 'mint']
    if (answer === 'sent') return { kind: 'ok', gas: 1n }
    return answer === 'overGasCap'
      ? { kind: answer }
      : { kind: 'reverts', error: answer === 'roleLost' ? 'NotMinter' : 'x' }
  }
  const sign = async (call: FactoryCall) => {
    const { changed } = plan
    if (call.kind === 'mint' && changed !== null && isDeleted) await sql`DELETE FROM payments WHERE id = ${changed}`
    else if (call.kind === 'mint')
      await sql`UPDATE payments SET state = 'held', reason = 'recheck' WHERE id = ${changed}`
    return { txHash: word(7_000), raw: '0x01' }
  }
  return {
    ...{ address: MINTER, estimate, sign, balance: async () => 9n, broadcast: async () => ({ kind: 'accepted' }) },
    ...{ fees: async () => ({ maxFeeWei: 1n, maxPriorityFeeWei: 1n }), nonce: async () => 5 },
    ...{ nonces: async () => [5], noncesAt: async () => [5] },
  }
}

async function runMinter(sql: Sql, plan: model.Plan, isDeleted: boolean): Promise<model.Outcome> {
  const calls: model.Call[] = []
  let asked = 0
  const contract = {
    budget: async () => ({ ...plan.budget, lastCohort: plan.cohorts.length }),
    distributor: async () => {
      asked += 1
      return plan.hasDistributor ? account(9) : null
    },
  }
  const rules = { validForSec: VALID_SEC, feeCapWei: 10n, tipMaxWei: 1n }
  const chain = { providers: [], block: async (number: number) => ({ number, hash: word(number) }) }
  const ctx = { pool: poolWithin(sql), log: silentLog, contract, rules, chain }
  const run = { guardUsable: plan.guardUsable, agreed: plan.differ ? SHARED : null, checkLock: () => undefined }
  const cursor = { ...FOLLOWED, time: NOW }
  const sending = { sender: accountOf(sql, plan, calls, isDeleted), cursor, run }
  const mintable = { upToBlock: model.SETTLED, trustsOne: plan.trustsOne }
  const hasChanged = { sent: { kind: 'changed' }, budgetSpent: null } as const
  const { sent, budgetSpent } = await mint(ctx as never, sending as never, mintable).catch((error: Error) => {
    assert.match(error.message, /^a payment changed/)
    return hasChanged
  })
  const why = sent?.kind === 'refused' ? (sent.why as model.Answer) : (sent?.kind ?? null)
  const stored = await sql<{ kind: string }[]>`SELECT kind FROM outbox WHERE nonce = 5`
  assert.deepEqual(
    [...stored].map(({ kind }) => kind),
    why === 'sent' ? [calls.at(-1)?.kind] : [],
  )
  const minting = await sql<{ id: number }[]>`
    SELECT p.id FROM payments p JOIN outbox o ON o.id = p.outbox_id WHERE p.state = 'minting' ORDER BY p.id`
  return { calls, why, budgetSpent, minting: minting.map(({ id }) => id), asked }
}

test('a run mints and opens what is due in its budgets, and only settled payments and cohorts', async () => {
  const met = { minted: 0, changed: 0 }
  const compare = async (given: Drawn) => {
    const plan = planOf(given)
    const outcome = await tables.within(rowsOf(plan), (sql) => runMinter(sql, plan, given.isDeleted))
    assert.deepEqual(outcome, model.runOf(plan))
    met.minted += outcome.minting.length > 0 ? 1 : 0
    met.changed += outcome.why === 'changed' ? 1 : 0
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
  assert.ok(Math.min(met.minted, met.changed) >= cases(3), JSON.stringify(met))
})

const EDGES = [model.NODES_MOST - 1, model.NODES_MOST, model.NODES_MOST + 1]
/** So many payments of each tier in turn, and whether the tier has a cohort: one more than a mint holds, and one less. */
const crowd = fc.record({
  stretches: fc.array(fc.record({ tierNo: fc.constantFrom(1, 2, 3), count: fc.constantFrom(1, 3, ...EDGES) }), {
    minLength: 2,
    maxLength: 5,
  }),
  withCohort: fc.subarray([1, 2, 3], { minLength: 1 }),
})

test('a mint is full although payments that wait for a cohort come first', async () => {
  const compare = async ({ stretches, withCohort }: typeof crowd extends fc.Arbitrary<infer T> ? T : never) => {
    const waiting = stretches.flatMap(({ tierNo, count }) => Array.from({ length: count }, () => tierNo))
    const plan: model.Plan = {
      ...MANY,
      cohorts: withCohort.map((tierNo) => ({
        tierNo,
        nextDue: JOINED,
        size: 1,
        intervalSec: INTERVAL,
        openedBlock: 1,
      })),
      tiers: [1, 2, 3].map((tierNo) => ({ tierNo, onSale: false })),
      waiting: waiting.map((tierNo) => ({ tierNo, time: NOW - 10, block: 50, isBelieved: false })),
      budget: { nodes: 9_999, cohorts: 0 },
    }
    const { calls } = await tables.within(rowsOf(plan), (sql) => runMinter(sql, plan, false))
    assert.deepEqual(calls, model.runOf(plan).calls)
  }
  await fc.assert(fc.asyncProperty(crowd, compare), { numRuns: cases(12) })
})

/** Nothing but the size of a transaction limits it. */
const MANY = {
  ...{ cohorts: [], tiers: [], waiting: [], off: { from: NOW - 9, until: NOW - 5, isSet: true }, hasTerms: true },
  ...{ hasDistributor: true, guardUsable: true, differ: false, trustsOne: true, changed: null },
  ...{ budget: { nodes: 9_999, cohorts: 9_999 }, answer: { openCohorts: 'reverts', mint: 'reverts' } as const },
}

for (const hasDistributor of [true, false])
  test(`a transaction opens a hundred cohorts at most, ${hasDistributor ? 'of all phases' : 'shared'}`, async () => {
    const tierNos = Array.from({ length: 102 }, (_, n) => 1 + n)
    const waiting = tierNos.map((tierNo) => ({ tierNo, time: NOW - 10, block: 50, isBelieved: false }))
    const tiers = tierNos.map((tierNo) => ({ tierNo, onSale: false }))
    const plan = { ...MANY, hasDistributor, tiers, waiting }
    const { calls } = await tables.within(rowsOf(plan), (sql) => runMinter(sql, plan, false))
    assert.deepEqual(calls, model.runOf(plan).calls)
  })
