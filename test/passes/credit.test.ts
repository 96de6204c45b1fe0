// Rounds on a real chain: none without a key, each one sent once, some paid from the contract’s surplus, and intervals that its owner changes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
  await world.pay(5, BASIC)
  await world.settle()
})
after(() => world.close())

const intervalLater = async (times = 1) => {
  await world.chain.increaseTime(INTERVAL_SEC * times)
  await world.chain.mine()
}
const sentRounds = async () => (await world.pool`SELECT FROM outbox WHERE kind = 'credit'`).length

test('without a key nothing is sent, but what is due is still reported, and the tick noted', async () => {
  await intervalLater()
  const outcome = await world.instance({ distributor: null }).credit()
  assert.deepEqual([outcome.reason, outcome.dueNodes, outcome.txHash], ['disabled', 1, null])
  assert.equal(await sentRounds(), 0)
  const [tick] =
    await world.pool`SELECT finished_at >= started_at AS ended, outcome, error FROM passes WHERE name = 'credit'`
  assert.deepEqual([tick?.ended, tick?.outcome.reason, tick?.error], [true, 'disabled', null])
})

test('a sent round is pending, is not sent twice, and is reported with number and transaction', async () => {
  const sent = await world.credit()
  assert.deepEqual([sent.reason, sent.distributionId, sent.nodeCount, sent.dueNodes], [null, 1, 1, 1])
  const again = await world.credit()
  assert.deepEqual(
    [again.reason, again.distributionId, again.txHash, again.totalWei],
    ['pending', 1, sent.txHash, sent.totalWei],
  )
  assert.equal((await world.pool`SELECT FROM rounds`).length, 0, 'not shown before it is in a block')
  await world.rest()
  assert.equal(await sentRounds(), 1)
  assert.equal((await world.pool`SELECT FROM rounds`).length, 1)
})

test('an interval changed by the owner counts from the turn after the pending one', async () => {
  const [{ cohort, due } = assert.fail()] = await world.pool<{ cohort: number; due: number }[]>`
    SELECT cohort, next_due AS due FROM cohorts JOIN nodes USING (cohort) WHERE node_id = 1`
  await world.act(0, 'setInterval', [BigInt(cohort), BigInt(INTERVAL_SEC / 2)])
  await world.chain.setNextTime(due)
  await world.chain.mine()
  await world.rest()
  const [row] = await world.pool`SELECT next_due, interval_sec FROM cohorts WHERE cohort = ${cohort}`
  assert.deepEqual(row, { next_due: due + INTERVAL_SEC / 2, interval_sec: INTERVAL_SEC / 2 })
})

test('in swaps mode a round spends surplus within the owner’s limit, and carries no value', async () => {
  await intervalLater()
  const swaps = world.instance({ rules: { distMode: 'swaps' } })
  const before = await sentRounds()
  assert.equal((await swaps.credit()).reason, 'underfunded', 'no surplus and no leave')
  await world.act(0, 'setSwapsAllowance', [ETHER])
  assert.equal((await swaps.credit()).reason, 'underfunded', 'leave without a surplus')
  await world.act(0, 'setSwapsAllowance', [0n])
  await world.call(0, world.factory, '0x', ETHER)
  assert.equal((await swaps.credit()).reason, 'underfunded', 'a surplus without leave')
  await world.act(0, 'setSwapsAllowance', [1n])
  assert.equal((await swaps.credit()).reason, 'underfunded', 'an allowance that does not suffice')
  assert.equal(await sentRounds(), before)
  await world.act(0, 'setSwapsAllowance', [ETHER])
  const holds = await world.chain.rpc<string>('eth_getBalance', [world.factory, 'latest'])
  const outcome = await swaps.credit()
  assert.equal(outcome.reason, null)
  await world.chain.mine()
  await world.payments()
  const [round] = await world.pool`SELECT mode, total_wei FROM rounds WHERE round = ${outcome.distributionId}`
  assert.deepEqual(round, { mode: 'swaps', total_wei: outcome.totalWei })
  assert.equal(await world.chain.rpc('eth_getBalance', [world.factory, 'latest']), holds)
  assert.equal(await world.read('swapsAllowance'), ETHER - (outcome.totalWei ?? 0n))
  await world.rest()
})
