// Turns that are neither paid nor skipped for long: the contract names no distributor, or payouts are off and its owner
// has not declared so. The service still mints nodes, into one cohort per interval, and pays what is owed once it can.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTransaction } from '../../src/db/core/sql.ts'
import { insertTerms, readCreditTerms } from '../../src/db/sale/terms.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, SLOT_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const NOBODY = `0x${'00'.repeat(20)}`

/** A sale in each slot of several intervals. */
async function sell(world: World, slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot++) {
    await world.chain.increaseTime(SLOT_SEC)
    const txHash = await world.pay(5 + (slot % 3), BASIC)
    await world.settle()
    assert.equal((await paymentOf(world, txHash))?.state, 'minted', `in slot ${slot}`)
  }
}
const cohortsOpened = async (world: World) => (await world.pool`SELECT FROM cohorts WHERE size > 0`).count

test('without a distributor, an interval’s nodes share a cohort, and are paid once one exists', async () => {
  const world = await startWorld({}, { maxPerWallet: 40n })
  try {
    await world.act(0, 'setDistributor', [NOBODY, 0n, 0n])
    const slots = INTERVAL_SEC / SLOT_SEC
    await sell(world, 3 * slots)
    assert.ok((await cohortsOpened(world)) <= 4, `${await cohortsOpened(world)} cohorts in three intervals`)
    assert.equal((await world.pool`SELECT FROM turns`).count, 0)
    await world.act(0, 'setDistributor', [world.at(2), 0n, 2n ** 47n])
    await world.rest()
    const [paid] = await world.pool`SELECT sum(turns) AS turns, count(DISTINCT cohort) AS cohorts FROM turns`
    assert.ok(paid?.turns >= 3, 'nothing was lost while no round could be paid')
    await checkInvariants(world)
  } finally {
    await world.close()
  }
})

test('payouts that are off open no cohort per slot, and pay, skip or lose no turn', async () => {
  const world = await startWorld({}, { maxPerWallet: 40n })
  try {
    await world.settle()
    await sell(world, 1)
    const [first] = await readCreditTerms(world.pool)
    assert.ok(first)
    const offFrom = Number((await world.chain.block()).timestamp) + 1
    await inTransaction(world.pool, (sql) => insertTerms(sql, { ...first, fromTime: offFrom, payouts: false }, 'test'))
    const opened = (await world.pool`SELECT FROM cohorts`).count
    await sell(world, (2 * INTERVAL_SEC) / SLOT_SEC)
    assert.ok((await world.pool`SELECT FROM cohorts`).count <= opened + 2)
    const outcome = await world.credit()
    assert.deepEqual([outcome.reason, outcome.txHash], ['pending', null])
    assert.equal((await world.pool`SELECT FROM rounds`).count, 0)
    // The owner declares it: due turns are skipped if a node needs the cohort, and never paid.
    await world.act(0, 'addNotOwed', [1n, BigInt(offFrom), 2n ** 40n - 1n])
    await world.chain.increaseTime(2 * INTERVAL_SEC)
    await world.pay(8, BASIC)
    for (let i = 0; i < 6; i++) {
      await world.chain.mine()
      await world.payments()
      await world.credit()
    }
    await world.settle()
    assert.equal((await world.pool`SELECT FROM turns WHERE due >= ${offFrom}`).count, 0)
    await checkInvariants(world)
  } finally {
    await world.close()
  }
})

test('terms entered while a round is signed void it: nothing is stored, and the next run replans', async () => {
  const world = await startWorld()
  try {
    await world.settle()
    await sell(world, 1)
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    const [first] = await readCreditTerms(world.pool)
    const distributor = world.ctx.distributor
    assert.ok(first && distributor)
    const enters = world.instance({
      distributor: {
        ...distributor,
        async sign(...args) {
          await inTransaction(world.pool, (sql) =>
            insertTerms(sql, { ...first, fromTime: 1, minWei: first.maxWei }, 'test'),
          )
          return distributor.sign(...args)
        },
      },
    })
    await assert.rejects(enters.credit(), /terms were entered while a round was being signed/)
    assert.equal((await world.pool`SELECT FROM outbox WHERE kind = 'credit'`).count, 0)
    await world.rest()
    const [turn] = await world.pool`SELECT amount_wei AS amount, min_wei AS min FROM turns`
    assert.deepEqual([turn?.min, turn?.amount], [first.maxWei, first.maxWei])
  } finally {
    await world.close()
  }
})
