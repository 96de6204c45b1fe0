// Missed turns: caught up in few rounds, to the wei; skipped if the contract's owner has declared that they are not
// owed; and paid without the cohort that the ledger has wrong. Each test has its own world.
import assert from 'node:assert/strict'
import { inTransaction } from '../../src/db/core/sql.ts'
import { readDistributions, readTurns } from '../../src/db/reads/public-api.ts'
import { insertTerms, readCreditTerms } from '../../src/db/sale/terms.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, SLOT_SEC, type World } from '../support/world.ts'
import { catchUpOnYear, cohortsOf, creditedOf, roundsSent } from './year.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n

const inWorld = worldTest({ finish: (world) => checkInvariants(world) })
/** The invariants read old states, which a test's chain forgets after some hundred blocks. */
const inLongWorld = worldTest()

/** Enters terms that differ from the first ones only in the switch. */
const switchPayouts = (world: World, fromTime: number, payouts: boolean) =>
  inTransaction(world.pool, async (sql) => {
    const [terms = assert.fail()] = await readCreditTerms(sql)
    await insertTerms(sql, { ...terms, fromTime, payouts }, 'test')
  })
inLongWorld('a year without rounds is caught up in a handful of transactions, to the wei', async (world) => {
  await world.pay(5, BASIC)
  await world.pay(5, BASIC)
  await world.pay(6, PLUS)
  await world.settle()
  await world.chain.mine(1, 4 * SLOT_SEC)
  await world.pay(7, BASIC)
  await world.settle()
  await catchUpOnYear(world, { cohorts: 3, blocksPerTurn: 2, roundsMax: 2 })
})

inWorld('turns within a window are skipped with the first round after it, and stay unpaid', async (world) => {
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort, next } = assert.fail()] = await cohortsOf(world)
  await switchPayouts(world, next, false)
  await switchPayouts(world, next + 3 * INTERVAL_SEC, true)
  await world.act(0, 'addNotOwed', [1n, BigInt(next), BigInt(next + 3 * INTERVAL_SEC)])
  await world.chain.setNextTime(next + 2 * INTERVAL_SEC + 1)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, 'nothingDue', 'no node waits for it: no gas is spent on skipping')
  assert.equal(await roundsSent(world), 0)
  await world.chain.setNextTime(next + 4 * INTERVAL_SEC + 1)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, null)
  await world.rest()
  assert.equal(await roundsSent(world), 1)
  assert.deepEqual([...(await world.pool`SELECT cohort, due, turns FROM skips`)], [{ cohort, due: next, turns: 3 }])
  const [turn] = await world.pool`SELECT due, turns, amount_wei AS amount FROM turns`
  assert.deepEqual([turn?.due, turn?.turns], [next + 3 * INTERVAL_SEC, 2])
  assert.equal(await creditedOf(world, 1), turn?.amount)
  const page = (await readTurns(world.pool, { round: 1n, limit: 1, offset: 1 })) ?? assert.fail()
  assert.deepEqual([page.total, page.turns.length, page.turns[0]?.dueSec], [2, 1, next + 4 * INTERVAL_SEC])
  const [listed] = await readDistributions(world.pool, 1)
  assert.deepEqual(
    [listed?.turns[0]?.count, listed?.turns[0]?.dueSec, listed?.turns[0]?.seed],
    [2, next + 3 * INTERVAL_SEC, null],
  )
  assert.equal(await readTurns(world.pool, { round: 2n, limit: 1, offset: 0 }), null)
})

inWorld('a cohort that is wrong in the ledger stops no other’s pay, and is reported', async (world) => {
  // Else the turn before its first one would fall due before the chain's first block.
  await world.chain.mine(2, INTERVAL_SEC)
  for (const price of [BASIC, PLUS]) await world.pay(5, price)
  await world.settle()
  await world.chain.mine(1, 4 * SLOT_SEC)
  await world.pay(6, BASIC)
  await world.settle()
  const [wrong = assert.fail()] = await cohortsOf(world)
  // As if the follower had never seen a skip of it.
  await world.pool`UPDATE cohorts SET next_due = next_due - ${INTERVAL_SEC} WHERE cohort = ${wrong.cohort}`
  await world.chain.mine(1, INTERVAL_SEC)
  const outcome = await world.credit()
  assert.deepEqual([outcome.reason, outcome.nodeCount], [null, 2])
  await world.chain.mine()
  // The first run linked the headers before that turn.
  await world.credit()
  const [refused] = await world.pool`SELECT detail FROM audit WHERE action = 'cohortsRefused'`
  assert.deepEqual(refused?.detail, { cohorts: [wrong.cohort] })
  await world.payments()
  const [told] = await world.pool`SELECT detail -> 'drifts' -> 0 AS drift FROM audit WHERE action = 'drift'`
  assert.deepEqual([told?.drift.cohort, told?.drift.field], [wrong.cohort, 'nextDue'], 'no block explains it')
  await world.pool`UPDATE cohorts SET next_due = next_due + ${INTERVAL_SEC} WHERE cohort = ${wrong.cohort}`
  await world.rest()
  const paid = await world.pool`SELECT cohort, due FROM turns WHERE cohort = ${wrong.cohort}`
  assert.deepEqual([...paid], [{ cohort: wrong.cohort, due: wrong.next }])
})
