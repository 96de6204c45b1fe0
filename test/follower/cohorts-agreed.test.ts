// Reconciling cohorts costs a call for each: only where something may have changed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '../support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
  await world.pay(5, 10n ** 16n)
  await world.settle()
})
after(() => world.close())

test('cohorts are asked for again only where one of the two sides has changed since they agreed', async () => {
  let asked = 0
  const { contract } = world.ctx
  const cohorts: typeof contract.cohorts = (...given) => {
    asked++
    return contract.cohorts(...given)
  }
  const { payments } = world.instance({ contract: { ...contract, cohorts } })
  await world.rest()
  await payments()
  await world.chain.mine()
  asked = 0
  await payments()
  assert.equal(asked, 0)
  await world.pool`UPDATE cohorts SET size = size + 1 WHERE cohort = 1`
  await payments()
  assert.ok(asked > 0)
  await world.act(0, 'setInterval', [1n, 900n])
  const then = asked
  await payments()
  assert.ok(asked > then)
})
