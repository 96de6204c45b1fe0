// Terms that the operator enters while a round is being signed: the round would pay by the terms before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTransaction } from '../../src/db/core/sql.ts'
import { insertTerms, readCreditTerms } from '../../src/db/sale/terms.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

async function sell(world: World): Promise<void> {
  const txHash = await world.pay(5, BASIC)
  await world.settle()
  assert.equal((await paymentOf(world, txHash))?.state, 'minted')
}

test('terms entered while a round is signed void it: nothing is stored, and the next run replans', async () => {
  const world = await startWorld()
  try {
    await world.settle()
    await sell(world)
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
