// A comparison costs calls, so it runs at intervals, and reads cohorts again only if something may have changed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
  await world.pay(5, 10n ** 16n)
  await world.settle()
})
after(() => world.close())

test('comparing waits for its time', async () => {
  const { payments } = world.instance({ rules: { reconcileEverySec: 3600 } })
  const [before] = await world.pool`SELECT started_at FROM passes WHERE name = 'reconcile'`
  await payments()
  const [after] = await world.pool`SELECT started_at FROM passes WHERE name = 'reconcile'`
  assert.deepEqual(after, before)
})

test('the pass reads cohorts again only if a side has changed since they agreed', async () => {
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
  await world.pool`UPDATE cohorts SET size = size - 1 WHERE cohort = 1`
  await world.act(0, 'setInterval', [1n, 900n])
  const then = asked
  await payments()
  assert.ok(asked > then)
})

test('a provider whose storage root never changes hides a difference for at most a day', async () => {
  const { contract } = world.ctx
  let asked = 0
  const cohorts: typeof contract.cohorts = (...given) => {
    asked++
    return contract.cohorts(...given)
  }
  const storageRoot = async () => `0x${'7'.repeat(64)}` as Hash
  const { payments } = world.instance({ contract: { ...contract, cohorts, storageRoot } })
  const agreed = () => world.pool`SELECT cohorts_agreed AS value FROM ledger_state`
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await payments()
  asked = 0
  await payments()
  assert.equal(asked, 0)
  await world.act(5, 'withdraw', [1n, world.at(5), 1n])
  await payments()
  assert.ok(asked > 0, 'the contract’s counters have changed')

  // A change that the follower never saw: removed from the ledger again, with the agreements since.
  const [[before], [then]] = [await world.pool`SELECT * FROM cohorts WHERE cohort = 1`, await agreed()]
  await world.act(0, 'setInterval', [1n, 1_200n])
  await payments()
  await world.pool`UPDATE cohorts SET interval_sec = ${before?.interval_sec}, next_due = ${before?.next_due} WHERE cohort = 1`
  await world.pool`UPDATE ledger_state SET cohorts_agreed = ${JSON.stringify(then?.value)}::text::jsonb`
  await world.chain.increaseTime(86_400)
  await world.chain.mine()
  await payments()
  const [found] = await world.pool`SELECT drift -> 0 AS drift FROM ledger_state`
  assert.deepEqual([found?.drift.cohort, found?.drift.chain], [1, '1200'])
})
